//! The trials of a result as CSV (RFC 4180 with Unix line ends): a line for each value of each trial.
//!
//! Unknown values are empty. A trial that failed has one line, with the reason in `failed`.

use crate::harmless::{csv_cell, csv_line};
use lab::record::Record;
use lab::trial::{Figure, Trial, TrialClock};

const HEADING: &str =
    "trial,block,variant,workload,began_s,elapsed_s,clock_hz,measured,value,unit,failed\n";

/// In the order in which they began.
pub fn csv(record: &Record) -> String {
    let mut text = HEADING.to_owned();
    for trial in &record.trials {
        let figures = trial.outcome.figures.iter();
        figures.for_each(|it| line(&mut text, record, trial, Some(it)));
        if trial.outcome.figures.first().is_none() {
            line(&mut text, record, trial, None);
        }
    }
    text
}

fn line(text: &mut String, record: &Record, trial: &Trial, figure: Option<Figure<&str>>) {
    let arm = record.arms.get(trial.arm);
    let seconds = |ns: Option<&u64>| csv_cell(ns.map(|it| *it as f64 / 1e9));
    *text += &csv_line(&[
        trial.number.to_string(),
        trial.block.to_string(),
        csv_cell(arm.map(|it| &it.name)),
        csv_cell(arm.map(|it| &it.workload)),
        seconds(trial.began_ns.value()),
        seconds(trial.outcome.elapsed_ns.value()),
        csv_cell(trial.clock.value().map(TrialClock::mean_hz)),
        csv_cell(figure.map(|it| it.name)),
        csv_cell(figure.map(|it| it.value)),
        csv_cell(figure.map(|it| it.unit)),
        csv_cell(trial.failed.as_ref()),
    ]);
}

#[cfg(test)]
mod tests {
    use super::super::fixture::kept;
    use super::*;

    #[test]
    fn every_value_has_a_line_and_a_trial_that_failed_its_reason() {
        let mut record = kept();
        record.trials.truncate(2);
        record.trials[1].failed = Some("it said \"no\", twice".to_owned());
        record.trials[1].outcome.figures = Vec::new().into();
        insta::assert_snapshot!(csv(&record));
    }
}
