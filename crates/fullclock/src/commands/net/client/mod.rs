//! `fullclock net client`: measures the wire to a server, one message size after the other.

mod carrier;
mod link;

use super::Face;
use crate::cli::{Arguments, ClientArguments};
use crate::interrupt::Interrupt;
use crate::output::{self, Progress, Style};
use crate::render;
use crate::render::net::{Ends, Point, Run};
use crate::secret;
use anyhow::{Context, Result, bail};
use carrier::{Carrier, carrier};
use facts::links::perftest::Conflict;
use facts::{Bytes, CpuSet};
use lab::known::Known;
use lab::wire::Work;
use lab::wire::perftest::{FEWEST_ITERATIONS, ITERATIONS};
use lab::wire::protocol::{Amount, Clocks, Part, Task, Test, Transport};
use link::Link;
use rules::ceiling::{Ceiling, Given};
use std::process::ExitCode;
use std::time::Duration;

pub(super) fn run(arguments: &Arguments, options: &ClientArguments) -> Result<ExitCode> {
    if options.csv && arguments.output.json {
        bail!("--csv and --json are two forms of the same: give one of them");
    }
    let task = Task {
        transport: options.transport.into(),
        test: options.test.into(),
        streams: options.streams,
    };
    if let Some(why) = task.refusal() {
        bail!(why);
    }
    let amount = amount(options, task)?;
    let path = secret::path(options.token_file.as_deref(), super::TOKEN)?;
    let token = secret::read(&path)
        .context("the server made a token; copy its file here, and --token-file names the copy")?;
    let interrupt = Interrupt::listen()?;
    let mut link = Link::connect(&options.server, token)?;
    let carrier = carrier(&mut link, options, task)?;
    let over = over(arguments, options, &carrier)?;
    let (mut points, mut conflicts) = (Vec::new(), Vec::new());
    let client = Client { arguments, options, test: task.test, amount, carrier: &carrier };
    let ended = client.measure_all(&mut link, &interrupt, &mut points, &mut conflicts);
    if points.is_empty() {
        ended?;
        bail!("interrupted before the first message size was over");
    }
    let clocks = clocks(&mut link, &points);
    let run = Run { server: link.at, task, points, conflicts, over, clocks };
    let text = if arguments.output.json {
        render::net::run_json(&run)?
    } else if options.csv {
        render::net::run_csv(&run)
    } else {
        render::net::run_text(&run, Style::of_stdout(&arguments.output))
    };
    output::print(&text)?;
    ended?;
    Ok(ExitCode::SUCCESS)
}

/// How much of each size. Errors: perftest cannot do that.
fn amount(options: &ClientArguments, task: Task) -> Result<Amount> {
    let amount = match (options.iterations, options.duration, task.transport) {
        (Some(count), ..) => Amount::Iterations(count),
        (None, Some(time), _) => Amount::Time(nanoseconds(time)),
        (None, None, Transport::Tcp) => Amount::Time(nanoseconds(Duration::from_secs(1))),
        (None, None, Transport::Rdma) => Amount::Iterations(ITERATIONS),
    };
    match (task.transport, task.test, amount) {
        (Transport::Rdma, _, Amount::Iterations(count)) if count < FEWEST_ITERATIONS => {
            bail!(
                "perftest exchanges at least {FEWEST_ITERATIONS} messages: -n {FEWEST_ITERATIONS} or more"
            )
        }
        (Transport::Rdma, Test::Latency, Amount::Time(_)) => {
            bail!("of a time perftest tells no more than the mean latency: count messages with -n")
        }
        _ => Ok(amount),
    }
}

/// What the device that the test goes over can carry. Of an adapter that the user did not name it need not be known.
fn over(
    arguments: &Arguments,
    options: &ClientArguments,
    carrier: &Carrier,
) -> Result<Option<(String, Ceiling)>> {
    let given = Given::default();
    let ceiling = |device: &str, face| super::ceiling_of(arguments, device, given, face);
    match (carrier, &options.device) {
        (Carrier::Adapter { adapter, .. }, _) => {
            Ok(ceiling(&format!("{}/{}", adapter.device, adapter.port), Face::Rdma).ok())
        }
        (Carrier::Streams(_), Some(device)) => ceiling(device, Face::Interface).map(Some),
        (Carrier::Streams(_), None) => Ok(None),
    }
}

/// What stays the same for all message sizes.
struct Client<'a> {
    arguments: &'a Arguments,
    options: &'a ClientArguments,
    test: Test,
    amount: Amount,
    carrier: &'a Carrier,
}

impl Client<'_> {
    /// Measures one size after the other, until the user wants to stop.
    fn measure_all(
        &self,
        link: &mut Link,
        interrupt: &Interrupt,
        points: &mut Vec<Point>,
        conflicts: &mut Vec<Conflict>,
    ) -> Result<()> {
        let sizes = &self.options.sizes.0;
        let each = match self.amount {
            Amount::Time(ns) => Some(Duration::from_nanos(ns)),
            Amount::Iterations(_) => None,
        };
        let n_sizes = u32::try_from(sizes.len()).unwrap_or(u32::MAX);
        let whole = each.map(|it| it.saturating_mul(n_sizes));
        let mut progress = Progress::new(&self.arguments.output, false, whole);
        for (number, &Bytes(bytes)) in (0..).zip(sizes) {
            progress.show(each.unwrap_or_default().saturating_mul(number));
            if interrupt.wait(Duration::ZERO) {
                break;
            }
            let part = Part { bytes, amount: self.amount };
            let measured =
                self.carrier.measure(link, self.options, self.test, part, interrupt.flag());
            let which = || format!("messages of {} were not measured", Bytes(bytes));
            let Some((point, differing)) = measured.with_context(which)? else { break };
            points.push(point);
            conflicts
                .extend(differing.iter().filter(|it| !conflicts.contains(it)).collect::<Vec<_>>());
        }
        Ok(())
    }
}

/// What slows the CPUs of both ends. A server that was lost meanwhile cannot tell.
fn clocks(link: &mut Link, points: &[Point]) -> Ends<Clocks> {
    let cpus = |work: fn(&Point) -> &[Work]| -> CpuSet {
        points.iter().flat_map(work).map(|it| it.cpu).collect()
    };
    let server = link.judge(cpus(|it| &it.work.server).to_string());
    let lost = |why: anyhow::Error| Clocks {
        nominal_hz: Known::Missing { missing: format!("{why:#}") },
        slowing: Vec::new(),
    };
    let client = super::guard::clocks(&cpus(|it| &it.work.client));
    Ends { client, server: server.unwrap_or_else(lost) }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
