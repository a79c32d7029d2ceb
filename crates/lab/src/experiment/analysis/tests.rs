//! Whole studies of made-up machines.

mod advice;
mod failures;

use super::*;
use crate::compare::fixture::{record, trial};
use crate::experiment::{Design, Experiment, Factor, Shape, arms};
use crate::record::Record;
use crate::trial::{Reading, Share, TrialContext};
use std::f64::consts::LN_2;

/// Ten blocks of a study; each trial takes 2^`slowness` seconds of its workload and levels, in cycles of `hertz`.
fn study(
    shape: Shape,
    factors: &[(&str, usize)],
    slowness: impl Fn(usize, &[usize]) -> f64,
    hertz: impl Fn(&[usize]) -> f64,
) -> Record {
    let factor = |(name, n): &(&str, usize)| Factor {
        name: (*name).to_owned(),
        levels: (0..*n).map(|it| it.to_string()).collect(),
    };
    let design = Design {
        factors: factors.iter().map(factor).collect(),
        workloads: vec!["cpu-loop".to_owned(), "all-cores".to_owned()],
        shape,
        ..Design::default()
    };
    let arms = arms(&design).unwrap();
    let mut trials = Vec::new();
    let mut dice = fastrand::Rng::with_seed(1);
    for block in 0..10 {
        for (arm, it) in arms.iter().enumerate() {
            // Each block is slower than the one before, and each trial has noise of its own.
            let noise = 0.003 * dice.f64() + 0.01 * block as f64;
            let seconds = (LN_2 * slowness(it.workload, &it.levels) + noise).exp();
            trials.push(trial(arm, block as u32, seconds, hertz(&it.levels)));
        }
    }
    Record { experiment: Some(Experiment::of(design, arms, 1)), ..record(trials) }
}

fn steady(_: &[usize]) -> f64 {
    2e9
}

fn change(estimate: &Known<Estimate>) -> f64 {
    estimate.value().unwrap().change
}

#[test]
fn a_full_factorial_gives_each_effect_and_the_interaction_that_is_there() {
    // Turbo halves the time; without deep idle states it gives nothing.
    let slowness = |_: usize, it: &[usize]| if it == [1, 0] { -1.0 } else { 0.0 };
    let record = study(Shape::Full, &[("turbo", 2), ("cpuidle.C6", 2)], slowness, steady);
    let found = analyse(&record).unwrap();
    let first = &found.workloads[0];
    assert_eq!((first.blocks, first.arms.len(), &*first.figure), (10, 4, "elapsed"));
    assert!((change(&first.effects[0].estimate) - (0.5_f64.sqrt() - 1.0)).abs() < 0.002);
    assert!((change(&first.effects[1].estimate) - (2_f64.sqrt() - 1.0)).abs() < 0.002);
    let interaction = &first.interactions[0];
    assert!((change(&interaction.estimate) - 1.0).abs() < 0.004, "{interaction:?}");
    let [without, with] = interaction.first_given_second.each_ref().map(change);
    assert!((without + 0.5).abs() < 0.002 && with.abs() < 0.002, "{interaction:?}");
    assert!(interaction.estimate.value().unwrap().is_claimed);
    assert_eq!(found.pareto, [2]);
    match found.recommendation {
        Recommendation::Change { levels, expected, slower, was_run, .. } => {
            assert_eq!((levels, slower, was_run), (vec![1, 0], vec![], true));
            assert!(expected.iter().all(|it| (it + 0.5).abs() < 0.002), "{expected:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_makes_nothing_faster_is_kept_or_does_not_matter() {
    let worse = |_: usize, it: &[usize]| it[0] as f64;
    let record = study(Shape::Full, &[("governor", 2), ("turbo", 2)], worse, steady);
    let found = analyse(&record).unwrap();
    assert_eq!(found.recommendation, Recommendation::Keep { because: vec![0], left_out: vec![] });
    assert_eq!(found.pareto, [0, 1]);
    let record = study(Shape::Full, &[("governor", 2), ("turbo", 2)], |_, _| 0.0, steady);
    match analyse(&record).unwrap().recommendation {
        Recommendation::Nothing => (),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_workload_that_pays_for_another_is_named() {
    let slowness = |workload: usize, it: &[usize]| {
        if it[0] == 0 { 0.0 } else { [-1.0, 0.5][workload] }
    };
    let record = study(Shape::OneAtATime, &[("turbo", 2), ("governor", 3)], slowness, steady);
    let found = analyse(&record).unwrap();
    assert!(found.workloads[0].interactions.is_empty());
    match found.recommendation {
        Recommendation::Change { levels, slower, .. } => {
            assert_eq!((levels, slower), (vec![1, 0], vec![1]));
        }
        other => panic!("{other:?}"),
    }
    // Fast here and slow there: neither beats the other. The governor's arms are like the first one.
    assert_eq!(found.pareto, [0, 1, 2, 3]);
}

#[test]
fn one_at_a_time_advises_no_two_changes_that_it_has_not_seen_together() {
    let slowness = |_: usize, it: &[usize]| -0.2 * it[0] as f64 - 0.3 * it[1] as f64;
    let record = study(Shape::OneAtATime, &[("turbo", 2), ("governor", 2)], slowness, steady);
    match analyse(&record).unwrap().recommendation {
        Recommendation::Change { levels, was_run, .. } => {
            assert_eq!((levels, was_run), (vec![0, 1], true));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_fraction_advises_the_better_level_of_each_factor_and_says_whether_it_was_run() {
    let names = [("a", 2), ("b", 2), ("c", 2), ("d", 2)];
    let advice = |better: [f64; 4]| {
        let slowness = move |_: usize, it: &[usize]| {
            it.iter().zip(better).map(|(level, by)| -by * *level as f64).sum()
        };
        match analyse(&study(Shape::Fraction, &names, slowness, steady)).unwrap().recommendation {
            Recommendation::Change { levels, was_run, .. } => (levels, was_run),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(advice([0.2, 0.0, 0.0, 0.1]), (vec![1, 0, 0, 1], true));
    assert_eq!(advice([0.2, -0.2, 0.0, 0.0]), (vec![1, 0, 0, 0], false));
}

#[test]
fn conditions_are_studied_but_never_advised() {
    let faster = |_: usize, it: &[usize]| -(it[0] as f64);
    let record = study(Shape::Full, &[("load", 2), ("turbo", 2)], faster, steady);
    let found = analyse(&record).unwrap();
    assert!(found.workloads[0].effects[0].estimate.value().unwrap().is_claimed);
    assert!(matches!(found.recommendation, Recommendation::Nothing));
    assert_eq!(found.pareto, [0, 1]);
}

#[test]
fn the_clock_explains_what_it_changes_and_nothing_else() {
    let slowness = |_: usize, it: &[usize]| it[0] as f64 + it[1] as f64;
    let hertz = |it: &[usize]| if it[0] == 1 { 1e9 } else { 2e9 };
    let record = study(Shape::Full, &[("turbo", 2), ("governor", 2)], slowness, hertz);
    let found = analyse(&record).unwrap();
    let [turbo, governor] = &found.workloads[0].effects[..] else { panic!() };
    assert!((turbo.by_clock.value().unwrap() - 1.0).abs() < 1e-9, "{turbo:?}");
    assert!((turbo.clock_part.value().unwrap() - 1.0).abs() < 0.01, "{turbo:?}");
    assert!(governor.clock_part.value().unwrap().abs() < 0.01, "{governor:?}");
    assert_eq!(found.workloads[0].arms[3].clock_hz, Known::Value(1e9));
}

#[test]
fn the_ledger_and_the_power_move_with_the_factor_that_moves_them() {
    let mut record = study(Shape::Full, &[("turbo", 2), ("governor", 2)], |_, _| 0.0, steady);
    let combinations = record.experiment.as_ref().unwrap().arms.clone();
    for trial in &mut record.trials {
        let at = combinations[trial.arm].levels[0] as f64;
        let share = |loss: &str, share| Share {
            loss: loss.to_owned(),
            part: String::new(),
            share: Known::Value(share + 1e-4 * f64::from(trial.block % 3)),
        };
        let (metric, part) = ("watts".to_owned(), "package-0".to_owned());
        trial.surroundings = Known::Value(TrialContext {
            ledger: vec![
                share("ticks", 0.1 * at),
                share("idle", 0.5 - 0.2 * at),
                share("softirqs", 0.1),
            ]
            .into(),
            metrics: vec![Reading {
                metric,
                part,
                value: Known::Value(50.0 + 20.0 * at + 0.1 * f64::from(trial.block)),
            }]
            .into(),
            ..TrialContext::default()
        });
    }
    let found = analyse(&record).unwrap();
    let [turbo, governor] = &found.workloads[0].effects[..] else { panic!() };
    let names: Vec<&str> = turbo.ledger.iter().map(|it| &*it.0).collect();
    assert_eq!(names, ["idle", "ticks"]);
    assert!((turbo.ledger[0].1 + 0.2).abs() < 1e-9 && governor.ledger.is_empty());
    assert!((turbo.watts.value().unwrap() - 20.0).abs() < 1e-9, "{turbo:?}");
    let interval = turbo.watts_interval.unwrap();
    assert!(interval.contains(20.0) || interval.half_width() < 1e-6, "{interval:?}");
    // Turbo gives nothing here and takes power.
    assert_eq!(found.pareto, [0, 1]);
    assert_eq!(found.workloads[0].arms[0].ledger[1].0, "idle");
}

/// Chance alone moves one of twenty losses beyond an interval of 95 %.
#[test]
fn a_loss_that_chance_may_have_moved_among_many_is_not_told() {
    let mut record = study(Shape::Full, &[("turbo", 2)], |_, _| 0.0, steady);
    let combinations = record.experiment.as_ref().unwrap().arms.clone();
    for trial in &mut record.trials {
        let at = combinations[trial.arm].levels[0] as f64;
        // Up by a point in 9 of 10 blocks and down by as much in the other one: t is 4, p 0.003 where it is asked alone.
        let sign = if trial.block < 9 { 1.0 } else { -1.0 };
        let lines = (0..20).map(|it| Share {
            loss: format!("loss-{it}"),
            part: String::new(),
            share: Known::Value(if it == 0 { 0.1 + 0.01 * at * sign } else { 0.02 }),
        });
        let ledger = lines.collect();
        trial.surroundings = Known::Value(TrialContext { ledger, ..TrialContext::default() });
    }
    let found = analyse(&record).unwrap();
    assert!(found.workloads[0].effects[0].ledger.is_empty(), "{found:?}");
}

#[test]
fn an_arm_that_fails_is_shown_and_not_advised_and_hides_no_effect_of_the_others() {
    let slowness = |_: usize, it: &[usize]| -(it[0] as f64) - it[1] as f64;
    let mut record = study(Shape::Full, &[("turbo", 2), ("governor", 2)], slowness, steady);
    for trial in record.trials.iter_mut().filter(|it| it.arm == 3) {
        trial.failed = Some("the server ended".to_owned());
        trial.outcome.figures = Vec::new().into();
    }
    let found = analyse(&record).unwrap();
    let first = &found.workloads[0];
    assert_eq!((first.blocks, first.arms[3].failed, first.arms[3].median), (0, 10, None));
    assert!((change(&first.effects[0].estimate) + 0.5).abs() < 0.002);
    assert!(first.interactions[0].estimate.reason().is_some());
    assert!(!found.pareto.contains(&3));
    match found.recommendation {
        Recommendation::Change { levels, .. } => assert!(levels == [0, 1] || levels == [1, 0]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rate_and_a_time_have_the_same_signs() {
    let mut record = study(Shape::Full, &[("turbo", 2)], |_, it| -(it[0] as f64), steady);
    for trial in &mut record.trials {
        trial.outcome.figures.edit(|it| {
            it[0].value = 1.0 / it[0].value;
            it[0].better = Better::Higher;
        });
    }
    let found = analyse(&record).unwrap();
    assert!((change(&found.workloads[0].effects[0].estimate) + 0.5).abs() < 0.002);
    assert_eq!(found.workloads[0].better, Better::Higher);
}

#[test]
fn two_blocks_settle_nothing_and_say_what_to_do() {
    let mut record = study(Shape::Full, &[("turbo", 2)], |_, it| -(it[0] as f64), steady);
    record.trials.retain(|it| it.block < 2);
    match analyse(&record).unwrap().recommendation {
        Recommendation::Unsettled { why } => {
            assert!(why.starts_with("of cpu-loop, 2 blocks"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn heat_stops_the_advice_and_no_claim() {
    let mut record = study(Shape::Full, &[("turbo", 2)], |_, it| -(it[0] as f64), steady);
    record.doubts = vec![crate::doubt::Doubt::Throttled { trials: 5 }.into()];
    let found = analyse(&record).unwrap();
    let estimate = found.workloads[0].effects[0].estimate.value().unwrap();
    assert!(!estimate.interval.contains(0.0) && estimate.is_claimed);
    assert!(matches!(found.recommendation, Recommendation::Unsettled { .. }));
}

#[test]
fn what_is_no_study_or_does_not_fit_together_is_refused() {
    let mut record = study(Shape::Full, &[("turbo", 2)], |_, _| 0.0, steady);
    let refused = |it: &Record| analyse(it).unwrap_err().to_string();
    let mut bench = record.clone();
    bench.experiment = None;
    assert_eq!(
        refused(&bench),
        "this result is not an experiment: compare its variants with `fullclock compare`"
    );
    record.trials[3].arm = 9;
    assert_eq!(
        refused(&record),
        "the record is damaged: trial 4 of arm 9, expected one of the 4 there are"
    );
    record.arms.pop();
    assert_eq!(
        refused(&record),
        "the record is damaged: 3 combinations, expected 4 as its design has"
    );
}
