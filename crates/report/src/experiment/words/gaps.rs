//! What is known of no arm of a workload, and why: a column that is empty, a chart that is not there.

use crate::experiment::Study;
use lab::experiment::analysis::{ArmAnalysis, WorkloadAnalysis};
use lab::known::Known;

/// A sentence for each.
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
