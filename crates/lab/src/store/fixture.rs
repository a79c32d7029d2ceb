//! Results for tests.

use crate::known::Known;
use crate::record::{Arm, Record};
use crate::trial::{Trial, TrialContext};
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
    let surroundings = Known::Value(TrialContext::default());
    Trial { number, surroundings, ..Trial::of_one_task(0, number, f64::from(number) / 3.0) }
}
