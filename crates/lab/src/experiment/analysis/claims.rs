//! What may be claimed: everything that is tested in a study, together.
//!
//! Effects and interactions of all workloads are one family of tests. Arms against the first one are another: they say nothing
//! that those do not, and would only weaken them.

use super::{Estimate, LEVEL, WorkloadAnalysis};
use crate::stats::{Claim, holm};

/// Corrects all estimates, and claims what is left unless a doubt forbids it.
pub(super) fn settle(workloads: &mut [WorkloadAnalysis], is_forbidden: bool) {
    let terms = workloads.iter_mut().flat_map(|it| {
        let effects = it.effects.iter_mut().map(|it| &mut it.estimate);
        effects.chain(it.interactions.iter_mut().map(|it| &mut it.estimate))
    });
    correct(terms.filter_map(|it| it.value_mut()).collect(), is_forbidden);
    let arms = workloads.iter_mut().flat_map(|it| &mut it.arms);
    correct(arms.filter_map(|it| it.change.value_mut()).collect(), is_forbidden);
}

fn correct(family: Vec<&mut Estimate>, is_forbidden: bool) {
    let claims: Vec<Claim> = family.iter().map(|it| Claim { p: it.p, weight: 1.0 }).collect();
    for (estimate, p) in family.into_iter().zip(holm(&claims)) {
        estimate.corrected_p = p;
        estimate.is_claimed = p < LEVEL && !estimate.interval.contains(0.0) && !is_forbidden;
    }
}
