//! A made-up study for tests: what its factors do to the figures is chosen, the noise is the same every time.

use lab::experiment::analysis::{Analysis, Effect, Estimate, analyse};
use lab::experiment::{Design, Experiment, Factor, arms};
use lab::known::Known;
use lab::record::{Arm, Record};
use lab::stats::Interval;
use lab::trial::{Better, Figure, FigureShape, Reading, Share, Trial, TrialClock, TrialContext};
use std::time::Duration;

/// Twelve blocks of eight combinations for each of two workloads; one trial failed.
pub(crate) fn study() -> (Record, Analysis) {
    let record = record(&design(), 12);
    let analysis = analysis(&record);
    (record, analysis)
}

/// Governor by idle state by load.
fn design() -> Design {
    let factor = |name: &str, levels: [&str; 2]| Factor {
        name: name.to_owned(),
        levels: levels.map(str::to_owned).to_vec(),
    };
    Design {
        name: "governor and C6".to_owned(),
        factors: vec![
            factor("governor", ["powersave", "performance"]),
            factor("idle-state.C6", ["on", "off"]),
            factor("load", ["idle", "all-cores"]),
        ],
        workloads: vec!["cpu-loop --cpus 3".to_owned(), "cpu-speed --cpus 3".to_owned()],
        trials: 12,
        rest: Duration::from_secs(2),
        ..Design::default()
    }
}

/// Trials of every arm of a design, in blocks of random order; the fifth trial failed.
pub(crate) fn record(design: &Design, n_blocks: u32) -> Record {
    let combinations = arms(design).unwrap();
    let arm = |at: usize| {
        let workload = design.workloads[combinations[at].workload].split(' ').next().unwrap();
        Arm { cpus: Some("3".to_owned()), ..Arm::of(&format!("arm {at}"), workload) }
    };
    let mut record = Record {
        id: "20261120T154305Z-governor-and-c6".to_owned(),
        version: "0.1.0".to_owned(),
        began: "2026-11-20T15:43:05Z".to_owned(),
        is_complete: true,
        ..Record::of((0..combinations.len()).map(arm).collect())
    };
    let mut random = fastrand::Rng::with_seed(7);
    for block in 0..n_blocks {
        let mut order: Vec<usize> = (0..combinations.len()).collect();
        random.shuffle(&mut order);
        for arm in order {
            let number = record.trials.len() as u32 + 1;
            let combination = &combinations[arm];
            let (workload, levels) = (combination.workload, &combination.levels[..]);
            record.trials.push(Trial {
                number,
                arm,
                block,
                ..trial(workload, levels, &mut random)
            });
        }
    }
    if let Some(trial) = record.trials.get_mut(4) {
        trial.failed = Some("it ended with exit code 3".to_owned());
        trial.outcome.figures = Vec::new().into();
    }
    let settings = [("cpu model", "Made Up 9000"), ("kernel", "6.12.0"), ("turbo", "on")];
    record.machine.0 = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    record.experiment = Some(Experiment::of(design.clone(), combinations, 7));
    record.doubts.extend(lab::doubts::of(&record));
    record
}

/// The clock decides: 1.2 GHz with the first level of the first factor, else 2.7; where the others idle, 13 % less with the
/// second level of the second.
fn clock_hz(levels: &[usize]) -> f64 {
    let level = |at: usize| levels.get(at).copied().unwrap_or(0);
    let base = if level(0) == 0 { 1.2e9 } else { 2.7e9 };
    if level(1) == 1 && level(2) == 0 { base * 0.87 } else { base }
}

fn trial(workload: usize, levels: &[usize], random: &mut fastrand::Rng) -> Trial {
    let mut noise = |share: f64| 1.0 + share * (random.f64() + random.f64() + random.f64() - 1.5);
    let hertz = clock_hz(levels) * noise(0.002);
    let seconds = 33.5e9 / hertz * noise(0.008);
    let mut trial = Trial::of_one_task(0, 0, seconds);
    trial.outcome.cpu_ns = Known::Value((seconds * 0.97e9) as u64);
    if workload != 0 {
        let shape = FigureShape { name: "speed", unit: "M/s", better: Better::Higher };
        trial.outcome.figures = vec![Figure::of(shape, hertz / 9e6 * noise(0.008))].into();
    }
    let after_hz = hertz * noise(0.001);
    trial.clock = Known::Value(TrialClock { before_hz: hertz, after_hz });
    trial.surroundings = Known::Value(surroundings(levels, hertz, seconds, noise));
    trial
}

fn surroundings(
    levels: &[usize],
    hertz: f64,
    seconds: f64,
    mut noise: impl FnMut(f64) -> f64,
) -> TrialContext {
    let is_c6 = levels.get(1) != Some(&1);
    let reading = |metric: &str, part: &str, value: f64| Reading {
        metric: metric.to_owned(),
        part: part.to_owned(),
        value: Known::Value(value),
    };
    let metrics = vec![
        reading("busy-mhz", "", hertz / 1e6),
        reading("core-residency", "C1", if is_c6 { 4.0 } else { 58.0 } * noise(0.3)),
        reading("core-residency", "C6", if is_c6 { 54.0 * noise(0.2) } else { 0.0 }),
        reading("temperature", "", 40.0 + hertz / 1.5e8 * noise(0.1)),
    ];
    TrialContext {
        cpus: "3".to_owned(),
        window_ns: ((seconds + 1.0) * 1e9) as u64,
        ledger: ledger(hertz).into(),
        unexplained: 0.002,
        metrics: metrics.into(),
    }
}

fn ledger(hertz: f64) -> Vec<Share> {
    let slow = 0.9 * (1.0 - hertz / 2.7e9).max(0.0);
    let share = |loss: &str, part: &str, share| Share {
        loss: loss.to_owned(),
        part: part.to_owned(),
        share: Known::Value(share),
    };
    vec![
        share("idle", "", 0.074),
        share("slow-clock", "requested low", slow),
        share("ticks", "", 0.0073),
        share("interrupts", "", 0.0012),
        share("kernel-threads", "kworker", 0.0065),
        share("kernel-threads", "kipmi0", 0.009),
        share("useful", "", 0.9 - slow),
    ]
}

/// What the analysis of it says.
pub(crate) fn analysis(record: &Record) -> Analysis {
    analyse(record).unwrap()
}

/// Of a level of a factor, claimed where its interval leaves out zero; the clock explains it.
pub(crate) fn effect(factor: usize, level: usize, change: f64, half: f64) -> Effect {
    Effect {
        factor,
        level,
        estimate: Known::Value(estimate(change, half)),
        by_clock: Known::Value(change),
        clock_part: Known::Value(1.0),
        in_cycles: Known::Value(estimate(0.0, half)),
        ledger: Vec::new(),
        watts: not_measured(),
        watts_interval: None,
    }
}

pub(crate) fn estimate(change: f64, half: f64) -> Estimate {
    let is_claimed = change.abs() > half;
    let interval = Interval { low: change - half, high: change + half };
    Estimate { change, interval, confidence: 0.999, is_claimed }
}

fn not_measured() -> Known<f64> {
    Known::Missing { missing: "no counter of energy".to_owned() }
}
