//! What the probes tell apart on this machine, and what they cost: `cargo bench -p xtask --bench probes`.
//!
//! Runs on the last CPU it may use. Other work on that CPU shows in every figure.
#![expect(clippy::print_stdout, reason = "prints its figures")]

use facts::counters::Counters;
use facts::probe::{ClockReading, EventCosts, Gaps};
use facts::trace::{Event, What, tracepoint};
use facts::{CpuSet, Fact, Missing};
use host::Live;
use host::counters::{Sampler, Wanted};
use host::perf::Tracer;
use host::probe::{Watch, Windows, allowed, clock, pinned, spin_on};
use rules::interval::Interval;
use rules::spin::{Counts, GapBooks, Untraced, by_counts, costs, costs_by_counts, join, tick};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn main() -> Result<(), Missing> {
    let cpu = allowed()?.last().ok_or_else(|| Missing::absent("a CPU to run on"))?;
    println!("CPU {cpu}");
    pinned(cpu, || {
        readings();
        windows();
    })?;
    gaps(cpu)
}

/// 200 readings of ten windows: how far lengths and kinds disagree, and what a reading takes.
fn readings() {
    let readings: Vec<Fact<ClockReading>> = (0..200).map(|_| clock(Windows::SHORT)).collect();
    let taken: Vec<&ClockReading> = readings.iter().filter_map(|it| it.as_ref().ok()).collect();
    println!("readings: {} of 200, the others disturbed", taken.len());
    let each = |what: &str, unit: &str, of: &dyn Fn(&ClockReading) -> f64| {
        let values = sorted(taken.iter().map(|it| of(it)).collect());
        let [low, median, high] = [0.1, 0.5, 0.9].map(|share| rank(&values, share));
        println!("  {what}: {median:.4} {unit} (p10 {low:.4}, p90 {high:.4})");
    };
    each("clock, best of ten windows", "MHz", &|it| it.best.mhz());
    each("lengths and kinds disagree by", "%", &|it| it.disagreement * 100.0);
    each("its windows spread by", "%", &|it| it.spread * 100.0);
    each("a reading takes", "ms", &|it| it.took_ns as f64 / 1e6);
}

/// 200 windows in one go.
fn windows() {
    match clock(Windows { count: 200, ..Windows::SHORT }) {
        Err(missing) => println!("200 windows: {missing}"),
        Ok(it) => println!(
            "200 windows of 0.1 ms: best {:.1}, median {:.1}, mean {:.1} MHz; p10 to p90 {:.3} %; {} left out for tasks or interrupts",
            it.best.mhz(),
            it.median.mhz(),
            it.mean.mhz(),
            it.spread * 100.0,
            it.rejected
        ),
    }
}

/// Five seconds of gaps, attributed by a trace where tracing is allowed, and by counts.
fn gaps(cpu: u32) -> Fact<()> {
    let live = Live::this_machine();
    let host = host::view(&live);
    let wanted = Wanted { wake: false, ..Wanted::ledger() };
    let mut sampler = Sampler::open(live, &host, wanted);
    let (mut before, mut after) = (Counters::unread(), Counters::unread());
    let cpus: CpuSet = [cpu].into_iter().collect();
    let mut tracer = Tracer::open(&Live::this_machine(), &cpus, tracepoint::Wanted::ALL);
    sampler.sample(&mut before);
    let (seen, events) = watch(cpu, &cpus, tracer.as_mut().ok())?;
    sampler.sample(&mut after);

    let step_ns = seen.wall_ns() as f64 / seen.reads.max(1) as f64;
    println!("gaps: {} reads, one in {step_ns:.1} ns, floor {} ns", seen.reads, seen.floor_ns);
    println!(
        "  {} above the floor; times are good to {} ns; put off the CPU {} times",
        seen.count(),
        seen.slack_ns,
        seen.switches
    );
    let interval = Interval { host: &host, before: &before, after: &after };
    let counts = Counts::between(&interval, cpu, seen.thread);
    match tracer {
        Ok(tracer) => {
            let lost = events.iter().filter(|it| matches!(it.what, What::Lost(_))).count();
            println!("  {} events, lost {lost} times", events.len());
            tracer.lacking().iter().for_each(|it| println!("  not traced: {it}"));
            let join = join(&seen, &events);
            let untraced = Untraced::of(&join, &counts, host.platform.is_guest());
            show(&seen, &join.books(untraced), &costs(&[join], tick(&interval)));
        }
        Err(missing) => println!("  no trace: {missing}"),
    }
    let no_call = Err(Missing::not_collected("interrupts sent from elsewhere"));
    let costs = costs_by_counts(&seen, &counts, tick(&interval), no_call);
    show(&seen, &by_counts(&seen, &counts), &costs);
    Ok(())
}

fn show(seen: &Gaps, books: &GapBooks, costs: &EventCosts) {
    println!("  by {:?}:", books.method);
    for (thief, taken) in &books.taken {
        let share = taken.ns as f64 * 100.0 / seen.wall_ns().max(1) as f64;
        println!("    {share:8.4} % {thief} in {}", taken.count);
    }
    for (what, cost) in [("tick", &costs.tick), ("interrupt", &costs.interrupt)] {
        match cost {
            Ok(cost) => println!("    a {what} takes {} +- {} ns", cost.ns, cost.uncertainty_ns),
            Err(missing) => println!("    {missing}"),
        }
    }
}

/// Spins on `cpu` for five seconds while the calling thread, elsewhere, empties the trace.
fn watch(cpu: u32, cpus: &CpuSet, tracer: Option<&mut Tracer>) -> Fact<(Gaps, Vec<Event>)> {
    let length = Duration::from_secs(5);
    let mut events = Vec::new();
    let stop = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let spinner = scope.spawn(|| spin_on(cpus, Watch { length, room: 1 << 20 }, &stop));
        if let Some(tracer) = tracer {
            while !spinner.is_finished() {
                if tracer.wait(Duration::from_millis(100)).is_err() {
                    break;
                }
                tracer.drain(u64::MAX, |event| events.push(*event));
            }
            tracer.drain(u64::MAX, |event| events.push(*event));
        }
        spinner.join().unwrap_or_default()
    });
    match seen.get(cpu) {
        Some(gaps) => Ok((gaps.clone()?, events)),
        None => Err(Missing::absent("a spinner")),
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

fn rank(values: &[f64], share: f64) -> f64 {
    let last = values.len().saturating_sub(1) as f64;
    values.get((last * share) as usize).copied().unwrap_or_default()
}
