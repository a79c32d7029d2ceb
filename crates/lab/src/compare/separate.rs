//! Arms whose trials were taken in two moments.
//!
//! Everything that changed between the moments is in the difference: the clock, other load, another kernel. So the settings
//! that differ are named, and doubts that two interleaved arms would share forbid a claim here.

use super::judgement::judge_moments;
use super::reading::readings;
use super::{ClockShare, Design, Evidence, Measure, Verdict, forbidding, settings};
use crate::record::Record;
use crate::stats::Sample;

/// Compares an arm of one record with an arm of another, each by its place in [`Record::arms`].
pub fn separate((a, arm_a): (&Record, usize), (b, arm_b): (&Record, usize)) -> Verdict {
    let evidence: Vec<(Measure, Evidence)> =
        [Measure::Figure, Measure::FigureCycles, Measure::Clock]
            .into_iter()
            .filter_map(|it| {
                let (left, right) = (values(a, arm_a, it)?, values(b, arm_b, it)?);
                Some((it, judge_moments(&left, &right).ok()?))
            })
            .collect();
    let doubts = a.doubts.iter().chain(&b.doubts).cloned();
    let few = forbidding::too_few(&[(a, arm_a), (b, arm_b)]);
    let forbidding = forbidding::of(Design::Separate, doubts.chain(few));
    Verdict {
        design: Design::Separate,
        clock: ClockShare::of(&evidence),
        readings: readings(evidence, !forbidding.is_empty()),
        settings: settings::differences(&a.machine, &b.machine),
        forbidding,
    }
}

/// `None` where a trial lacks the measure: which ones do may hang on how slow they were.
fn values(record: &Record, arm: usize, measure: Measure) -> Option<Sample> {
    let trials = record.trials.iter().filter(|it| it.arm == arm);
    Sample::new(trials.map(|it| measure.of(it)).collect::<Option<_>>()?).ok()
}
