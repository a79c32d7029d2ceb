//! The client of a network test: it measures what comes through to a server, one message size after the other.

mod carrier;
mod link;

use super::{guard, placement};
use crate::interrupt::Interrupt;
use anyhow::{Context, Result, bail};
use carrier::Carrier;
use facts::links::perftest::Conflict;
use facts::{Bytes, CpuSet, HostView};
use lab::known::Known;
use lab::net::protocol::{Amount, Clocks, Judgement, Part, Task};
use lab::net::{Accounts, Ends, Figure, Placement, Point, Run, Work};
use link::Link;
use rules::ceiling::Ceiling;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What a client measures: the test, its message sizes, and how they are sent.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The test and its transport, as the server is told.
    pub task: Task,
    /// How much of each size.
    pub amount: Amount,
    /// The sizes of messages.
    pub sizes: Vec<Bytes>,
    /// The CPUs that this end's threads take turns on; `None` where the scheduler chooses.
    pub cpus: Option<CpuSet>,
    /// The RDMA port of this end; `None` where there is one with a link.
    pub device: Option<String>,
    /// When data are sent without copying them.
    pub zero_copy: ZeroCopy,
}

/// When data are sent without copying them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroCopy {
    /// Where two short trials before a size say that it moves faster so.
    Auto,
    /// Every message is sent without a copy.
    On,
    /// Every message is copied by a write(2).
    Off,
}

/// What happens during a test.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The next message size begins.
    Size {
        /// The number of sizes before it.
        n_before: u32,
    },
    /// All sizes are measured, and both ends judge their CPUs.
    Judging,
}

/// The device that the data of a client go over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// An RDMA port: `mlx5_0/1`.
    Port(String),
    /// Streams over this interface; `None` where it is unknown.
    Interface(Option<String>),
}

/// A client that a server serves, with what carries its data.
pub struct Client {
    plan: Plan,
    link: Link,
    carrier: Carrier,
}

/// What was measured.
pub struct Measured {
    /// At least one size.
    pub run: Run,
    /// The error that ended it before the last size.
    pub ended: Result<()>,
}

impl Client {
    /// Connects to the server of that name, which may have a port, and makes both ends ready.
    ///
    /// Errors: no `fullclock net server` can be reached there, or it serves another client or refuses the token; something that
    /// RDMA needs is missing on either end.
    pub fn connect(server: &str, token: &str, plan: Plan) -> Result<Client> {
        let mut link = Link::connect(server, token)?;
        let carrier = carrier::carrier(&mut link, &plan)?;
        Ok(Client { plan, link, carrier })
    }

    /// The device that its data go over.
    pub fn device(&self) -> Device {
        match &self.carrier {
            Carrier::Adapter { adapter, .. } => {
                Device::Port(format!("{}/{}", adapter.device, adapter.port))
            }
            Carrier::Streams(streams) => {
                let stream = streams.first();
                Device::Interface(stream.and_then(|it| placement::interface(it).ok()))
            }
        }
    }

    /// Measures one size after the other, until the user wants to stop, and lets both ends judge their CPUs. `ceiling` is what the
    /// device that the data go over can carry, with its name.
    ///
    /// Errors: no size was measured.
    pub fn measure(
        mut self,
        ceiling: Option<(String, Ceiling)>,
        interrupt: &Interrupt,
        tell: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<Measured> {
        let host = guard::before();
        let accounts = guard::accounts(&host, self.plan.cpus.as_ref());
        let mut seen = Seen { points: Vec::new(), conflicts: Vec::new(), accounts };
        let ended = self.measure_all(interrupt, &mut seen, tell);
        tell(Event::Judging)?;
        if seen.points.is_empty() {
            ended?;
            bail!("interrupted before the first message size was over");
        }
        let judged = self.judged(&host, &mut seen);
        let Seen { points, conflicts, .. } = seen;
        let (server, task) = (self.link.at, self.plan.task);
        Ok(Measured { run: Run { server, task, points, conflicts, over: ceiling, judged }, ended })
    }

    fn measure_all(
        &mut self,
        interrupt: &Interrupt,
        seen: &mut Seen<'_>,
        tell: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        for (n_before, Bytes(bytes)) in (0..).zip(self.plan.sizes.clone()) {
            tell(Event::Size { n_before })?;
            if interrupt.wait(Duration::ZERO) {
                break;
            }
            let stop = interrupt.flag();
            let way = self.is_zero_copy(stop, bytes, &mut seen.accounts)?;
            let Some(zero_copy) = way else { break };
            let part = Part { bytes, amount: self.plan.amount, zero_copy };
            let Seen { points, conflicts, accounts } = seen;
            let measured = self.measure_part(part, stop, accounts);
            let which = || format!("messages of {} were not measured", Bytes(bytes));
            let Some((point, differing)) = measured.with_context(which)? else { break };
            points.push(point);
            let new = differing.into_iter().filter(|it| !conflicts.contains(it));
            let new: Vec<Conflict> = new.collect();
            conflicts.extend(new);
        }
        Ok(())
    }

    fn measure_part(
        &mut self,
        part: Part,
        stop: &AtomicBool,
        accounts: &mut Accounts<'_>,
    ) -> Result<Option<(Point, Vec<Conflict>)>> {
        self.carrier.measure(&mut self.link, &self.plan, part, stop, accounts)
    }

    /// Whether a size is sent without copying it. Where the user leaves it open, both ways are tried in turn, and it is where each
    /// trial says so: which of them is faster is a matter of the adapters. `None` where the user stopped a trial: the server has closed
    /// its end then, and nothing more can be asked of it.
    fn is_zero_copy(
        &mut self,
        stop: &AtomicBool,
        bytes: u64,
        accounts: &mut Accounts<'_>,
    ) -> Result<Option<bool>> {
        match self.plan.zero_copy {
            ZeroCopy::Off => return Ok(Some(false)),
            ZeroCopy::On => return Ok(Some(true)),
            ZeroCopy::Auto if bytes < TRIED_FROM || !self.plan.task.sends_streams() => {
                return Ok(Some(false));
            }
            ZeroCopy::Auto => {}
        }
        for _ in 0..TRIALS {
            let mut rates = [0; 2];
            for (rate, zero_copy) in rates.iter_mut().zip([false, true]) {
                let part = Part { bytes, amount: Amount::Time(TRIAL_NS), zero_copy };
                let Some((point, _)) = self.measure_part(part, stop, accounts)? else {
                    return Ok(None);
                };
                if let Figure::Throughput(moved) = point.figure {
                    *rate = moved.bandwidth(point.message).average.0;
                }
            }
            if rates[1] <= rates[0] {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    /// Lets both ends judge their CPUs; `host` is this one before the test. Of a lost server the reason is known.
    fn judged(&mut self, host: &HostView, seen: &mut Seen<'_>) -> Ends<Judgement> {
        let cpus = |work: fn(&Point) -> &[Work]| guard::cpus_of(seen.points.iter().flat_map(work));
        let server = self.link.judge(cpus(|it| &it.work.server).to_string());
        let own = self.plan.cpus.clone();
        let own = own.unwrap_or_else(|| cpus(|it| &it.work.client));
        let client = guard::judgement(&mut seen.accounts, host, &self.carrier.over(), &own);
        Ends { client, server: server.unwrap_or_else(|why| lost(&format!("{why:#}"))) }
    }
}

/// What was seen of the sizes that were measured.
struct Seen<'a> {
    points: Vec<Point>,
    /// The clocks that perftest found to differ.
    conflicts: Vec<Conflict>,
    accounts: Accounts<'a>,
}

/// Of smaller messages the copy is less than the system call.
const TRIED_FROM: u64 = 65_536;

/// How often both ways are tried, and for how long each time.
const TRIALS: usize = 2;
const TRIAL_NS: u64 = 100_000_000;

fn lost(why: &str) -> Judgement {
    fn missing<T>(why: &str) -> Known<T> {
        Known::Missing { missing: why.to_owned() }
    }
    let (worked, incoming) = (String::new(), String::new());
    Judgement {
        clocks: Clocks { nominal_hz: missing(why), slowing: Vec::new() },
        ledger: missing(why),
        place: Placement { device: missing(why), adapter: missing(why), worked, incoming },
    }
}
