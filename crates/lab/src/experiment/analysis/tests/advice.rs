//! What is advised where it depends on a condition, and where trials failed.

use super::*;

pub(super) fn advised(record: &Record) -> Recommendation {
    analyse(record).unwrap().recommendation
}

/// Trials for which `is_it` is true fail.
pub(super) fn fail(record: &mut Record, is_it: impl Fn(usize, u32) -> bool) {
    for trial in record.trials.iter_mut().filter(|it| is_it(it.arm, it.block)) {
        trial.failed = Some("the server ended".to_owned());
        trial.outcome.figures = Vec::new().into();
    }
}

#[test]
fn a_setting_that_gains_under_one_load_what_it_costs_under_another_is_not_nothing() {
    let slowness = |_: usize, it: &[usize]| match it {
        [1, 0] => -0.3,
        [1, 1] => 0.3,
        _ => 0.0,
    };
    let record = study(Shape::Full, &[("idle-state.C6", 2), ("load", 2)], slowness, steady);
    assert_eq!(advised(&record), Recommendation::Depends);
    // What the setting does is told, not what the load does, wherever the load is in the design.
    let turned = |workload: usize, it: &[usize]| slowness(workload, &[it[1], it[0]]);
    let record = study(Shape::Full, &[("load", 2), ("idle-state.C6", 2)], turned, steady);
    let found = analyse(&record).unwrap();
    assert_eq!(found.recommendation, Recommendation::Depends);
    let interaction = &found.workloads[0].interactions[0];
    assert_eq!(interaction.factors, (1, 0));
    let [idle, loaded] = interaction.first_given_second.each_ref().map(change);
    assert!(idle < -0.18 && loaded > 0.22, "{interaction:?}");
}

#[test]
fn two_conditions_that_depend_on_each_other_are_no_matter_of_settings() {
    let slowness = |_: usize, it: &[usize]| if it[..2] == [1, 1] { 0.5 } else { 0.0 };
    let factors = [("cpu", 2), ("load", 2), ("turbo", 2)];
    let found = advised(&study(Shape::Full, &factors, slowness, steady));
    assert!(matches!(found, Recommendation::Nothing), "{found:?}");
}

#[test]
fn a_change_names_the_conditions_in_which_it_is_slower() {
    let slowness = |workload: usize, it: &[usize]| match it {
        [1, 0] => -0.6,
        [1, 1] if workload == 1 => 0.2,
        _ => 0.0,
    };
    let record = study(Shape::Full, &[("idle-state.C6", 2), ("load", 2)], slowness, steady);
    let Recommendation::Change { levels, slower, slower_where, .. } = advised(&record) else {
        panic!()
    };
    assert_eq!((levels, slower), (vec![1, 0], vec![]));
    let [it] = slower_where[..] else { panic!("{slower_where:?}") };
    assert_eq!((it.workload, it.condition, it.level), (1, 1, 1));
    assert!((it.estimate.change - (2_f64.powf(0.2) - 1.0)).abs() < 0.003, "{it:?}");
}

#[test]
fn what_failed_once_and_is_expected_to_be_faster_is_named_with_what_is_kept() {
    let faster = |_: usize, it: &[usize]| -(it[0] as f64);
    let mut record = study(Shape::Full, &[("governor", 2)], faster, steady);
    fail(&mut record, |arm, block| arm == 1 && block == 2);
    let kept = Recommendation::Keep { because: vec![0], left_out: vec![vec![1]] };
    assert_eq!(advised(&record), kept);
    let mut record = study(Shape::Full, &[("governor", 3)], faster, steady);
    fail(&mut record, |arm, block| arm == 2 && block == 2);
    let Recommendation::Change { levels, left_out, .. } = advised(&record) else { panic!() };
    assert_eq!((levels, left_out), (vec![1], vec![vec![2]]));
}

#[test]
fn where_trials_failed_with_every_combination_none_is_advised() {
    let faster = |_: usize, it: &[usize]| -(it[0] as f64);
    let mut record = study(Shape::Full, &[("governor", 2), ("turbo", 2)], faster, steady);
    fail(&mut record, |arm, block| arm % 4 == block as usize);
    let Recommendation::Unsettled { why } = advised(&record) else { panic!() };
    assert!(why.starts_with("each combination of settings has a trial that failed"), "{why}");
}

#[test]
fn first_levels_with_which_trials_failed_are_not_kept() {
    let slower = |_: usize, it: &[usize]| it[0] as f64;
    let mut record = study(Shape::Full, &[("governor", 2), ("turbo", 2)], slower, steady);
    fail(&mut record, |arm, block| arm == 0 && block == 2);
    let Recommendation::Unsettled { why } = advised(&record) else { panic!() };
    assert!(why.starts_with("trials with the first level of every setting failed"), "{why}");
}

#[test]
fn a_fraction_whose_best_and_first_combinations_failed_is_unsettled() {
    let names = [("a", 2), ("b", 2), ("c", 2), ("d", 2)];
    let faster = |_: usize, it: &[usize]| -0.2 * (it[0] + it[3]) as f64;
    let mut record = study(Shape::Fraction, &names, faster, steady);
    let arms = record.experiment.as_ref().unwrap().arms.clone();
    let fail_at = |record: &mut Record, levels: [usize; 4]| {
        fail(record, |arm, block| arms[arm].levels == levels && block == 2);
    };
    fail_at(&mut record, [1, 0, 0, 1]);
    let Recommendation::Keep { left_out, .. } = advised(&record) else { panic!() };
    assert_eq!(left_out, [[1, 0, 0, 1]]);
    fail_at(&mut record, [0, 0, 0, 0]);
    let Recommendation::Unsettled { why } = advised(&record) else { panic!() };
    assert!(why.starts_with("trials failed with the levels that are expected"), "{why}");
}
