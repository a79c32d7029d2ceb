//! What each level of a factor does, against the first one.

use super::clock::by_clock;
use super::contrast::{Contrast, estimate};
use super::study::Study;
use super::{Effect, Known, failed_arms};
use crate::stats::Mean;

/// Every level of every factor but the first ones; which losses it moves is settled with those of all others.
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
        Known::Missing { missing } => Known::Missing {
            missing: failed_arms::why(study, workload, (factor, level)).unwrap_or(missing),
        },
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

/// What the blocks say of power, in watts.
pub(super) fn watts(study: &Study<'_>, contrast: &Contrast) -> Known<Mean> {
    match contrast.mean(&study.measured.watts) {
        Known::Missing { .. } if study.watts_missing.is_some() => {
            Known::Missing { missing: study.watts_missing.clone().unwrap_or_default() }
        }
        found => found,
    }
}
