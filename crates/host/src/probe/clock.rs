//! The clock probe: times chains of dependent instructions on the calling thread's CPU.
//!
//! A window runs two kinds of chain, each long and short, one after the other, so that what they disagree on is the
//! probe's fault and not the CPU's. How the windows are judged, and what they cannot show, is in
//! `facts::probe::ClockReading`.

use super::arch::{self, ADDS, BLOCK, Chain, XORS};
use super::rusage;
use crate::clock::raw_ns;
use facts::probe::{Anchor, ClockReading, Disturbance, Segment, TickClock, Window};
use facts::{Fact, Missing};
use std::time::Duration;

/// How long to look, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// The length of one window, as far as the clock can be foreseen; from 10 us to 1 s.
    pub length: Duration,
    /// How many windows; up to 10,000.
    pub count: u32,
}

impl Windows {
    /// Ten windows of 0.1 ms: a reading in 1.1 ms.
    pub const SHORT: Windows = Windows { length: Duration::from_micros(100), count: 10 };
    /// Five windows of 10 ms, hundreds of periods of clock modulation each: a reading in 50 ms, for a CPU that is
    /// otherwise idle.
    pub const LONG: Windows = Windows { length: Duration::from_millis(10), count: 5 };
}

/// Reads the clock of the CPU that the calling thread runs on; the thread must be pinned to it
/// ([`super::pinned`]).
///
/// Takes the windows' time and some 0.05 ms more of the CPU. Errors: this processor has no chain; too many windows
/// were disturbed by other tasks, a move to another CPU or a hypervisor; the time counter does not move.
pub fn clock(windows: Windows) -> Fact<ClockReading> {
    let (Some(adds), Some(xors)) = (ADDS, XORS) else {
        let because =
            format!("fullclock knows no one-cycle instruction of {}", std::env::consts::ARCH);
        return Err(Missing::not_here("clock by a chain of instructions", because));
    };
    let cpu = current_cpu();
    let first = anchor();
    let overhead_ticks = overhead(adds).min(overhead(xors));
    let pilot = fastest(adds, PILOT_BLOCKS);
    let rough = TickClock::between(first, anchor())?;
    let length = windows.length.clamp(Duration::from_micros(10), Duration::from_secs(1));
    let ticks = rough.ticks_in(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX));
    // An eighth of a window each for the short chains, three for the long ones.
    let short = (ticks / 8).saturating_mul(PILOT_BLOCKS) / pilot.max(1);
    let long = short.saturating_mul(3);
    let plan = [(adds, long), (xors, short), (xors, long), (adds, short)];

    let mut taken = Vec::with_capacity(windows.count.min(10_000) as usize);
    for _ in 0..windows.count.min(10_000) {
        taken.push(window(cpu, plan)?);
    }
    let ticks = TickClock::between(first, anchor())?;
    ClockReading::judge(cpu, &taken, overhead_ticks, &ticks)
}

/// Some microseconds: long enough for a counter of 25 MHz to show, short enough to cost nothing.
const PILOT_BLOCKS: u64 = 16;

/// What timing a chain of no length takes: reading the counter twice and leaving the loop.
fn overhead(chain: Chain) -> u64 {
    (2 * fastest(chain, 1)).saturating_sub(fastest(chain, 2))
}

/// The shortest of eight runs, in ticks: what no interrupt touched.
fn fastest(chain: Chain, blocks: u64) -> u64 {
    (0..8).map(|_| segment(chain, blocks).ticks).min().unwrap_or_default()
}

fn window(cpu: u32, plan: [(Chain, u64); 4]) -> Fact<Window> {
    let before = rusage::switches()?;
    let segments = plan.map(|(chain, blocks)| segment(chain, blocks));
    let disturbed = if current_cpu() != cpu {
        Some(Disturbance::Moved)
    } else if rusage::switches()? != before {
        Some(Disturbance::Switched)
    } else {
        None
    };
    Ok(Window { segments, disturbed })
}

/// Never inlined: a loop over it that the compiler unrolls would run code of its own each time, and the shortest of eight first
/// runs is no short one: where an emulator translates each anew, they were seen to take 14,000 ticks instead of 540.
#[inline(never)]
fn segment(chain: Chain, blocks: u64) -> Segment {
    let before = arch::now_in_order();
    chain(blocks);
    let ticks = arch::now_in_order().saturating_sub(before);
    Segment { instructions: blocks.max(1).saturating_mul(BLOCK), ticks }
}

fn current_cpu() -> u32 {
    u32::try_from(rustix::thread::sched_getcpu()).unwrap_or(u32::MAX)
}

/// The tightest of this many tries counts: an interrupt between two readings spoils one of them, not eight.
const N_TRIES: u32 = 8;

/// Reads the time counter of the CPU and CLOCK_MONOTONIC_RAW as one moment, within some tens of nanoseconds where the clock is read without a system call (vDSO; Linux 5.3 for this
/// clock). Takes under 1 us there, some microseconds elsewhere.
pub fn anchor() -> Anchor {
    let tries = (0..N_TRIES).map(|_| {
        let before = arch::now_in_order();
        let raw_ns = raw_ns();
        let after = arch::now_in_order();
        let slack_ticks = after.saturating_sub(before);
        Anchor { ticks: before.saturating_add(slack_ticks / 2), slack_ticks, raw_ns }
    });
    let none = Anchor { ticks: 0, slack_ticks: u64::MAX, raw_ns: 0 };
    tries.fold(none, |best, it| if it.slack_ticks < best.slack_ticks { it } else { best })
}

#[cfg(test)]
mod tests {
    use super::super::{affinity, pinned};
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn last_cpu() -> u32 {
        affinity::allowed().unwrap().last().unwrap()
    }

    /// The reading, or on a machine too busy to take one a line that says so.
    #[expect(clippy::print_stdout, reason = "says that a test was skipped")]
    fn reading(windows: Windows) -> Option<ClockReading> {
        let attempts = (0..20).map(|_| pinned(last_cpu(), || clock(windows)).unwrap());
        let reading = attempts.into_iter().find_map(Result::ok);
        if reading.is_none() {
            println!("skipped: this machine is too busy");
        }
        reading
    }

    #[test]
    fn a_clock_is_one_that_a_cpu_can_have() {
        let Some(reading) = reading(Windows::SHORT) else { return };
        // Emulators run the chain at some tens of MHz; no core has reached 10 GHz.
        assert!((10..10_000).contains(&(reading.best.khz() / 1000)), "{reading:?}");
        assert!(reading.best >= reading.median, "{reading:?}");
        assert_eq!(reading.cpu, last_cpu());
        assert_eq!(reading.windows + reading.rejected, Windows::SHORT.count);
    }

    /// A task that wants the same CPU gets it within the windows' 200 ms.
    #[test]
    fn a_reading_while_a_competitor_ran_is_refused() {
        let (ready, stop) = (Barrier::new(2), AtomicBool::new(false));
        let compete = || {
            ready.wait();
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let refused = std::thread::scope(|scope| {
            let rival = scope.spawn(|| pinned(last_cpu(), compete));
            ready.wait();
            let reading = pinned(last_cpu(), || clock(Windows { count: 20, ..Windows::LONG }));
            stop.store(true, Ordering::Relaxed);
            rival.join().unwrap().unwrap();
            reading.unwrap().unwrap_err().to_string()
        });
        assert!(!refused.contains("another task ran in 0,"), "{refused}");
    }

    #[test]
    fn no_windows_make_no_reading() {
        let none = Windows { count: 0, ..Windows::SHORT };
        assert!(pinned(last_cpu(), || clock(none)).unwrap().is_err());
    }

    #[test]
    fn two_anchors_make_a_clock() {
        let first = anchor();
        std::thread::sleep(Duration::from_millis(2));
        let clock = TickClock::between(first, anchor()).unwrap();
        assert!(clock.span_ns() >= 1_000_000);
        // The slowest generic timer of an Arm server ticks at 25 MHz, the fastest TSC well below 10 GHz.
        assert!((1..10_000).contains(&(clock.rate().khz() / 1000)), "{}", clock.rate());
    }
}
