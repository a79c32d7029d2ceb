//! The two designs: arms whose trials were interleaved in blocks, and arms whose trials were taken at different times.

use super::judgement::{LEAST_BLOCKS, LEAST_TRIALS, judge_differences, judge_moments, readings};
use super::{ClockShare, Design, Evidence, Measure, Verdict, quieter};
use crate::doubt::{Doubt, Raised};
use crate::record::{Record, setting_differences};
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
    let forbidding = forbidding_doubts(Design::Interleaved, doubts);
    let evidence: Vec<(Measure, Evidence)> = found.iter().map(|it| (it.0, it.1.evidence)).collect();
    // Trials whose pieces took turns had one clock: in cycles their differences are what they are in time.
    let told_by: &[Measure] = if record.pieces > 1 { &Measure::OF_TIME } else { &Measure::OF_WORK };
    Verdict {
        design: Design::Interleaved,
        clock: ClockShare::of(&evidence),
        readings: readings(reported(&found, told_by), !forbidding.is_empty()),
        settings: setting_differences(record.machine_of(a), record.machine_of(b)),
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
    block_differences_by(trials, measure, |it| [a, b].iter().position(|arm| *arm == it.arm))
}

/// The same of two sides: `side` is 0 for a trial of A, 1 for one of B, and `None` for one of neither.
pub(crate) fn block_differences_by(
    trials: &[Trial],
    measure: Measure,
    side: impl Fn(&Trial) -> Option<usize>,
) -> Vec<(f64, usize)> {
    let mut blocks: BTreeMap<u32, [Vec<Option<f64>>; 2]> = BTreeMap::new();
    for trial in trials {
        let Some(side) = side(trial) else { continue };
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

/// The quietest of the measures that may tell the arms apart first, then the main figure and the clock.
fn reported(found: &[(Measure, Blocks)], told_by: &[Measure]) -> Vec<(Measure, Evidence)> {
    let of_work: Vec<&(Measure, Blocks)> =
        found.iter().filter(|it| told_by.contains(&it.0)).collect();
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

/// An arm of a record, by its place in [`Record::arms`], and what it is called where it is compared.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// `A`, `B`, or the id or the file of its result.
    pub name: &'a str,
    /// What it is in.
    pub record: &'a Record,
    /// Its place there.
    pub arm: usize,
}

/// Compares arms of two records.
///
/// Everything that changed between the moments is in the difference: the clock, other load, another kernel. So the settings
/// that differ are named, and doubts that two interleaved arms would share forbid a claim here.
pub fn separate(a: Side<'_>, b: Side<'_>) -> Verdict {
    let evidence: Vec<(Measure, Evidence)> =
        [Measure::Figure, Measure::FigureCycles, Measure::Clock]
            .into_iter()
            .filter_map(|it| Some((it, judge_moments(&a.values(it)?, &b.values(it)?).ok()?)))
            .collect();
    let forbidding = forbidding_doubts(Design::Separate, doubts_of_either(a, b).into_iter());
    Verdict {
        design: Design::Separate,
        clock: ClockShare::of(&evidence),
        readings: readings(evidence, !forbidding.is_empty()),
        settings: setting_differences(a.record.machine_of(a.arm), b.record.machine_of(b.arm)),
        forbidding,
    }
}

/// What makes either doubtful; what makes both so in the same way, once.
pub fn doubts_of_either(a: Side<'_>, b: Side<'_>) -> Vec<Raised> {
    let (of_a, of_b) = (a.doubts(), b.doubts());
    let (both, only_a): (Vec<Doubt>, Vec<Doubt>) =
        of_a.into_iter().partition(|it| of_b.contains(it));
    let only_b = of_b.into_iter().filter(|it| !both.contains(it)).collect::<Vec<_>>();
    let by = |name, doubts: Vec<Doubt>| doubts.into_iter().map(move |it| Raised::by(name, it));
    let shared = both.iter().cloned().map(Raised::from);
    shared.chain(by(a.name, only_a)).chain(by(b.name, only_b)).collect()
}

impl Side<'_> {
    fn doubts(&self) -> Vec<Doubt> {
        let of_record = self.record.doubts_about(&[self.arm]);
        let mut doubts: Vec<Doubt> = of_record.into_iter().map(|it| it.doubt).collect();
        let too_few = too_few(self).filter(|it| !doubts.contains(it));
        doubts.extend(too_few);
        doubts
    }

    /// `None` where a trial lacks the measure: which ones do may hang on how slow they were.
    fn values(&self, measure: Measure) -> Option<Sample> {
        let trials = self.record.trials.iter().filter(|it| it.arm == self.arm);
        Sample::new(trials.map(|it| measure.of(it)).collect::<Option<_>>()?).ok()
    }
}

/// Those of `doubts` that forbid a claim, each once.
fn forbidding_doubts(design: Design, doubts: impl Iterator<Item = Raised>) -> Vec<Raised> {
    let mut found: Vec<Raised> = Vec::new();
    for raised in doubts.filter(|it| forbids(design, &it.doubt)) {
        if !found.contains(&raised) {
            found.push(raised);
        }
    }
    found
}

/// The doubt of an arm that has too few trials for two moments to be compared.
fn too_few(side: &Side<'_>) -> Option<Doubt> {
    let trials = side.record.trials.iter().filter(|it| it.arm == side.arm).count();
    let doubt = || Doubt::TooFewTrials { trials: trials as u32, needed: LEAST_TRIALS as u32 };
    (trials < LEAST_TRIALS).then(doubt)
}

/// Whether a doubt forbids a claim. Chance spreads whatever both arms share over both of them: in interleaved trials only too
/// few trials forbid a claim. Two separate results share nothing, and a machine that was not the same in one of them says
/// nothing about the arms.
fn forbids(design: Design, doubt: &Doubt) -> bool {
    match doubt {
        Doubt::TooFewTrials { .. } => true,
        Doubt::Throttled { .. }
        | Doubt::Stolen { .. }
        | Doubt::OtherLoad { .. }
        | Doubt::ClockDrifted { .. }
        | Doubt::Warming { .. }
        | Doubt::Drifted { .. } => design == Design::Separate,
        Doubt::ClockUnknown { .. }
        | Doubt::Outliers { .. }
        | Doubt::Unpinned
        | Doubt::MachineUnknown
        | Doubt::CutShort
        | Doubt::Failures { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::{blocks, record, trial};

    #[test]
    fn trials_whose_pieces_took_turns_are_told_apart_by_time_and_not_by_cycles() {
        // The clock that was probed moves with the trials: as whole ones they are steady in cycles.
        let slowed = |(at, it): (usize, Trial)| {
            let slower = 1.0 + (at * 3 % 5) as f64 / 100.0;
            trial(
                it.arm,
                it.block,
                it.outcome.figures.first().unwrap().value * slower,
                2e9 / slower,
            )
        };
        let steady = blocks((1.0, 2e9), (1.01, 2e9), 0.001);
        let trials: Vec<Trial> = steady.into_iter().enumerate().map(slowed).collect();
        let is_in_time = |pieces: u32| {
            let record = Record { pieces, ..record(trials.clone()) };
            Measure::OF_TIME.contains(&interleaved(&record, 0, 1).readings[0].measure)
        };
        assert_eq!([is_in_time(1), is_in_time(20)], [false, true]);
    }
}
