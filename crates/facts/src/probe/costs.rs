//! What one event costs on this machine, as a thread that watches its own time line finds it.
//!
//! Such a cost is the whole gap: entry and exit of the kernel, which no tracepoint sees, and the softirqs that run
//! before the interrupted task goes on. It is a mean over the events of one moment.

use super::clock::rank;
use crate::trace::Cause;
use crate::{Fact, Missing};

/// Fewer events say too little about the next one.
const FEWEST_EVENTS: u64 = 10;

/// The costs of the events that take a CPU from its task for a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct EventCosts {
    /// An interrupt of the CPU's own timer (`LOC`), with the softirqs that follow it.
    pub tick: Fact<EventCost>,
    /// An interrupt that another CPU sends (`CAL`, `RES`).
    pub call: Fact<EventCost>,
    /// Any other interrupt, with the softirqs that follow it.
    pub interrupt: Fact<EventCost>,
}

impl EventCosts {
    /// What messages call an interrupt that another CPU sends.
    pub const CALL: &str = "an interrupt that another CPU sends";

    /// What `cost` finds of each kind: it is told what messages call it, and which causes are of that kind. `tick` is the cause
    /// of ticks: [`Cause::LocalTimer`] on x86, elsewhere the timer's number.
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

/// A function that one CPU had another run (an interrupt, `CAL`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Before it was asked for, CLOCK_MONOTONIC_RAW in nanoseconds.
    pub asked_ns: u64,
    /// When the other CPU was known to have run it, on the same clock.
    pub answered_ns: u64,
}

/// The cost of one kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventCost {
    /// Of one event, in nanoseconds.
    pub ns: u64,
    /// How far off that may be, in nanoseconds.
    pub uncertainty_ns: u64,
}

impl EventCost {
    /// The mean of events that took this long each, give or take half of what the middle four fifths of them span;
    /// missing where they are fewer than ten. `what` names them.
    pub fn of_events(what: &str, lengths_ns: Vec<u64>) -> Fact<EventCost> {
        EventCost::among(what, lengths_ns.len() as u64, lengths_ns)
    }

    /// The same of a kind of which `count` are among these events, and nobody can tell which: missing where they are fewer than
    /// ten, however many there are of other kinds.
    pub fn among(what: &str, count: u64, lengths_ns: Vec<u64>) -> Fact<EventCost> {
        let lengths_ns = enough(what, count, lengths_ns)?;
        let sum: u128 = lengths_ns.iter().copied().map(u128::from).sum();
        let mean = sum / lengths_ns.len() as u128;
        let ns = u64::try_from(mean).unwrap_or(u64::MAX);
        Ok(EventCost { ns, uncertainty_ns: half_span(&lengths_ns) })
    }

    /// As [`Self::of_events`], but the median, for what something else may have lengthened.
    pub fn typical(what: &str, lengths_ns: Vec<u64>) -> Fact<EventCost> {
        let lengths_ns = enough(what, lengths_ns.len() as u64, lengths_ns)?;
        Ok(EventCost { ns: rank(&lengths_ns, 0.5), uncertainty_ns: half_span(&lengths_ns) })
    }
}

/// The lengths in ascending order, where there are enough events of the kind among them.
fn enough(what: &str, count: u64, mut lengths_ns: Vec<u64>) -> Fact<Vec<u64>> {
    let count = count.min(lengths_ns.len() as u64);
    if count < FEWEST_EVENTS {
        let found = format!("{count} events");
        return Err(Missing::malformed(format!("the cost of {what}"), &found, "ten or more"));
    }
    lengths_ns.sort_unstable();
    Ok(lengths_ns)
}

/// Half of what the middle four fifths span.
fn half_span(ascending: &[u64]) -> u64 {
    rank(ascending, 0.9).saturating_sub(rank(ascending, 0.1)) / 2
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
            "the cost of a tick holds \"9 events\", expected ten or more"
        );
    }

    #[test]
    fn lengths_without_end_do_not_wrap() {
        let cost = EventCost::of_events("a tick", vec![u64::MAX; 10]);
        assert_eq!(cost, Ok(EventCost { ns: u64::MAX, uncertainty_ns: 0 }));
    }
}
