//! Missing results: trials that failed, and values that no arm of a workload has.

use crate::experiment::Study;
use lab::experiment::analysis::{ArmAnalysis, WorkloadAnalysis};
use lab::known::Known;
use std::collections::BTreeMap;

/// One sentence per arm with failed trials, with the most frequent reason.
pub(in crate::experiment) fn failures(study: &Study<'_>) -> Vec<String> {
    let mut arms: BTreeMap<usize, Failed<'_>> = BTreeMap::new();
    for trial in &study.record.trials {
        let arm = arms.entry(trial.arm).or_default();
        arm.trials += 1;
        if let Some(why) = &trial.failed {
            *arm.reasons.entry(why).or_default() += 1;
        }
    }
    let with_failures = arms.into_iter().filter(|(_, it)| !it.reasons.is_empty());
    with_failures.map(|(arm, failed)| sentence(study, arm, &failed)).collect()
}

#[derive(Default)]
struct Failed<'a> {
    trials: usize,
    reasons: BTreeMap<&'a str, usize>,
}

fn sentence(study: &Study<'_>, arm: usize, failed: &Failed<'_>) -> String {
    let n: usize = failed.reasons.values().sum();
    let most = failed.reasons.iter().max_by_key(|(_, n)| **n).map_or("", |(why, _)| why);
    let others = match failed.reasons.len() {
        1 => String::new(),
        2 => "; and for another reason".to_owned(),
        n => format!("; and for {} other reasons", n - 1),
    };
    let whole = study.workload_of(arm);
    let share = match (n, failed.trials) {
        (n, of) if n == of => format!("all {of} trials"),
        (n, of) => format!("{n} of {of} trials"),
    };
    format!(
        "{} with {}: {share} failed: {most}{others}",
        study.workload_name(whole),
        study.settings(arm)
    )
}

/// One sentence per value that no arm of the workload has.
pub(in crate::experiment) fn gaps(study: &Study<'_>, workload: &WorkloadAnalysis) -> Vec<String> {
    let reason = |of: fn(&ArmAnalysis) -> &Known<f64>| {
        let mut reasons = workload.arms.iter().map(|it| of(it).reason());
        reasons.clone().all(|it| it.is_some()).then(|| reasons.next().flatten()).flatten()
    };
    let clock = reason(|it| &it.clock_hz).map(|why| format!("the clock is unknown: {why}"));
    let watts = reason(|it| &it.watts).map(|why| format!("the power is unknown: {why}"));
    [clock, watts, ledger(study, workload)].into_iter().flatten().collect()
}

fn ledger(study: &Study<'_>, workload: &WorkloadAnalysis) -> Option<String> {
    if !workload.arms.iter().all(|it| it.ledger.is_empty()) {
        return None;
    }
    let first = workload.arms.first()?.arm;
    let trial = study.record.trials.iter().find(|it| it.arm == first);
    let why = trial.and_then(|it| it.surroundings.reason()).unwrap_or("no trial has a ledger");
    Some(format!("where the time went is unknown: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::fixture;

    #[test]
    fn an_arm_that_failed_says_how_often_and_why() {
        let (mut record, analysis) = fixture::study();
        let mut of_arm: Vec<_> = record.trials.iter_mut().filter(|it| it.arm == 3).collect();
        let n = of_arm.len();
        of_arm[0].failed = Some("it ended with 3".to_owned());
        let few = failures(&Study::of(&record, &analysis).unwrap());
        assert_eq!(
            few[0],
            format!(
                "cpu-loop with governor=powersave, idle-state.C6=off, load=all-cores: 1 of {n} trials \
                 failed: it ended with 3"
            )
        );
    }

    #[test]
    fn an_arm_whose_every_trial_failed_says_so() {
        let (mut record, analysis) = fixture::study();
        record.trials.retain(|it| it.arm == 3);
        for (at, trial) in record.trials.iter_mut().enumerate() {
            trial.failed = Some(if at == 0 { "a" } else { "b" }.to_owned());
        }
        let all = failures(&Study::of(&record, &analysis).unwrap());
        assert!(all[0].contains(": all 12 trials failed: b; and for another reason"), "{all:?}");
    }

    #[test]
    fn what_no_arm_has_says_why() {
        let (mut record, _) = fixture::study();
        for trial in &mut record.trials {
            trial.clock = Known::Missing { missing: "the probe was stopped".to_owned() };
            trial.surroundings = Known::Missing { missing: "/proc/stat is denied".to_owned() };
        }
        let analysis = fixture::analysis(&record);
        let study = Study::of(&record, &analysis).unwrap();
        assert_eq!(
            gaps(&study, &analysis.workloads[0]),
            [
                "the clock is unknown: the probe was stopped",
                "the power is unknown: no trial has the power of a package",
                "where the time went is unknown: /proc/stat is denied"
            ]
        );
    }
}
