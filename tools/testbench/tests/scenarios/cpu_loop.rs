//! The CPU test on a CPU without a tick and on its isolated neighbour that has one, as `fullclock bench --vs` runs it: the
//! ticks of each trial, beside its time.
//!
//! What a tick takes of an emulated CPU is the emulator's: the times are printed, and nothing is asked of them.
#![expect(clippy::print_stdout, reason = "the times are to be read, not judged")]

use serde_json::Value;

use crate::boots::{FULL_RATE, TICKLESS};

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn trials_on_a_tickless_cpu_meet_a_tick_a_second_and_those_on_its_isolated_neighbour_all() {
    let output = TICKLESS.step("cpu loop").unwrap_or_else(|error| panic!("{error:#}"));
    let result: Value = serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("no result ({error}): {output:#?}"));
    let trials = result["trials"].as_array().unwrap_or_else(|| panic!("no trials: {result:#}"));
    let trials: Vec<Trial> = trials.iter().map(Trial::of).collect();
    assert_eq!(trials.len(), 4, "{result:#}");
    for trial in &trials {
        println!("{trial:?}");
        assert!(trial.ticks_expected().contains(&trial.ticks), "{trial:?}");
    }
}

/// One trial, and the ticks of its CPU from about a second before to its end.
#[derive(Debug)]
struct Trial {
    cpu: u64,
    elapsed_s: f64,
    ticks: f64,
    window_s: f64,
}

impl Trial {
    fn of(trial: &Value) -> Trial {
        let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{trial:#}"));
        let surroundings = &trial["surroundings"];
        let mut metrics = surroundings["metrics"].as_array().into_iter().flatten();
        let ticks = metrics.find(|reading| reading["metric"] == "ticks");
        let per_second = ticks.map_or(0.0, |reading| number(&reading["value"]));
        let window_s = number(&surroundings["window_ns"]) / 1e9;
        Trial {
            cpu: surroundings["cpus"].as_str().and_then(|it| it.parse().ok()).unwrap_or_default(),
            elapsed_s: number(&trial["elapsed_ns"]) / 1e9,
            ticks: per_second * window_s,
            window_s,
        }
    }

    /// On CPU 1 a second's one or two, and those that come before its tick has stopped. On CPU 2 all, of which an emulated
    /// CPU misses those for which its host does not run it; where its timer goes off early, the kernel sets it again, and that
    /// interrupt counts, too.
    fn ticks_expected(&self) -> std::ops::RangeInclusive<f64> {
        match self.cpu {
            1 => 0.1..=2.0 * self.window_s + 5.0,
            _ => 0.4 * FULL_RATE * self.elapsed_s..=1.5 * FULL_RATE * self.window_s,
        }
    }
}
