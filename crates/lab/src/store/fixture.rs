//! Results for tests.

use crate::known::Known;
use crate::record::{Arm, Record};
use crate::trial::{Better, Figure, Outcome, Surroundings, Trial};
use crate::workload::Settings;

/// A result that is not complete, of one arm on CPU 3, with trials of a third of a second, two thirds, ...
pub(super) fn record(n_trials: u32) -> Record {
    let arm = Arm {
        settings: Settings { cpus: Some("3".to_owned()), ..Settings::default() },
        cpus: Some("3".to_owned()),
        about: vec![("server".to_owned(), "17.2".to_owned())],
        ..Arm::of("A", "cpu-loop")
    };
    Record {
        id: "x".to_owned(),
        version: "0.1.0".to_owned(),
        began: "2026-11-20T15:43:05Z".to_owned(),
        trials: (1..=n_trials).map(trial).collect(),
        ..Record::of(vec![arm])
    }
}

/// The trial of that number.
pub(super) fn trial(number: u32) -> Trial {
    let figure = Figure {
        name: "elapsed".to_owned(),
        unit: "s".to_owned(),
        value: f64::from(number) / 3.0,
        better: Better::Lower,
    };
    Trial {
        number,
        arm: 0,
        block: number,
        began_ns: Known::Value(7),
        boot: None,
        failed: None,
        outcome: Outcome {
            elapsed_ns: Known::Value(5),
            cpu_ns: Known::Value(5),
            tasks: 1,
            figures: vec![figure],
        },
        clock: Known::Missing { missing: "nobody looked".to_owned() },
        surroundings: Known::Value(Surroundings::default()),
    }
}
