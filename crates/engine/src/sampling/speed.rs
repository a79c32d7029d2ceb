//! How fast an idle CPU is once it works: what a machine that nobody uses tells of its clock.
//!
//! A chain of one-cycle instructions of which each needs the one before (`host::probe::clock`) keeps an idle CPU busy for 50 ms: long
//! enough for every governor to give it a clock, and for hundreds of periods of clock modulation. The median of five windows counts,
//! so the first, in which the clock may still rise, does not. Packages take turns, and so do the CPUs of each. Where a CPU is below the
//! nominal clock, two more of its package are probed, and the middle one counts: a CPU that is slow for a reason of its own does not make
//! the machine slow.

use crate::clock::now;
use crate::measure::costs::open_to_us;
use facts::probe::{Anchor, ClockReading, TickClock};
use facts::{CpuSet, Fact, Hertz, HostView};
use host::probe::{Windows, anchor, clock, pinned};
use rules::interval::Interval;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Probes take this part of one CPU at most: after one of 50 ms there is none for 500 s, after three there is none for 1500 s.
const MOST_OF_A_CPU: f64 = 0.0001;

/// Where a CPU cannot be probed, the next is tried no sooner.
const AGAIN: Duration = Duration::from_secs(60);

/// What was seen is forgotten after so many times the wait: no CPU of that package was idle since.
const FORGOTTEN_AFTER: u32 = 4;

/// A CPU is idle that was busy for less of the interval, in percent, as were all of its core.
const IDLE: f64 = 5.0;

/// So many CPUs are probed where the first is low.
const PROBED: usize = 3;

/// What is below this share of the nominal clock is low: a chain at that clock is a percent slower, for its loop and the kernel's tick.
const LOW: f64 = 0.97;

/// Probes idle CPUs, seldom.
pub struct SpeedProbe {
    is_on: bool,
    due: Instant,
    wait: Duration,
    seen: BTreeMap<u32, Seen>,
}

/// What was seen of a package.
struct Seen {
    clock: Hertz,
    at: Instant,
    /// The CPU that was probed last.
    last: u32,
}

/// What a few probes came to.
#[derive(Debug, PartialEq)]
struct Probed {
    clock: Hertz,
    /// How long all of them took.
    took: Duration,
    /// The CPU that was probed last.
    last: u32,
}

impl SpeedProbe {
    /// One that is due at once, or never.
    pub fn new(is_on: bool) -> SpeedProbe {
        SpeedProbe { is_on, due: now(), wait: AGAIN, seen: BTreeMap::new() }
    }

    /// Probes a package with CPUs that were idle in the interval, where that is due: the one that was seen longest ago, or never. Takes 50
    /// ms then, and three times as long where the clock is below the `nominal` one.
    pub fn look(&mut self, interval: &Interval, nominal: Option<Hertz>) {
        if !self.is_on || self.due > now() {
            return;
        }
        self.due = now() + AGAIN;
        let packages = packages(interval);
        let seen = |package: &u32| self.seen.get(package).map(|it| it.at);
        if let Some(package) = packages.keys().copied().min_by_key(seen) {
            self.look_at(package, &packages, nominal);
        }
    }

    /// Probes every package with CPUs that were idle in the interval.
    pub fn look_everywhere(&mut self, interval: &Interval, nominal: Option<Hertz>) {
        let packages = packages(interval);
        packages.keys().for_each(|it| self.look_at(*it, &packages, nominal));
    }

    fn look_at(&mut self, package: u32, packages: &Packages, nominal: Option<Hertz>) {
        let idle = packages.get(&package).map(Vec::as_slice).unwrap_or_default();
        // Those after the last one, which is where it goes on.
        let last = self.seen.get(&package).map(|it| it.last);
        let next = idle.partition_point(|cpu| last.is_some_and(|last| *cpu <= last));
        let (before, from) = idle.split_at(next);
        if let Some(Probed { clock, took, last }) = probed(&[from, before].concat(), nominal, probe)
        {
            self.wait = took.div_f64(MOST_OF_A_CPU);
            self.due = now() + self.wait;
            self.seen.insert(package, Seen { clock, at: now(), last });
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

/// Idle CPUs that may be probed, in order, by their packages.
type Packages = BTreeMap<u32, Vec<u32>>;

fn packages(interval: &Interval) -> Packages {
    let idle = idle(interval.host, &busy(interval));
    let mut packages = Packages::new();
    for cpu in open_to_us(interval.host, &idle).unwrap_or_default().iter() {
        packages.entry(interval.host.topology.package_leader(cpu)).or_default().push(cpu);
    }
    packages
}

/// The clock of the first of these CPUs; where that is low, the middle one of the first three, or the higher of two. `None` where none of
/// the first three can be probed.
fn probed(
    cpus: &[u32],
    nominal: Option<Hertz>,
    mut probe: impl FnMut(u32) -> Fact<ClockReading>,
) -> Option<Probed> {
    let (mut clocks, mut took, mut last) = (Vec::new(), Duration::ZERO, 0);
    for &cpu in cpus.iter().take(PROBED) {
        let Ok(reading) = probe(cpu) else { continue };
        clocks.push(reading.median);
        took += Duration::from_nanos(reading.took_ns);
        last = cpu;
        let is_low = nominal.is_some_and(|it| reading.median.share_of(it) < LOW);
        if clocks.len() == 1 && !is_low {
            break;
        }
    }
    clocks.sort_unstable();
    Some(Probed { clock: *clocks.get(clocks.len() / 2)?, took, last })
}

/// Probes one CPU for 50 ms.
fn probe(cpu: u32) -> Fact<ClockReading> {
    pinned(cpu, || clock(Windows::LONG))?
}

/// The share of the interval in which each CPU was busy, in percent; none where that is unknown.
fn busy(interval: &Interval) -> BTreeMap<u32, f64> {
    let shares = rules::metrics::busy_shares(interval).unwrap_or_default();
    shares.known().map(|(cpu, share)| (cpu, *share)).collect()
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
        probe.look(&Interval { host: &host, before: &counters, after: &counters }, None);
        assert!(probe.slowest().is_none() && probe.seen.is_empty());
    }

    /// Probes of CPUs with these clocks in MHz, 0 being one that cannot be probed; and the CPUs that were.
    fn probed_of(mhz: &[u64], nominal: Option<u64>) -> (Option<u64>, Vec<u32>) {
        let cpus: Vec<u32> = (0..).take(mhz.len()).collect();
        let mut asked = Vec::new();
        let probe = |cpu: u32| {
            asked.push(cpu);
            let clock = Hertz(mhz[cpu as usize] * 1_000_000);
            if clock.0 == 0 {
                return Err(facts::Missing::absent("a clock"));
            }
            Ok(ClockReading {
                cpu,
                best: clock,
                median: clock,
                mean: clock,
                spread: 0.0,
                disagreement: 0.0,
                windows: 5,
                rejected: 0,
                at_ns: 0,
                took_ns: 50_000_000,
            })
        };
        let found = probed(&cpus, nominal.map(|it| Hertz(it * 1_000_000)), probe);
        let n_probed = asked.iter().filter(|cpu| mhz[**cpu as usize] > 0).count() as u32;
        if let Some(found) = &found {
            assert_eq!(found.took, Duration::from_millis(50) * n_probed);
        }
        (found.map(|it| it.clock.0 / 1_000_000), asked)
    }

    #[test]
    fn one_slow_cpu_makes_no_slow_machine_and_one_that_is_not_slow_is_enough() {
        assert_eq!(probed_of(&[3000, 700, 700], Some(2500)), (Some(3000), vec![0]));
        assert_eq!(probed_of(&[700, 3000, 3100, 9], Some(2500)), (Some(3000), vec![0, 1, 2]));
        assert_eq!(probed_of(&[700, 690, 3100], Some(2500)), (Some(700), vec![0, 1, 2]));
        assert_eq!(probed_of(&[700, 3000], Some(2500)), (Some(3000), vec![0, 1]));
        assert_eq!(probed_of(&[700], Some(2500)), (Some(700), vec![0]));
        assert_eq!(probed_of(&[0, 3000, 700], Some(2500)), (Some(3000), vec![0, 1]));
        assert_eq!(probed_of(&[0, 0, 0, 3000], Some(2500)), (None, vec![0, 1, 2]));
        assert_eq!(probed_of(&[700, 3000], None), (Some(700), vec![0]), "nothing says what is low");
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
            last: 0,
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
