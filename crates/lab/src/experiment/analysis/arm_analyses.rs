//! Each arm by itself, and against the first one.

use super::cells::{is_good, watts};
use super::contrast::{Contrast, estimate};
use super::study::Study;
use super::{ArmAnalysis, Estimate, Known};
use crate::stats::{Sample, median};
use crate::trial::Trial;

/// The arms of one workload, in the order of the record; `trials` are those of every arm of the record.
pub(super) fn arm_analyses(
    study: &Study<'_>,
    arms: &[usize],
    trials: &[Vec<&Trial>],
) -> Vec<ArmAnalysis> {
    let of = |arm: &usize| {
        let good: Vec<&Trial> = trials[*arm].iter().copied().filter(|it| is_good(it)).collect();
        let figures = good.iter().filter_map(|it| Some(it.outcome.figures.first()?.value));
        let clocks = good.iter().filter_map(|it| Some(it.clock.value()?.mean_hz()));
        let no_clock = good.iter().find_map(|it| it.clock.reason());
        ArmAnalysis {
            arm: *arm,
            trials: count(good.len()),
            failed: count(trials[*arm].len() - good.len()),
            median: Sample::new(figures.collect()).ok().map(|it| median(&it)),
            change: change(study, arms[0], *arm),
            clock_hz: mean(&clocks.collect::<Vec<_>>(), no_clock),
            watts: mean(
                &good.iter().filter_map(|it| watts(it.surroundings.value()?)).collect::<Vec<_>>(),
                study.watts_missing.as_deref(),
            ),
            ledger: ledger(&good),
        }
    };
    arms.iter().map(of).collect()
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn change(study: &Study<'_>, first: usize, arm: usize) -> Known<Estimate> {
    if arm == first {
        return Known::missing("the others are compared with it");
    }
    let confidence = study.confidence_of_arms();
    let mean = Contrast::between(&[arm], &[first]).mean(&study.measured.figure, confidence);
    mean.map(|it| estimate(&it, confidence))
}

fn mean(values: &[f64], why: Option<&str>) -> Known<f64> {
    if values.is_empty() {
        return Known::missing(why.unwrap_or("no good trial has it"));
    }
    Known::Value(values.iter().sum::<f64>() / values.len() as f64)
}

/// The ledger around these trials, by id of the loss and its part: means over the ledgers in which the line is not missing. A
/// line that a ledger does not name is 0 there.
pub fn ledger(trials: &[&Trial]) -> Vec<(String, String, f64)> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut n_ledgers = 0;
    for around in trials.iter().filter_map(|it| it.surroundings.value()) {
        n_ledgers += 1;
        for (place, share) in around.ledger.iter().enumerate() {
            let is_it = |it: &Line<'_>| it.loss == share.loss && it.part == share.part;
            // Ledgers mostly have the same lines in the same places.
            let at = lines.get(place).filter(|it| is_it(it)).map(|_| place);
            let at = at.or_else(|| lines.iter().position(is_it)).unwrap_or_else(|| {
                let (loss, part) = (share.loss, share.part);
                lines.push(Line { loss, part, sum: 0.0, missing: 0 });
                lines.len() - 1
            });
            match share.share.value() {
                Some(share) => lines[at].sum += share,
                None => lines[at].missing += 1,
            }
        }
    }
    let known = lines.into_iter().filter(|it| it.missing < n_ledgers);
    known
        .map(|it| {
            let mean = it.sum / f64::from(n_ledgers - it.missing);
            (it.loss.to_owned(), it.part.to_owned(), mean)
        })
        .collect()
}

struct Line<'a> {
    loss: &'a str,
    part: &'a str,
    sum: f64,
    missing: u32,
}
