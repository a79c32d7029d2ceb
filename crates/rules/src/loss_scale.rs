//! How severe a loss is: one rule for every check that can say how much is lost (docs/guide/audit.md).
//!
//! A check says which share of the capacity of its CPUs is lost, and whether they are many. What makes it more or less severe than that is a
//! [`Deviation`] with its reason, and all of them are in one file.

pub mod deviations;
mod extent;

pub(crate) use extent::{are_all_of_a_kind, are_many, are_many_of, is_many};

use crate::severity::Severity;
use deviations::{Deviation, How};

/// From which loss on a finding is how severe, the most first. Less than the last is a note.
pub const SCALE: [(f64, Severity); 3] =
    [(0.2, Severity::High), (0.05, Severity::Medium), (0.001, Severity::Low)];

/// What CPUs of a host lose.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    /// The share of the capacity of each of them, 0 to 1.
    share: f64,
    /// Whether they are many: at least half of the host's CPUs, or all of one kind.
    are_many: bool,
    /// Whether more may be lost.
    is_least: bool,
    /// Whether less may be lost.
    is_most: bool,
    deviations: Vec<&'static Deviation>,
}

impl Lost {
    /// This share of the capacity of each CPU concerned, 0 to 1.
    pub(crate) fn of(share: f64, are_many: bool) -> Lost {
        Lost { share, are_many, is_least: false, is_most: false, deviations: Vec::new() }
    }

    /// What is lost where this share of the clock is left, 0 to 1.
    pub(crate) fn of_what_is_left(share: f64, are_many: bool) -> Lost {
        Lost::of(1.0 - share, are_many)
    }

    /// The same, more or less severe than the rule says.
    #[must_use]
    pub(crate) fn but(mut self, deviation: &'static Deviation) -> Lost {
        self.deviations.push(deviation);
        self
    }

    /// The same, with the deviation where the condition holds.
    #[must_use]
    pub(crate) fn but_if(self, holds: bool, deviation: &'static Deviation) -> Lost {
        if holds { self.but(deviation) } else { self }
    }

    /// The same where more may be lost.
    #[must_use]
    pub(crate) fn at_least_if(self, is_least: bool) -> Lost {
        Lost { is_least, ..self }
    }

    /// The same where less may be lost.
    #[must_use]
    pub(crate) fn at_most_if(self, is_most: bool) -> Lost {
        Lost { is_most, ..self }
    }

    /// Whether less may be lost.
    pub fn is_most(&self) -> bool {
        self.is_most
    }

    /// Whether more may be lost.
    pub fn is_least(&self) -> bool {
        self.is_least
    }

    /// The share of the capacity of each CPU concerned, 0 to 1.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// Why it is more or less severe than the rule says.
    pub fn deviations(&self) -> &[&'static Deviation] {
        &self.deviations
    }

    /// By the rule: the share on the scale, a step lower where the CPUs are few, then what deviations say.
    pub fn severity(&self) -> Severity {
        let how = || self.deviations.iter().flat_map(|it| it.how);
        let share = how().fold(self.share, |share, how| match how {
            How::Times(factor) => share * factor,
            _ => share,
        });
        let mut severity = level(share);
        if !self.are_many && !how().any(|it| *it == How::HoweverFew) {
            severity = a_step_lower(severity);
        }
        how().fold(severity, |severity, how| match how {
            How::CriticalFrom(least) if self.share + ROUNDED >= *least => Severity::Critical,
            how => bounded(severity, *how),
        })
    }
}

/// A severity with what a deviation says of it, whatever the loss is.
pub(crate) fn bounded(severity: Severity, how: How) -> Severity {
    match how {
        How::Times(_) | How::HoweverFew | How::CriticalFrom(_) => severity,
        How::StepLower => a_step_lower(severity),
        How::AtMost(most) => severity.min(most),
        How::AtLeast(least) => severity.max(least),
    }
}

/// A share is a quotient of two clocks: 2400 of 3000 MHz is a loss of 20 %, whatever its last bit says.
const ROUNDED: f64 = 1e-9;

/// The place of a share on the scale.
pub(crate) fn level(share: f64) -> Severity {
    let reached = SCALE.iter().find(|(least, _)| share + ROUNDED >= *least);
    reached.map_or(Severity::Info, |it| it.1)
}

/// Not below low, which a note is already.
fn a_step_lower(severity: Severity) -> Severity {
    match severity {
        Severity::Critical => Severity::High,
        Severity::High => Severity::Medium,
        Severity::Medium => Severity::Low,
        Severity::Low | Severity::Info => severity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_is_lost_the_more_severe_it_is() {
        let of = |share| Lost::of_what_is_left(share, true).severity();
        assert_eq!([of(0.5), of(2400.0 / 3000.0), of(0.0)], [Severity::High; 3]);
        assert_eq!([of(0.81), of(0.95)], [Severity::Medium; 2]);
        assert_eq!([of(0.96), of(0.999)], [Severity::Low; 2]);
        assert_eq!([of(0.9995), of(1.0), of(1.2)], [Severity::Info; 3]);
    }

    #[test]
    fn few_cpus_are_a_step_lower_and_never_below_low() {
        let of = |share| Lost::of(share, false).severity();
        assert_eq!(
            [of(0.5), of(0.1), of(0.01), of(0.0)],
            [Severity::Medium, Severity::Low, Severity::Low, Severity::Info]
        );
    }

    #[test]
    fn each_kind_of_deviation_does_what_it_says() {
        static WEIGHED: Deviation = deviation(&[How::Times(0.5), How::AtMost(Severity::Medium)]);
        static WHOLE: Deviation = deviation(&[How::HoweverFew]);
        static LATER: Deviation = deviation(&[How::StepLower]);
        static STOPPED: Deviation = deviation(&[How::CriticalFrom(0.5)]);
        static LEAST: Deviation = deviation(&[How::AtLeast(Severity::High)]);
        let of = |share, are_many, it| Lost::of(share, are_many).but(it).severity();
        assert_eq!(
            [of(0.9, true, &WEIGHED), of(0.06, true, &WEIGHED)],
            [Severity::Medium, Severity::Low]
        );
        assert_eq!(of(0.2, false, &WHOLE), Severity::High);
        assert_eq!(of(0.2, true, &LATER), Severity::Medium);
        assert_eq!(
            [of(0.5, true, &STOPPED), of(0.4, true, &STOPPED)],
            [Severity::Critical, Severity::High]
        );
        assert_eq!(of(0.01, true, &LEAST), Severity::High);
    }

    const fn deviation(how: &'static [How]) -> Deviation {
        Deviation { checks: &[], what: "", how, because: "" }
    }
}
