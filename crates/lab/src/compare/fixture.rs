//! Trials and records for tests.

use crate::known::Known;
use crate::record::{Arm, Record};
use crate::trial::{Trial, TrialClock};

/// A trial of one task that never sleeps.
pub(crate) fn trial(arm: usize, block: u32, seconds: f64, hertz: f64) -> Trial {
    let clock = Known::Value(TrialClock { before_hz: hertz, after_hz: hertz });
    Trial { number: 1, clock, ..Trial::of_one_task(arm, block, seconds) }
}

/// A record of these trials, numbered, with the doubts that they raise.
pub(crate) fn record(mut trials: Vec<Trial>) -> Record {
    for (number, trial) in (1..).zip(&mut trials) {
        trial.number = number;
    }
    let n_arms = trials.iter().map(|it| it.arm + 1).max().unwrap_or(1);
    let arm = |it: usize| {
        let name = format!("arm {it}");
        Arm { cpus: Some("1".to_owned()), ..Arm::of(&name, "cpu-loop") }
    };
    let arms = (0..n_arms).map(arm).collect();
    let mut record = Record { trials, is_complete: true, ..Record::of(arms) };
    record.doubts.extend(crate::doubts::of(&record));
    record
}

/// Ten blocks of ABBA and BAAB in turn; the n-th trial is longer by a share that repeats every 7 trials, up to `noise`.
pub(crate) fn blocks(a: (f64, f64), b: (f64, f64), noise: f64) -> Vec<Trial> {
    let order = [[0, 1, 1, 0], [1, 0, 0, 1]];
    (0..40)
        .map(|at: usize| {
            let arm = order[at / 4 % 2][at % 4];
            let (seconds, hertz) = if arm == 0 { a } else { b };
            trial(arm, (at / 4) as u32, seconds * wobble(at, noise), hertz)
        })
        .collect()
}

/// Twenty trials of one arm alone, with the same noise.
pub(crate) fn moment(seconds: f64, hertz: f64, noise: f64) -> Record {
    record((0..20).map(|at| trial(0, at as u32, seconds * wobble(at, noise), hertz)).collect())
}

fn wobble(at: usize, noise: f64) -> f64 {
    1.0 + noise * ((at * 5 % 7) as f64 / 3.0 - 1.0)
}
