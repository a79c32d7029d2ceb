//! Experiments: settings and conditions by workloads, planned, run in random order, and settled by analysis.
//!
//! A [`Design`] names factors, each with levels, and workloads. [`arms()`] makes the arms of it: combinations of a level of
//! each factor, once for each workload. A [`Record`](crate::record::Record) that has an [`Experiment`] is a study: its arms
//! are those combinations, in the same order, it keeps the design as planned, and [`analysis`] says what the factors do to
//! the figures of its trials. All of this is pure; the program that runs the trials changes the machine around them.

pub mod analysis;
mod arms;
mod parts;
pub mod plan_file;
mod tuning;

pub use arms::{Combination, TooMany, arms};
pub use parts::{Boots, Part, Parts};
pub use tuning::{Change, Condition, Tuned, Tuning};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What makes a record a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// Factors, levels and workloads, as they were planned.
    pub design: Design,
    /// What each arm of the record combines, in the order of its arms.
    pub arms: Vec<Combination>,
    /// Decides the order of the trials of every block, so that a run that was cut short can go on in it; less than
    /// 2^53.
    pub seed: u64,
    /// The settings, by id, that this machine takes only with the user's consent, which was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with_consent: Vec<String>,
}

impl Experiment {
    /// One that needed no consent.
    pub fn of(design: Design, arms: Vec<Combination>, seed: u64) -> Experiment {
        Experiment { design, arms, seed, with_consent: Vec::new() }
    }

    /// Every reader of JSON has integers below this exactly (RFC 8259, section 6).
    pub const SEEDS: u64 = 1 << 53;
}

/// A plan of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Design {
    /// What it is about, in a line; `case:tick`.
    pub name: String,
    /// What is varied, in the order given. The first level of each is what the others are compared with.
    pub factors: Vec<Factor>,
    /// What is run in every combination, each a workload of `fullclock bench` with its options: `cpu-loop --cpus 3`.
    pub workloads: Vec<String>,
    /// Which combinations are run.
    pub shape: Shape,
    /// Trials of each arm.
    pub trials: u32,
    /// Go on until the effect of every factor is known to this share either way, half its interval.
    pub until: Option<f64>,
    /// Trials of each combination before the first that counts; they are not kept.
    pub warm_up: u32,
    /// Rest after the settings of an arm are in force and before its trial.
    pub rest: Duration,
    /// Begin no block that would end after this.
    pub budget: Option<Duration>,
    /// When to stop for the machine's sake, or the figures'.
    pub guards: Guards,
    /// Where a factor takes a reboot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boots: Option<Boots>,
}

/// Something that is varied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Factor {
    /// `governor`, `idle-state.C6`, `cpu`, `load`.
    pub name: String,
    /// `performance`, `powersave`; `as-found` leaves a setting as it is. At least two.
    pub levels: Vec<String>,
}

/// What a factor varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A setting of the host.
    Setting,
    /// The CPUs that a workload runs on, instead of those of its own options: `cpu=[2,3]`.
    Place,
    /// What the other CPUs do during a trial: `load=[idle,all-cores]`.
    Load,
}

/// Which combinations of levels are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Every one: effects and interactions of all factors.
    #[default]
    Full,
    /// The first level of all, and each other level alone: effects, no interactions.
    OneAtATime,
    /// Of factors with two levels a part of all combinations, in which the effect of no factor is mixed with that of
    /// another, nor with an interaction of two (resolution IV).
    Fraction,
}

/// When to stop an experiment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Guards {
    /// The hottest CPU, in degrees Celsius.
    pub temperature: Option<f64>,
    /// The share of the CPUs' time that the hypervisor may take in a trial: 0.05.
    pub stolen: Option<f64>,
    /// The share that other tasks may take.
    pub other_load: Option<f64>,
}

impl Factor {
    /// The level of a setting that is left as it was found.
    pub const AS_FOUND: &str = "as-found";
    /// The level of `load` with nothing else to do.
    pub const IDLE: &str = "idle";
    /// The level of `load` at which every other CPU is busy.
    pub const ALL_CORES: &str = "all-cores";

    /// A factor with these levels; of one value of a setting, against what is found.
    pub fn named(name: &str, mut levels: Vec<String>) -> Factor {
        let lone = Factor { name: name.to_owned(), levels: Vec::new() };
        if levels.len() == 1 && lone.kind() == Kind::Setting {
            levels.insert(0, Factor::AS_FOUND.to_owned());
        }
        Factor { levels, ..lone }
    }

    /// The factor that `governor=performance,powersave` names, also with brackets; `None` where there is no `=`.
    pub fn parse(word: &str) -> Option<Factor> {
        let (name, levels) = word.split_once('=')?;
        let levels = levels.trim().trim_start_matches('[').trim_end_matches(']');
        let levels = levels.split(',').map(|it| it.trim().to_owned());
        Some(Factor::named(name.trim(), levels.filter(|it| !it.is_empty()).collect()))
    }

    /// Whether the factor is a setting, a place or a load.
    pub fn kind(&self) -> Kind {
        match self.name.as_str() {
            "cpu" => Kind::Place,
            "load" => Kind::Load,
            _ => Kind::Setting,
        }
    }

    /// The request to `apply` at this level: `idle-state=C6:off` for `idle-state.C6` and `off`. `None` where nothing is
    /// changed, or it is no setting.
    pub fn request(&self, level: &str) -> Option<String> {
        if self.kind() != Kind::Setting || level == Factor::AS_FOUND {
            return None;
        }
        Some(match self.name.split_once('.') {
            // The kernel's folder of idle states is the word that most people know.
            Some(("cpuidle", subject)) => format!("idle-state={subject}:{level}"),
            Some((setting, subject)) => format!("{setting}={subject}:{level}"),
            None => format!("{}={level}", self.name),
        })
    }
}
