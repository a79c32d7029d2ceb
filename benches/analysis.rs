//! What planning 10,000 arms and analysing 100,000 trials take in CPU time: `cargo bench -p xtask --bench analysis`.
//!
//! The lowest and the middle of several runs, by CLOCK_THREAD_CPUTIME_ID. Every trial has a clock, a ledger of thirteen lines and
//! watts, as those of a real machine have.
#![expect(clippy::print_stdout, reason = "the results")]

use fastrand::Rng;
use lab::experiment::analysis::analyse;
use lab::experiment::{Design, Experiment, Factor, arms};
use lab::known::Known;
use lab::record::{Arm, Record};
use lab::trial::{Reading, Share, Trial, TrialClock, TrialContext};
use rules::losses::LOSSES;
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

const RUNS: usize = 7;
const TRIALS: usize = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let planned = design(&[10, 10, 10, 10], 1);
    report("planning 10,000 arms of 4 factors", || Ok(arms(&planned)?.len()))?;
    let named = [
        ("8 arms of 3 factors", design(&[2, 2, 2], 1)),
        ("10,000 arms of 4 factors", planned),
        ("10,000 arms of 2 factors", design(&[100, 100], 1)),
        ("16,384 arms of 13 factors and 2 workloads", design(&[2; 13], 2)),
    ];
    for (name, design) in named {
        let mut record = record(design)?;
        report(&format!("analysing {} trials of {name}", record.trials.len()), || {
            Ok(analyse(black_box(&record))?.pareto.len())
        })?;
        report(&format!("doubts of {} trials of {name}", record.trials.len()), || {
            record.doubts.clear();
            record.doubts.extend(lab::doubts::of(&record));
            Ok(record.doubts.len())
        })?;
    }
    Ok(())
}

fn report(
    name: &str,
    mut work: impl FnMut() -> Result<usize, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut costs = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let before = cpu_time();
        black_box(work()?);
        costs.push(cpu_time().saturating_sub(before));
    }
    costs.sort_unstable();
    let [lowest, middle] = [costs[0], costs[RUNS / 2]].map(|it| it.as_secs_f64() * 1e3);
    println!("{name}: lowest {lowest:.1} ms, middle {middle:.1} ms");
    Ok(())
}

fn design(levels: &[usize], n_workloads: usize) -> Design {
    let factor = |(at, n): (usize, &usize)| Factor {
        name: format!("factor{at}"),
        levels: (0..*n).map(|it| it.to_string()).collect(),
    };
    Design {
        factors: levels.iter().enumerate().map(factor).collect(),
        workloads: (0..n_workloads).map(|it| format!("cpu-loop --size {it}")).collect(),
        ..Design::default()
    }
}

/// Whole blocks, about as many trials as [`TRIALS`]; the second level of each factor is 1 % slower.
fn record(design: Design) -> Result<Record, Box<dyn Error>> {
    let combinations = arms(&design)?;
    let mut dice = Rng::with_seed(1);
    let mut trials = Vec::with_capacity(TRIALS);
    for block in 0..TRIALS / combinations.len() {
        for (arm, it) in combinations.iter().enumerate() {
            let slower = it.levels.iter().filter(|it| **it == 1).count() as f64;
            trials.push(trial(arm, block as u32, 1.0 + 0.01 * slower + 0.003 * dice.f64()));
        }
    }
    let described = (0..combinations.len()).map(|it| Arm::of(&it.to_string(), "cpu-loop"));
    let record = Record::of(described.collect());
    let experiment = Some(Experiment::of(design, combinations, 1));
    Ok(Record { trials, experiment, ..record })
}

fn trial(arm: usize, block: u32, seconds: f64) -> Trial {
    let share = |loss: &str| Share {
        loss: loss.to_owned(),
        part: String::new(),
        share: Known::Value(0.07 * seconds),
    };
    let watts = |part: &str| Reading {
        metric: "watts".to_owned(),
        part: part.to_owned(),
        value: Known::Value(100.0 * seconds),
    };
    Trial {
        number: 1,
        clock: Known::Value(TrialClock { before_hz: 3e9 / seconds, after_hz: 3e9 / seconds }),
        surroundings: Known::Value(TrialContext {
            ledger: LOSSES.iter().map(|it| share(it.id)).collect(),
            metrics: [watts("package-0"), watts("package-0/core"), watts("package-1")]
                .into_iter()
                .collect(),
            ..TrialContext::default()
        }),
        ..Trial::of_one_task(arm, block, seconds)
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
