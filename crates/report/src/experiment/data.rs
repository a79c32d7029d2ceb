//! The trials of a study as CSV.
//!
//! RFC 4180 with Unix line ends, one line per trial. Unknown values are empty; `failed` has the reason why a trial has no
//! result.

use super::Study;
use crate::harmless::{csv_cell, csv_line};
use lab::trial::{Trial, TrialClock};

/// In the order in which they began.
pub(super) fn trials(study: &Study<'_>) -> String {
    let factors = study.factors().map(|(_, it)| &*it.name);
    let before = ["trial", "block", "combination", "workload"].into_iter();
    let behind = ["measured", "value", "unit", "elapsed_s", "clock_hz", "failed"];
    let names: Vec<&str> = before.chain(factors).chain(behind).collect();
    let rows = study.record.trials.iter().map(|it| row(study, it));
    csv_line(&names) + &rows.collect::<String>()
}

fn row(study: &Study<'_>, trial: &Trial) -> String {
    let figure = trial.outcome.figures.first();
    let elapsed = trial.outcome.elapsed_ns.value().map(|ns| *ns as f64 / 1e9);
    let before = [
        trial.number.to_string(),
        trial.block.to_string(),
        trial.arm.to_string(),
        study.workload_of(trial.arm).to_owned(),
    ];
    let levels = study.level_names(trial.arm).into_iter().map(str::to_owned);
    let behind = [
        csv_cell(figure.map(|it| it.name)),
        csv_cell(figure.map(|it| it.value)),
        csv_cell(figure.map(|it| it.unit)),
        csv_cell(elapsed),
        csv_cell(trial.clock.value().map(TrialClock::mean_hz)),
        csv_cell(trial.failed.as_ref()),
    ];
    csv_line(&before.into_iter().chain(levels).chain(behind).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn every_trial_has_a_line_and_one_that_failed_its_reason() {
        let (mut record, analysis) = fixture::study();
        record.trials.truncate(1);
        let mut failed = record.trials[0].clone();
        failed.number = 2;
        failed.failed = Some("it said \"no\", twice".to_owned());
        failed.outcome.figures = Vec::new().into();
        record.trials.push(failed);
        insta::assert_snapshot!(trials(&Study::of(&record, &analysis).unwrap()));
    }
}
