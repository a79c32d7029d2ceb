//! What commits: sessions and their log, here or in a database.

use super::embedded::Embedded;
use super::sample::Sample;
use super::server::Serving;
use crate::failure::Failure;
use crate::workload::{Scene, Settings};
use facts::CpuSet;

/// Sessions that insert a row and commit, again and again, and the log that they wait for.
///
/// Dropping it leaves nothing behind: no task, no file, no table.
pub trait Engine {
    /// Lets the sessions work; counts begin anew.
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
