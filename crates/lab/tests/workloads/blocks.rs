//! How the trials of a study are run: in an order that a later run can go on in, and on after a failure.

use facts::{CpuSet, Missing};
use lab::bench::{BootOf, Plan, PlannedArm, Watcher, run};
use lab::experiment::{Boots, Combination, Design, Experiment, Factor, Parts};
use lab::failure::Failure;
use lab::known::Known;
use lab::record::{Fingerprint, Record};
use lab::trial::{Better, Figure, FigureShape, Outcome, Trial};
use lab::workload::{Placement, Ready, Scene, Setting, Settings, Workload};
use std::cell::Cell;
use std::sync::atomic::AtomicBool;

thread_local! {
    static PREPARED: Cell<u32> = const { Cell::new(0) };
}

/// Yields its iterations as a figure; fails where those are 13.
static COUNTING: Workload = Workload {
    id: "counting",
    title: "counts",
    help: "",
    figure: FigureShape { name: "count", unit: "1", better: Better::Lower },
    takes: &[Setting::Iterations],
    placement: Placement::Anywhere,
    prepare: |settings, _| {
        PREPARED.set(PREPARED.get() + 1);
        Ok(Box::new(Counting(settings.iterations.unwrap_or(1))))
    },
};

struct Counting(u64);

impl Ready for Counting {
    fn trial(&mut self, _scene: &Scene<'_>) -> Result<Outcome, Failure> {
        if self.0 == 13 {
            return Err(Failure::NoFigure("thirteen".to_owned()));
        }
        let figures = vec![Figure::of(COUNTING.figure, self.0 as f64)].into();
        Ok(Outcome { elapsed_ns: Known::Value(1), cpu_ns: Known::Value(1), tasks: 1, figures })
    }

    fn cpus(&self) -> Option<&CpuSet> {
        None
    }
}

/// Stops after so many trials.
struct Until {
    trials: usize,
}

impl Watcher for Until {
    fn begun(&mut self, _record: &mut Record) -> Result<(), Failure> {
        Ok(())
    }

    fn goes_on(&mut self, _arm: usize, failure: &Failure) -> bool {
        matches!(failure, Failure::NoFigure(_))
    }

    fn tried(&mut self, record: &Record) -> Result<(), Failure> {
        if record.trials.len() == self.trials { Err(Failure::Stopped) } else { Ok(()) }
    }

    fn wants_more(&mut self, _record: &Record) -> bool {
        false
    }
}

/// Arms of those many iterations, run until there are so many trials.
fn record(iterations: &[u64], so_far: Vec<Trial>, until: usize) -> Record {
    record_of(plan(iterations, so_far), until)
}

fn plan(iterations: &[u64], so_far: Vec<Trial>) -> Plan {
    let arm = |&it: &u64| PlannedArm {
        name: it.to_string(),
        workload: &COUNTING,
        settings: Settings { iterations: Some(it), ..Settings::default() },
    };
    Plan {
        arms: iterations.iter().map(arm).collect(),
        trials: 6,
        seed: 7,
        id: "x".to_owned(),
        version: String::new(),
        began: String::new(),
        machine: Fingerprint::default(),
        costs: Err(Missing::absent("the cost of events")),
        is_whole: true,
        warm_up: 1,
        experiment: None,
        so_far,
        boot: None,
    }
}

fn record_of(plan: Plan, until: usize) -> Record {
    let host = host::view(&host::Live::this_machine());
    let mut watcher = Until { trials: until };
    let scene = Scene {
        host: &host,
        allowed: CpuSet::default(),
        temporary: std::env::temp_dir(),
        stop: &AtomicBool::new(false),
    };
    run(plan, &scene, &mut watcher).unwrap().0
}

fn order(record: &Record) -> Vec<(usize, u32)> {
    record.trials.iter().map(|it| (it.arm, it.block)).collect()
}

#[test]
fn a_run_that_was_cut_short_anywhere_goes_on_in_the_same_order() {
    let whole = record(&[1, 2, 3], Vec::new(), usize::MAX);
    assert_eq!(whole.trials.len(), 18);
    for cut in [5, 6] {
        let first = record(&[1, 2, 3], Vec::new(), cut);
        assert_eq!(first.trials.len(), cut);
        let second = record(&[1, 2, 3], first.trials, usize::MAX);
        assert_eq!(order(&second), order(&whole), "cut after {cut}");
        let began: Vec<u64> =
            second.trials.iter().filter_map(|it| it.began_ns.value().copied()).collect();
        assert!(began.is_sorted(), "{began:?}");
    }
}

#[test]
fn an_arm_that_fails_is_a_result_and_the_others_go_on() {
    let record = record(&[1, 13], Vec::new(), usize::MAX);
    let of = |arm| record.trials.iter().filter(move |it| it.arm == arm);
    assert!(of(0).all(|it| it.failed.is_none() && it.outcome.figures.len() == 1));
    assert!(of(1).all(|it| it.failed.as_deref() == Some("thirteen")));
    assert_eq!((of(0).count(), of(1).count()), (6, 6));
}

#[test]
fn arms_that_differ_in_nothing_but_the_machine_share_a_workload() {
    PREPARED.set(0);
    record(&[4, 4, 4, 5], Vec::new(), usize::MAX);
    assert_eq!(PREPARED.get(), 2);
}

/// A study of a setting with two levels, each booted twice, and of one that takes no reboot; a boot by its number.
fn booted(so_far: Vec<Trial>, part: Option<usize>, boot: usize) -> Record {
    let factor =
        |name: &str| Factor { name: name.to_owned(), levels: vec!["a".into(), "b".into()] };
    let design = Design {
        factors: vec![factor("nohz-full"), factor("governor")],
        workloads: vec!["counting".to_owned()],
        trials: 8,
        boots: Some(Boots { factors: vec![0], rounds: 2 }),
        ..Design::default()
    };
    let levels = [[0, 0], [0, 1], [1, 0], [1, 1]];
    let arms = levels.map(|it| Combination { workload: 0, levels: it.to_vec() }).to_vec();
    let plan = Plan {
        experiment: Some(Experiment::of(design, arms, 7)),
        boot: Some(BootOf { id: boot.to_string(), part }),
        ..plan(&[1, 2, 3, 4], so_far)
    };
    record_of(plan, usize::MAX)
}

#[test]
fn a_study_that_takes_reboots_runs_one_part_in_each_and_is_whole_behind_the_last() {
    let begun = booted(Vec::new(), None, 0);
    assert!(begun.trials.is_empty() && !begun.is_complete);
    let parts = Parts::of(begun.experiment.as_ref().unwrap()).unwrap();
    let mut record = begun;
    for boot in 0..parts.all().len() {
        assert!(!record.is_complete);
        let before = record.trials.len();
        record = booted(record.trials, parts.next(before), boot);
        let part = &parts.all()[boot];
        let of_boot = &record.trials[before..];
        assert_eq!(of_boot.len(), part.n_trials());
        for trial in of_boot {
            assert_eq!(trial.boot.as_deref(), Some(&*boot.to_string()));
            assert!(part.arms.contains(&trial.arm) && part.blocks.contains(&trial.block));
        }
    }
    assert!(record.is_complete);
    let of_arm = |arm| record.trials.iter().filter(|it| it.arm == arm).count();
    assert_eq!([0, 1, 2, 3].map(of_arm), [8; 4]);
}

#[test]
fn trials_of_a_part_that_was_cut_short_are_not_run_again() {
    let parts = Parts::of(booted(Vec::new(), None, 0).experiment.as_ref().unwrap()).unwrap();
    let whole = booted(Vec::new(), parts.next(0), 0);
    let gone_on = booted(whole.trials[..5].to_vec(), parts.next(5), 1);
    assert_eq!(order(&gone_on), order(&whole));
    let boots: Vec<Option<&str>> = gone_on.trials.iter().map(|it| it.boot.as_deref()).collect();
    assert_eq!(
        boots,
        [Some("0"), Some("0"), Some("0"), Some("0"), Some("0"), Some("1"), Some("1"), Some("1")]
    );
}
