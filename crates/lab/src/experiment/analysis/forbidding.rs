//! Which doubts forbid any claim about a study.
//!
//! What all arms of a block share alike, chance spreads over them: other load, a clock that moves, a drift make intervals wider
//! and no claim wrong. Two doubts are left. Heat outlasts a trial: CPUs that are throttled are so in the arm that comes
//! after the one that heated them, which makes arms look alike or takes the clock from the wrong one. And where a
//! hypervisor takes much, the figures are those of its other guests. That there are too few blocks is seen contrast by contrast.

use crate::doubt::Doubt;
use crate::record::Record;

/// The share of throttled trials that is no longer noise.
const THROTTLED: f64 = 0.1;

/// The share of the CPUs' time that a hypervisor may take, unless the guards of the design say otherwise.
const STOLEN: f64 = 0.05;

/// Why nothing may be claimed, in words; `None` where claims are free. Every trial has an arm of the record.
pub(super) fn why(record: &Record) -> Option<String> {
    let trials = record.trials.len().max(1) as f64;
    let mut throttled = 0.0;
    let mut stolen = 0.0;
    let mut of_arm = vec![0.0; record.arms.len()];
    record.trials.iter().for_each(|it| of_arm[it.arm] += 1.0);
    for raised in &record.doubts {
        // A doubt without an arm is raised by each of them alike.
        let name = raised.arm.as_deref();
        let arms =
            || (0..).zip(&record.arms).filter(|(_, it)| name.is_none_or(|name| it.name == name));
        match &raised.doubt {
            Doubt::Throttled { trials } => throttled += f64::from(*trials) * arms().count() as f64,
            Doubt::Stolen { share } => {
                stolen += share * arms().map(|(at, _): (usize, _)| of_arm[at]).sum::<f64>();
            }
            _ => (),
        }
    }
    let allowed = record.experiment.as_ref().and_then(|it| it.design.guards.stolen);
    if throttled / trials > THROTTLED {
        return Some(format!(
            "the CPUs were throttled in {throttled} of {trials} trials, and heat outlasts a trial: cool the machine, or \
             raise rest"
        ));
    }
    (stolen / trials > allowed.unwrap_or(STOLEN)).then(|| {
        format!(
            "the hypervisor took {:.0} % of the CPUs' time: run it when its other guests are quiet",
            100.0 * stolen / trials
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::moment;
    use crate::doubt::Raised;
    use crate::record::Arm;

    /// Of 20 trials of one of two arms.
    fn with(doubts: &[Raised]) -> Option<String> {
        let mut record = moment(1.0, 1e9, 0.0);
        record.arms.push(Arm::of("arm 1", "cpu-loop"));
        (1..20).step_by(2).for_each(|it| record.trials[it].arm = 1);
        record.doubts = doubts.to_vec();
        why(&record)
    }

    #[test]
    fn heat_forbids_where_more_than_a_tenth_of_the_trials_had_it() {
        let throttled = |trials| Raised::by("arm 1", Doubt::Throttled { trials });
        assert_eq!(with(&[throttled(2)]), None);
        assert!(with(&[throttled(3)]).unwrap().starts_with("the CPUs were throttled in 3 of 20"));
        assert!(with(&[Doubt::Throttled { trials: 2 }.into()]).unwrap().contains("in 4 of 20"));
    }

    #[test]
    fn stolen_time_forbids_where_it_is_much_of_all_trials_together() {
        let stolen = |arm: &str, share| Raised::by(arm, Doubt::Stolen { share });
        assert_eq!(with(&[stolen("arm 0", 0.09)]), None);
        let both = [stolen("arm 0", 0.09), stolen("arm 1", 0.05)];
        assert!(with(&both).unwrap().starts_with("the hypervisor took 7 %"));
    }

    #[test]
    fn what_chance_spreads_over_the_arms_forbids_nothing() {
        let doubts = [
            Doubt::OtherLoad { share: 0.5 },
            Doubt::Drifted { at: 3, share: 0.5 },
            Doubt::ClockDrifted { share: 0.5 },
            Doubt::TooFewTrials { trials: 5, needed: 8 },
        ];
        assert_eq!(with(&doubts.map(Raised::from)), None);
    }
}
