//! `fullclock ipmi latency`: every round trip to the controller, and what waiting for them took of a CPU.

use crate::cli::{Arguments, LatencyArguments};
use crate::output::{self};
use anyhow::{Result, bail};
use engine::experiment::Busy;
use engine::interrupt::Interrupt;
use facts::HostView;
use host::Live;
use host::probe::{anchor, pinned_to};
use lab::failure::Failure;
use lab::ipmi::{Asker, Listener, Polling, Times};
use report::ipmi::{Condition, Latency, latency_json, latency_text};
use std::process::ExitCode;
use std::time::Duration;

pub(super) fn run(arguments: &Arguments, options: &LatencyArguments) -> Result<ExitCode> {
    let host = host::view(&Live::this_machine());
    let interrupt = Interrupt::listen()?;
    let controller = lab::ipmi::open(&host)?;
    let mut asker = Asker::begin(controller, options.count, options.timeout, interrupt.flag())?;
    let polling = Polling::of(&host, &Live::this_machine());
    let mut about = asker.about();
    about.push(("kipmid".to_owned(), polling.about()));
    let mut latency = Latency { about, conditions: Vec::new() };
    let mut ended = Ok(());
    for is_loaded in [false, true].into_iter().take(if options.load { 2 } else { 1 }) {
        let busy = if is_loaded { Some(load(&host)?) } else { None };
        let told = if is_loaded { "asking while every CPU is busy ..." } else { "asking ..." };
        let (condition, asked) = output::with_progress(&arguments.output, told, || {
            measured((&mut asker, &host), &polling, options, &interrupt)
        });
        drop(busy);
        latency.conditions.push(Condition { is_loaded, ..condition });
        ended = asked;
        if ended.is_err() {
            break;
        }
    }
    latency.conditions.retain(|it| !it.times.device_id.is_empty());
    let is_stopped = matches!(ended, Err(Failure::Stopped));
    if latency.conditions.is_empty() {
        ended?;
        bail!("no round trip was over");
    }
    let text = if arguments.output.json {
        latency_json(&latency)?
    } else {
        latency_text(&latency, output::style(arguments.output.color))
    };
    output::print(&text)?;
    // Who stops it wants what there is.
    if !is_stopped {
        ended?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes every CPU busy that this program may run on.
fn load(host: &HostView) -> Result<Busy> {
    let online = host.topology.online.as_ref().map_err(Clone::clone)?;
    Ok(Busy::start(&host::probe::allowed()?.and(online))?)
}

/// Does `work`, and tells how long it took.
pub(super) fn lasting<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began_ns = anchor().raw_ns;
    let done = work();
    (done, Duration::from_nanos(anchor().raw_ns.saturating_sub(began_ns)))
}

/// What there was, and how it ended.
fn measured(
    (asker, host): (&mut Asker, &HostView),
    polling: &Polling,
    options: &LatencyArguments,
    interrupt: &Interrupt,
) -> (Condition, Result<(), Failure>) {
    let live = Live::this_machine();
    let listener = Listener::open(host, polling, &live);
    let mut times = Times::default();
    let mut ask = || {
        let trips = || lasting(|| asker.trips(options.count, interrupt.flag(), &mut times));
        let ((asked, elapsed), polled) = polling.during(&live, trips);
        (asked, polled, elapsed)
    };
    let placed = || match &options.cpus {
        None => Ok(ask()),
        Some(cpus) => pinned_to(cpus, ask).map_err(|why| Failure::Unready(why.to_string())),
    };
    let (asked, waits) = match listener {
        Ok(listener) => listener.during(placed),
        Err(why) => (placed(), Err(why)),
    };
    let (asked, polled, elapsed) = asked.unwrap_or_else(|why| (Err(why), None, Duration::ZERO));
    (Condition { is_loaded: false, times, polled, elapsed, waits }, asked)
}
