//! Whether an output contradicts itself.

use lab::verdict::{Moments, Ratio, Verdict};

/// How many outputs were looked at, and how many contradict themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checked {
    pub(super) outputs: u32,
    pub(super) contradictions: u32,
}

impl Checked {
    /// Looks at a verdict that the interval alone decides.
    pub(super) fn verdict(&mut self, verdict: Verdict) -> Verdict {
        self.count(verdict.ratio().is_none_or(|it| {
            is_sound(it, verdict.is_claimed()) && it.interval.contains(0.0) != verdict.is_claimed()
        }));
        verdict
    }

    /// Looks at a verdict of two moments.
    pub(super) fn moments(&mut self, found: Moments) -> Moments {
        let total = found.allowance.total();
        self.count(found.verdict.ratio().is_none_or(|it| {
            let clears = it.interval.low > total || it.interval.high < -total;
            let is_unclear = matches!(found.verdict, Verdict::NotClear { .. });
            is_sound(it, found.verdict.is_claimed() || is_unclear)
                && found.verdict.is_claimed() == clears
                && is_unclear == (!clears && !it.interval.contains(0.0))
        }));
        found
    }

    pub(super) fn count(&mut self, is_sound: bool) {
        self.outputs += 1;
        self.contradictions += u32::from(!is_sound);
    }
}

/// The estimate lies in the interval, and with the digits that are printed an end of one that leaves 0 out is not 0.
fn is_sound(ratio: &Ratio, differs: bool) -> bool {
    let (_, change) = ratio.change();
    let decimals = ratio.decimals();
    let printed = |end: f64| format!("{:.decimals$}", 100.0 * end).parse::<f64>().unwrap_or(0.0);
    let shows_0 = printed(change.low) * printed(change.high) <= 0.0;
    ratio.interval.contains(ratio.log) && (!differs || !shows_0)
}
