//! What the factors of a study do to its figures.
//!
//! Shares are changes against the first level: 0.13 is 13 % more. Of every figure "slower" is a positive change, whichever
//! way the figure itself is better, so that effects of workloads can be compared.
//!
//! Trials are compared within blocks, as contrasts of their logarithms; what may be said of a whole study is corrected for
//! everything that is asked of it.

mod arm_analyses;
mod cells;
mod contrast;
mod effects;
mod forecast;
mod recommendation;
mod study;

/// What the factors of a study do to its figures, what that is worth, and what to do.
///
/// Errors: the record is no study, or its parts do not fit together.
pub fn analyse(record: &Record) -> Result<Analysis, NoStudy> {
    let study = Study::of(record)?;
    let mut workloads = workloads(&study);
    effects::settle_ledger(&study, &mut workloads);
    Ok(Analysis {
        pareto: recommendation::front(&study, &workloads),
        recommendation: recommendation::recommendation(&study, &workloads, study.unfit.clone()),
        workloads,
    })
}

fn workloads(study: &Study<'_>) -> Vec<WorkloadAnalysis> {
    let mut of_arm: Vec<Vec<&Trial>> = vec![Vec::new(); study.record.arms.len()];
    study.record.trials.iter().for_each(|it| of_arm[it.arm].push(it));
    let names = study.design().workloads.iter().enumerate();
    names.map(|(workload, name)| self::workload(study, workload, name, &of_arm)).collect()
}

fn workload(
    study: &Study<'_>,
    workload: usize,
    name: &str,
    trials: &[Vec<&Trial>],
) -> WorkloadAnalysis {
    let arms = study.grid.arms(workload);
    let (figure, unit, better) = study.figure(arms, trials);
    let mut seen = vec![0_usize; study.measured.figure.n_blocks()];
    for arm in arms {
        study.measured.figure.of_arm(*arm).iter().for_each(|it| seen[it.0] += 1);
    }
    let blocks = seen.iter().filter(|it| !arms.is_empty() && **it == arms.len()).count();
    WorkloadAnalysis {
        workload: name.to_owned(),
        figure,
        unit,
        better,
        blocks: u32::try_from(blocks).unwrap_or(u32::MAX),
        arms: arm_analyses::arm_analyses(study, arms, trials),
        effects: effects::effects(study, workload),
        interactions: effects::interactions(study, workload),
    }
}

#[cfg(test)]
mod tests;

pub use arm_analyses::ledger;
pub use study::NoStudy;

use crate::known::Known;
use crate::record::Record;
use crate::stats::Interval;
use crate::trial::{Better, Trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use study::Study;

/// The chance of any false claim that one family of a study has, all together: its effects and interactions, its combinations, its
/// losses.
pub(crate) const LEVEL: f64 = 0.01;

/// Blocks without which there is no estimate: two have a spread, of which Student's t knows next to nothing.
pub const LEAST_BLOCKS: u32 = 3;

/// Everything that can be said of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Each workload apart, in the order of the design.
    pub workloads: Vec<WorkloadAnalysis>,
    /// The combinations that no other one beats beyond doubt: by being better in a workload (or in power, where it was
    /// measured) and worse in none. Places in the list of combinations, which is that of the first workload's arms; of those
    /// that differ in conditions alone, the first stands for all. Combinations of which a trial failed are not in it.
    pub pareto: Vec<usize>,
    /// Which combination of settings to choose, or why none.
    pub recommendation: Recommendation,
}

/// What is known of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadAnalysis {
    /// The workload with its options, as the design names it.
    pub workload: String,
    /// The name of its main figure, such as `elapsed`.
    pub figure: String,
    /// What that is counted in.
    pub unit: String,
    /// Which way it is faster.
    pub better: Better,
    /// Blocks in which all arms of it have a good trial.
    pub blocks: u32,
    /// Its arms, in the order of the record; the first one has the first level of all factors.
    pub arms: Vec<ArmAnalysis>,
    /// Every level of every factor against the first one of it, averaged over the other factors.
    pub effects: Vec<Effect>,
    /// Every pair of factors; empty where the shape of the design cannot show them.
    pub interactions: Vec<Interaction>,
}

/// What the trials of one arm showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArmAnalysis {
    /// Its place in the record.
    pub arm: usize,
    /// How many trials succeeded.
    pub trials: u32,
    /// Trials that failed.
    pub failed: u32,
    /// The middle of its main figures; `None` where every trial failed.
    pub median: Option<f64>,
    /// Against the first arm, over blocks; missing for the first one itself, and where there are too few trials.
    pub change: Known<Estimate>,
    /// The clock that the probe saw around its trials, the mean in hertz.
    pub clock_hz: Known<f64>,
    /// Power of the packages in watts, the mean.
    pub watts: Known<f64>,
    /// The ledger's lines, means over its trials, by id of the loss and its part.
    pub ledger: Vec<(String, String, f64)>,
}

/// A difference with its doubt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// As a share. In an analysis above 0 is slower, whichever way the result is better; JSON has the change of the result itself.
    pub change: f64,
    /// Where the true one lies.
    pub interval: Interval,
    /// With which chance it does: those of all effects and interactions of the study together with 0.99, and so those of all
    /// combinations.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: f64,
    /// Whether it may be said to be there: the interval leaves "no difference" out.
    pub is_claimed: bool,
}

/// A level of a factor against its first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// The factor's place in the design.
    pub factor: usize,
    /// The level's place in the factor; never 0.
    pub level: usize,
    /// On the main figure.
    pub estimate: Known<Estimate>,
    /// What the clock alone would have changed, as a share like `estimate.change`.
    pub by_clock: Known<f64>,
    /// The part of the change that the clock makes up: 1 is all of it. Missing where there is too little to have parts.
    pub clock_part: Known<f64>,
    /// What is left of the change without the clock: of work that takes a fixed number of cycles, nothing.
    pub in_cycles: Known<Estimate>,
    /// How much more of the CPUs' time each loss takes, by id of the loss, in shares of all of it; those that moved by more
    /// than half a point, and by more than chance moves any of them, the largest first.
    pub ledger: Vec<(String, f64)>,
    /// The change of power in watts.
    pub watts: Known<f64>,
    /// The interval of that, of the same confidence; `None` where it is missing.
    #[serde(default)]
    pub watts_interval: Option<Interval>,
}

/// How the effect of one factor depends on the level of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interaction {
    /// The places of both factors in the design: ascending, but a setting before a condition (`cpu`, `load`).
    pub factors: (usize, usize),
    /// The level of each that is compared with the first one.
    pub levels: (usize, usize),
    /// By how much the change that the first factor makes differs where the second is at that level.
    pub estimate: Known<Estimate>,
    /// What the first factor does where the second is at its first level, and where it is at that one; missing where `estimate`
    /// is.
    pub first_given_second: [Known<Estimate>; 2],
}

/// What to do with the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Recommendation {
    /// No setting was shown to matter for any of these workloads: each effect lies within its interval.
    Nothing,
    /// No setting was shown to matter on the whole, but what one of them does differs with a condition (`cpu`, `load`): an
    /// interaction of the two is claimed.
    Depends,
    /// Nothing was shown to be faster on the whole than what the first arm has.
    Keep {
        /// The factors that were shown to matter.
        because: Vec<usize>,
        /// Combinations that are expected to be faster and cannot be advised, because trials with them failed; the fastest
        /// first.
        left_out: Vec<Vec<usize>>,
    },
    /// Another combination is better.
    Change {
        /// The level of each factor; those of conditions (`cpu`, `load`) are 0 and mean nothing.
        levels: Vec<usize>,
        /// What it is expected to change, against the first arm, by workload in the order of the design.
        expected: Vec<f64>,
        /// Workloads that get slower by it, beyond doubt: places in the design.
        slower: Vec<usize>,
        /// Conditions under which a workload gets slower by it, beyond doubt, whatever it does on the whole.
        slower_where: Vec<SlowerWhere>,
        /// Whether these levels were run together. A fraction may advise what it has not run: measure it before it is kept.
        was_run: bool,
        /// Combinations that are expected to be faster still, as in `Keep`.
        left_out: Vec<Vec<usize>>,
    },
    /// The trials allow no claim.
    Unsettled {
        /// Why no combination can be recommended.
        why: String,
    },
}

/// A workload that gets slower by a change where a condition is at one of its levels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowerWhere {
    /// Its place in the design.
    pub workload: usize,
    /// The place of the condition among the factors.
    pub condition: usize,
    /// The level of it.
    pub level: usize,
    /// By how much, against the first levels of all settings under the same condition. Those of all workloads and conditions hold
    /// together.
    #[serde(flatten)]
    pub estimate: Estimate,
}
