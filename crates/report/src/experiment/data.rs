//! A study for programs: the analysis as JSON (`schemas/experiment-1.json`), the trials as CSV.
//!
//! CSV: RFC 4180 with Unix line ends, one line per trial. Unknown values are empty; `failed` has the reason why a trial has no
//! result.

use super::{Study, prose};
use crate::harmless::csv_field;
use crate::json::{SCHEMA_VERSION, pretty};
use lab::experiment::analysis::WorkloadAnalysis;
use lab::trial::{Trial, TrialClock};
use serde_json::{Result, Value, json};

/// The analysis with the sentences that are made of it.
pub fn json(study: &Study<'_>) -> Result<String> {
    let advice = prose::advice(study);
    let record = study.record;
    let workloads = study.analysis.workloads.iter().map(|it| workload(study, it));
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "id": record.id,
        "began": record.began,
        "version": record.version,
        "is_complete": record.is_complete,
        "n_trials": record.trials.len(),
        "design": study.design(),
        "seed": study.experiment.seed,
        "verdict": prose::verdict(study),
        "recommendation": study.analysis.recommendation,
        "reason": advice.reason,
        "command": advice.command,
        "workloads": workloads.collect::<Result<Vec<Value>>>()?,
        "arms": study.experiment.arms,
        "pareto": study.analysis.pareto,
        "failures": prose::failures(study),
        "doubts": record.doubts,
        "doubt_sentences": prose::doubts(record),
        "machine": record.machine,
        "repeat": prose::command_line(study),
    }))
}

fn workload(study: &Study<'_>, it: &WorkloadAnalysis) -> Result<Value> {
    let mut value = serde_json::to_value(it)?;
    if let Some(fields) = value.as_object_mut() {
        let sentences: Vec<String> =
            prose::effects(study, it).into_iter().map(|it| it.sentence).collect();
        fields.insert("effect_sentences".to_owned(), json!(sentences));
        fields.insert("interaction_sentences".to_owned(), json!(prose::interactions(study, it)));
    }
    Ok(value)
}

/// In the order in which they began.
pub(super) fn trials(study: &Study<'_>) -> String {
    let factors: String =
        study.factors().map(|(_, it)| format!("{},", csv_field(&it.name))).collect();
    let mut text =
        format!("trial,block,arm,workload,{factors}figure,value,unit,elapsed_ns,clock_hz,failed\n");
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
    let elapsed = trial.outcome.elapsed_ns.value().map(ToString::to_string).unwrap_or_default();
    let fields = [
        trial.number.to_string(),
        trial.block.to_string(),
        trial.arm.to_string(),
        csv_field(study.workload_of(trial.arm)).into_owned(),
        levels + &csv_field(figure.map_or("", |it| it.name)),
        number(figure.map(|it| it.value)),
        csv_field(figure.map_or("", |it| it.unit)).into_owned(),
        elapsed,
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

    fn is_valid(text: &str) {
        let schema = include_str!("../../../../schemas/experiment-1.json");
        let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        let value = serde_json::from_str(text).unwrap();
        let errors: Vec<String> = validator.iter_errors(&value).map(|it| it.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{text}");
    }

    #[test]
    fn every_recommendation_is_as_the_schema_says() {
        use lab::experiment::analysis::Recommendation;
        use lab::known::Known;
        let (record, mut analysis) = fixture::study();
        let missing = || Known::Missing { missing: "too few trials".to_owned() };
        let all = [
            analysis.recommendation.clone(),
            Recommendation::Nothing { detectable: Known::Value(0.004) },
            Recommendation::Nothing { detectable: missing() },
            Recommendation::Depends,
            Recommendation::Keep { because: vec![0], left_out: vec![vec![1, 0, 0]] },
            Recommendation::Unsettled { why: "every trial failed".to_owned() },
        ];
        for recommendation in all {
            analysis.recommendation = recommendation;
            is_valid(&json(&Study::of(&record, &analysis).unwrap()).unwrap());
        }
    }

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
