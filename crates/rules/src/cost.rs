//! What a fault takes, and how that is known.

use std::fmt;

/// What a fault takes, and how that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// In words: "up to 37 % of the clock".
    pub estimate: String,
    /// The arithmetic or the study behind it.
    pub derivation: String,
    /// The share of the clock of busy CPUs that it is, 0 to 1; `None` where it is something else: the turbo of a core that is busy alone
    /// is not the server's clock.
    pub clock_lost: Option<f64>,
}

/// A share of the clock of busy CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfClock {
    share: f64,
    bound: &'static str,
    lasts: &'static str,
    is_exact: bool,
}

impl OfClock {
    /// This share, 0 to 1.
    pub fn lost(share: f64) -> OfClock {
        OfClock { share, bound: "", lasts: "", is_exact: false }
    }

    /// A setting allows it at most.
    #[must_use]
    pub fn at_most(self) -> OfClock {
        OfClock { bound: "up to ", ..self }
    }

    /// Some CPUs may lose more.
    #[must_use]
    pub(crate) fn at_least(self) -> OfClock {
        OfClock { bound: "at least ", ..self }
    }

    /// For how long: " while it lasts".
    #[must_use]
    pub(crate) fn lasting(self, lasts: &'static str) -> OfClock {
        OfClock { lasts, ..self }
    }

    /// A share that hardware counts in steps, and that is not rounded.
    #[must_use]
    pub(crate) fn exactly(self) -> OfClock {
        OfClock { is_exact: true, ..self }
    }
}

/// "up to 37 % of the clock while it lasts".
impl fmt::Display for OfClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OfClock { bound, lasts, .. } = self;
        let percent = 100.0 * self.share;
        match self.is_exact {
            true => write!(f, "{bound}{percent} % of the clock{lasts}"),
            false => write!(f, "{bound}{percent:.0} % of the clock{lasts}"),
        }
    }
}

impl Cost {
    /// Of something that is no share of the clock of busy CPUs.
    pub fn of(estimate: impl Into<String>, derivation: impl Into<String>) -> Cost {
        Cost { estimate: estimate.into(), derivation: derivation.into(), clock_lost: None }
    }

    /// Of the clock.
    pub fn of_clock(loss: OfClock, derivation: impl Into<String>) -> Cost {
        Cost { clock_lost: Some(loss.share), ..Cost::of(loss.to_string(), derivation) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_share_of_the_clock_are_made_of_its_number() {
        let cost = |loss: OfClock| {
            let cost = Cost::of_clock(loss, "");
            (cost.estimate, cost.clock_lost)
        };
        assert_eq!(cost(OfClock::lost(0.371)), ("37 % of the clock".to_owned(), Some(0.371)));
        let most = OfClock::lost(0.05).at_most().lasting(" while it lasts");
        assert_eq!(cost(most).0, "up to 5 % of the clock while it lasts");
        assert_eq!(cost(OfClock::lost(0.2).at_least()).0, "at least 20 % of the clock");
        assert_eq!(cost(OfClock::lost(0.9375).exactly()).0, "93.75 % of the clock");
        assert_eq!(Cost::of("54 % of one CPU on average", "").clock_lost, None);
    }
}
