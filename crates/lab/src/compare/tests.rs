//! Published timings, and what has to be said of them.

use super::fixture::{blocks, moment, record};
use super::{CONSTANT, Measure, Side, Verdict, interleaved, separate};
use crate::record::Record;
use crate::trial::Better;

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

fn of_moments(a: (f64, f64), b: (f64, f64)) -> Verdict {
    of_records(&moment(a.0, a.1, 0.003), &moment(b.0, b.1, 0.003))
}

fn of_records(a: &Record, b: &Record) -> Verdict {
    separate(Side { name: "A", record: a, arm: 0 }, Side { name: "B", record: b, arm: 0 })
}

#[test]
fn the_clock_explains_the_published_differences_of_turbo_within_3_percent() {
    let (_, seconds, ghz) = TURBO[2];
    for (name, other_seconds, other_ghz) in TURBO {
        let verdict = of_moments((seconds, ghz * 1e9), (other_seconds, other_ghz * 1e9));
        let clock = verdict.clock.value().unwrap();
        assert!(clock.left.abs() <= CONSTANT, "{name}: {clock:?}");
        let differs = (other_ghz / ghz - 1.0).abs() > CONSTANT;
        assert_eq!(clock.explains_all, differs, "{name}: {clock:?}");
        assert_eq!(verdict.reading(Measure::Figure).unwrap().is_claimed, differs, "{name}");
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
    let verdict = of_records(&rates(2713.0), &rates(673.0));
    let reading = verdict.reading(Measure::Figure).unwrap();
    let duty = 1.0 / (1.0 + reading.evidence.change);
    assert!(reading.is_claimed && (duty - 0.248).abs() < 0.001, "{duty} {reading:?}");
}

/// 12.40 s with a tick a millisecond and 12.31 s without, one timing each; here with the noise of a quiet machine.
#[test]
fn twelve_point_four_seconds_are_told_from_twelve_point_three_one() {
    let verdict = interleaved(&record(blocks((12.40, 2.5e9), (12.31, 2.5e9), 0.003)), 0, 1);
    let headline = verdict.headline().unwrap();
    let Verdict { forbidding, .. } = &verdict;
    assert!(headline.is_claimed && forbidding.is_empty(), "{verdict:?}");
    assert!((headline.evidence.change + 0.0073).abs() < 0.001, "{headline:?}");
    assert_eq!(headline.evidence.pairs, 20);
    let noisy = interleaved(&record(blocks((12.40, 2.5e9), (12.31, 2.5e9), 0.2)), 0, 1);
    let headline = noisy.headline().unwrap();
    assert!(!headline.is_claimed && headline.evidence.detectable > 0.0073, "{headline:?}");
}

#[test]
fn the_same_twice_is_never_claimed() {
    let arm = (12.31, 2.5e9);
    let verdict = interleaved(&record(blocks(arm, arm, 0.003)), 0, 1);
    assert!(verdict.readings.iter().all(|it| !it.is_claimed), "{verdict:?}");
    assert!(of_moments(arm, arm).readings.iter().all(|it| !it.is_claimed));
}

#[test]
fn few_blocks_forbid_a_claim_and_say_how_many_it_takes() {
    let mut trials = blocks((2.0, 2.5e9), (1.0, 2.5e9), 0.003);
    trials.truncate(28);
    let verdict = interleaved(&record(trials), 0, 1);
    assert!(verdict.headline().is_none());
    let words = serde_json::to_string(&verdict.forbidding).unwrap();
    assert_eq!(words, r#"[{"doubt":"too-few-trials","trials":7,"needed":8}]"#);
}

#[test]
fn a_clock_that_moved_forbids_a_claim_between_moments_and_none_within_blocks() {
    let mut of_a = moment(2.0, 2.5e9, 0.003);
    of_a.trials[3] = super::fixture::trial(0, 3, 2.0, 2.6e9);
    of_a = record(of_a.trials);
    let verdict = of_records(&of_a, &moment(1.0, 2.5e9, 0.003));
    assert!(verdict.readings.iter().all(|it| !it.is_claimed), "{verdict:?}");
    let words = serde_json::to_string(&verdict.forbidding).unwrap();
    assert!(words.starts_with(r#"[{"arm":"A","doubt":"clock-drifted","share":0.04"#), "{words}");

    let mut trials = blocks((2.0, 2.5e9), (1.0, 2.5e9), 0.003);
    trials[5].clock = of_a.trials[3].clock.clone();
    assert!(interleaved(&record(trials), 0, 1).headline().unwrap().is_claimed);
}
