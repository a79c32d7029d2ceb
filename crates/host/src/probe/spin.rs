//! The gap probe: a loop that reads the CPU's time counter and notes every step above the floor.
//!
//! Between two readings nothing is allocated, no memory is touched for the first time and no system call is made, so
//! what makes a step long is not the probe. The floor is calibrated at the start, on this CPU, from ordinary steps.

use super::{anchor, arch, pinned, rusage};
use crate::process;
use facts::probe::{Anchor, Gap, Gaps, NotKept, TickClock};
use facts::{CpuSet, Fact, Missing, PerCpu, Why};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

/// How long to watch, and for how many gaps there is room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// From the first reading; a spinner that is not on the CPU at that moment ends when it is again.
    pub length: Duration,
    /// Gaps that are kept, 16 bytes each; those behind them are only counted, and short ones behind half of them.
    pub room: usize,
}

/// Nothing of the kernel's takes less, so that shorter gaps leave room for what can be explained: on some processors and
/// under some hypervisors there are tens of thousands of them a second.
const SHORT_NS: u64 = 500;

/// Watches the CPU that the calling thread runs on, until the time is over or `stop` is set; the thread must be pinned
/// to that CPU ([`super::pinned`]).
///
/// Occupies the CPU all the while. Errors: the time counter stands still or jumps back; the thread was moved to another
/// CPU.
pub fn spin(watch: Watch, stop: &AtomicBool) -> Fact<Gaps> {
    let cpu = rustix::thread::sched_getcpu();
    let mut log = Log::with_room(watch.room);
    let calibrating = anchor();
    let floor = floor();
    let rough = TickClock::between(calibrating, anchor())?;
    log.short = rough.ticks_in(SHORT_NS);
    let length_ns = u64::try_from(watch.length.as_nanos()).unwrap_or(u64::MAX);

    let before = rusage::switches()?;
    let first = anchor();
    let start = arch::now_in_order();
    let end = start.saturating_add(rough.ticks_in(length_ns));
    let (reads, ended) = read_until(start, end, floor, stop, &mut log);
    let last = anchor();
    let switches = rusage::switches()?.saturating_sub(before);

    let what = || format!("the time line of CPU {cpu}");
    if rustix::thread::sched_getcpu() != cpu {
        let text = "the thread was moved to another CPU".to_owned();
        return Err(Missing { what: what(), why: Why::Failed(text) });
    }
    let Some(ended) = ended else {
        let text = "the CPU's time counter jumped back".to_owned();
        return Err(Missing { what: what(), why: Why::Failed(text) });
    };
    let ticks = TickClock::between(first, last)?;
    let (gaps, not_kept) = log.in_ns(&ticks);
    Ok(Gaps {
        cpu: u32::try_from(cpu).unwrap_or(u32::MAX),
        thread: rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs(),
        started_ns: ticks.at_ns(start),
        ended_ns: ticks.at_ns(ended),
        reads,
        floor_ns: ticks.length_ns(floor),
        slack_ns: slack_ns(&ticks, first, last),
        switches,
        gaps,
        not_kept,
    })
}

/// The same on several CPUs at once, with a spinner pinned to each.
///
/// Returns when the last one has ended. Errors are each CPU's own; besides those of [`spin`], that the CPU is offline
/// or outside of this process's cpuset.
pub fn spin_on(cpus: &CpuSet, watch: Watch, stop: &AtomicBool) -> PerCpu<Gaps> {
    let spinner = |cpu| pinned(cpu, || spin(watch, stop)).flatten();
    std::thread::scope(|scope| {
        let what = |cpu| format!("the time line of CPU {cpu}");
        let start = |cpu| {
            let name = format!("spinner/{cpu}");
            (cpu, process::scoped_thread(scope, &name, what(cpu), move || spinner(cpu)))
        };
        let started: Vec<_> = cpus.iter().map(start).collect();
        let ended = started.into_iter().map(|(cpu, spinner)| {
            let gaps = match spinner.map(ScopedJoinHandle::join) {
                Ok(Ok(gaps)) => gaps,
                Ok(Err(_panic)) => {
                    let why = Why::Failed("the spinner panicked".to_owned());
                    Err(Missing { what: what(cpu), why })
                }
                Err(missing) => Err(missing),
            };
            (cpu, gaps)
        });
        ended.collect()
    })
}

/// Reads the counter until it passes `end`. How often, and the last reading: `None` where the counter jumped back.
#[inline(never)]
fn read_until(
    start: u64,
    end: u64,
    floor: u64,
    stop: &AtomicBool,
    log: &mut Log,
) -> (u64, Option<u64>) {
    let (mut last, mut reads) = (start, 0u64);
    while last < end && !stop.load(Ordering::Relaxed) {
        let now = arch::now();
        reads += 1;
        match now.checked_sub(last) {
            Some(step) if step <= floor => {}
            Some(step) => log.note(last, step),
            // Readings are not ordered with each other; two next to each other may change places.
            None if last - now <= floor => continue,
            None => return (reads, None),
        }
        last = now;
    }
    (reads, Some(last))
}

/// Steps up to this many ticks are ordinary.
///
/// Four times the median and twice the 99th percentile: whatever interrupts come are far fewer than one step in a
/// hundred, and a core that slows to half its clock still steps below the floor. A counter that ticks more slowly than
/// it is read has steps of 0 and 1, and a floor of 2.
fn floor() -> u64 {
    /// A millisecond of steps, less where the counter is quick to read.
    const N_STEPS: usize = 1 << 16;
    let mut steps = vec![1u64; N_STEPS];
    let mut last = arch::now();
    for step in &mut steps {
        let now = arch::now();
        *step = now.saturating_sub(last);
        last = now;
    }
    steps.sort_unstable();
    let at = |index: usize| steps.get(index).copied().unwrap_or_default();
    (4 * at(N_STEPS / 2)).max(2 * at(N_STEPS / 100 * 99)).max(2)
}

/// Where gaps are noted, in ticks: memory that has been written before.
struct Log {
    kept: Vec<Gap>,
    n_kept: usize,
    not_kept: NotKept,
    /// Gaps below this many ticks get half of the room.
    short: u64,
}

impl Log {
    fn with_room(room: usize) -> Log {
        // Anything but zeros: memory of zeros comes from the kernel untouched, and faults when it is first used.
        let untouched = Gap { at_ns: u64::MAX, length_ns: u64::MAX };
        Log { kept: vec![untouched; room], n_kept: 0, not_kept: NotKept::default(), short: 0 }
    }

    /// Notes a step of `length` ticks behind the reading `at`.
    fn note(&mut self, at: u64, length: u64) {
        let is_full = length < self.short && self.n_kept >= self.kept.len() / 2;
        match self.kept.get_mut(self.n_kept) {
            Some(place) if !is_full => {
                *place = Gap { at_ns: at, length_ns: length };
                self.n_kept += 1;
            }
            _ => {
                self.not_kept.count += 1;
                self.not_kept.total_ns = self.not_kept.total_ns.saturating_add(length);
            }
        }
    }

    fn in_ns(mut self, ticks: &TickClock) -> (Vec<Gap>, NotKept) {
        self.kept.truncate(self.n_kept);
        for gap in &mut self.kept {
            *gap = Gap { at_ns: ticks.at_ns(gap.at_ns), length_ns: ticks.length_ns(gap.length_ns) };
        }
        self.kept.shrink_to_fit();
        let total_ns = ticks.length_ns(self.not_kept.total_ns);
        (self.kept, NotKept { total_ns, ..self.not_kept })
    }
}

fn slack_ns(ticks: &TickClock, first: Anchor, last: Anchor) -> u64 {
    ticks.length_ns(first.slack_ticks.max(last.slack_ticks) / 2).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::super::affinity;
    use super::*;

    fn watched(length: Duration, room: usize, stop: &AtomicBool) -> Gaps {
        let cpu = affinity::allowed().unwrap().last().unwrap();
        pinned(cpu, || spin(Watch { length, room }, stop)).unwrap().unwrap()
    }

    #[test]
    fn gaps_lie_in_order_within_the_time_watched_and_above_the_floor() {
        let seen = watched(Duration::from_millis(30), 10_000, &AtomicBool::new(false));
        assert!(seen.wall_ns() >= 29_000_000, "{seen:?}");
        assert!(seen.reads > 1000 && seen.floor_ns > 0, "{seen:?}");
        assert!(seen.total_ns() <= seen.wall_ns(), "{seen:?}");
        let follows = |pair: &[Gap]| pair[0].end_ns() <= pair[1].at_ns + 1;
        assert!(seen.gaps.windows(2).all(follows), "{seen:?}");
        for gap in &seen.gaps {
            assert!(gap.length_ns >= seen.floor_ns, "{gap:?}");
            assert!(gap.at_ns >= seen.started_ns && gap.end_ns() <= seen.ended_ns + 1, "{gap:?}");
        }
    }

    #[test]
    fn a_stopped_watch_ends_before_its_time() {
        let seen = watched(Duration::from_secs(3600), 0, &AtomicBool::new(true));
        assert_eq!((seen.reads, seen.count(), seen.wall_ns()), (0, 0, 0));
    }

    #[test]
    fn every_cpu_has_a_spinner_of_its_own_or_a_reason() {
        let cpus: CpuSet = affinity::allowed().unwrap().iter().chain([8191]).collect();
        let watch = Watch { length: Duration::from_millis(5), room: 100 };
        let seen = spin_on(&cpus, watch, &AtomicBool::new(false));
        for (cpu, gaps) in seen.iter() {
            match gaps {
                Ok(gaps) => assert_eq!(gaps.cpu, cpu),
                Err(missing) => assert_eq!(cpu, 8191, "{missing}"),
            }
        }
        assert_eq!(seen.iter().count(), cpus.len());
    }

    #[test]
    fn gaps_without_room_are_counted_and_their_time_is_kept() {
        let mut log = Log::with_room(1);
        log.note(100, 10);
        log.note(200, 20);
        log.note(300, 30);
        let (gaps, not_kept) = log.in_ns(&two_ns_a_tick());
        assert_eq!(gaps, [Gap { at_ns: 200, length_ns: 20 }]);
        assert_eq!(not_kept, NotKept { count: 2, total_ns: 100 });
    }

    #[test]
    fn short_gaps_leave_half_of_the_room_to_long_ones() {
        let mut log = Log { short: 250, ..Log::with_room(4) };
        [(10, 20), (40, 20), (70, 20), (100, 300), (500, 20), (600, 400)]
            .into_iter()
            .for_each(|(at, length)| log.note(at, length));
        let (gaps, not_kept) = log.in_ns(&two_ns_a_tick());
        let lengths: Vec<u64> = gaps.iter().map(|it| it.length_ns).collect();
        assert_eq!(lengths, [40, 40, 600, 800]);
        assert_eq!(not_kept, NotKept { count: 2, total_ns: 80 });
    }

    fn two_ns_a_tick() -> TickClock {
        let anchor = |at| Anchor { ticks: at, slack_ticks: 0, raw_ns: 2 * at };
        TickClock::between(anchor(0), anchor(1000)).unwrap()
    }
}
