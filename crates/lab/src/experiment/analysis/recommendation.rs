//! What to do with the machine: which combinations of settings can be chosen, which of them are Pareto-optimal, and which is recommended.

use super::contrast::estimate;
use super::effects::watts;
use super::forecast::{BlockForecasts, Forecast, Forecasts, Term, terms};
use super::study::{Candidates, Study};
use super::{Recommendation, SlowerWhere, WorkloadAnalysis};

use crate::experiment::{Kind, Shape};
use crate::stats::Mean;
use crate::verdict::confidence;
use std::collections::{BTreeMap, BTreeSet};

/// What the trials of a study come to.
///
/// The combination that is expected to be fastest, all workloads weighing alike. A setting that is not shown to be better than
/// its first level is left there: each one that the fastest combination changes has to make a difference to it that
/// the blocks are sure of, and so has the whole of it.
pub(super) fn recommendation(
    study: &Study<'_>,
    workloads: &[WorkloadAnalysis],
    unfit: Option<String>,
) -> Recommendation {
    if let Some(why) = unfit.or_else(|| unknown(workloads)) {
        return Recommendation::Unsettled { why };
    }
    let terms: Vec<BTreeSet<Term>> = workloads.iter().map(|it| terms(study.design(), it)).collect();
    let because = factors(&terms);
    if because.is_empty() {
        return if has_dependence(study, workloads) {
            Recommendation::Depends
        } else {
            Recommendation::Nothing
        };
    }
    let blocks = BlockForecasts::of(study, &terms);
    let candidates = Candidates::of(study);
    let forecasts = Forecasts::of(study, workloads, &terms);
    let Some(best) = fastest(study, &candidates, &forecasts) else {
        return Recommendation::Unsettled { why: all_failed(study) };
    };
    let needed = blocks.needed(best, &candidates, study.design().shape);
    let first = vec![0; needed.len()];
    if needed != first && blocks.is_faster(&needed, &first) {
        return change(study, workloads, needed, (&blocks, &candidates, &forecasts));
    }
    if !candidates.is_sound(&first) {
        return Recommendation::Unsettled { why: first_failed(study) };
    }
    Recommendation::Keep { because, left_out: left_out(study, &candidates, &forecasts, &first) }
}

/// Another combination than the first, with what it costs.
fn change(
    study: &Study<'_>,
    workloads: &[WorkloadAnalysis],
    levels: Vec<usize>,
    (blocks, candidates, forecasts): (&BlockForecasts, &Candidates, &Forecasts),
) -> Recommendation {
    let first = vec![0; levels.len()];
    let is_slower =
        |it: &usize| blocks.change(Some(*it), &levels, &first).is_some_and(|it| it.low > 0.0);
    Recommendation::Change {
        expected: forecasts.0.iter().map(|it| it.change(&levels).exp_m1()).collect(),
        slower: (0..workloads.len()).filter(is_slower).collect(),
        slower_where: slower_where(study, &levels),
        was_run: candidates.was_run(&levels),
        left_out: left_out(study, candidates, forecasts, &levels),
        levels,
    }
}

/// The factors that were shown to matter on the whole; of an interaction both effects are in the model.
fn factors(terms: &[BTreeSet<Term>]) -> Vec<usize> {
    let factor = |it: &Term| match *it {
        Term::Effect(factor, _) => Some(factor),
        Term::Interaction(..) => None,
    };
    terms.iter().flatten().filter_map(factor).collect::<BTreeSet<usize>>().into_iter().collect()
}

fn all_failed(study: &Study<'_>) -> String {
    let what = match study.design().shape {
        Shape::Fraction => {
            "trials failed with the levels that are expected to be fastest, and with the first ones"
        }
        Shape::Full | Shape::OneAtATime => "each combination of settings has a trial that failed",
    };
    format!("{what}{FIX}")
}

fn first_failed(study: &Study<'_>) -> String {
    let without = match study.design().shape {
        Shape::Fraction => "no better one was found",
        Shape::Full | Shape::OneAtATime => {
            "no combination without a failed trial was shown to be faster"
        }
    };
    format!("trials with the first level of every setting failed, and {without}{FIX}")
}

/// What to do about trials that failed.
const FIX: &str = ": fix what makes them fail, and run it again";

/// Why a workload cannot be spoken of: nothing is known of what any setting does to it.
fn unknown(workloads: &[WorkloadAnalysis]) -> Option<String> {
    let why = |it: &WorkloadAnalysis| {
        let is_unknown = it.effects.iter().all(|it| it.estimate.value().is_none());
        let reason = it.effects.iter().find_map(|it| it.estimate.reason());
        reason.filter(|_| is_unknown).map(|why| format!("of {}, {why}", it.workload))
    };
    workloads.iter().find_map(why)
}

/// Expectations that differ by less are the same: sums in another order.
const ROUNDING: f64 = 1e-9;

/// The levels that are expected to be fastest of all that can be chosen; of equals those that change least. `None` where
/// trials failed with all of them.
fn fastest(
    study: &Study<'_>,
    candidates: &Candidates,
    forecasts: &Forecasts,
) -> Option<Vec<usize>> {
    if study.design().shape == Shape::Fraction {
        let first = vec![0; study.design().factors.len()];
        let ranked = [best_of_fraction(study, forecasts), first];
        return ranked.into_iter().find(|it| candidates.is_sound(it));
    }
    let sound = candidates.run.iter().map(|it| &it.1).filter(|it| candidates.is_sound(it));
    let ranked = sound.map(|it| (rank(forecasts, it), it));
    let best = ranked.min_by(|(a, _), (b, _)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    best.map(|it| it.1.clone())
}

/// Without interactions the best combination is that of the best levels.
fn best_of_fraction(study: &Study<'_>, forecasts: &Forecasts) -> Vec<usize> {
    let n_factors = study.design().factors.len();
    let alone = |factor: usize, level: usize| {
        let mut levels = vec![0; n_factors];
        levels[factor] = level;
        forecasts.mean(&levels)
    };
    let best = |factor| usize::from(alone(factor, 1) < -ROUNDING);
    (0..n_factors).map(best).collect()
}

/// Faster first, and of equals what changes less.
fn rank(forecasts: &Forecasts, levels: &[usize]) -> (f64, usize) {
    let mean = (forecasts.mean(levels) / ROUNDING).round();
    (mean, levels.iter().filter(|it| **it > 0).count())
}

/// What is expected to be faster than `chosen`, and was not chosen because trials failed with it; the fastest first.
fn left_out(
    study: &Study<'_>,
    candidates: &Candidates,
    forecasts: &Forecasts,
    chosen: &[usize],
) -> Vec<Vec<usize>> {
    let all = match study.design().shape {
        Shape::Fraction => vec![best_of_fraction(study, forecasts)],
        Shape::Full | Shape::OneAtATime => candidates.run.iter().map(|it| it.1.clone()).collect(),
    };
    let is_faster = |it: &Vec<usize>| forecasts.mean(it) < forecasts.mean(chosen) - ROUNDING;
    let mut left: Vec<Vec<usize>> =
        all.into_iter().filter(|it| !candidates.is_sound(it) && is_faster(it)).collect();
    left.sort_by(|a, b| {
        let (a, b) = (rank(forecasts, a), rank(forecasts, b));
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    });
    left
}

/// Whether an interaction of a setting with a condition is claimed.
fn has_dependence(study: &Study<'_>, workloads: &[WorkloadAnalysis]) -> bool {
    let is_setting = |factor: usize| study.design().factors[factor].kind() == Kind::Setting;
    let mut interactions = workloads.iter().flat_map(|it| &it.interactions);
    interactions.any(|it| {
        let is_claimed = it.estimate.value().is_some_and(|it| it.is_claimed);
        is_claimed && is_setting(it.factors.0) != is_setting(it.factors.1)
    })
}

/// Where a workload gets slower by these levels of the settings; what is asked of all workloads and conditions is one
/// family of tests.
///
/// A condition cannot be chosen, so that what is advised is what is best on the average of its levels. Where that is not best under
/// each of them, the recommendation has to say so: one condition pays for the others.
pub(super) fn slower_where(study: &Study<'_>, levels: &[usize]) -> Vec<SlowerWhere> {
    let mut asked = Vec::new();
    for workload in 0..study.design().workloads.len() {
        for (condition, factor) in study.design().factors.iter().enumerate() {
            let n_levels = if factor.kind() == Kind::Setting { 0 } else { factor.levels.len() };
            for level in 0..n_levels {
                let contrast = study.grid.change_where(workload, levels, (condition, level));
                asked.push((workload, condition, level, contrast));
            }
        }
    }
    let confidence = confidence(asked.len());
    let found = asked.into_iter().filter_map(|(workload, condition, level, contrast)| {
        let mean = contrast.mean(&study.measured.figure, confidence);
        let estimate = estimate(mean.value()?, confidence);
        let is_slower = estimate.is_claimed && estimate.change > 0.0;
        is_slower.then_some(SlowerWhere { workload, condition, level, estimate })
    });
    found.collect()
}

/// Their places in the list of combinations; of those that differ in conditions alone, the first.
///
/// One beats another where it is expected to be better in something and worse in nothing: in no workload, and not in power
/// where that was measured. What is expected is made of what is claimed, so that an arm that is not shown to differ beats none.
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
    let mut sums: BTreeMap<Term, f64> = BTreeMap::new();
    for (term, mean) in &found {
        let claimed = if mean.interval.contains(0.0) { 0.0 } else { mean.mean };
        *sums.entry(*term).or_default() += claimed / n_workloads as f64;
    }
    Forecast::of(study.design(), sums.into_iter())
}
