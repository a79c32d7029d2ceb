//! Commits, and the log that they wait for: engines that can be started, sampled at any moment and stopped, and what two
//! samples say.
//!
//! A commit is over when its redo is on disk. The time that a database reports for a log write runs from the call to the
//! moment the writer runs again, so that it also holds the time for which the writer could have run and had no CPU: a
//! machine that lacks CPU looks like one with a slow disk. A [`Split`] takes the two apart, and a [`Verdict`] says which of
//! them grew between two machines or two settings. Both are pure; only engines do IO.

mod embedded;
mod figures;
mod sample;
mod server;
mod split;
#[cfg(test)]
pub(crate) mod texts;
mod verdict;

pub use figures::{figures, verdict_of};
pub use sample::{Latency, LogCounts, Ran, Sample};
pub use split::{CommitTime, Split, WriteTime};
pub use verdict::{Cause, Verdict, judge};

use crate::failure::Failure;
use crate::server::ServerSelection;
use crate::workload::{Scene, Settings};
use embedded::Embedded;
use facts::CpuSet;
use server::Serving;

/// The id of the workload that commits, in results.
pub(crate) const WORKLOAD: &str = "commit";

/// Sessions that insert a row and commit, again and again, and the log that they wait for.
///
/// Dropping it leaves no task, no file and no table.
pub trait Engine {
    /// Lets the sessions work; counts begin at 0.
    fn start(&mut self) -> Result<(), Failure>;

    /// What has been counted since the start.
    ///
    /// Errors: the engine does not work any more, and why.
    fn sample(&mut self) -> Result<Sample, Failure>;

    /// Lets each session end its commit, and checks that what was committed is in the log.
    fn stop(&mut self) -> Result<(), Failure>;

    /// The CPUs that its tasks are kept on; `None` where the scheduler chooses.
    fn cpus(&self) -> Option<&CpuSet>;

    /// The processes that do its work.
    fn processes(&self) -> Vec<u32> {
        vec![std::process::id()]
    }

    /// The server that it works in, where that is not this process.
    fn server(&self) -> Option<ServerSelection> {
        None
    }

    /// Tasks of other processes that do its work.
    fn tasks(&self) -> Vec<u32> {
        Vec::new()
    }

    /// What has to be known of it to compare its figures with others'.
    fn about(&self) -> Vec<(String, String)>;
}

/// What `--engine` may name, the default first.
pub const ENGINES: &[&str] = &["embedded", "postgresql", "mariadb"];

/// Makes the engine of the settings ready to start: a server that `--dsn` names is one, too.
///
/// Errors: what it lacks, in words.
pub fn open(settings: &Settings, scene: &Scene<'_>) -> Result<Box<dyn Engine>, Failure> {
    match settings.engine.as_deref() {
        None if settings.dsn.is_some() => Ok(Box::new(Serving::open(settings, scene)?)),
        Some("embedded") if settings.dsn.is_some() => {
            let why = "--dsn names a server, and --engine embedded needs none";
            Err(Failure::Unready(why.to_owned()))
        }
        None | Some("embedded") => Ok(Box::new(Embedded::open(settings, scene)?)),
        Some(id) if ENGINES.contains(&id) => Ok(Box::new(Serving::open(settings, scene)?)),
        Some(other) => {
            let known = ENGINES.join(" or ");
            Err(Failure::Unready(format!("--engine {other}: expected {known}")))
        }
    }
}
