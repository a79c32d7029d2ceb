//! How fast an idle CPU is once it works: what a machine that nobody uses tells of its clock.
//!
//! A chain of one-cycle instructions of which each needs the one before (`host::probe::clock`) keeps an idle CPU busy for 50 ms: long
//! enough for every governor to give it a clock, and for hundreds of periods of clock modulation. The median of five windows counts,
//! so the first, in which the clock may still rise, does not. CPUs of all packages take turns.

use crate::clock::now;
use crate::measure::costs::open_to_us;
use facts::probe::{Anchor, ClockReading, TickClock};
use facts::{CpuSet, Fact, Hertz, HostView, PerCpu};
use host::probe::{Windows, anchor, clock, pinned};
use rules::interval::Interval;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A probe takes this part of one CPU at most: after one of 50 ms there is none for 500 s.
const MOST_OF_A_CPU: f64 = 0.0001;

/// Where a CPU cannot be probed, the next is tried no sooner.
const AGAIN: Duration = Duration::from_secs(60);

/// What was seen is forgotten after so many times the wait: no CPU of that package was idle since.
const FORGOTTEN_AFTER: u32 = 4;

/// A CPU is idle that was busy for less of the interval, in percent, as were all of its core.
const IDLE: f64 = 5.0;

/// Probes idle CPUs, seldom.
pub struct SpeedProbe {
    is_on: bool,
    due: Instant,
    wait: Duration,
    seen: BTreeMap<u32, Seen>,
}

struct Seen {
    clock: Hertz,
    at: Instant,
}

impl SpeedProbe {
    /// One that is due at once, or never.
    pub fn new(is_on: bool) -> SpeedProbe {
        SpeedProbe { is_on, due: now(), wait: AGAIN, seen: BTreeMap::new() }
    }

    /// Probes a CPU that was idle in the interval, where that is due; takes 50 ms then.
    pub fn look(&mut self, interval: &Interval) {
        if !self.is_on || self.due > now() {
            return;
        }
        self.due = now() + AGAIN;
        let idle = idle(interval.host, &busy(interval));
        // The package that was seen longest ago, or never.
        let package = |cpu: u32| interval.host.topology.package_leader(cpu);
        let open = open_to_us(interval.host, &idle).unwrap_or_default();
        let Some(cpu) = open.iter().min_by_key(|cpu| self.seen.get(&package(*cpu)).map(|it| it.at))
        else {
            return;
        };
        if let Ok(reading) = probe(cpu) {
            let took = Duration::from_nanos(reading.took_ns);
            self.wait = took.div_f64(MOST_OF_A_CPU);
            self.due = now() + self.wait;
            self.seen.insert(package(cpu), Seen { clock: reading.median, at: now() });
        }
    }

    /// The clock of the slowest package, of those that were seen lately.
    pub fn slowest(&self) -> Option<Hertz> {
        let packages = u32::try_from(self.seen.len()).unwrap_or(u32::MAX);
        let oldest = self.wait.saturating_mul(packages.saturating_mul(FORGOTTEN_AFTER));
        let lately = self.seen.values().filter(|it| it.at.elapsed() <= oldest);
        lately.map(|it| it.clock).min()
    }
}

/// Probes one CPU for 50 ms.
fn probe(cpu: u32) -> Fact<ClockReading> {
    pinned(cpu, || clock(Windows::LONG))?
}

/// The share of the interval in which each CPU was busy, in percent; none where that is unknown.
fn busy(interval: &Interval) -> BTreeMap<u32, f64> {
    let metric = rules::metrics::find("busy");
    let series = metric.and_then(|it| (it.measure)(interval).ok()).unwrap_or_default();
    let rows = series.first().and_then(|it| it.values.rows());
    rows.into_iter().flat_map(PerCpu::known).map(|(cpu, share)| (cpu, *share)).collect()
}

/// The CPUs of cores of which no thread was busy.
fn idle(host: &HostView, busy: &BTreeMap<u32, f64>) -> CpuSet {
    let is_idle = |cpu: u32| busy.get(&cpu).is_some_and(|share| *share < IDLE);
    // A sibling that is offline has no share, and disturbs nobody.
    let is_busy = |cpu: u32| busy.get(&cpu).is_some_and(|share| *share >= IDLE);
    let cpus = busy.keys().copied().filter(|cpu| is_idle(*cpu));
    cpus.filter(|cpu| !host.topology.core_of(*cpu).iter().any(is_busy)).collect()
}

/// The clock that others are compared with.
pub struct Yardstick {
    nominal: Option<Hertz>,
    first: Anchor,
}

/// The time-stamp counter is timed over so many nanoseconds at least.
const SPAN_NS: u64 = 20_000_000;

impl Yardstick {
    /// That of a host: its nominal clock, where something names it.
    pub fn of(host: &HostView) -> Yardstick {
        Yardstick { nominal: host.nominal_clock().map(|it| it.0), first: anchor() }
    }

    /// The nominal clock; where nothing names it, the rate of the time-stamp counter on x86, which is about that: measured since
    /// this was made, and so not known at once.
    pub fn clock(&mut self) -> Option<Hertz> {
        if self.nominal.is_none() && cfg!(target_arch = "x86_64") {
            let ticks = TickClock::between(self.first, anchor()).ok();
            self.nominal = ticks.filter(|it| it.span_ns() >= SPAN_NS).map(|it| it.rate());
        }
        self.nominal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_whose_sibling_is_busy_is_not_idle() {
        let cores = "//- /sys/devices/system/cpu/online\n0-3\n\
                     //- /sys/devices/system/cpu/cpu0/topology/core_cpus_list\n0,2\n\
                     //- /sys/devices/system/cpu/cpu1/topology/core_cpus_list\n1,3\n";
        let host = host::view(&host::Captured::excerpt(cores).unwrap());
        let shares = |text: [f64; 4]| (0..4).zip(text).collect::<BTreeMap<u32, f64>>();
        assert_eq!(idle(&host, &shares([0.0, 1.0, 60.0, 4.9])).to_string(), "1,3");
        assert_eq!(idle(&host, &shares([5.0, 50.0, 0.0, 0.0])).to_string(), "");
    }

    #[test]
    fn a_probe_that_is_off_sees_nothing() {
        let mut probe = SpeedProbe::new(false);
        let host = host::view(&host::Captured::excerpt("").unwrap());
        let counters = facts::counters::Counters::unread();
        probe.look(&Interval { host: &host, before: &counters, after: &counters });
        assert!(probe.slowest().is_none() && probe.seen.is_empty());
    }

    #[test]
    fn after_a_probe_there_is_none_for_ten_thousand_times_as_long() {
        let took = Duration::from_millis(50);
        assert_eq!(took.div_f64(MOST_OF_A_CPU), Duration::from_secs(500));
    }

    #[test]
    fn the_slowest_package_counts_and_what_is_old_does_not() {
        let mut probe = SpeedProbe::new(true);
        probe.wait = Duration::from_secs(1);
        let seen = |mhz: u64, ago: u64| Seen {
            clock: Hertz(mhz * 1_000_000),
            at: now() - Duration::from_secs(ago),
        };
        probe.seen = BTreeMap::from([(0, seen(3000, 0)), (1, seen(800, 2)), (2, seen(400, 60))]);
        assert_eq!(probe.slowest(), Some(Hertz(800_000_000)));
    }

    #[test]
    fn on_x86_there_is_a_yardstick_even_where_nothing_names_the_nominal_clock() {
        let host = host::view(&host::Captured::excerpt("").unwrap());
        let mut yardstick = Yardstick::of(&host);
        std::thread::sleep(Duration::from_millis(30));
        let clock = yardstick.clock();
        assert_eq!(clock.is_some(), cfg!(target_arch = "x86_64"));
        assert_eq!(clock, yardstick.clock());
    }
}
