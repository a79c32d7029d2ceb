//! A verdict as JSON shows it.

use lab::verdict::{Allowance, Ratio, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

/// What may be said of a difference: claimed if and only if the interval leaves "no difference" out, and of two results also what moved
/// within a run and what runs differ by.
#[derive(Serialize, JsonSchema)]
pub(crate) struct VerdictView {
    is: VerdictName,
    /// null where there is too little for one.
    change: Option<Change>,
    /// Of two results: what the interval had to clear, as shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowance: Option<AllowanceView>,
    /// Of too few: how many there are, and how many are needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    too_few: Option<Few>,
}

/// The kinds of verdicts.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum VerdictName {
    /// There is a difference.
    Claimed,
    /// None is shown; if there is one, it is in the interval.
    NotShown,
    /// None is shown that is larger than a margin that was requested.
    Same,
    /// None is shown, and the interval says little.
    TooNoisy,
    /// Two results differ, but no more than two runs of the same do.
    NotClear,
    /// There is too little to say anything.
    TooFew,
    /// A race that no one number describes: see its pieces.
    Described,
}

/// A change and its interval, as shares.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub(super) struct Change {
    change: f64,
    low: f64,
    high: f64,
    /// With which chance the interval holds the truth.
    #[schemars(range(min = 0, max = 1))]
    confidence: f64,
}

/// What the interval of two results had to clear.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AllowanceView {
    /// Twice the largest move of the median within either run.
    moved: f64,
    /// What two runs of the same differ by.
    between_runs: f64,
    /// Of how many earlier runs that is known; null where it is assumed.
    known_of: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Few {
    have: usize,
    needed: usize,
}

impl AllowanceView {
    pub(crate) fn of(allowance: &Allowance) -> AllowanceView {
        AllowanceView {
            moved: (2.0 * allowance.largest_move).exp_m1(),
            between_runs: allowance.between_runs.limit.exp_m1(),
            known_of: allowance.between_runs.known_of,
        }
    }
}

impl Change {
    pub(super) fn of(ratio: &Ratio) -> Change {
        let (change, interval) = ratio.change();
        let confidence = ratio.confidence;
        Change { change, low: interval.low, high: interval.high, confidence }
    }
}

impl VerdictView {
    pub(crate) fn of(verdict: &Verdict) -> VerdictView {
        let is = match verdict {
            Verdict::Claimed(_) => VerdictName::Claimed,
            Verdict::NotShown(_) => VerdictName::NotShown,
            Verdict::Same { .. } => VerdictName::Same,
            Verdict::TooNoisy(_) => VerdictName::TooNoisy,
            Verdict::NotClear { .. } => VerdictName::NotClear,
            Verdict::TooFew { .. } => VerdictName::TooFew,
        };
        let too_few = match *verdict {
            Verdict::TooFew { have, needed, .. } => Some(Few { have, needed }),
            _ => None,
        };
        VerdictView { is, change: verdict.ratio().map(Change::of), allowance: None, too_few }
    }

    /// The same with what the interval had to clear.
    pub(crate) fn cleared(self, allowance: Option<AllowanceView>) -> VerdictView {
        VerdictView { allowance, ..self }
    }

    /// Of a race that no one number describes.
    pub(super) fn described() -> VerdictView {
        VerdictView { is: VerdictName::Described, change: None, allowance: None, too_few: None }
    }
}
