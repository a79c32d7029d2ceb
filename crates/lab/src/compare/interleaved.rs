//! Arms whose trials were taken in blocks, in an order that chance decided.

use super::judgement::{LEAST_BLOCKS, judge_differences};
use super::reading::readings;
use super::{ClockShare, Design, Evidence, Measure, Verdict, forbidding, quieter};
use crate::doubt::{Doubt, Raised};
use crate::record::Record;
use crate::stats::{Sample, trimmed_mean};
use crate::trial::Trial;
use std::collections::BTreeMap;

/// Compares two arms of one record, by their places in [`Record::arms`].
pub fn interleaved(record: &Record, a: usize, b: usize) -> Verdict {
    let found: Vec<(Measure, Blocks)> = Measure::OF_WORK
        .into_iter()
        .chain([Measure::Clock])
        .filter_map(|it| Some((it, Blocks::of(&record.trials, it, (a, b))?)))
        .collect();
    let too_few = found.is_empty().then(|| {
        let trials = block_differences(&record.trials, Measure::Figure, (a, b)).len() as u32;
        Raised::from(Doubt::TooFewTrials { trials, needed: LEAST_BLOCKS as u32 })
    });
    let doubts = record.doubts_about(&[a, b]).into_iter().chain(too_few);
    let forbidding = forbidding::of(Design::Interleaved, doubts);
    let evidence: Vec<(Measure, Evidence)> = found.iter().map(|it| (it.0, it.1.evidence)).collect();
    Verdict {
        design: Design::Interleaved,
        clock: ClockShare::of(&evidence),
        readings: readings(reported(&found), !forbidding.is_empty()),
        settings: Vec::new(),
        forbidding,
    }
}

/// Of each block that has both arms and this measure in all of their trials, B less A, and how many trials of the arm
/// that has fewer; by the number of the block.
///
/// Of more than four trials of an arm in a block, the mean is trimmed.
pub fn block_differences(
    trials: &[Trial],
    measure: Measure,
    (a, b): (usize, usize),
) -> Vec<(f64, usize)> {
    let mut blocks: BTreeMap<u32, [Vec<Option<f64>>; 2]> = BTreeMap::new();
    for trial in trials {
        let Some(side) = [a, b].iter().position(|it| *it == trial.arm) else { continue };
        blocks.entry(trial.block).or_default()[side].push(measure.of(trial));
    }
    let mean = |values: &[Option<f64>]| {
        let values = values.iter().copied().collect::<Option<Vec<f64>>>()?;
        Sample::new(values).ok().map(|it| trimmed_mean(&it))
    };
    blocks.values().filter_map(|[a, b]| Some((mean(b)? - mean(a)?, a.len().min(b.len())))).collect()
}

/// The blocks of one measure.
struct Blocks {
    differences: Sample,
    evidence: Evidence,
}

impl Blocks {
    /// `None` where too few blocks have the measure for any claim.
    fn of(trials: &[Trial], measure: Measure, arms: (usize, usize)) -> Option<Blocks> {
        let blocks = block_differences(trials, measure, arms);
        let pairs = blocks.iter().map(|it| it.1).sum();
        let differences = Sample::new(blocks.into_iter().map(|it| it.0).collect()).ok()?;
        let evidence = judge_differences(&differences, pairs).ok()?;
        Some(Blocks { differences, evidence })
    }
}

/// The quietest measure of the work first, then the main figure and the clock.
fn reported(found: &[(Measure, Blocks)]) -> Vec<(Measure, Evidence)> {
    let of_work: Vec<&(Measure, Blocks)> =
        found.iter().filter(|it| it.0 != Measure::Clock).collect();
    let samples: Vec<&Sample> = of_work.iter().map(|it| &it.1.differences).collect();
    let quietest = quieter(&samples).map(|at| of_work[at].0);
    let mut reported: Vec<(Measure, Evidence)> = found
        .iter()
        .map(|it| (it.0, it.1.evidence))
        .filter(|it| Some(it.0) == quietest || matches!(it.0, Measure::Figure | Measure::Clock))
        .collect();
    reported.sort_by_key(|it| Some(it.0) != quietest);
    reported
}
