//! A result in a few words: what the history keeps of it.

use crate::doubt::Raised;
use crate::record::{Record, is_race};
use crate::stats::{Bootstrap, CONFIDENCE, Interval, Sample, bootstrap, median, trimmed_mean};
use fastrand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One result of the history.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Entry {
    /// The name of its file without the ending, so that a copied file is a result of its own.
    pub id: String,
    /// When it began, UTC (RFC 3339).
    pub began: String,
    /// What was compared; one without a comparison.
    pub arms: Vec<ArmSummary>,
    /// The processor's model, where it is known.
    pub cpu_model: Option<String>,
    /// The kernel's release, where it is known.
    pub kernel: Option<String>,
    /// Why to trust it less.
    pub doubts: Vec<Raised>,
    /// Whether it ended as planned.
    pub is_complete: bool,
    /// The path of the result's file.
    pub path: PathBuf,
}

/// The summary of an arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArmSummary {
    /// `A`, `B`, or what the user called it.
    pub name: String,
    /// The id of the workload.
    pub workload: String,
    /// How many trials it has.
    pub trials: usize,
    /// Its main figure; `None` without a trial.
    pub figure: Option<FigureSummary>,
}

/// The main figure of an arm's trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureSummary {
    /// What it is: `elapsed`.
    pub name: String,
    /// What it is counted in.
    pub unit: String,
    /// The median of the trials, in `unit`.
    pub median: f64,
    /// The mean without the outermost values.
    pub trimmed_mean: f64,
    /// Where the true trimmed mean lies with a confidence of 95 %; `None` of too few trials.
    pub interval: Option<Interval>,
}

impl Entry {
    /// Whether it is one of nodes that committed at the same time.
    pub fn is_race(&self) -> bool {
        is_race(&self.id)
    }

    /// Of the result in the file at `path`.
    pub fn of(record: &Record, path: PathBuf) -> Entry {
        Entry {
            id: path.file_stem().map_or(record.id.clone(), |it| it.to_string_lossy().into_owned()),
            began: record.began.clone(),
            arms: (0..record.arms.len()).map(|it| summary(record, it)).collect(),
            cpu_model: record.machine.cpu_model().map(str::to_owned),
            kernel: record.machine.kernel().map(str::to_owned),
            doubts: record.doubts.clone(),
            is_complete: record.is_complete,
            path,
        }
    }
}

fn summary(record: &Record, number: usize) -> ArmSummary {
    let arm = &record.arms[number];
    let trials: Vec<_> = record.trials.iter().filter(|it| it.arm == number).collect();
    let main: Vec<_> = trials.iter().filter_map(|it| it.outcome.figures.first()).collect();
    let sample = Sample::new(main.iter().map(|it| it.value).collect()).ok();
    let figure = sample.zip(main.first()).map(|(sample, first)| FigureSummary {
        name: first.name.to_owned(),
        unit: first.unit.to_owned(),
        median: median(&sample),
        trimmed_mean: trimmed_mean(&sample),
        interval: interval(&sample),
    });
    ArmSummary {
        name: arm.name.clone(),
        workload: arm.workload.clone(),
        trials: trials.len(),
        figure,
    }
}

fn interval(sample: &Sample) -> Option<Interval> {
    /// A second's worth: a result may have a million trials, and a list must not wait for it.
    const MOST_VALUES: usize = 100_000_000;
    let draws = (MOST_VALUES / sample.in_order().len()).clamp(200, 2000);
    let wanted = Bootstrap { draws: draws as u32, confidence: CONFIDENCE };
    // A fixed seed: the same trials always have the same interval.
    bootstrap(sample, wanted, &mut Rng::with_seed(0)).ok()
}
