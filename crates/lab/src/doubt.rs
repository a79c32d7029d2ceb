//! What makes a figure doubtful: values, put into words only when they are printed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A doubt, and which of the arms compared raises it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Raised {
    /// What that arm is called; `None` where all of them raise it, or there is one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// The reason to trust the result less.
    #[serde(flatten)]
    pub doubt: Doubt,
}

impl Raised {
    /// A doubt that one arm alone raises.
    pub fn by(arm: &str, doubt: Doubt) -> Raised {
        Raised { arm: Some(arm.to_owned()), doubt }
    }
}

impl From<Doubt> for Raised {
    fn from(doubt: Doubt) -> Raised {
        Raised { arm: None, doubt }
    }
}

/// A reason to trust a result less.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "doubt", rename_all = "kebab-case")]
pub enum Doubt {
    /// The CPUs were throttled in this many trials.
    Throttled {
        /// How many trials were throttled.
        trials: u32,
    },
    /// The clock differed between trials: the highest is this share above the lowest.
    ClockDrifted {
        /// 0.04 is four percent.
        share: f64,
    },
    /// The clock could not be read.
    ClockUnknown {
        /// Why the clock is unknown.
        missing: String,
    },
    /// The hypervisor took this share of the CPUs' time.
    Stolen {
        /// Of all trials together.
        share: f64,
    },
    /// Other tasks took this share of the CPUs' time.
    OtherLoad {
        /// Of all trials together.
        share: f64,
    },
    /// Trials that lie far from the others of their arm; they count all the same.
    Outliers {
        /// How many.
        trials: u32,
        /// Of how many.
        of: u32,
    },
    /// The first trials were slower than the others.
    Warming {
        /// How many.
        trials: u32,
    },
    /// The figures moved while they were taken.
    Drifted {
        /// The trial at which the change begins, counted from 1 among those of its arm.
        at: u32,
        /// By how much, as a share.
        share: f64,
    },
    /// Too few trials for any claim.
    TooFewTrials {
        /// How many there are of the arm that has the fewest.
        trials: u32,
        /// How many are needed at least.
        needed: u32,
    },
    /// The scheduler could move it from CPU to CPU.
    Unpinned,
    /// Another program ran it, and its output has nothing about the machine and the time.
    MachineUnknown,
    /// It was stopped before its plan was done.
    CutShort,
    /// Trials failed, and there are others.
    Failures {
        /// How many.
        trials: u32,
    },
}
