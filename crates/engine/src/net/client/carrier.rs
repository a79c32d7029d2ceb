//! What carries the data of a test on the client's end, and one message size over it.

use super::Plan;
use super::link::Link;
use crate::net::placement::Over;
use crate::net::{adapter, own_adapters};
use anyhow::{Context, Result, anyhow, bail};
use facts::Bytes;
use facts::links::perftest::Conflict;
use lab::failure::Failure;
use lab::net::perftest::{self, Adapter};
use lab::net::protocol::{Part, Report, Task, Transport};
use lab::net::{Accounts, Broken, Found, Latencies, Side, Streams};
use lab::net::{Ends, Figure, Point};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

/// Streams of our own, or an adapter for perftest's programs.
pub(super) enum Carrier {
    Streams(Vec<TcpStream>),
    Adapter { adapter: Adapter, server: Ipv4Addr },
}

/// Errors: something that RDMA needs is missing on this end or on the server's; says which, and what to do.
pub(super) fn carrier(link: &mut Link, plan: &Plan) -> Result<Carrier> {
    let task = plan.task;
    // Errors of this end come before the server is asked.
    let own = match task.transport {
        Transport::Tcp => None,
        Transport::Rdma => {
            let version = perftest::version(task.test).map_err(|why| anyhow!(why))?;
            let adapter = adapter::adapter(&own_adapters(), plan.device.as_deref());
            Some((adapter.map_err(|why| anyhow!(why))?, version))
        }
    };
    let (session, theirs) = link.prepare(task)?;
    let Some((adapter, version)) = own else {
        return Ok(Carrier::Streams(link.streams(&session, task.streams)?));
    };
    let theirs = theirs.context("the server does not tell its version of perftest")?;
    if theirs != version {
        bail!(
            "perftest is {version} here and {theirs} on the server, and its two ends have to be of one version: install the same \
             package on both"
        );
    }
    let IpAddr::V4(server) = link.at.ip() else {
        bail!("perftest's ends find each other by IPv4: name the server by its IPv4 address");
    };
    Ok(Carrier::Adapter { adapter, server })
}

impl Carrier {
    pub(super) fn over(&self) -> Over<'_> {
        match self {
            Carrier::Streams(streams) => Over::Streams(streams),
            Carrier::Adapter { adapter, .. } => Over::Port(adapter),
        }
    }

    /// One message size, and the clocks that perftest found to differ; `None` where the user wants to stop.
    pub(super) fn measure(
        &self,
        link: &mut Link,
        plan: &Plan,
        part: Part,
        stop: &AtomicBool,
        accounts: &mut Accounts<'_>,
    ) -> Result<Option<(Point, Vec<Conflict>)>> {
        accounts.begin();
        link.measure(part)?;
        let Task { test, streams, .. } = plan.task;
        let cpus = plan.cpus.as_ref();
        let measured = match self {
            Carrier::Streams(streams) => {
                let end = Streams { side: Side::Client, streams, cpus, stop };
                end.measure(test, &part).map(|it| {
                    accounts.note(&it.clocks);
                    let figure = match it.found {
                        Found::Throughput(moved) => Some(Figure::Throughput(moved)),
                        Found::Latencies(halves_ns) => {
                            Latencies::of(halves_ns).map(Figure::Latencies)
                        }
                        Found::Nothing => None,
                    };
                    (figure, it.work, Vec::new())
                })
            }
            Carrier::Adapter { adapter, server } => {
                let port = link.listening()?;
                let is_unwanted = || stop.load(Ordering::Relaxed);
                let is_unwanted = &is_unwanted;
                let end = perftest::End { test, streams, adapter, cpus, is_unwanted };
                end.ask(&part, *server, port).map(|(curve, ran)| {
                    accounts.note_program(&ran);
                    let moved = perftest::throughput(&curve).map(Figure::Throughput);
                    let figure =
                        moved.or_else(|| perftest::latencies(&curve).map(Figure::Latencies));
                    (figure, vec![ran.work], curve.clocks)
                })
            }
        };
        let (figure, client, clocks) = match measured {
            Ok(measured) => measured,
            Err(Broken::Stopped | Broken::Perftest(Failure::Stopped)) => return Ok(None),
            Err(why) => {
                let own = match (self, &why) {
                    // Either program may be why the other one failed.
                    (Carrier::Adapter { .. }, _) => format!("{why}; "),
                    (Carrier::Streams(_), Broken::Closed) => String::new(),
                    (Carrier::Streams(_), _) => return Err(why.into()),
                };
                let words = link.last_words();
                return Err(words.map_or(why.into(), |it| anyhow!("{own}the server says: {it}")));
            }
        };
        let Report { moved, work: server } = link.report()?;
        let figure = figure.or_else(|| moved.map(Figure::Throughput));
        let figure = figure.context(match self {
            Carrier::Streams(_) => "the server did not tell what arrived",
            Carrier::Adapter { .. } => "perftest's table has no figure in it, as those of very old versions where clocks differ",
        })?;
        let Part { bytes, zero_copy, .. } = part;
        let work = Ends { client, server };
        let point = Point { message: Bytes(bytes), figure, zero_copy, work };
        Ok(Some((point, clocks)))
    }
}
