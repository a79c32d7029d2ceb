//! How fast a CPU ran while it had work.
//!
//! APERF over MPERF, times the rate of the TSC, is the clock while the counters count (Intel SDM vol. 3B, "Hardware
//! Feedback"). What MPERF lacks of the time that the CPU was busy is time in which it did not count at all. Without
//! the counters the chain probe's readings are taken: cycles over wall time, phases without a clock included.

use super::amount::Method;
use super::evidence::Evidence;
use facts::counters::Family;
use facts::probe::ClockReading;
use facts::{Fact, Hertz, HostView, Missing};

/// The effective clock of one CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clock {
    /// Cycles over time, while it counts.
    pub(crate) running: Hertz,
    /// For how long MPERF counted, in nanoseconds, where it is there.
    pub(crate) counted_ns: Option<u64>,
    /// How far off the clock may be, as a share of it.
    pub(crate) uncertainty: f64,
    /// How it was obtained.
    pub(crate) method: Method,
    pub(crate) source: &'static str,
    /// The lowest and the highest reading.
    pub(crate) range: (Hertz, Hertz),
}

/// The clock that counts as the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The frequency of the clock.
    pub clock: Hertz,
    /// Who promises it, or that it is the highest one seen.
    pub source: String,
    /// Whether it is a turbo ratio limit, which holds for scalar and SSE code.
    pub is_turbo_ratio: bool,
}

/// The cores of one package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Activity {
    pub(crate) n_busy: usize,
    /// Cores that worked or idled in a shallow state; `None` where idle times by state are not known.
    pub(crate) n_awake: Option<usize>,
    /// Whether every CPU did the same all the time, next to nothing or next to nothing else than work: then nothing that
    /// they did has moved the clock.
    pub(crate) is_steady: bool,
}

/// MPERF counts the bus clock and the TSC a crystal: the two differ by less than this.
pub(crate) const COUNTER_SLACK: f64 = 0.01;

/// The clock of `cpu`, from counters or from the probe.
pub(crate) fn clock(evidence: &Evidence<'_>, cpu: u32, wall_ns: u64) -> Fact<Clock> {
    let counters = by_counters(evidence, cpu, wall_ns);
    counters.or_else(|missing| match evidence.clocks.get(cpu) {
        Some(readings) => by_probe(readings.as_ref()?).ok_or(missing),
        None => Err(missing),
    })
}

/// The highest clock that a probe has seen on any CPU, in the interval or lately.
pub(crate) fn highest_seen(evidence: &Evidence<'_>) -> Option<Hertz> {
    let seen = evidence.clocks.known().flat_map(|(_, readings)| readings).map(|it| it.median);
    seen.chain(evidence.highest_before).max()
}

fn by_counters(evidence: &Evidence<'_>, cpu: u32, wall_ns: u64) -> Fact<Clock> {
    const SOURCE: &str = "APERF / MPERF x TSC rate";
    const MOVES: &str = "a counter that moves while the CPU is busy";
    not_in_a_guest(evidence.interval.host)?;
    let delta = |column| evidence.interval.delta(Family::Clocks, cpu, column);
    let (aperf, mperf, tsc) = (delta("aperf")?, delta("mperf")?, delta("tsc")?);
    if aperf.by == 0 || mperf.by == 0 || tsc.by == 0 {
        let found = format!("{} {} {} more cycles", aperf.by, mperf.by, tsc.by);
        return Err(Missing::malformed(Family::Clocks.source(), &found, MOVES));
    }
    let rate = tsc.per_second();
    let running = Hertz((aperf.by as f64 / mperf.by as f64 * rate) as u64);
    let counted = mperf.by as f64 / rate * 1e9 * wall_ns as f64 / mperf.over_ns as f64;
    Ok(Clock {
        running,
        counted_ns: Some(counted as u64),
        uncertainty: COUNTER_SLACK,
        method: Method::Counter,
        source: SOURCE,
        range: (running, running),
    })
}

/// KVM lets a guest read the counters where it is told to, and they are those of whatever ran on the processor
/// (Documentation/virt/kvm/api.rst, KVM_X86_DISABLE_EXITS_APERFMPERF).
fn not_in_a_guest(host: &HostView) -> Result<(), Missing> {
    host.platform.hides("APERF and MPERF")
}

fn by_probe(readings: &[ClockReading]) -> Option<Clock> {
    let seen = || readings.iter().map(|it| it.median).filter(|it| it.0 > 0);
    let (low, high) = (seen().min()?, seen().max()?);
    let n_seen = seen().count() as f64;
    let mean = seen().map(|it| it.0 as f64 / n_seen).sum::<f64>();
    let own = readings.iter().map(|it| it.spread.max(it.disagreement)).fold(0.0, f64::max);
    Some(Clock {
        running: Hertz(mean as u64),
        counted_ns: None,
        uncertainty: own.max((high.0 - low.0) as f64 / 2.0 / mean),
        method: Method::Probe,
        source: "chain probe",
        range: (low, high),
    })
}
