//! The clock at which a CPU ran a chain of instructions that each need the one before.
//!
//! Such a chain takes one clock cycle per instruction on every core that Linux runs databases on, whatever else the
//! core could do in parallel, so instructions over time is the clock, without any counter or privilege. Time is wall
//! time: phases in which the clock is stopped make the chain slower, as they should.
//!
//! What a window of 0.1 ms can hide: clock modulation stops the clock within periods of 32 us (datasheets of the Xeon
//! 5500 and E5-1600/2600, vol. 1, "TM1"), and the best window is the one with the fewest stops in it. It holds three
//! whole periods, so at a duty `d` it shows at most `1 + 0.32 (1 - d)` times the true clock: 25 % duty reads as at most
//! 31 %, never as full speed. The mean of ten windows comes closer by their number, and windows of 10 ms are within
//! 0.3 %.
//!
//! What it cannot know: a busy sibling thread takes some of the core's cycles, which then reads as a slower clock; and
//! a core that was asleep begins slower than it can run.

use super::TickClock;
use crate::{Fact, Hertz, Missing, Why};

/// Two kinds of instruction, each in two lengths.
const N_SERIES: usize = 4;

/// A window that took this many times the median was held up by something that no counter of the kernel shows: a
/// hypervisor that ran another guest, firmware. Clock modulation varies windows by less (see above).
const HELD_UP: u64 = 2;

/// An interrupt hits one chain of a window and not the others: 0.2 us in the long one is this share of it.
const EVEN: f64 = 0.005;

/// No processor has a clock beyond this; records of overclocking stay below it.
const HIGHEST: Hertz = Hertz(10_000_000_000);

/// Fewer windows make no reading.
const FEWEST_WINDOWS: usize = 3;

/// One timed chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// How many instructions it had.
    pub instructions: u64,
    /// How long it took, in ticks of the CPU's time counter.
    pub ticks: u64,
}

/// Chains of both kinds and both lengths, run without a pause between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The same order in every window.
    pub segments: [Segment; N_SERIES],
    /// What the kernel did to the thread in this window.
    pub disturbed: Option<Disturbance>,
}

/// Why a window says nothing about the CPU's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// Another task ran.
    Switched,
    /// The thread was moved to another CPU.
    Moved,
}

/// The clock of one CPU at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockReading {
    /// The CPU.
    pub cpu: u32,
    /// What the CPU is capable of: the clock in the best window.
    pub best: Hertz,
    /// What a task experiences while nothing interrupts it: the clock in the median window.
    pub median: Hertz,
    /// The clock over all windows together.
    pub mean: Hertz,
    /// How far the windows lie apart: the 90th percentile less the 10th, as a share of the median.
    pub spread: f64,
    /// How far two kinds of instruction in two lengths contradict each other, as a share of the clock. Above some
    /// tenths of a percent something is slower for one of them, and the reading deserves no more trust than that.
    pub disagreement: f64,
    /// How many windows the reading rests on.
    pub windows: u32,
    /// How many were left out because something else ran in them, be it an interrupt.
    pub rejected: u32,
    /// When it was taken, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub at_ns: u64,
    /// How long taking it took, in nanoseconds of wall time: CPU time but for what other tasks took of it.
    pub took_ns: u64,
}

impl ClockReading {
    /// Judges the windows of one sample on `cpu`.
    ///
    /// Windows that an interrupt hit are left out. Where most windows are uneven that is no interrupts but the clock,
    /// as with clock modulation, and all of them count.
    ///
    /// `overhead_ticks` is what timing a chain of no length takes. Missing where less than half of the windows, or
    /// less than three, were left alone by other tasks, and where the clock is none that a processor can have, as in
    /// an emulator.
    pub fn judge(
        cpu: u32,
        windows: &[Window],
        overhead_ticks: u64,
        ticks: &TickClock,
    ) -> Fact<ClockReading> {
        let kept = undisturbed(cpu, windows)?;
        let net = |it: Segment| Segment { ticks: it.ticks.saturating_sub(overhead_ticks), ..it };
        let hertz = |per_tick: f64| Hertz((per_tick * ticks.rate().0 as f64).round() as u64);

        let segments: Vec<[Segment; N_SERIES]> =
            kept.iter().map(|it| it.segments.map(net)).collect();
        let segments = uninterrupted(segments);
        let clocks = sorted(segments.iter().map(|it| clock(sum(*it))));
        let best_of = |series: usize| {
            let all = segments.iter().filter_map(|it| it.get(series).copied());
            all.map(clock).fold(0.0, f64::max)
        };
        possible(cpu, hertz(rank(&clocks, 1.0)))?;
        Ok(ClockReading {
            cpu,
            best: hertz(rank(&clocks, 1.0)),
            median: hertz(rank(&clocks, 0.5)),
            mean: hertz(clock(sum(segments.iter().flatten().copied()))),
            spread: share(rank(&clocks, 0.9) - rank(&clocks, 0.1), rank(&clocks, 0.5)),
            disagreement: disagreement(std::array::from_fn(best_of)),
            windows: count(segments.len()),
            rejected: count(windows.len().saturating_sub(segments.len())),
            at_ns: ticks.started_ns(),
            took_ns: ticks.span_ns(),
        })
    }
}

fn possible(cpu: u32, best: Hertz) -> Fact<()> {
    if best.0 > 0 && best <= HIGHEST {
        return Ok(());
    }
    let what = format!("the clock of CPU {cpu}");
    Err(Missing::malformed(what, &format!("{best}"), "the clock of a processor, at most 10 GHz"))
}

/// The windows in which nothing but the chain and interrupts ran.
fn undisturbed(cpu: u32, windows: &[Window]) -> Fact<Vec<&Window>> {
    let alone: Vec<&Window> = windows.iter().filter(|it| it.disturbed.is_none()).collect();
    let mut lengths: Vec<u64> = alone.iter().map(|it| sum(it.segments).ticks).collect();
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
    let longest = median.saturating_mul(HELD_UP);
    let kept: Vec<&Window> =
        alone.iter().filter(|it| sum(it.segments).ticks <= longest).copied().collect();
    if kept.len() >= FEWEST_WINDOWS && kept.len() * 2 >= windows.len() {
        return Ok(kept);
    }
    let disturbed = |by| windows.iter().filter(|it| it.disturbed == Some(by)).count();
    let text = format!(
        "of {} windows another task ran in {}, the thread changed CPUs in {}, {} were held up: {} are too few",
        windows.len(),
        disturbed(Disturbance::Switched),
        disturbed(Disturbance::Moved),
        alone.len() - kept.len(),
        kept.len(),
    );
    Err(Missing { what: format!("the clock of CPU {cpu}"), why: Why::Failed(text) })
}

/// The windows whose chains all ran at one clock; every window, where those are too few.
fn uninterrupted(windows: Vec<[Segment; N_SERIES]>) -> Vec<[Segment; N_SERIES]> {
    let is_even = |it: &&[Segment; N_SERIES]| disagreement(it.map(clock)) <= EVEN;
    let even: Vec<[Segment; N_SERIES]> = windows.iter().filter(is_even).copied().collect();
    if even.len() >= FEWEST_WINDOWS && even.len() * 2 >= windows.len() { even } else { windows }
}

fn sum(segments: impl IntoIterator<Item = Segment>) -> Segment {
    segments.into_iter().fold(Segment::default(), |sum, it| Segment {
        instructions: sum.instructions.saturating_add(it.instructions),
        ticks: sum.ticks.saturating_add(it.ticks),
    })
}

/// Instructions per tick.
fn clock(segment: Segment) -> f64 {
    segment.instructions as f64 / segment.ticks.max(1) as f64
}

/// How far the highest lies above the lowest, as a share of the highest.
fn disagreement(clocks: [f64; N_SERIES]) -> f64 {
    let highest = clocks.into_iter().fold(0.0, f64::max);
    share(highest - clocks.into_iter().fold(highest, f64::min), highest)
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn sorted(clocks: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut clocks: Vec<f64> = clocks.collect();
    clocks.sort_unstable_by(f64::total_cmp);
    clocks
}

/// The value below which `share` of the sorted `values` lie, by nearest rank; zero where there are none.
pub(super) fn rank<T: Copy + Default>(values: &[T], share: f64) -> T {
    let last = values.len().saturating_sub(1);
    values.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Anchor;

    const OVERHEAD: u64 = 40;

    /// A counter at 2,500 MHz, over 2 ms.
    fn ticks() -> TickClock {
        let anchor = |ticks, raw_ns| Anchor { ticks, slack_ticks: 0, raw_ns };
        TickClock::between(anchor(0, 1000), anchor(5_000_000, 2_001_000)).unwrap()
    }

    /// A window on a CPU that runs at twice the counter's rate.
    fn window(late_ticks: u64) -> Window {
        let segment = |ticks| Segment { instructions: ticks * 2, ticks: ticks + OVERHEAD };
        let mut segments = [30_000, 10_000, 30_000, 10_000].map(segment);
        segments[2].ticks += late_ticks;
        Window { segments, disturbed: None }
    }

    fn judged(windows: &[Window]) -> ClockReading {
        ClockReading::judge(3, windows, OVERHEAD, &ticks()).unwrap()
    }

    fn refusal(windows: &[Window]) -> String {
        ClockReading::judge(3, windows, OVERHEAD, &ticks()).unwrap_err().to_string()
    }

    #[test]
    fn instructions_over_time_is_the_clock() {
        let reading = judged(&[window(0); 10]);
        assert_eq!((reading.best, reading.median), (Hertz::from_mhz(5000), Hertz::from_mhz(5000)));
        assert_eq!((reading.windows, reading.rejected), (10, 0));
        assert_eq!((reading.disagreement, reading.spread), (0.0, 0.0));
        assert_eq!((reading.at_ns, reading.took_ns), (1000, 2_000_000));
    }

    #[test]
    fn where_every_window_but_one_is_uneven_that_is_the_clock_of_the_others() {
        let mut windows = [window(20_000); 10];
        windows[4] = window(0);
        let reading = judged(&windows);
        assert_eq!((reading.best, reading.median), (Hertz::from_mhz(5000), Hertz::from_mhz(4000)));
        assert!(reading.mean > reading.median && reading.mean < reading.best);
        assert_eq!(reading.disagreement, 0.0);
    }

    #[test]
    fn a_kind_of_instruction_that_is_slower_in_every_window_shows_as_disagreement() {
        let disagreement = judged(&[window(300); 10]).disagreement;
        assert!((0.0098..0.0101).contains(&disagreement), "{disagreement}");
    }

    #[test]
    fn windows_with_an_interrupt_are_left_out_of_everything() {
        let mut windows = [window(0); 10];
        windows[..4].fill(window(10_000));
        let reading = judged(&windows);
        assert_eq!((reading.windows, reading.rejected), (6, 4));
        assert_eq!((reading.median, reading.mean), (Hertz::from_mhz(5000), Hertz::from_mhz(5000)));
        assert_eq!((reading.spread, reading.disagreement), (0.0, 0.0));
        windows[..6].fill(window(10_000));
        let reading = judged(&windows);
        assert_eq!((reading.windows, reading.rejected), (10, 0));
        assert!((0.12..0.13).contains(&reading.spread));
    }

    #[test]
    fn a_window_in_which_another_task_ran_is_left_out() {
        let mut windows = [window(0); 10];
        windows[0] = Window { disturbed: Some(Disturbance::Switched), ..window(500_000) };
        windows[9] = Window { disturbed: Some(Disturbance::Moved), ..window(0) };
        let reading = judged(&windows);
        assert_eq!((reading.windows, reading.rejected), (8, 2));
        assert_eq!(reading.mean, Hertz::from_mhz(5000));
    }

    #[test]
    fn a_window_that_a_hypervisor_held_up_is_left_out_without_the_kernels_word() {
        let mut windows = [window(0); 10];
        windows[5] = window(200_000);
        let reading = judged(&windows);
        assert_eq!((reading.windows, reading.rejected), (9, 1));
        assert_eq!(reading.mean, Hertz::from_mhz(5000));
    }

    #[test]
    fn too_few_windows_make_no_reading_and_say_why() {
        let mut windows = [window(0); 10];
        windows[..6].fill(Window { disturbed: Some(Disturbance::Switched), ..window(0) });
        assert_eq!(
            refusal(&windows),
            "the clock of CPU 3 cannot be read: of 10 windows another task ran in 6, the thread changed CPUs in 0, \
             0 were held up: 4 are too few"
        );
        assert!(refusal(&[]).contains("of 0 windows"));
    }

    #[test]
    fn a_clock_that_no_processor_has_is_no_reading() {
        // What an emulator does: timing a chain of no length takes as long as timing any other.
        let segment = Segment { instructions: 100_000, ticks: OVERHEAD };
        let impossible = Window { segments: [segment; N_SERIES], disturbed: None };
        assert!(
            refusal(&[impossible; 4]).contains("at most 10 GHz"),
            "{}",
            refusal(&[impossible; 4])
        );
        assert!(refusal(&[Window::default(); 4]).contains("at most 10 GHz"));
    }
}
