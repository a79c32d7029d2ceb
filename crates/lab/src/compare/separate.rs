//! Arms whose trials were taken in two moments.
//!
//! Everything that changed between the moments is in the difference: the clock, other load, another kernel. So the settings
//! that differ are named, and doubts that two interleaved arms would share forbid a claim here.

use super::judgement::judge_moments;
use super::reading::readings;
use super::{ClockShare, Design, Evidence, Measure, Verdict, forbidding, settings};
use crate::doubt::{Doubt, Raised};
use crate::record::Record;
use crate::stats::Sample;

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
pub fn separate(a: Side<'_>, b: Side<'_>) -> Verdict {
    let evidence: Vec<(Measure, Evidence)> =
        [Measure::Figure, Measure::FigureCycles, Measure::Clock]
            .into_iter()
            .filter_map(|it| Some((it, judge_moments(&a.values(it)?, &b.values(it)?).ok()?)))
            .collect();
    let forbidding = forbidding::of(Design::Separate, doubts_of_either(a, b).into_iter());
    Verdict {
        design: Design::Separate,
        clock: ClockShare::of(&evidence),
        readings: readings(evidence, !forbidding.is_empty()),
        settings: settings::differences(a.record.machine_of(a.arm), b.record.machine_of(b.arm)),
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
        let too_few = forbidding::too_few(self).filter(|it| !doubts.contains(it));
        doubts.extend(too_few);
        doubts
    }

    /// `None` where a trial lacks the measure: which ones do may hang on how slow they were.
    fn values(&self, measure: Measure) -> Option<Sample> {
        let trials = self.record.trials.iter().filter(|it| it.arm == self.arm);
        Sample::new(trials.map(|it| measure.of(it)).collect::<Option<_>>()?).ok()
    }
}
