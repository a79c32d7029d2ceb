//! The trials of a study as CSV.
//!
//! RFC 4180 with Unix line ends, one line per trial. Unknown values are empty; `failed` has the reason why a trial has no
//! result.

use super::Study;
use crate::harmless::csv_field;
use lab::trial::{Trial, TrialClock};

/// In the order in which they began.
pub(super) fn trials(study: &Study<'_>) -> String {
    let factors: String =
        study.factors().map(|(_, it)| format!("{},", csv_field(&it.name))).collect();
    let mut text = format!(
        "trial,block,combination,workload,{factors}measured,value,unit,elapsed_s,clock_hz,failed\n"
    );
    for trial in &study.record.trials {
        put(&mut text, study, trial);
    }
    text
}

fn put(text: &mut String, study: &Study<'_>, trial: &Trial) {
    let figure = trial.outcome.figures.first();
    let number = |number: Option<f64>| number.map(|it| it.to_string()).unwrap_or_default();
    let levels: String =
        study.level_names(trial.arm).iter().map(|it| format!("{},", csv_field(it))).collect();
    let elapsed = trial.outcome.elapsed_ns.value().map(|ns| *ns as f64 / 1e9);
    let fields = [
        trial.number.to_string(),
        trial.block.to_string(),
        trial.arm.to_string(),
        csv_field(study.workload_of(trial.arm)).into_owned(),
        levels + &csv_field(figure.map_or("", |it| it.name)),
        number(figure.map(|it| it.value)),
        csv_field(figure.map_or("", |it| it.unit)).into_owned(),
        number(elapsed),
        number(trial.clock.value().map(TrialClock::mean_hz)),
        csv_field(trial.failed.as_deref().unwrap_or("")).into_owned(),
    ];
    text.push_str(&fields.join(","));
    text.push('\n');
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
