//! Gaps in the time line of a spinning thread, and what single events cost.
//!
//! A thread that only reads the time counter of its CPU sees it advance by a few nanoseconds per step. A larger
//! step is time in which something else had the CPU: an interrupt, another task, the firmware, the hypervisor. The
//! spinner does not know which.
//!
//! The cost of an event is its whole gap: entry and exit of the kernel, which no tracepoint sees, and the softirqs
//! that run before the interrupted task continues. It is a mean over the events of a short time.

use super::clock::rank;
use crate::trace::Cause;
use crate::{Fact, Missing};

/// A gap: one step above the floor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// When it began: the last reading before it, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub at_ns: u64,
    /// How long it lasted, in nanoseconds. An ordinary step, tens of nanoseconds, is part of it.
    pub length_ns: u64,
}

impl Gap {
    /// When it ended, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub fn end_ns(&self) -> u64 {
        self.at_ns.saturating_add(self.length_ns)
    }
}

/// Gaps for which there was no room: counted, without their positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotKept {
    /// The number of gaps.
    pub count: u64,
    /// Their total length, in nanoseconds.
    pub total_ns: u64,
}

/// The gaps of one spinner on one CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// The CPU it was pinned to.
    pub cpu: u32,
    /// The spinner's thread id.
    pub thread: u32,
    /// The first reading, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub started_ns: u64,
    /// The last reading, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub ended_ns: u64,
    /// The number of readings.
    pub reads: u64,
    /// Steps of at most this many nanoseconds are ordinary.
    pub floor_ns: u64,
    /// The error of all times compared with CLOCK_MONOTONIC_RAW, in nanoseconds.
    pub slack_ns: u64,
    /// The number of context switches from the spinner to another task.
    pub switches: u64,
    /// The gaps, in order, as far as there was room.
    pub gaps: Vec<Gap>,
    /// The other gaps: those after the kept ones, and short ones before.
    pub not_kept: NotKept,
}

impl Gaps {
    /// The duration of the measurement, in nanoseconds.
    pub fn wall_ns(&self) -> u64 {
        self.ended_ns.saturating_sub(self.started_ns)
    }

    /// The total length of all gaps, including those that were not kept, in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        let kept = self.gaps.iter().fold(0u64, |sum, gap| sum.saturating_add(gap.length_ns));
        kept.saturating_add(self.not_kept.total_ns)
    }

    /// The number of all gaps, including those that were not kept.
    pub fn count(&self) -> u64 {
        (self.gaps.len() as u64).saturating_add(self.not_kept.count)
    }
}

/// With fewer events the mean says too little about the next one.
const FEWEST_EVENTS: u64 = 10;

/// The costs of the events that interrupt a task.
#[derive(Clone, Debug, PartialEq)]
pub struct EventCosts {
    /// An interrupt of the CPU's timer (`LOC`), with the softirqs that follow it.
    pub tick: Fact<EventCost>,
    /// An interrupt that another CPU sends (`CAL`, `RES`).
    pub call: Fact<EventCost>,
    /// Any other interrupt, with the softirqs that follow it.
    pub interrupt: Fact<EventCost>,
}

impl EventCosts {
    /// The name of an interrupt that another CPU sends, in messages.
    pub const CALL: &str = "an interrupt that another CPU sends";

    /// The costs by kind. `cost` gets the name of the kind in messages, and a test of which causes are of that kind.
    /// `tick` is the cause of ticks: [`Cause::LocalTimer`] on x86, the number of the timer's interrupt elsewhere.
    pub fn of_kinds(
        tick: Cause,
        cost: impl Fn(&str, &dyn Fn(Cause) -> bool) -> Fact<EventCost>,
    ) -> EventCosts {
        let is_other = |cause: Cause| cause != tick && !cause.is_call();
        EventCosts {
            tick: cost("a tick", &|cause| cause == tick),
            call: cost(EventCosts::CALL, &Cause::is_call),
            interrupt: cost("an interrupt that is neither a tick nor another CPU's", &is_other),
        }
    }
}

/// A function that one CPU called on another (an interrupt, `CAL`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Before the call, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub asked_ns: u64,
    /// When the caller knew that the other CPU had run it, on the same clock.
    pub answered_ns: u64,
}

/// The cost of one kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventCost {
    /// The cost of one event, in nanoseconds.
    pub ns: u64,
    /// Its uncertainty, in nanoseconds.
    pub uncertainty_ns: u64,
}

impl EventCost {
    /// The mean length of the events; the uncertainty is half the range from p10 to p90. Missing if there are fewer
    /// than ten events. `what` is their name.
    pub fn of_events(what: &str, lengths_ns: Vec<u64>) -> Fact<EventCost> {
        let lengths_ns = enough(what, lengths_ns.len() as u64, lengths_ns)?;
        let sum: u128 = lengths_ns.iter().copied().map(u128::from).sum();
        let mean = sum / lengths_ns.len() as u128;
        let ns = u64::try_from(mean).unwrap_or(u64::MAX);
        Ok(EventCost { ns, uncertainty_ns: half_span(&lengths_ns, 0.1) })
    }

    /// As [`Self::typical`], where `count` of these events are of the kind and nothing shows which: missing if `count` is
    /// below ten, however many events there are.
    pub fn among(what: &str, count: u64, lengths_ns: Vec<u64>) -> Fact<EventCost> {
        let lengths_ns = enough(what, count, lengths_ns)?;
        Ok(EventCost { ns: rank(&lengths_ns, 0.5), uncertainty_ns: half_span(&lengths_ns, 0.25) })
    }

    /// The median length of the events; the uncertainty is half the range between the quartiles. For lengths that something
    /// else may have increased: a quarter of them move neither. Missing if there are fewer than ten.
    pub fn typical(what: &str, lengths_ns: Vec<u64>) -> Fact<EventCost> {
        EventCost::among(what, lengths_ns.len() as u64, lengths_ns)
    }
}
/// The lengths in ascending order, if there are enough events of the kind.
fn enough(what: &str, count: u64, mut lengths_ns: Vec<u64>) -> Fact<Vec<u64>> {
    let count = count.min(lengths_ns.len() as u64);
    if count < FEWEST_EVENTS {
        let found = format!("{count} events");
        return Err(Missing::malformed(format!("the cost of {what}"), &found, "ten or more"));
    }
    lengths_ns.sort_unstable();
    Ok(lengths_ns)
}

/// Half the range without that share of the lengths at either end.
fn half_span(ascending: &[u64], end: f64) -> u64 {
    rank(ascending, 1.0 - end).saturating_sub(rank(ascending, end)) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_the_mean_and_tells_how_far_events_differ() {
        let lengths = (1..=21).map(|n| n * 100).collect();
        let cost = EventCost::of_events("a tick", lengths);
        assert_eq!(cost, Ok(EventCost { ns: 1100, uncertainty_ns: 800 }));
    }

    #[test]
    fn a_kind_that_was_hardly_seen_has_no_cost() {
        assert_eq!(
            EventCost::of_events("a tick", vec![5000; 9]).unwrap_err().to_string(),
            "the cost of a tick: found \"9 events\", expected ten or more"
        );
    }

    #[test]
    fn lengths_without_end_do_not_wrap() {
        let cost = EventCost::of_events("a tick", vec![u64::MAX; 10]);
        assert_eq!(cost, Ok(EventCost { ns: u64::MAX, uncertainty_ns: 0 }));
    }
}
