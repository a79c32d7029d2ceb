//! A study and a plan of one: `schemas/experiment-3.json`, `schemas/experiment-plan-2.json`.

use super::{Planned, Study, own, prose};
use crate::json::{Head, Opening, pretty};
use lab::doubt::Raised;
use lab::experiment::analysis::{Recommendation, WorkloadAnalysis};
use lab::experiment::{self, Boots, Combination, Factor, Guards, Kind, Shape};
use lab::record::Fingerprint;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;
use std::collections::BTreeMap;

/// What a study of settings showed; `report.json` in its folder is the same. Changes are shares of the main result against its first level or arm: 0.13 is 13 % more of it, which way is better is in `better`. `began`
/// is when the study began.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExperimentDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 3>,
    /// Names the study in the history.
    id: &'a str,
    /// The version of the program that ran the trials.
    version: &'a str,
    /// Whether it ended as planned.
    is_complete: bool,
    /// Trials, those that failed included.
    n_trials: usize,
    design: Design<'a>,
    /// Decided the order of the trials: --seed.
    seed: u64,
    /// What the study comes to, in a sentence.
    verdict: String,
    recommendation: Recommendation,
    /// What the recommendation rests on and what it leaves out.
    reason: String,
    /// The line that carries it out; null where there is nothing to change.
    command: Option<String>,
    /// In the order of the design.
    workloads: Vec<Workload>,
    /// What each arm combines.
    arms: &'a [Combination],
    /// Combinations that no other one beats in every workload: places in the list of arms of the first workload.
    pareto: &'a [usize],
    /// A sentence for each arm with trials that failed.
    failures: Vec<String>,
    doubts: &'a [Raised],
    /// The doubts in words; those of many arms together.
    doubt_sentences: Vec<String>,
    /// Settings by name.
    machine: &'a Fingerprint,
    /// The command that runs the same plan.
    repeat: String,
}

/// What an experiment would run: combinations, trials, and how long they take.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExperimentPlanDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    design: Design<'a>,
    arms: Vec<Arm<'a>>,
    /// Of all arms together, without those that warm up; with `until` in the design, the fewest.
    n_trials: usize,
    /// How long the first trial of each workload took, in the order of the design.
    trial_s: &'a [f64],
    /// How long all of it takes, about: trials, those that warm up, rests, and what is around each.
    #[schemars(range(min = 0))]
    length_s: f64,
}

/// The plan; its first levels are what the others are compared with.
#[derive(Serialize, JsonSchema)]
struct Design<'a> {
    /// What it is about, in a line.
    name: &'a str,
    /// What is varied, in the order given.
    factors: &'a [Factor],
    /// What is run in every combination, each a workload of `fullclock bench` with its options.
    workloads: &'a [String],
    shape: Shape,
    /// Trials of each arm.
    trials: u32,
    /// Go on until the effect of every factor is known to this share either way, half its interval.
    until: Option<f64>,
    /// Trials of each combination before the first that counts; they are not kept.
    warm_up: u32,
    /// Rest after the settings of an arm are in force and before its trial.
    rest_s: f64,
    /// Begin no block that would end after this.
    budget_s: Option<f64>,
    guards: Guards,
    /// null where no factor takes a reboot.
    boots: Option<&'a Boots>,
}

/// What is known of one workload.
#[derive(Serialize, JsonSchema)]
struct Workload {
    #[serde(flatten)]
    analysis: WorkloadAnalysis,
    /// Those that are claimed first, the largest first.
    effect_sentences: Vec<String>,
    /// Of those that are claimed.
    interaction_sentences: Vec<String>,
}

/// A combination that would be run.
#[derive(Serialize, JsonSchema)]
struct Arm<'a> {
    name: &'a str,
    #[serde(flatten)]
    combination: &'a Combination,
    /// The level of each factor that is a setting, by its name; as-found leaves it as it is.
    settings: BTreeMap<&'a str, &'a str>,
    /// The level of each other factor: where the workload runs, and what else does.
    conditions: BTreeMap<&'a str, &'a str>,
}

/// The analysis with the sentences that are made of it.
pub fn json(head: &Head, study: &Study<'_>) -> Result<String> {
    let advice = prose::advice(study);
    let record = study.record;
    let head = Head { began: record.began.clone(), ..head.clone() };
    pretty(&ExperimentDocument {
        opening: head.opening(),
        id: &record.id,
        version: &record.version,
        is_complete: record.is_complete,
        n_trials: record.trials.len(),
        design: design(study.design()),
        seed: study.experiment.seed,
        verdict: prose::verdict(study),
        recommendation: own::recommendation(study),
        reason: advice.reason,
        command: advice.command,
        workloads: study.analysis.workloads.iter().map(|it| workload(study, it)).collect(),
        arms: &study.experiment.arms,
        pareto: &study.analysis.pareto,
        failures: prose::failures(study),
        doubts: &record.doubts,
        doubt_sentences: prose::doubts(record),
        machine: &record.machine,
        repeat: prose::command_line(study),
    })
}

fn workload(study: &Study<'_>, analysis: &WorkloadAnalysis) -> Workload {
    let sentences = prose::effects(study, analysis).into_iter().map(|it| it.sentence);
    Workload {
        analysis: own::workload(study, analysis),
        effect_sentences: sentences.collect(),
        interaction_sentences: prose::interactions(study, analysis),
    }
}

fn design(design: &experiment::Design) -> Design<'_> {
    Design {
        name: &design.name,
        factors: &design.factors,
        workloads: &design.workloads,
        shape: design.shape,
        trials: design.trials,
        until: design.until,
        warm_up: design.warm_up,
        rest_s: design.rest.as_secs_f64(),
        budget_s: design.budget.map(|it| it.as_secs_f64()),
        guards: design.guards,
        boots: design.boots.as_ref(),
    }
}

/// A plan as JSON.
pub fn planned_json(head: &Head, plan: &Planned<'_>) -> Result<String> {
    let Planned { design, arms, .. } = plan;
    let arm = |(name, arm)| Arm {
        name,
        combination: arm,
        settings: levels(design, arm, |it| it == Kind::Setting),
        conditions: levels(design, arm, |it| it != Kind::Setting),
    };
    pretty(&ExperimentPlanDocument {
        opening: head.opening(),
        design: self::design(design),
        arms: plan.names.iter().copied().zip(*arms).map(arm).collect(),
        n_trials: arms.len() * design.trials as usize,
        trial_s: plan.trial_seconds,
        length_s: plan.length.as_secs_f64(),
    })
}

/// The levels of an arm by the names of their factors, of factors of some kinds.
fn levels<'a>(
    design: &'a experiment::Design,
    arm: &Combination,
    is_wanted: fn(Kind) -> bool,
) -> BTreeMap<&'a str, &'a str> {
    let factors = design.factors.iter().zip(&arm.levels).filter(|it| is_wanted(it.0.kind()));
    factors.filter_map(|(factor, at)| Some((&*factor.name, &**factor.levels.get(*at)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use crate::schemas::checked;

    #[test]
    fn every_recommendation_is_as_the_schema_says() {
        use lab::experiment::analysis::Recommendation;
        let (record, mut analysis) = fixture::study();
        let all = [
            analysis.recommendation.clone(),
            Recommendation::Nothing,
            Recommendation::Depends,
            Recommendation::Keep { because: vec![0], left_out: vec![vec![1, 0, 0]] },
            Recommendation::Unsettled { why: "every trial failed".to_owned() },
        ];
        for recommendation in all {
            analysis.recommendation = recommendation;
            let study = Study::of(&record, &analysis).unwrap();
            checked("experiment", |head| json(head, &study));
        }
    }
}
