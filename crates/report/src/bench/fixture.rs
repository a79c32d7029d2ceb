//! Results for tests, of trials whose noise is the same every time.

use lab::known::Known;
use lab::record::{Arm, Record};
use lab::trial::{Better, Figure, Outcome, Share, Trial, TrialClock, TrialContext};
use lab::workload::Settings;

/// What an arm's trials take: seconds, the clock in hertz, and by which share they go up and down.
#[derive(Clone, Copy)]
pub(crate) struct Pattern {
    pub seconds: f64,
    pub hertz: f64,
    pub noise: f64,
}

pub(crate) const QUIET: Pattern = Pattern { seconds: 12.4, hertz: 2.7e9, noise: 0.002 };

/// Twenty trials of the CPU test on CPU 2.
pub(crate) fn kept() -> Record {
    moment(QUIET)
}

/// The same with trials of this pattern.
pub(crate) fn moment(pattern: Pattern) -> Record {
    record(vec![arm("A", "2")], (0..20).map(|at| trial(0, at as u32, at, pattern)).collect())
}

/// `n_blocks` blocks of two arms on one CPU, in the order ABBA and BAAB in turn.
pub(crate) fn interleaved(a: Pattern, b: Pattern, n_blocks: usize) -> Record {
    const ORDER: [[usize; 4]; 2] = [[0, 1, 1, 0], [1, 0, 0, 1]];
    let of = |at: usize| {
        let arm = ORDER[at / 4 % 2][at % 4];
        trial(arm, (at / 4) as u32, at, if arm == 0 { a } else { b })
    };
    record(vec![arm("A", "2"), arm("B", "2")], (0..4 * n_blocks).map(of).collect())
}

/// Ten blocks of four CPUs in turn, the third of them slower.
pub(crate) fn sweep() -> Record {
    let of = |at: usize| {
        let slower = if at % 4 == 2 { 1.03 } else { 1.0 };
        trial(at % 4, (at / 4) as u32, at, Pattern { seconds: QUIET.seconds * slower, ..QUIET })
    };
    let arms = (0..4).map(|cpu| arm(&format!("CPU {cpu}"), &cpu.to_string())).collect();
    record(arms, (0..40).map(of).collect())
}

/// Twenty intervals of nodes that commit at the same time, the first 17,000 times a second and each of the others `share` of that.
pub(crate) fn raced<const N: usize>(names: [&str; N], share: f64) -> Record {
    let figure = |name: &str, unit: &str, value, better| Figure {
        name: name.to_owned(),
        unit: unit.to_owned(),
        value,
        better,
    };
    let of = |at: usize| {
        let (node, interval) = (at % N, at / N);
        let noise = 1.0 + 0.02 * ((at * 5 % 7) as f64 / 3.0 - 1.0);
        let slower = if node == 0 { 1.0 } else { share };
        let figures = vec![
            figure("commits", "1/s", 17_000.0 * slower * noise, Better::Higher),
            figure("log write, in the call", "us", 812.0 / noise, Better::Lower),
        ];
        let trial = trial(node, interval as u32, at, QUIET);
        let outcome = Outcome {
            elapsed_ns: Known::Value(1_000_000_000),
            cpu_ns: Known::missing("it is that of several processes"),
            tasks: 8,
            figures: figures.into(),
        };
        Trial { began_ns: Known::Value(interval as u64 * 1_000_000_000), outcome, ..trial }
    };
    let arms = names.map(|it| Arm::of(it, "commit")).to_vec();
    let mut record = record(arms, (0..20 * N).map(of).collect());
    record.id = "20261120T154305Z-race".to_owned();
    record
}

fn record(arms: Vec<Arm>, mut trials: Vec<Trial>) -> Record {
    for (number, trial) in (1..).zip(&mut trials) {
        trial.number = number;
    }
    let mut record = Record {
        id: "20261120T154305Z-cpu-loop".to_owned(),
        version: "0.1.0".to_owned(),
        began: "2026-11-20T15:43:05Z".to_owned(),
        trials,
        is_complete: true,
        ..Record::of(arms)
    };
    record.doubts.extend(lab::doubts::of(&record));
    record
}

fn arm(name: &str, cpu: &str) -> Arm {
    let cpus = Some(cpu.to_owned());
    let settings = Settings { cpus: cpus.clone(), ..Settings::default() };
    Arm { settings, cpus, ..Arm::of(name, "cpu-loop") }
}

/// The noise repeats every seven trials.
fn trial(arm: usize, block: u32, at: usize, pattern: Pattern) -> Trial {
    let wave = |step: usize| (at * step % 7) as f64 / 3.0 - 1.0;
    let seconds = pattern.seconds * (1.0 + pattern.noise * wave(5));
    let before_hz = pattern.hertz * (1.0 + 1e-4 * wave(3));
    let lost = |loss: &str, share| Share {
        loss: loss.to_owned(),
        part: String::new(),
        share: Known::Value(share),
    };
    Trial {
        clock: Known::Value(TrialClock { before_hz, after_hz: pattern.hertz }),
        surroundings: Known::Value(TrialContext {
            cpus: "2".to_owned(),
            window_ns: (seconds * 1e9) as u64 + 1_000_000_000,
            ledger: vec![lost("ticks", 0.0073), lost("interrupts", 0.0002)].into(),
            ..TrialContext::default()
        }),
        ..Trial::of_one_task(arm, block, seconds)
    }
}
