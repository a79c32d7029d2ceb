//! What can be said of a difference between two arms: values, put into words by the binary.
//!
//! Trials that were interleaved in random order are compared block by block ([`interleaved`]), which is exact whatever the
//! machine's noise; results of two moments are compared as they are ([`separate`]), with everything that may have
//! changed between the moments in the difference.

mod designs;
#[cfg(test)]
pub(crate) mod fixture;
mod judgement;
mod measure;
#[cfg(test)]
mod tests;

pub use crate::record::SettingDifference;
pub(crate) use designs::block_differences_by;
pub use designs::{Side, block_differences, doubts_of_either, interleaved, separate};
pub use judgement::{CONSTANT, ClockShare, Evidence, Reading, judge_differences, judge_moments};
pub use measure::{Measure, quieter};

use crate::doubt::Raised;
use crate::known::Known;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The chance of any false claim that one comparison may have, all its measures together. Half of it goes to the quietest
/// measure, so that one false claim in a hundred is what an A/A comparison of a single measure makes.
pub const LEVEL: f64 = 0.02;

/// The chance with which a difference of the size that is called detectable is missed.
pub const MISSED: f64 = 0.05;

/// How the trials of the two arms were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    /// In blocks, each with both arms in random order.
    Interleaved,
    /// Each arm at another time.
    Separate,
}

/// What can be said of B against A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// How the trials were taken.
    pub design: Design,
    /// The measures that both arms have: the quietest first, then the main figure and the clock.
    pub readings: Vec<Reading>,
    /// How much of the difference of the main figure the clock explains.
    pub clock: Known<ClockShare>,
    /// The settings in which the machines differ, by name.
    pub settings: Vec<SettingDifference>,
    /// The doubts that forbid any claim. With one of them no reading is claimed.
    pub forbidding: Vec<Raised>,
}

impl Verdict {
    /// The reading to speak of: the main figure where it is claimed, else the quietest measure. `None` where nothing
    /// could be measured.
    pub fn headline(&self) -> Option<&Reading> {
        let claimed = |it: &&Reading| it.measure == Measure::Figure && it.is_claimed;
        self.readings.iter().find(claimed).or_else(|| self.readings.first())
    }

    /// The reading of `measure`, where there is one.
    pub fn reading(&self, measure: Measure) -> Option<&Reading> {
        self.readings.iter().find(|it| it.measure == measure)
    }
}
