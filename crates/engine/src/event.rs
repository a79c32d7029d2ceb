//! Events that the engine reports while it works. A terminal, a page or a test consumes them.

use facts::change::{Write, Written, WrittenPlace};
use lab::experiment::{Combination, Design};
use lab::record::Record;
use rules::plan::Plan;
use std::path::Path;
use std::time::Duration;

/// Something that happens. The result of the work is not an event: it is returned at the end.
pub enum Event<'a> {
    /// Something that users should know.
    Note(String),
    /// Something that went wrong and does not end the work.
    Trouble(anyhow::Error),
    /// How far trials are.
    Progress(Progress),
    /// What is about to be written to the machine.
    Planned(&'a Plan),
    /// The files that are about to be written to make a change last.
    Files(&'a [Write]),
    /// A place that was written holds something else, or holds again what was written.
    Drift {
        /// The place that was written.
        place: &'a WrittenPlace,
        /// What it holds; `None` where it could not be read or is not there.
        found: Option<&'a str>,
        /// Who wrote to it, where that is known.
        writer: Option<&'a Written>,
    },
    /// Trials without and with a change have ended, and where their record is kept.
    Proven(&'a Record, Option<&'a Path>),
    /// The trials of a study that are about to begin.
    Study(&'a StudyPlan<'a>),
}

/// How far trials are.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What has been done: "12 trials of each".
    pub done: String,
    /// The share of all of it, from 0 to 1.
    pub share: f64,
    /// How long it has taken.
    pub elapsed: Duration,
}

/// A study before its first trial.
pub struct StudyPlan<'a> {
    /// What was asked for.
    pub design: &'a Design,
    /// What each arm combines.
    pub arms: &'a [Combination],
    /// What each arm is called.
    pub names: Vec<&'a str>,
    /// How long all of it takes.
    pub length: Duration,
    /// How long a trial of each workload took, in seconds.
    pub trial_seconds: &'a [f64],
    /// Whether trials follow; else the plan is all that was asked for.
    pub is_run: bool,
}

/// Consumes events. An error ends the work: the event could not be shown, for example because the reader of a pipe is gone.
pub type Tell<'a> = dyn FnMut(Event<'_>) -> anyhow::Result<()> + 'a;
