//! Why a level cannot be compared where trials failed.

use super::advice::{advised, fail};
use super::*;

#[test]
fn a_level_that_fails_everywhere_is_named_and_no_more_trials_are_asked_for() {
    let factors = [("turbo", 3), ("governor", 2)];
    let mut record = study(Shape::Full, &factors, |_, _| 0.0, steady);
    let arms = record.experiment.as_ref().unwrap().arms.clone();
    fail(&mut record, |arm, _| arms[arm].levels[0] == 2);
    assert_eq!(advised(&record), Recommendation::Nothing);
    let found = analyse(&record).unwrap();
    let missing = found.workloads[0].effects.iter().find_map(|it| it.estimate.reason());
    assert_eq!(
        missing.unwrap(),
        "every trial with turbo=2 failed: fix what fails there, or leave that level out"
    );
}

#[test]
fn arms_that_failed_in_too_many_blocks_are_named() {
    let mut record = study(Shape::OneAtATime, &[("turbo", 2), ("governor", 2)], |_, _| 0.0, steady);
    fail(&mut record, |arm, block| arm == 1 && block < 4);
    let found = analyse(&record).unwrap();
    assert!(found.workloads[0].effects[0].estimate.value().is_some());
    fail(&mut record, |arm, block| arm == 1 && block < 8);
    let found = analyse(&record).unwrap();
    let why = found.workloads[0].effects[0].estimate.reason().unwrap();
    assert!(why.starts_with("trials failed with turbo=1, governor=0, so that too few"), "{why}");
}
