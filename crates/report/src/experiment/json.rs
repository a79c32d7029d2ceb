//! A study as JSON: `schemas/experiment-1.json`.

use super::{Study, words};
use crate::json::{SCHEMA_VERSION, pretty};
use lab::experiment::analysis::WorkloadAnalysis;
use serde_json::{Result, Value, json};

/// The analysis with the sentences that are made of it.
pub fn study(study: &Study<'_>) -> Result<String> {
    let advice = words::advice(study);
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
        "verdict": words::verdict(study),
        "recommendation": study.analysis.recommendation,
        "reason": advice.reason,
        "command": advice.command,
        "workloads": workloads.collect::<Result<Vec<Value>>>()?,
        "arms": study.experiment.arms,
        "pareto": study.analysis.pareto,
        "failures": words::failures(study),
        "doubts": record.doubts,
        "doubt_sentences": words::doubts(record),
        "machine": record.machine,
        "repeat": words::command_line(study),
    }))
}

fn workload(study: &Study<'_>, it: &WorkloadAnalysis) -> Result<Value> {
    let mut value = serde_json::to_value(it)?;
    if let Some(fields) = value.as_object_mut() {
        let sentences: Vec<String> =
            words::effects(study, it).into_iter().map(|it| it.sentence).collect();
        fields.insert("effect_sentences".to_owned(), json!(sentences));
        fields.insert("interaction_sentences".to_owned(), json!(words::interactions(study, it)));
    }
    Ok(value)
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
            is_valid(&study(&Study::of(&record, &analysis).unwrap()).unwrap());
        }
    }
}
