//! What each level of a factor does against the first one, how that depends on other factors, and what of it may be claimed.

use super::cells::Measured;
use super::contrast::{Contrast, estimate, mean_of};
use super::study::Study;
use super::{Effect, Estimate, Interaction, Known, LEAST_BLOCKS, LEVEL, WorkloadAnalysis};
use crate::compare::ClockShare;
use crate::experiment::Kind;
use crate::stats::{Claim, Mean, holm};

/// The effect of every level but the first of each factor. [`settle_ledger`] adds the losses that it moves.
pub(super) fn effects(study: &Study<'_>, workload: usize) -> Vec<Effect> {
    let levels = study.design().factors.iter().enumerate();
    let levels = levels.flat_map(|(factor, it)| (1..it.levels.len()).map(move |at| (factor, at)));
    levels.map(|(factor, level)| effect(study, workload, (factor, level))).collect()
}

fn effect(study: &Study<'_>, workload: usize, (factor, level): (usize, usize)) -> Effect {
    let contrast = study.grid.effect(workload, factor, level);
    let measured = &study.measured;
    let (by_clock, clock_part) = by_clock(&contrast, measured);
    let figure = match contrast.mean(&measured.figure) {
        Known::Value(it) => Known::Value(estimate(&it)),
        Known::Missing { missing } => {
            Known::missing(why_failed(study, workload, (factor, level)).unwrap_or(missing))
        }
    };
    let watts = watts(study, &contrast);
    Effect {
        factor,
        level,
        estimate: figure,
        by_clock,
        clock_part,
        ledger: Vec::new(),
        watts_interval: watts.value().map(|it| it.interval),
        watts: watts.map(|it| it.mean),
    }
}

/// The change of power over the blocks, in watts.
pub(super) fn watts(study: &Study<'_>, contrast: &Contrast) -> Known<Mean> {
    match contrast.mean(&study.measured.watts) {
        Known::Missing { .. } if study.watts_missing.is_some() => {
            Known::missing(study.watts_missing.clone().unwrap_or_default())
        }
        found => found,
    }
}

/// Every pair of levels of every pair of factors, but the first levels; none where the shape cannot show them.
pub(super) fn interactions(study: &Study<'_>, workload: usize) -> Vec<Interaction> {
    let factors = &study.design().factors;
    let is_setting = |factor: usize| factors[factor].kind() == Kind::Setting;
    let mut found = Vec::new();
    for first in 0..factors.len() {
        for second in first + 1..factors.len() {
            // What a setting does under a condition is what a reader asks for, not what the condition does under a setting.
            let is_turned = is_setting(second) && !is_setting(first);
            let (one, other) = if is_turned { (second, first) } else { (first, second) };
            for level in 1..factors[one].levels.len() {
                for at in 1..factors[other].levels.len() {
                    found.extend(interaction(study, workload, (one, other), (level, at)));
                }
            }
        }
    }
    found
}

fn interaction(
    study: &Study<'_>,
    workload: usize,
    factors: (usize, usize),
    levels: (usize, usize),
) -> Option<Interaction> {
    let figure = &study.measured.figure;
    let dependence = study.grid.dependence(workload, factors, levels)?;
    let contrast = dependence.given_other.less(&dependence.given_first);
    let mean = contrast.mean(figure);
    let given = |it: &Contrast| it.mean(figure).value().map_or(0.0, |it| it.mean.exp_m1());
    // Blocks that have one half have not always the other: without a whole contrast there is nothing to show.
    let first_given_second = match &mean {
        Known::Value(_) => (given(&dependence.given_first), given(&dependence.given_other)),
        Known::Missing { .. } => (0.0, 0.0),
    };
    let estimate = mean.map(|it| estimate(&it));
    Some(Interaction { factors, levels, estimate, first_given_second })
}

/// The change that the clock alone would have made over the blocks in which it was seen, and its part of the change.
pub(super) fn by_clock(contrast: &Contrast, measured: &Measured) -> (Known<f64>, Known<f64>) {
    let clock = contrast.values(&measured.clock);
    let figure: Vec<(usize, f64)> = contrast
        .values(&measured.figure)
        .into_iter()
        .filter(|it| clock.binary_search_by_key(&it.0, |it| it.0).is_ok())
        .collect();
    match (mean_of(&figure), mean_of(&clock)) {
        (Known::Value(figure), Known::Value(clock)) => {
            let share = ClockShare::between(figure.mean, figure.mean - clock.mean, clock.mean);
            (Known::Value(share.by_clock), share.part)
        }
        _ => (missing(), missing()),
    }
}

fn missing() -> Known<f64> {
    Known::missing(
        "the clock was not seen in enough blocks: raise trials, or run where it can be probed",
    )
}

/// At most this number of arms is named one by one.
const FEW: usize = 3;

/// Why a level cannot be compared with the first one, where the reason is failed trials: more trials would fail, too.
fn why_failed(
    study: &Study<'_>,
    workload: usize,
    (factor, level): (usize, usize),
) -> Option<String> {
    // With fewer there is no estimate, whatever failed.
    if study.measured.figure.n_blocks() < LEAST_BLOCKS as usize {
        return None;
    }
    for level in [level, 0] {
        let counts: Vec<(usize, usize)> =
            study.grid.at(workload, factor, level).iter().map(|it| failed(study, *it)).collect();
        let is_run = counts.iter().any(|it| it.1 > 0);
        if is_run && counts.iter().all(|(failed, of)| failed == of) {
            let what = setting(study, factor, level);
            return Some(format!(
                "every trial with {what} failed: fix what fails there, or leave that level out"
            ));
        }
    }
    let arms = [level, 0].map(|it| study.grid.at(workload, factor, it)).concat();
    let with_failures: Vec<usize> =
        arms.into_iter().filter(|it| failed(study, *it).0 > 0).collect();
    let mut names: Vec<String> =
        with_failures.iter().take(FEW).map(|it| settings(study, *it)).collect();
    let others = with_failures.len() - names.len();
    if others > 0 {
        names.push(format!("{others} other combinations"));
    }
    (!names.is_empty()).then(|| {
        format!(
            "trials failed with {}, so that too few blocks have a good one of every combination that this takes: fix what fails \
             there, or leave it out",
            names.join("; ")
        )
    })
}

/// How many of the trials of an arm failed, and how many there are.
fn failed(study: &Study<'_>, arm: usize) -> (usize, usize) {
    let of_arm = study.record.trials.iter().filter(|it| it.arm == arm);
    (of_arm.clone().filter(|it| it.failed.is_some()).count(), of_arm.count())
}

/// `governor=powersave, turbo=on`.
fn settings(study: &Study<'_>, arm: usize) -> String {
    let levels = study.experiment.arms[arm].levels.iter().enumerate();
    levels.map(|(at, level)| setting(study, at, *level)).collect::<Vec<_>>().join(", ")
}

fn setting(study: &Study<'_>, factor: usize, level: usize) -> String {
    let factor = &study.design().factors[factor];
    format!("{}={}", factor.name, factor.levels[level])
}

/// Corrects all estimates, and claims what is left unless a doubt forbids it.
///
/// Effects and interactions of all workloads are one family of tests. Arms against the first one are another: they say nothing
/// that those do not, and would only weaken them.
pub(super) fn settle_claims(workloads: &mut [WorkloadAnalysis], is_forbidden: bool) {
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

/// The smallest move of a line of the ledger that is reported: half a point.
const LEAST_MOVE: f64 = 0.005;

/// One loss of one effect, as blocks have it.
struct Move {
    workload: usize,
    effect: usize,
    loss: String,
    mean: Mean,
}

/// Adds to each effect the losses that moved by more than [`LEAST_MOVE`] and by more than chance moves any of them, the largest
/// first. All losses of all effects are one family of tests.
pub(super) fn settle_ledger(study: &Study<'_>, workloads: &mut [WorkloadAnalysis]) {
    let moves = moves(study, workloads);
    let claims: Vec<Claim> = moves.iter().map(|it| Claim { p: it.mean.p, weight: 1.0 }).collect();
    for (it, p) in moves.into_iter().zip(holm(&claims)) {
        if p < LEVEL && it.mean.mean.abs() > LEAST_MOVE {
            workloads[it.workload].effects[it.effect].ledger.push((it.loss, it.mean.mean));
        }
    }
    for effect in workloads.iter_mut().flat_map(|it| &mut it.effects) {
        effect.ledger.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    }
}

fn moves(study: &Study<'_>, workloads: &[WorkloadAnalysis]) -> Vec<Move> {
    let mut moves = Vec::new();
    for (workload, of) in workloads.iter().enumerate() {
        for (effect, it) in of.effects.iter().enumerate() {
            let contrast = study.grid.effect(workload, it.factor, it.level);
            for (loss, cells) in &study.measured.ledger {
                let mean = contrast.mean(cells).value().copied();
                let loss = loss.clone();
                moves.extend(mean.map(|mean| Move { workload, effect, loss, mean }));
            }
        }
    }
    moves
}
