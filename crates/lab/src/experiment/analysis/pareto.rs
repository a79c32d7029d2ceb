//! Which combinations of settings can be chosen, and which of them are Pareto-optimal.

use super::effects::watts;
use super::forecast::{Forecast, Forecasts, Term, terms};
use super::study::{Candidates, Study};
use super::{LEVEL, WorkloadAnalysis};
use crate::experiment::Kind;
use crate::stats::{Claim, Mean, holm};
use std::collections::{BTreeMap, BTreeSet};

/// Their places in the list of combinations; of those that differ in conditions alone, the first.
///
/// One beats another where it is expected to be better in something and worse in nothing: in no workload, and not in power
/// where that was measured. What is expected is made of what is claimed, so that what cannot be told apart beats nothing.
/// The front is found as Kung, Luccio and Preparata, "On Finding the Maxima of a Set of Vectors", Journal of the ACM 22
/// (1975), begin: sorted, no vector is beaten by a later one.
pub(super) fn front(study: &Study<'_>, workloads: &[WorkloadAnalysis]) -> Vec<usize> {
    let terms: Vec<BTreeSet<Term>> = workloads.iter().map(|it| terms(study.design(), it)).collect();
    let mut objectives = Forecasts::of(study, workloads, &terms).0;
    objectives.push(power(study));
    let mut alike: BTreeMap<Vec<i64>, Vec<usize>> = BTreeMap::new();
    let candidates = Candidates::of(study);
    for (place, levels) in candidates.run.iter().filter(|it| candidates.is_sound(&it.1)) {
        // Sums in another order differ by rounding.
        let rounded = |it: &Forecast| (it.change(levels) * 1e9).round() as i64;
        alike.entry(objectives.iter().map(rounded).collect()).or_default().push(*place);
    }
    let mut front: Vec<&Vec<i64>> = Vec::new();
    for vector in alike.keys() {
        let beats = |other: &&Vec<i64>| other.iter().zip(vector).all(|(a, b)| a <= b);
        if !front.iter().any(beats) {
            front.push(vector);
        }
    }
    let mut places: Vec<usize> = front.into_iter().flat_map(|it| alike[it].clone()).collect();
    places.sort_unstable();
    places
}

/// What settings do to the power, as far as it is claimed: the mean of the workloads, in watts.
fn power(study: &Study<'_>) -> Forecast {
    let factors = study.design().factors.iter().enumerate();
    let settings = factors.filter(|(_, it)| it.kind() == Kind::Setting);
    let levels =
        settings.flat_map(|(factor, it)| (1..it.levels.len()).map(move |level| (factor, level)));
    let n_workloads = study.design().workloads.len();
    let mut found: Vec<(Term, Mean)> = Vec::new();
    for (factor, level) in levels {
        for workload in 0..n_workloads {
            let contrast = study.grid.effect(workload, factor, level);
            let mean = watts(study, &contrast).value().copied();
            found.extend(mean.map(|it| (Term::Effect(factor, level), it)));
        }
    }
    let claims: Vec<Claim> = found.iter().map(|it| Claim { p: it.1.p, weight: 1.0 }).collect();
    let mut sums: BTreeMap<Term, f64> = BTreeMap::new();
    for ((term, mean), p) in found.iter().zip(holm(&claims)) {
        let claimed = if p < LEVEL { mean.mean } else { 0.0 };
        *sums.entry(*term).or_default() += claimed / n_workloads as f64;
    }
    Forecast::of(study.design(), sums.into_iter())
}
