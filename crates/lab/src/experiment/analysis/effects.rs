//! What each level of a factor does against the first one, how that depends on other factors, and what of it may be claimed.

use super::cells::Measured;
use super::contrast::{Contrast, estimate, mean_of};
use super::study::Study;
use super::{Effect, Estimate, Interaction, Known, LEAST_BLOCKS, LEVEL, WorkloadAnalysis};
use crate::compare::ClockShare;
use crate::experiment::Kind;
use crate::stats::Mean;
use crate::verdict::confidence;

/// The effect of every level but the first of each factor. [`settle_ledger`] adds the losses that it moves.
pub(super) fn effects(study: &Study<'_>, workload: usize) -> Vec<Effect> {
    let levels = study.design().factors.iter().enumerate();
    let levels = levels.flat_map(|(factor, it)| (1..it.levels.len()).map(move |at| (factor, at)));
    levels.map(|(factor, level)| effect(study, workload, (factor, level))).collect()
}

fn effect(study: &Study<'_>, workload: usize, (factor, level): (usize, usize)) -> Effect {
    let contrast = study.grid.effect(workload, factor, level);
    let measured = &study.measured;
    let confidence = study.confidence();
    let Clock { by_clock, clock_part, in_cycles } = by_clock(&contrast, measured, confidence);
    let figure = match contrast.mean(&measured.figure, confidence) {
        Known::Value(it) => Known::Value(estimate(&it, confidence)),
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
        in_cycles,
        ledger: Vec::new(),
        watts_interval: watts.value().map(|it| it.interval),
        watts: watts.map(|it| it.mean),
    }
}

/// The change of power over the blocks, in watts.
pub(super) fn watts(study: &Study<'_>, contrast: &Contrast) -> Known<Mean> {
    match contrast.mean(&study.measured.watts, study.confidence()) {
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
    let confidence = study.confidence();
    let mean = contrast.mean(figure, confidence);
    let of_parts = study.confidence_of_parts();
    // Blocks that have one half have not always the other: without a whole contrast there is nothing to show.
    let given = |it: &Contrast| match &mean {
        Known::Value(_) => it.mean(figure, of_parts).map(|it| estimate(&it, of_parts)),
        Known::Missing { missing } => Known::missing(missing.clone()),
    };
    let first_given_second = [given(&dependence.given_first), given(&dependence.given_other)];
    let estimate = mean.map(|it| estimate(&it, confidence));
    Some(Interaction { factors, levels, estimate, first_given_second })
}

/// What the clock has to do with a change.
struct Clock {
    by_clock: Known<f64>,
    clock_part: Known<f64>,
    in_cycles: Known<Estimate>,
}

/// The change that the clock alone would have made over the blocks in which it was seen, its part of the change, and what is left.
fn by_clock(contrast: &Contrast, measured: &Measured, confidence: f64) -> Clock {
    let clock = contrast.values(&measured.clock);
    let figure: Vec<(usize, f64)> = contrast
        .values(&measured.figure)
        .into_iter()
        .filter(|it| clock.binary_search_by_key(&it.0, |it| it.0).is_ok())
        .collect();
    let left =
        figure.iter().zip(&clock).map(|((block, figure), (_, clock))| (*block, figure - clock));
    let left: Vec<(usize, f64)> = left.collect();
    let means = [&figure, &clock].map(|it| mean_of(it, confidence));
    match means {
        [Known::Value(figure), Known::Value(clock)] => {
            let (by_clock, clock_part) = ClockShare::of_time(figure.mean, clock.mean);
            let in_cycles = mean_of(&left, confidence).map(|it| estimate(&it, confidence));
            Clock { by_clock: Known::Value(by_clock), clock_part, in_cycles }
        }
        _ => Clock { by_clock: missing(), clock_part: missing(), in_cycles: missing() },
    }
}

fn missing<T>() -> Known<T> {
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
/// first. All losses of all effects are one family.
pub(super) fn settle_ledger(study: &Study<'_>, workloads: &mut [WorkloadAnalysis]) {
    let moves = moves(study, workloads);
    let level = LEVEL / moves.len().max(1) as f64;
    for it in moves {
        if it.mean.p < level && it.mean.mean.abs() > LEAST_MOVE {
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
                let mean = contrast.mean(cells, confidence(1)).value().copied();
                let loss = loss.clone();
                moves.extend(mean.map(|mean| Move { workload, effect, loss, mean }));
            }
        }
    }
    moves
}
