//! Published timings, and what has to be said of them.

use super::fixture::{blocks, moment, record};
use super::{Difference, Side, Terms, interleaved, separate};
use crate::record::Record;
use crate::trial::Better;
use crate::verdict::Verdict;

/// Elapsed seconds and gigahertz of the busy core of a single-threaded test on a 2-socket Xeon E5-2680, 3.5 GHz at most,
/// as published with turbostat's columns: turbo off, governor powersave, and intel_idle.max_cstate of 3, 2, 1 and 0.
const TURBO: [(&str, f64, f64); 6] = [
    ("turbo off", 10.45, 2.69),
    ("powersave", 23.50, 1.20),
    ("max_cstate=3", 7.97, 3.45),
    ("max_cstate=2", 7.98, 3.49),
    ("max_cstate=1", 9.00, 3.09),
    ("max_cstate=0", 9.00, 3.09),
];

fn of_moments(a: (f64, f64), b: (f64, f64)) -> Difference {
    of_records(&moment(a.0, a.1, 0.003), &moment(b.0, b.1, 0.003))
}

fn of_blocks(record: &Record) -> Difference {
    interleaved(record, (0, 1), &Terms::of(1))
}

fn of_records(a: &Record, b: &Record) -> Difference {
    let side = |name, record| Side { name, record, arm: 0 };
    separate(side("A", a), side("B", b), &Terms::of(1))
}

/// Elapsed time by clock of these tests varies by 2.5 % from its middle where the clock varies by a factor of three: their clock was
/// read with three digits, and their work is not all in the core.
const CONSTANT: f64 = 0.03;

#[test]
fn the_clock_explains_the_published_differences_of_turbo_within_3_percent() {
    let (_, seconds, ghz) = TURBO[2];
    for (name, other_seconds, other_ghz) in TURBO {
        let found = of_moments((seconds, ghz * 1e9), (other_seconds, other_ghz * 1e9));
        let (clock, cycles) = (found.clock.value().unwrap(), found.cycles.value().unwrap());
        assert!(cycles.log.abs() <= CONSTANT, "{name}: {cycles:?}");
        let differs = (other_ghz / ghz - 1.0).abs() > CONSTANT;
        assert_eq!(clock.explains_all, differs, "{name}: {clock:?}");
        assert_eq!(found.verdict.is_claimed(), differs, "{name}: {found:?}");
    }
}

/// 673 and 2713 million operations a second, where firmware left the clock modulated at a duty of 25 %.
#[test]
fn a_published_pair_of_database_speeds_gives_the_duty_of_the_clock() {
    let rates = |rate: f64| {
        let mut record = moment(rate, 2.5e9, 0.003);
        record
            .trials
            .iter_mut()
            .for_each(|it| it.outcome.figures.edit(|it| it[0].better = Better::Higher));
        record
    };
    let found = of_records(&rates(2713.0), &rates(673.0));
    let (duty, _) = found.verdict.ratio().unwrap().times();
    assert!(found.verdict.is_claimed() && (duty - 0.248).abs() < 0.001, "{duty} {found:?}");
}

/// 12.40 s with a tick a millisecond and 12.31 s without, one timing each; here with the noise of a quiet machine.
#[test]
fn twelve_point_four_seconds_are_told_from_twelve_point_three_one() {
    let found = of_blocks(&record(blocks((12.40, 2.5e9), (12.31, 2.5e9), 0.003)));
    assert!(found.verdict.is_claimed() && found.n == 10, "{found:?}");
    let (change, _) = found.verdict.ratio().unwrap().change();
    assert!((change + 0.0073).abs() < 0.001, "{change}");
    let noisy = of_blocks(&record(blocks((12.40, 2.5e9), (12.31, 2.5e9), 0.2)));
    let (_, interval) = noisy.verdict.ratio().unwrap().change();
    assert!(!noisy.verdict.is_claimed() && interval.contains(-0.0073), "{noisy:?}");
}

#[test]
fn the_same_twice_is_never_claimed() {
    let arm = (12.31, 2.5e9);
    for found in [of_blocks(&record(blocks(arm, arm, 0.003))), of_moments(arm, arm)] {
        assert!(matches!(found.verdict, Verdict::NotShown(_)), "{found:?}");
    }
}

#[test]
fn few_blocks_are_said_to_be_few_and_clear_ones_are_enough() {
    let of = |n: usize| {
        let mut trials = blocks((2.0, 2.5e9), (1.0, 2.5e9), 0.003);
        trials.truncate(4 * n);
        of_blocks(&record(trials)).verdict
    };
    assert!(matches!(of(3), Verdict::TooFew { have: 3, needed: 4, .. }), "{:?}", of(3));
    assert!([4, 7, 8].into_iter().all(|n| of(n).is_claimed()));
}

#[test]
fn what_only_time_on_the_cpu_shows_is_not_claimed() {
    let mut trials = blocks((1.0, 2.5e9), (1.0, 2.5e9), 0.003);
    for trial in trials.iter_mut().filter(|it| it.arm == 1) {
        trial.outcome.cpu_ns = crate::known::Known::Value(1_300_000_000);
    }
    let found = of_blocks(&record(trials));
    assert!(matches!(found.verdict, Verdict::NotShown(_)), "{found:?}");
    assert!(found.cpu_time.value().unwrap().change().0 > 0.25, "{found:?}");
}

#[test]
fn a_drift_in_a_run_forbids_no_claim_of_twice_the_time() {
    let mut of_a = moment(2.0, 2.5e9, 0.003);
    for (at, trial) in of_a.trials.iter_mut().enumerate() {
        let drift = 1.0 + 0.006 * at as f64 / 20.0;
        trial.outcome.figures.edit(|it| it[0].value *= drift);
    }
    assert!(of_records(&of_a, &moment(4.0, 2.5e9, 0.003)).verdict.is_claimed());
    // What moved within the run could be it.
    let slightly = of_records(&of_a, &moment(2.03, 2.5e9, 0.003));
    assert!(matches!(slightly.verdict, Verdict::NotClear { .. }), "{slightly:?}");
}
