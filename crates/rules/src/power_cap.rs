//! How near a board is to the limit that its management controller holds, and whether that goes together with PROCHOT#.
//!
//! A controller pulls PROCHOT# to bring a board below its limit, and releases it when it is. Moments that were looked at
//! one after the other tell whether the two go together, not which is the cause: a power supply that is too small pulls it
//! under load, too. A controller's reading is a mean over its own sampling and may lag.

use facts::Microwatts;

/// From this share of the limit on, a board is at it: readings are rounded, and the controllers' sensors are good for some
/// percent.
const NEAR: f64 = 0.95;

/// Whether a board that draws so much is at its limit.
pub fn is_at(power: Microwatts, limit: Microwatts) -> bool {
    power.share_of(limit) >= NEAR
}

/// What was seen at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Whether the board was at its limit.
    pub is_at_limit: bool,
    /// Whether PROCHOT# was pulled.
    pub is_pulled: bool,
}

/// In how many moments what was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Moments at which both could be told.
    pub n_moments: usize,
    /// Of these, with the board at its limit.
    pub n_at_limit: usize,
    /// With PROCHOT# pulled.
    pub n_pulled: usize,
    /// With both.
    pub n_both: usize,
}

/// What the moments say of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// There was no moment at which both could be told.
    Unknown,
    /// PROCHOT# was never pulled.
    NeverPulled,
    /// It was pulled at the limit alone, and not at all moments.
    Together,
    /// The board was at its limit all the time: nothing to compare with.
    AlwaysAtLimit,
    /// It was pulled at the limit at least twice as often as below it.
    Mostly,
    /// It was pulled below the limit, and not much less often than at it.
    Apart,
}

impl Counts {
    /// Counts the moments.
    pub fn of(moments: impl IntoIterator<Item = Moment>) -> Counts {
        moments.into_iter().fold(Counts::default(), |counts, it| Counts {
            n_moments: counts.n_moments + 1,
            n_at_limit: counts.n_at_limit + usize::from(it.is_at_limit),
            n_pulled: counts.n_pulled + usize::from(it.is_pulled),
            n_both: counts.n_both + usize::from(it.is_at_limit && it.is_pulled),
        })
    }

    /// With PROCHOT# pulled and the board below its limit.
    pub fn n_pulled_below(&self) -> usize {
        self.n_pulled - self.n_both
    }

    /// What they say.
    pub fn relation(&self) -> Relation {
        let Counts { n_moments, n_at_limit, n_pulled, n_both } = *self;
        let n_below = n_moments - n_at_limit;
        match self.n_pulled_below() {
            _ if n_moments == 0 => Relation::Unknown,
            _ if n_pulled == 0 => Relation::NeverPulled,
            _ if n_below == 0 => Relation::AlwaysAtLimit,
            0 => Relation::Together,
            // The share at the limit against twice the share below it.
            n_alone if n_both * n_below >= 2 * n_alone * n_at_limit && n_both > 0 => {
                Relation::Mostly
            }
            _ => Relation::Apart,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `-` below the limit, `^` at it; capital letters for a pulled PROCHOT#: `B` below, `A` at it.
    fn relation(moments: &str) -> Relation {
        let moment = |it| Moment { is_at_limit: "^A".contains(it), is_pulled: "AB".contains(it) };
        Counts::of(moments.chars().map(moment)).relation()
    }

    #[test]
    fn a_signal_that_comes_at_the_limit_alone_goes_together_with_it() {
        assert_eq!(relation("---A^A--"), Relation::Together);
        assert_eq!(relation("---AA-B-"), Relation::Mostly);
    }

    #[test]
    fn one_that_comes_below_it_as_often_does_not() {
        assert_eq!(relation("BBBBAA"), Relation::Apart);
        assert_eq!(relation("--B-^^"), Relation::Apart);
        assert_eq!(relation("BBBB"), Relation::Apart);
    }

    #[test]
    fn where_there_is_nothing_to_compare_nothing_is_claimed() {
        assert_eq!(relation("AAAA"), Relation::AlwaysAtLimit);
        assert_eq!(relation("A^^A"), Relation::AlwaysAtLimit);
        assert_eq!(relation("--^^"), Relation::NeverPulled);
        assert_eq!(relation(""), Relation::Unknown);
    }

    #[test]
    fn a_board_is_at_its_limit_from_95_percent_on() {
        let watts = |it: u64| Microwatts(it * 1_000_000);
        assert!(is_at(watts(475), watts(500)) && is_at(watts(510), watts(500)));
        assert!(!is_at(watts(474), watts(500)));
    }
}
