//! What can be said of a difference between two arms: values, put into words by the binary.
//!
//! One quantity speaks, the main result, in its own unit, and [`verdict`](crate::verdict) decides by its interval alone. Time on
//! the CPU, cycles and the clock explain a difference and never make one. Trials that were interleaved in random order are
//! compared block by block ([`interleaved`]), which is exact whatever the machine's noise; results of two moments are compared as
//! they are ([`separate`]), with everything that may have changed between the moments in the difference, for which an
//! allowance is made: from [`EarlierRuns`] of the same things, where there are any. Three results of each, or more, are runs, and
//! what differs from run to run is in their interval ([`of_runs`]).

mod alike;
mod clock_share;
mod designs;
mod earlier;
#[cfg(test)]
pub(crate) mod fixture;
mod measure;
mod pairs;
mod planning;
mod race;
mod runs;
#[cfg(test)]
mod tests;

pub use crate::record::SettingDifference;
pub use alike::{Unlike, unlike, work};
pub use clock_share::ClockShare;
pub(crate) use designs::against;
pub use designs::{Side, interleaved, separate};
pub use earlier::{EarlierRuns, MOST_EARLIER};
pub use measure::Measure;
pub use pairs::{Concerns, Marked};
pub use planning::Planning;
pub use race::{Legs, Raced, race};
pub use runs::{Run, of_runs};
pub(crate) use runs::{doubts_of_runs, runs};

use crate::known::Known;
use crate::stats::SlowTrials;
use crate::verdict::{Allowance, BetweenRuns, Closeness, Ratio, Verdict};

/// How the trials of the two arms were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// In blocks, each with both arms in random order.
    Interleaved,
    /// Each arm at another time: so many trials of A and of B.
    Separate(usize, usize),
    /// Several results of each, so many of A and of B: what differs from run to run is in the interval.
    Runs(usize, usize),
    /// Nodes of a race, at the same time: nothing is drawn, so that it speaks of this race only.
    Race,
}

/// What a verdict depends on besides the trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// How many comparisons are shown together, whose intervals hold together with 99 %.
    pub comparisons: usize,
    /// How small a difference is asked to be, as a share, if that is asked.
    pub margin: Option<f64>,
    /// Of two moments: by how much two runs of the same differ, where earlier runs tell.
    pub between_runs: Option<BetweenRuns>,
}

impl Terms {
    /// Those of one of so many comparisons, with no question and no earlier run.
    pub fn of(comparisons: usize) -> Terms {
        Terms { comparisons, margin: None, between_runs: None }
    }
}

/// A margin that a difference was asked to be within, and what is shown of that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Close {
    /// As a share, such as 0.01.
    pub margin: f64,
    /// Whether the difference is within it.
    pub is: Closeness,
}

impl Close {
    /// `None` where nothing was asked, or there is no interval.
    fn of(verdict: &Verdict, allowance: Option<&Allowance>, margin: Option<f64>) -> Option<Close> {
        let (margin, ratio) = (margin?, verdict.ratio()?);
        let is = Closeness::of(ratio, allowance.map_or(0.0, Allowance::total), margin);
        Some(Close { margin, is })
    }
}

/// What can be said of B against A. Ratios are of the main result in its own unit, B over A: of a rate, more is faster.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// How the trials were taken.
    pub design: Design,
    /// On how many blocks it rests; of two moments, on how many trials of the arm that has fewer; of runs, on how many of the
    /// side that has fewer; of a race, on how many legs, or else intervals.
    pub n: usize,
    /// What may be said of the main result. Of a race that was changed or changed by itself there is none: see `raced`.
    pub verdict: Verdict,
    /// Of a race, its pieces and what changed between them.
    pub raced: Option<Raced>,
    /// Of two moments, what the interval had to clear.
    pub allowance: Option<Allowance>,
    /// What is shown of the margin that was asked for.
    pub close: Option<Close>,
    /// Of blocks that show no difference, how many would show a small one.
    pub planning: Option<Planning>,
    /// The main result with the clock taken out, trial by trial.
    pub cycles: Known<Ratio>,
    /// Time on the CPU: of tasks that never sleep, elapsed time without what others took.
    pub cpu_time: Known<Ratio>,
    /// How much of the difference the clock explains.
    pub clock: Known<ClockShare>,
    /// Trials that were far slower than the typical one of both.
    pub slow_trials: Option<SlowTrials>,
    /// The settings in which the machines differ, by name.
    pub settings: Vec<SettingDifference>,
}
