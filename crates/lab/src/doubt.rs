//! What makes a figure doubtful: values, put into words only when they are printed.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

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

/// The doubts of a file, without those that this version does not raise any more.
pub(crate) fn of_this_version<'de, D: Deserializer<'de>>(file: D) -> Result<Vec<Raised>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Kept {
        Raised(Raised),
        Other {},
    }
    let raised = |it: Kept| match it {
        Kept::Raised(it) => Some(it),
        Kept::Other {} => None,
    };
    Ok(Vec::<Kept>::deserialize(file)?.into_iter().filter_map(raised).collect())
}

impl From<Doubt> for Raised {
    fn from(doubt: Doubt) -> Raised {
        Raised { arm: None, doubt }
    }
}

/// What tasks of one name took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadOf {
    /// Their name.
    pub name: String,
    /// Their share of the CPUs' time.
    pub share: f64,
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
    /// The clock differed between trials: leaving out the tenth of them at either end, the highest is this share above the lowest.
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
        /// Of all trials together: of their own time where each is one task that never sleeps, else of the time from about one second
        /// before each to its end.
        share: f64,
    },
    /// Other tasks took this share of the CPUs' time.
    OtherLoad {
        /// Of all trials together, as of stolen time.
        share: f64,
        /// Who took most of it, the largest share first, where that is known.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        by: Vec<LoadOf>,
        /// The id of a database product among them: it may be the server that the command works with, which `--server` names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
    },
    /// The first trials, a third of all or fewer, were slower than the others.
    Warming {
        /// How many.
        trials: u32,
        /// By how much slower their median is than that of the others, as a share.
        share: f64,
    },
    /// The level moved while the trials ran.
    Drifted {
        /// The trial at which the move begins, counted from 1 among those of its arm.
        at: u32,
        /// By how much the median is slower from there on than before, as a share; below 0 where it is faster.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_other_versions_doubted_is_left_out_and_the_rest_is_read() {
        let read = |text: &str| of_this_version(&mut serde_json::Deserializer::from_str(text));
        let old = r#"[{"doubt":"outliers","trials":1,"of":20},{"arm":"B","doubt":"warming","trials":3},
            {"arm":"B","doubt":"drifted","at":4,"share":0.5},{"doubt":"unpinned"}]"#;
        let drifted = Raised::by("B", Doubt::Drifted { at: 4, share: 0.5 });
        assert_eq!(read(old).unwrap(), [drifted, Doubt::Unpinned.into()]);
        assert!(read(r#"["unpinned"]"#).is_err());
    }
}
