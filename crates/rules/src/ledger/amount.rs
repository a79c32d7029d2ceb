//! A time that a source gave, with how far off it may be, and what the books say of it.

use crate::interval::Delta;
use crate::party::Party;
use facts::{Fact, Missing};

/// An amount in the books of one CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Which part of the line: a kernel thread's name, a cause; empty where the line is one thing.
    pub part: String,
    /// Nanoseconds of the CPU's time at its reference clock.
    pub ns: i64,
    /// How it was obtained.
    pub method: Method,
    /// The counter, tracepoint or probe, verbatim.
    pub source: &'static str,
    /// How far off it may be either way, in nanoseconds.
    pub uncertainty_ns: u64,
    /// Of time that tasks ran: interrupts and softirqs that came meanwhile, in nanoseconds. They are not in `ns`, and
    /// have lines of their own. `None` where that is not known, and of what is no such time.
    pub interrupted_ns: Option<u64>,
    /// Who is responsible, where evidence shows it.
    pub party: Option<Party>,
}

/// How an amount was obtained, from the surest to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// A counter that the kernel or the processor keeps of just this.
    Counter,
    /// Durations of traced events.
    Tracepoint,
    /// A probe of ours measured it.
    Probe,
    /// A count of events times what one was measured to cost.
    Derived,
    /// Nothing is entered, because only a limit is known: it is at most the uncertainty.
    Bound,
}

impl Method {
    /// The word in output.
    pub fn name(self) -> &'static str {
        match self {
            Method::Counter => "counter",
            Method::Tracepoint => "tracepoint",
            Method::Probe => "probe",
            Method::Derived => "derived",
            Method::Bound => "bound",
        }
    }
}

/// Time of one CPU, from one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Amount {
    /// Nanoseconds.
    pub(crate) ns: u64,
    /// How far off that may be either way, in nanoseconds.
    pub(crate) uncertainty_ns: u64,
    /// How it was obtained.
    pub(crate) method: Method,
    pub(crate) source: &'static str,
}

impl Amount {
    /// What a counter that counts in `unit_ns` says of `wall_ns`.
    ///
    /// A counter is read a little before or after the interval's ends. What it counted is stretched to the
    /// interval, and the time that the two differ by is uncertain, as is one unit, because either reading is rounded
    /// down.
    pub(crate) fn of(delta: Delta, unit_ns: u64, wall_ns: u64, source: &'static str) -> Amount {
        let counted = delta.by.saturating_mul(unit_ns);
        let skew = delta.over_ns.abs_diff(wall_ns);
        // Nothing is counted as nothing, whenever it is read.
        let skew = if delta.by == 0 { 0 } else { skew };
        Amount {
            ns: part(counted, wall_ns, delta.over_ns),
            uncertainty_ns: unit_ns.saturating_add(skew),
            method: Method::Counter,
            source,
        }
    }

    /// The same, or why it is none: no CPU spends more time on anything than has passed.
    pub(crate) fn within(self, wall_ns: u64) -> Fact<Amount> {
        if self.ns <= wall_ns.saturating_add(self.uncertainty_ns) {
            return Ok(self);
        }
        let found = format!("{} ns in {wall_ns} ns", self.ns);
        Err(Missing::malformed(self.source, &found, "no more time than has passed"))
    }

    /// The sum with another amount; it keeps this one's source.
    pub(crate) fn plus(self, other: Amount) -> Amount {
        Amount {
            ns: self.ns.saturating_add(other.ns),
            uncertainty_ns: self.uncertainty_ns.saturating_add(other.uncertainty_ns),
            method: self.method.max(other.method),
            source: self.source,
        }
    }

    /// What is left without `ns`; never less than nothing.
    pub(crate) fn without(self, ns: u64) -> Amount {
        Amount { ns: self.ns.saturating_sub(ns), ..self }
    }

    /// As an entry in the books.
    pub(crate) fn entry(self, part: impl Into<String>, party: Option<Party>) -> Entry {
        Entry {
            part: part.into(),
            ns: signed(self.ns),
            method: self.method,
            source: self.source,
            uncertainty_ns: self.uncertainty_ns,
            interrupted_ns: None,
            party,
        }
    }
}

/// `value * numerator / denominator`, rounded down; nothing of nothing.
pub(crate) fn part(value: u64, numerator: u64, denominator: u64) -> u64 {
    if denominator == 0 {
        return 0;
    }
    let share = u128::from(value) * u128::from(numerator) / u128::from(denominator);
    u64::try_from(share).unwrap_or(u64::MAX)
}

/// `value * share`; a share outside of 0 to 1, or that is no number, counts as the nearest end.
pub(crate) fn share(value: u64, share: f64) -> u64 {
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    ((value as f64 * share) as u64).min(value)
}

/// As the ledger adds it up.
pub(crate) fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}
