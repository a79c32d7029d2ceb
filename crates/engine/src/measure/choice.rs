//! Which CPUs to measure, and whether to trace: it shows every nanosecond, and costs one event's time for each.

use crate::interrupt::Interrupt;
use anyhow::{Result, bail};
use facts::counters::{Counters, Family};
use facts::trace::tracepoint;
use facts::{CpuSet, Fact, HostView, Missing};
use host::Live;
use host::counters::{Sampler, Wanted};
use host::perf::Tracer;
use std::time::Duration;

/// The most that tracing may take of the CPUs, unless it is asked for.
const MOST: f64 = 0.01;

/// How long the rate of events is looked at beforehand.
const LOOK: Duration = Duration::from_millis(100);

/// Whether the scheduler and interrupts are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trace {
    /// Where it is allowed and costs little.
    Auto,
    /// Whatever it costs; an error where it is not possible.
    Always,
    /// Nothing is traced.
    Never,
}

/// The CPUs to measure: those that were asked for, all of which have to be online; else all that are.
pub fn within(asked: Option<&CpuSet>, online: &CpuSet) -> Result<CpuSet> {
    let Some(asked) = asked else { return Ok(online.clone()) };
    let offline = asked.minus(online);
    if !offline.is_empty() {
        bail!("--cpus names {offline}, and only {online} are online");
    }
    Ok(asked.clone())
}

/// What a ledger needs to be traced: also when tasks are woken, where the waits of some are to be followed.
pub fn wanted(follows_waits: bool) -> tracepoint::Wanted {
    let all = tracepoint::Wanted::ALL;
    tracepoint::Wanted { tick_stops: false, wakes: follows_waits, ..all }
}

/// Opens these tracepoints, where they are allowed and cost little, or are asked for.
///
/// Errors: tracing was asked for, and is not possible here.
pub fn tracer(
    source: &Live,
    host: &HostView,
    trace: Trace,
    cpus: &CpuSet,
    wanted: tracepoint::Wanted,
    interrupt: &Interrupt,
) -> Result<Fact<Tracer>> {
    const WHAT: &str = "trace of the scheduler and of interrupts";
    if trace == Trace::Never {
        return Ok(Err(Missing::not_here(WHAT, "--trace never was given")));
    }
    if trace == Trace::Auto {
        let share = expected_share(host, wanted, interrupt);
        if share > MOST {
            let because = format!(
                "it would take about {:.1} % of the CPUs; `--trace always` does it all the same",
                share * 100.0
            );
            return Ok(Err(Missing::not_here(WHAT, because)));
        }
    }
    opened(trace, Tracer::open(source, cpus, wanted))
}

/// The tracepoints, or why there are none, where that is no error.
///
/// Errors: there are none, and tracing was asked for.
fn opened<T>(trace: Trace, tracer: Fact<T>) -> Result<Fact<T>> {
    match tracer {
        Err(why) if trace == Trace::Always => bail!(
            "--trace always: nothing can be traced: {}; --trace auto counts where it cannot trace",
            why.advice()
        ),
        tracer => Ok(tracer),
    }
}

/// The share of all CPUs that tracing them would take, by the rate at which things happen right now.
fn expected_share(host: &HostView, traced: tracepoint::Wanted, interrupt: &Interrupt) -> f64 {
    let families = vec![Family::Totals, Family::Interrupts, Family::Softirqs, Family::CpuTimes];
    let wanted = Wanted::only(families);
    let mut sampler = Sampler::open(Live::this_machine(), host, wanted);
    let (mut before, mut after) = (Counters::unread(), Counters::unread());
    sampler.sample(&mut before);
    interrupt.wait(LOOK);
    sampler.sample(&mut after);
    let rise = |family| total(&after, family).saturating_sub(total(&before, family));
    let switches = column(&after, "ctxt").saturating_sub(column(&before, "ctxt"));
    let (interrupts, softirqs) = (rise(Family::Interrupts), rise(Family::Softirqs));
    let n_events = traced.n_events(switches, interrupts, softirqs);
    let elapsed = after.at.raw_ns.saturating_sub(before.at.raw_ns).max(1);
    let n_cpus = after.online.len().max(1);
    n_events as f64 * Tracer::NS_PER_EVENT as f64 / (elapsed as f64 * n_cpus as f64)
}

fn total(counters: &Counters, family: Family) -> u64 {
    let Ok(table) = counters.table(family) else { return 0 };
    let rows = 0..table.rows().len();
    rows.flat_map(|row| table.row_cells(row)).fold(0, |sum, cell| sum.wrapping_add(*cell))
}

fn column(counters: &Counters, name: &str) -> u64 {
    let cell = |table: &facts::counters::Table| Some(table.cell(0, table.column(name).ok()?));
    counters.table(Family::Totals).ok().and_then(cell).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_a_trace_gets_one_or_an_error_and_others_get_the_reason() {
        let denied = || Err::<u8, _>(Missing::denied("/sys/kernel/tracing/events"));
        for trace in [Trace::Auto, Trace::Never] {
            assert_eq!(opened(trace, denied()).unwrap(), denied());
        }
        let error = opened(Trace::Always, denied()).unwrap_err().to_string();
        assert!(error.starts_with("--trace always: nothing can be traced: "), "{error}");
        assert!(error.contains("/sys/kernel/tracing/events may not be read"), "{error}");
        assert!(error.ends_with("; --trace auto counts where it cannot trace"), "{error}");
        assert_eq!(opened(Trace::Always, Ok(7)).unwrap(), Ok(7));
    }
}
