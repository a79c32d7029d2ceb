//! How the trials of a study are run: in an order that a later run can go on in, and on after a failure.

use facts::{CpuSet, Missing};
use lab::bench::{BootOf, Plan, PlannedArm, Watcher, run};
use lab::experiment::{Boots, Combination, Design, Experiment, Factor, Parts};
use lab::failure::Failure;
use lab::known::Known;
use lab::record::{Fingerprint, Record};
use lab::trial::{Better, Figure, FigureShape, Outcome, Trial};
use lab::workload::{Placement, Preparation, Ready, Scene, Setting, Settings, Workload};
use std::cell::Cell;
use std::sync::atomic::AtomicBool;

thread_local! {
    static PREPARED: Cell<u32> = const { Cell::new(0) };
}

/// Yields its iterations as a figure; fails where those are 13. It leaves something to its trials.
const COUNTING: Workload = Workload {
    id: "counting",
    title: "counts",
    help: "",
    figure: FigureShape { name: "count", unit: "1", better: Better::Lower },
    takes: &[Setting::Iterations],
    placement: Placement::Anywhere,
    preparation: Preparation::Cheap,
    prepare: |settings, _| {
        PREPARED.set(PREPARED.get() + 1);
        Ok(Box::new(Counting(settings.iterations.unwrap_or(1))))
    },
};

/// The same as a workload whose preparation leaves nothing, and as one that takes seconds.
static CHEAP: Workload = COUNTING;
static STATELESS: Workload = Workload { preparation: Preparation::Stateless, ..COUNTING };
static DEAR: Workload = Workload { preparation: Preparation::Dear, ..COUNTING };

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
        workload: &CHEAP,
        settings: Settings { iterations: Some(it), ..Settings::default() },
    };
    Plan {
        arms: iterations.iter().map(arm).collect(),
        trials: 6,
        expected: 6,
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

/// What a run of these iterations makes: a record, and how many workloads were made ready for it.
fn prepared(workload: &'static Workload, plan: Plan) -> (Record, u32) {
    PREPARED.set(0);
    let arms = plan.arms.into_iter().map(|it| PlannedArm { workload, ..it }).collect();
    let record = record_of(Plan { arms, ..plan }, usize::MAX);
    (record, PREPARED.get())
}

/// A comparison of workloads, of which the machine is the same for all.
fn compared(iterations: &[u64], trials: u32) -> Plan {
    Plan { is_whole: false, warm_up: 0, trials, expected: trials, ..plan(iterations, Vec::new()) }
}

/// The preparations that the trials of an arm ran on, block by block; all trials of a block ran on one.
fn preparations(record: &Record, arm: usize) -> Vec<Option<u32>> {
    let of_arm: Vec<&Trial> = record.trials.iter().filter(|it| it.arm == arm).collect();
    let of_block = |block: &[&Trial]| {
        assert!(block.iter().all(|it| it.preparation == block[0].preparation), "{block:?}");
        block[0].preparation
    };
    of_arm.chunk_by(|a, b| a.block == b.block).map(of_block).collect()
}

#[test]
fn arms_that_differ_in_nothing_but_the_machine_share_a_workload() {
    let (record, n_prepared) = prepared(&CHEAP, plan(&[4, 4, 4], Vec::new()));
    assert_eq!(n_prepared, 1);
    assert!(record.trials.iter().all(|it| it.preparation == Some(1)));
}

#[test]
fn a_study_of_two_settings_of_a_workload_makes_both_anew_for_each_block() {
    let (record, n_prepared) = prepared(&CHEAP, plan(&[4, 4, 5], Vec::new()));
    assert_eq!(n_prepared, 2 * 3);
    let [a, b, c] = [0, 1, 2].map(|arm| preparations(&record, arm));
    assert_eq!(a, b);
    assert!(a.iter().zip(&c).all(|(a, c)| a != c), "{a:?} {c:?}");
}

#[test]
fn a_study_that_was_cut_short_makes_the_rest_in_the_same_order() {
    let whole = record(&[4, 5], Vec::new(), usize::MAX);
    let first = record(&[4, 5], Vec::new(), 4);
    let gone_on = record(&[4, 5], first.trials, usize::MAX);
    let firsts = |record: &Record| -> Vec<bool> {
        let [a, b] = [0, 1].map(|arm| preparations(record, arm));
        a.iter().zip(&b).map(|(a, b)| a < b).collect()
    };
    assert_eq!(order(&gone_on), order(&whole));
    assert_eq!(firsts(&gone_on), firsts(&whole));
    let of_last = |record: &Record| record.trials.last().unwrap().preparation;
    assert!(of_last(&gone_on) > gone_on.trials[3].preparation);
}

#[test]
fn a_comparison_shares_nothing_that_has_a_state_and_makes_it_anew_in_an_order_of_chance() {
    for iterations in [[4, 4], [4, 5]] {
        let (record, n_prepared) = prepared(&CHEAP, compared(&iterations, 80));
        assert_eq!(n_prepared, 2 * 40);
        let [a, b] = [0, 1].map(|arm| preparations(&record, arm));
        let is_anew = |it: &[Option<u32>]| it.windows(2).all(|it| it[0] < it[1]);
        assert!(is_anew(&a) && is_anew(&b), "{a:?} {b:?}");
        let n_first = a.iter().zip(&b).filter(|(a, b)| a < b).count();
        assert!((8..=32).contains(&n_first), "A was made first in {n_first} of 40 blocks");
    }
}

#[test]
fn what_leaves_nothing_to_its_trials_is_made_once() {
    let (record, n_prepared) = prepared(&STATELESS, compared(&[4, 4, 5], 8));
    assert_eq!(n_prepared, 2);
    assert!(record.trials.iter().all(|it| it.preparation.is_none()));
}

#[test]
fn what_is_dear_to_make_serves_several_rounds_of_a_long_run() {
    for (trials, blocks, of_each) in [(20, 10, 2), (100, 9, 12)] {
        let (record, n_prepared) = prepared(&DEAR, compared(&[4, 4], trials));
        assert_eq!(n_prepared, 2 * blocks);
        for block in 1..=blocks {
            for arm in [0, 1] {
                let is_it = |it: &&Trial| it.arm == arm && it.block == block;
                assert_eq!(record.trials.iter().filter(is_it).count(), of_each, "{trials}");
            }
        }
    }
}

#[test]
fn one_arm_is_made_once() {
    assert_eq!(prepared(&CHEAP, compared(&[4], 8)).1, 1);
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
