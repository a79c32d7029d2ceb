//! What may be said, with all that the sentence needs.

use super::allowance::Allowance;
use super::ratio::Ratio;
use crate::stats::{Estimate, Interval, Unfit};

/// What may be said of a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// There is one: the interval leaves out "no difference" and, of two moments, the allowance.
    Claimed(Ratio),
    /// None is shown: if there is one, it is in the interval.
    NotShown(Ratio),
    /// None is shown that is larger than the margin that was asked for.
    Same {
        /// Between which differences it is.
        ratio: Ratio,
        /// What was asked for, such as 0.01.
        margin: f64,
    },
    /// None is shown, and the interval is so wide that this says little.
    TooNoisy(Ratio),
    /// Two moments differ, but no more than two runs of the same do.
    NotClear {
        /// The difference of the two runs.
        ratio: Ratio,
        /// What else could explain it.
        allowance: Allowance,
    },
    /// Too little to say anything.
    TooFew {
        /// How many there are: blocks, trials, runs or intervals.
        have: usize,
        /// How many it takes.
        needed: usize,
        /// The lowest and the highest logarithm so far, where each of them is a ratio.
        so_far: Option<Interval>,
    },
}

/// A half-width above which nothing shown says little.
const NOISY: f64 = 0.1;

impl Verdict {
    /// The rule, where the interval alone decides.
    pub(super) fn of(
        estimate: Result<Estimate, Unfit>,
        confidence: f64,
        margin: Option<f64>,
    ) -> Verdict {
        match estimate {
            Ok(estimate) => Verdict::of_ratio(Ratio::new(estimate, confidence), margin),
            Err(unfit) => Verdict::too_few(unfit),
        }
    }

    pub(super) fn of_ratio(ratio: Ratio, margin: Option<f64>) -> Verdict {
        if ratio.excludes_none() {
            return Verdict::Claimed(ratio);
        }
        Verdict::without_claim(ratio, margin.filter(|it| ratio.is_within(*it)))
    }

    /// Of a ratio whose interval holds "no difference"; `margin` is what it is within.
    pub(super) fn without_claim(ratio: Ratio, margin: Option<f64>) -> Verdict {
        match margin {
            Some(margin) => Verdict::Same { ratio, margin },
            None if ratio.half_width() > NOISY => Verdict::TooNoisy(ratio),
            None => Verdict::NotShown(ratio),
        }
    }

    pub(super) fn too_few(unfit: Unfit) -> Verdict {
        let (have, needed) = match unfit {
            Unfit::TooFew { have, needed } => (have, needed),
            // None of the numbers can be used.
            Unfit::NotFinite { of } => (0, of.max(1)),
        };
        Verdict::TooFew { have, needed, so_far: None }
    }

    /// Too few runs, of which the two at hand have this logarithm of their ratio.
    pub(crate) fn too_few_runs(unfit: Unfit, so_far: f64) -> Verdict {
        match Verdict::too_few(unfit) {
            Verdict::TooFew { have, needed, .. } => Verdict::TooFew {
                have,
                needed,
                so_far: Some(Interval { low: so_far, high: so_far }),
            },
            verdict => verdict,
        }
    }

    /// Whether a difference is claimed.
    pub fn is_claimed(&self) -> bool {
        matches!(self, Verdict::Claimed(_))
    }

    /// The ratio, unless there was too little for one.
    pub fn ratio(&self) -> Option<&Ratio> {
        match self {
            Verdict::Claimed(ratio)
            | Verdict::NotShown(ratio)
            | Verdict::TooNoisy(ratio)
            | Verdict::Same { ratio, .. }
            | Verdict::NotClear { ratio, .. } => Some(ratio),
            Verdict::TooFew { .. } => None,
        }
    }
}
