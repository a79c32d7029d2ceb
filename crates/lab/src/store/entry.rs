//! A result in a few words: what the history keeps of it.

use crate::doubt::Raised;
use crate::record::{Record, is_race};
use crate::stats::{Interval, Sample, median};
use crate::typical::{Typical, precision};
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
    /// What a typical trial has, in `unit`: the mean of the logarithms without the fifth at either end, turned back; of values that
    /// are not all above 0, that mean of the values themselves.
    pub typical: f64,
    /// Where the true typical value lies; `None` of too few trials.
    pub interval: Option<Interval>,
    /// The chance that the interval holds it, such as 0.99.
    pub confidence: f64,
    /// The median of the trials, in `unit`.
    pub median: f64,
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
    let figure = sample.zip(main.first()).map(|(sample, first)| {
        let typical = Typical::of(&sample);
        FigureSummary {
            name: first.name.to_owned(),
            unit: first.unit.to_owned(),
            typical: typical.value,
            interval: typical.interval.value().copied(),
            confidence: typical.confidence,
            median: median(&sample),
        }
    });
    ArmSummary {
        name: arm.name.clone(),
        workload: arm.workload.clone(),
        trials: trials.len(),
        figure,
    }
}

impl FigureSummary {
    /// Half of the interval as a share of the typical value.
    pub fn precision(&self) -> Option<f64> {
        precision(self.typical, self.interval?)
    }
}
