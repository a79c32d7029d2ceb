//! Experiments: settings and conditions by workloads, planned, run in random order, and settled by analysis.
//!
//! A [`Design`] names factors, each with levels, and workloads. [`arms`] makes the arms of it: combinations of a level of
//! each factor, once for each workload. A [`Record`](crate::record::Record) that has an [`Experiment`] is a study: its arms
//! are those combinations, in the same order, and [`analysis`] says what the factors do to the figures of its trials. All of
//! this is pure; whoever runs the trials changes the machine around them.

pub mod analysis;
mod arms;
mod design;
mod knee;
mod parts;
pub mod plan_file;
mod tuning;

pub use arms::{Combination, TooMany, arms};
pub use design::{Design, Factor, Guards, Kind, Shape};
pub use parts::{Boots, Part, Parts};
pub use tuning::{Change, Condition, Tuned, Tuning};

use serde::{Deserialize, Serialize};

/// What makes a record a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// What was planned.
    pub design: Design,
    /// What each arm of the record combines, in the order of its arms.
    pub arms: Vec<Combination>,
    /// Decides the order of the trials of every block, so that a run that was cut short can go on in it; less than
    /// [`Experiment::SEEDS`].
    pub seed: u64,
    /// The settings, by id, that this machine takes only with the user's consent, which was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with_consent: Vec<String>,
}

impl Experiment {
    /// One that asked for no consent.
    pub fn of(design: Design, arms: Vec<Combination>, seed: u64) -> Experiment {
        Experiment { design, arms, seed, with_consent: Vec::new() }
    }

    /// Every reader of JSON has integers below this exactly (RFC 8259, section 6).
    pub const SEEDS: u64 = 1 << 53;
}
