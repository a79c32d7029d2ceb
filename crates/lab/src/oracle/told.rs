//! What an output tells, as a result like any other.
//!
//! It tells figures and nothing of the machine, its clock, its load and the time: those are missing, and the result says
//! that nobody saw them.

use crate::known::Known;
use crate::record::{Arm, Record};
use crate::trial::{Figure, Outcome, Trial};
use crate::workload::Settings;

/// What one run told.
pub(super) struct Told {
    /// Its figures, the main one first.
    pub(super) figures: Vec<Figure>,
    /// How long it took, in nanoseconds.
    pub(super) elapsed_ns: Known<u64>,
}

/// The result of runs of a workload, each of so many iterations where that is known.
pub(super) fn record(workload: &str, iterations: Option<u64>, runs: Vec<Told>) -> Record {
    let settings =
        Settings { iterations, engine: Some("oracle".to_owned()), ..Settings::default() };
    let arm = Arm { settings, is_foreign: true, ..Arm::of("A", workload) };
    let trials = (1..).zip(runs).map(|(number, told)| trial(number, told)).collect();
    let mut record = Record { trials, is_complete: true, ..Record::of(vec![arm]) };
    record.doubts.extend(crate::doubts::of(&record));
    record
}

/// The reason for all that it does not tell.
pub(super) fn untold<T>() -> Known<T> {
    Known::Missing { missing: "the script's output does not tell it".to_owned() }
}

fn trial(number: u32, told: Told) -> Trial {
    Trial {
        number,
        arm: 0,
        block: number,
        began_ns: untold(),
        boot: None,
        failed: None,
        marks: Vec::new(),
        outcome: Outcome {
            elapsed_ns: told.elapsed_ns,
            cpu_ns: untold(),
            tasks: 0,
            figures: told.figures,
        },
        clock: untold(),
        surroundings: untold(),
    }
}
