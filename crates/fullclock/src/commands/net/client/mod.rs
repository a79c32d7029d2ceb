//! `fullclock net client`: measures the wire to a server, one message size after the other.

mod carrier;
mod link;

use super::{Face, guard, page, placement};
use crate::cli::{Arguments, ClientArguments, ZeroCopy};
use crate::output::{self, Progress};
use anyhow::{Context, Result, bail};
use carrier::{Carrier, carrier};
use engine::interrupt::Interrupt;
use engine::secret;
use facts::links::perftest::Conflict;
use facts::{Bytes, HostView};
use lab::known::Known;
use lab::net::perftest::{FEWEST_ITERATIONS, ITERATIONS};
use lab::net::protocol::{Amount, Clocks, Judgement, Part, Task, Test, Transport};
use lab::net::{Accounts, Placement, Work};
use lab::net::{Ends, Figure, Point, Run};
use link::Link;
use rules::ceiling::{Ceiling, Given};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
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
    if options.zero_copy == ZeroCopy::On && !sends_streams(task) {
        bail!(
            "--zero-copy is for throughput over TCP: leave it out with --test latency and --transport rdma"
        );
    }
    page::check(options.report.as_deref())?;
    let path = secret::path(options.token_file.as_deref(), super::TOKEN)?;
    let token = secret::read(&path)
        .context("the server made a token; copy its file here, and --token-file names the copy")?;
    let interrupt = Interrupt::listen()?;
    let mut link = Link::connect(&options.server, token)?;
    let carrier = carrier(&mut link, options, task)?;
    let over = over(arguments, options, &carrier)?;
    let host = guard::before();
    let accounts = guard::accounts(&host, options.cpus.as_ref());
    let mut seen = Seen { points: Vec::new(), conflicts: Vec::new(), accounts };
    let client = Client { arguments, options, task, amount, carrier: &carrier };
    let ended = client.measure_all(&mut link, &interrupt, &mut seen);
    if seen.points.is_empty() {
        ended?;
        bail!("interrupted before the first message size was over");
    }
    let judged = client.judged(&mut link, &host, &mut seen);
    let Seen { points, conflicts, .. } = seen;
    let run = Run { server: link.at, task, points, conflicts, over, judged };
    let text = if arguments.output.json {
        report::net::run_json(&run)?
    } else if options.csv {
        report::net::run_csv(&run)
    } else {
        report::net::run_text(&run, output::style(arguments.output.color))
    };
    output::print(&text)?;
    let server = format!("fullclock net server --listen {}    # on the server\n", link.at);
    page::write(&arguments.output, options.report.as_deref(), &server, |origin| {
        report::net::run_page(&run, options.sizes.0.len(), origin)
    })?;
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
        // One that the kernel makes up has no ceiling.
        (Carrier::Streams(streams), None) => Ok(streams
            .first()
            .and_then(|it| placement::interface(it).ok())
            .and_then(|it| ceiling(&it, Face::Interface).ok())),
    }
}

/// What was seen of the sizes that were measured.
struct Seen<'a> {
    points: Vec<Point>,
    conflicts: Vec<Conflict>,
    accounts: Accounts<'a>,
}

/// What stays the same for all message sizes.
struct Client<'a> {
    arguments: &'a Arguments,
    options: &'a ClientArguments,
    task: Task,
    amount: Amount,
    carrier: &'a Carrier,
}

impl Client<'_> {
    /// Measures one size after the other, until the user wants to stop.
    fn measure_all(
        &self,
        link: &mut Link,
        interrupt: &Interrupt,
        seen: &mut Seen<'_>,
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
            let way = self.is_zero_copy(link, interrupt.flag(), bytes, &mut seen.accounts)?;
            let Some(zero_copy) = way else { break };
            let part = Part { bytes, amount: self.amount, zero_copy };
            let Seen { points, conflicts, accounts } = seen;
            let (carrier, stop) = (self.carrier, interrupt.flag());
            let measured =
                carrier.measure(link, self.options, self.task.test, part, stop, accounts);
            let which = || format!("messages of {} were not measured", Bytes(bytes));
            let Some((point, differing)) = measured.with_context(which)? else { break };
            points.push(point);
            conflicts
                .extend(differing.iter().filter(|it| !conflicts.contains(it)).collect::<Vec<_>>());
        }
        Ok(())
    }

    /// Whether a size is sent without copying it. Where the user leaves it open, both ways are tried in turn, and it is where each
    /// trial says so: which of them is faster is a matter of the adapters. `None` where the user stopped a trial: the server has closed
    /// its end then, and nothing more can be asked of it.
    fn is_zero_copy(
        &self,
        link: &mut Link,
        stop: &AtomicBool,
        bytes: u64,
        accounts: &mut Accounts<'_>,
    ) -> Result<Option<bool>> {
        match self.options.zero_copy {
            ZeroCopy::Off => return Ok(Some(false)),
            ZeroCopy::On => return Ok(Some(true)),
            ZeroCopy::Auto if bytes < TRIED_FROM || !sends_streams(self.task) => {
                return Ok(Some(false));
            }
            ZeroCopy::Auto => {}
        }
        for _ in 0..TRIALS {
            let mut rates = [0; 2];
            for (rate, zero_copy) in rates.iter_mut().zip([false, true]) {
                let part = Part { bytes, amount: Amount::Time(TRIAL_NS), zero_copy };
                let (carrier, test) = (self.carrier, self.task.test);
                let tried = carrier.measure(link, self.options, test, part, stop, accounts)?;
                let Some((Point { figure, message, .. }, _)) = tried else { return Ok(None) };
                if let Figure::Throughput(moved) = figure {
                    *rate = moved.bandwidth(message).average.0;
                }
            }
            if rates[1] <= rates[0] {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    /// What became of the CPUs of both ends; `host` is this one before the test. A server that was lost meanwhile cannot tell.
    fn judged(&self, link: &mut Link, host: &HostView, seen: &mut Seen<'_>) -> Ends<Judgement> {
        let cpus = |work: fn(&Point) -> &[Work]| guard::cpus_of(seen.points.iter().flat_map(work));
        let server = link.judge(cpus(|it| &it.work.server).to_string());
        let own = self.options.cpus.clone();
        let own = own.unwrap_or_else(|| cpus(|it| &it.work.client));
        let client = guard::judgement(&mut seen.accounts, host, &self.carrier.over(), &own);
        Ends { client, server: server.unwrap_or_else(|why| lost(&format!("{why:#}"))) }
    }
}

/// Of smaller messages the copy is less than the system call.
const TRIED_FROM: u64 = 65_536;

/// How often both ways are tried, and for how long each time.
const TRIALS: usize = 2;
const TRIAL_NS: u64 = 100_000_000;

/// Whether one end does nothing but send, over connections of our own.
fn sends_streams(task: Task) -> bool {
    task.transport == Transport::Tcp && task.test != Test::Latency
}

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

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
