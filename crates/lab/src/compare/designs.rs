//! The two designs: arms whose trials were interleaved in blocks, and arms whose trials were taken at different times.

use super::{ClockShare, Close, Design, Difference, Measure, Planning, Raced, Terms, race};
use crate::doubt::Doubt;
use crate::known::Known;
use crate::record::{Record, setting_differences};
use crate::stats::{Sample, Unfit, slow_trials, trimmed_mean};
use crate::trial::{Better, Trial};
use crate::verdict::{Moments, Ratio, Verdict, confidence, of_blocks, of_moments};
use std::collections::BTreeMap;

/// Compares two arms of one record, by their places in [`Record::arms`]. Nodes of a race are not asked whether they are within a margin.
pub fn interleaved(record: &Record, arms: (usize, usize), terms: &Terms) -> Difference {
    if record.is_race() {
        return of_nodes(record, arms, terms.comparisons);
    }
    let confidence = confidence(terms.comparisons);
    let sign = sign_of(record);
    let blocks = |measure, sign: f64| {
        let blocks = block_differences(&record.trials, measure, arms);
        Sample::new(blocks.into_iter().map(|it| sign * it).collect())
    };
    let ratio = |measure, sign| ratio_of(&judged(blocks(measure, sign), confidence, None));
    let main = blocks(Measure::Figure, sign);
    let n = main.as_ref().map_or(0, Sample::len);
    let verdict = judged(main, confidence, terms.margin);
    let clock = ratio(Measure::Clock, -1.0);
    let (cycles, clock) = if record.pieces > 1 {
        // Trials whose pieces took turns had one clock: in cycles their differences are what they are in time.
        let is_known = verdict.ratio().is_some() && clock.value().is_some();
        let why = if is_known { ONE_CLOCK } else { UNKNOWN_CLOCK };
        (Known::missing(ONE_CLOCK), Known::missing(why))
    } else {
        let cycles = ratio(Measure::FigureCycles, sign);
        let clock = clock_share(&verdict, &cycles, &clock);
        (cycles, clock)
    };
    let of = |arm| values(record, arm, Measure::Figure);
    Difference {
        design: Design::Interleaved,
        n,
        raced: None,
        allowance: None,
        close: Close::of(&verdict, None, terms.margin),
        planning: Planning::of(record, n, &verdict),
        clock,
        slow_trials: of(arms.0).zip(of(arms.1)).map(|(a, b)| slow_trials(&a, &b)),
        cpu_time: ratio(Measure::CpuTime, 1.0),
        cycles,
        verdict,
        settings: setting_differences(record.machine_of(arms.0), record.machine_of(arms.1)),
    }
}

/// Why nothing but the main result of two nodes is compared.
const SHARED_TIME: &str =
    "nodes of a race share the time, and their clocks are told interval by interval in the result";

/// Two nodes of a race.
fn of_nodes(record: &Record, arms: (usize, usize), comparisons: usize) -> Difference {
    let raced = race(record, arms, comparisons);
    let judged = raced.as_ref().and_then(|it| it.verdict().copied());
    let n = raced.as_ref().map_or(0, Raced::n);
    Difference {
        design: Design::Race,
        n,
        verdict: judged.unwrap_or(Verdict::TooFew {
            have: n,
            needed: crate::stats::LEAST_BATCHES,
            so_far: None,
        }),
        raced,
        allowance: None,
        close: None,
        planning: None,
        clock: Known::missing(SHARED_TIME),
        slow_trials: None,
        cpu_time: Known::missing(SHARED_TIME),
        cycles: Known::missing(SHARED_TIME),
        settings: setting_differences(record.machine_of(arms.0), record.machine_of(arms.1)),
    }
}

/// The main result of one arm against that of another, block by block; one of `comparisons`.
pub(crate) fn against(record: &Record, arms: (usize, usize), comparisons: usize) -> Verdict {
    if record.is_race() {
        return of_nodes(record, arms, comparisons).verdict;
    }
    let sign = sign_of(record);
    let blocks = block_differences(&record.trials, Measure::Figure, arms);
    let blocks = Sample::new(blocks.into_iter().map(|it| sign * it).collect());
    judged(blocks, confidence(comparisons), None)
}

fn judged(differences: Result<Sample, Unfit>, confidence: f64, margin: Option<f64>) -> Verdict {
    match differences {
        Ok(differences) => of_blocks(&differences, confidence, margin),
        Err(_) => Verdict::TooFew { have: 0, needed: crate::stats::LEAST_BLOCKS, so_far: None },
    }
}

/// What turns a logarithm of slowness into one of the main result.
pub(super) fn sign_of(record: &Record) -> f64 {
    let better = record.trials.iter().find_map(|it| Some(it.outcome.figures.first()?.better));
    match better {
        Some(Better::Higher) => -1.0,
        Some(Better::Lower) | None => 1.0,
    }
}

pub(super) fn ratio_of(verdict: &Verdict) -> Known<Ratio> {
    verdict.ratio().map_or_else(|| Known::missing("too few trials have it"), |it| Known::Value(*it))
}

const ONE_CLOCK: &str = "the trials took turns in pieces and shared one clock";
const UNKNOWN_CLOCK: &str = "the clock is unknown in too many trials";

pub(super) fn clock_share(
    verdict: &Verdict,
    cycles: &Known<Ratio>,
    clock: &Known<Ratio>,
) -> Known<ClockShare> {
    match (verdict.ratio(), cycles.value(), clock.value()) {
        (Some(result), Some(cycles), Some(clock)) => {
            Known::Value(ClockShare::of(result, cycles, clock.log))
        }
        _ => Known::missing(UNKNOWN_CLOCK),
    }
}

/// Of each block that has both arms and this measure in all of their trials, B less A.
///
/// Of more than four trials of an arm in a block, the mean is trimmed.
fn block_differences(trials: &[Trial], measure: Measure, (a, b): (usize, usize)) -> Vec<f64> {
    let mut blocks: BTreeMap<u32, [Vec<Option<f64>>; 2]> = BTreeMap::new();
    for trial in trials {
        let Some(side) = [a, b].iter().position(|arm| *arm == trial.arm) else { continue };
        blocks.entry(trial.block).or_default()[side].push(measure.of(trial));
    }
    let mean = |values: &[Option<f64>]| {
        let values = values.iter().copied().collect::<Option<Vec<f64>>>()?;
        Sample::new(values).ok().map(|it| trimmed_mean(&it))
    };
    blocks.values().filter_map(|[a, b]| Some(mean(b)? - mean(a)?)).collect()
}

/// `None` where a trial lacks the measure: which ones do may hang on how slow they were. Intervals of a race that were not measured
/// are left out, as where its nodes are compared.
fn values(record: &Record, arm: usize, measure: Measure) -> Option<Sample> {
    let is_meant = |it: &&Trial| it.arm == arm && (it.failed.is_none() || !record.is_race());
    let trials = record.trials.iter().filter(is_meant);
    Sample::new(trials.map(|it| measure.of(it)).collect::<Option<_>>()?).ok()
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
/// that differ are named, and a difference has to be larger than what moved within either run and than two runs of the same
/// thing differ by.
pub fn separate(a: Side<'_>, b: Side<'_>, terms: &Terms) -> Difference {
    let sign = sign_of(a.record);
    let Terms { comparisons, margin, between_runs } = *terms;
    let judged = |measure, sign: f64, margin| {
        let of = |side: Side<'_>| {
            let found = values(side.record, side.arm, measure)?;
            Sample::new(found.in_order().iter().map(|it| sign * it).collect()).ok()
        };
        Some(of_moments(&of(a)?, &of(b)?, confidence(comparisons), between_runs, margin))
    };
    let ratio = |measure, sign| match judged(measure, sign, None) {
        Some(Moments { verdict, .. }) => ratio_of(&verdict),
        None => Known::missing("a trial lacks it"),
    };
    let main = judged(Measure::Figure, sign, margin);
    let (of_a, of_b) = (a.trials().count(), b.trials().count());
    let nothing = Verdict::TooFew { have: 0, needed: 1, so_far: None };
    let verdict = main.as_ref().map_or(nothing, |it| it.verdict);
    let cycles = ratio(Measure::FigureCycles, sign);
    let slow =
        values(a.record, a.arm, Measure::Figure).zip(values(b.record, b.arm, Measure::Figure));
    let allowance = main.map(|it| it.allowance);
    Difference {
        design: Design::Separate(of_a, of_b),
        n: of_a.min(of_b),
        raced: None,
        close: Close::of(&verdict, allowance.as_ref(), margin),
        planning: None,
        allowance,
        clock: clock_share(&verdict, &cycles, &ratio(Measure::Clock, -1.0)),
        slow_trials: slow.map(|(a, b)| slow_trials(&a, &b)),
        cpu_time: ratio(Measure::CpuTime, 1.0),
        cycles,
        verdict,
        settings: setting_differences(a.record.machine_of(a.arm), b.record.machine_of(b.arm)),
    }
}

impl<'a> Side<'a> {
    /// Its trials.
    pub(crate) fn trials(&self) -> impl Iterator<Item = &'a Trial> + use<'a> {
        let arm = self.arm;
        self.record.trials.iter().filter(move |it| it.arm == arm)
    }

    /// What its main result is: its name, its unit, and which way is faster; `None` where no trial has one.
    pub(crate) fn shape(&self) -> Option<(&'a str, &'a str, Better)> {
        let figure = self.trials().find_map(|it| it.outcome.figures.first())?;
        Some((figure.name, figure.unit, figure.better))
    }

    pub(super) fn doubts(&self) -> Vec<Doubt> {
        self.record.doubts_about(&[self.arm]).into_iter().map(|it| it.doubt).collect()
    }

    /// The middle of its trials, in the logarithm that [`Measure::of`] gives; `None` where a trial lacks it.
    pub(super) fn middle(&self, measure: Measure) -> Option<f64> {
        Some(trimmed_mean(&values(self.record, self.arm, measure)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::{blocks, record, trial};

    #[test]
    fn trials_whose_pieces_took_turns_have_no_cycles_of_their_own() {
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
        let has_cycles = |pieces: u32| {
            let record = Record { pieces, ..record(trials.clone()) };
            interleaved(&record, (0, 1), &Terms::of(1)).cycles.value().is_some()
        };
        assert_eq!([has_cycles(1), has_cycles(20)], [true, false]);
    }

    #[test]
    fn a_rate_is_compared_as_a_rate() {
        let mut record = record(blocks((2.0, 2e9), (1.0, 2e9), 0.001));
        for trial in &mut record.trials {
            trial.outcome.figures.edit(|it| it[0].better = Better::Higher);
        }
        let (times, _) =
            interleaved(&record, (0, 1), &Terms::of(1)).verdict.ratio().unwrap().times();
        assert!((times - 0.5).abs() < 0.01, "{times}");
    }
}
