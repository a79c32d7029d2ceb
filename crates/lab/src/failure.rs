//! Why a trial gave no figure.

use facts::secrets;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a workload could not be prepared, or a trial of it gave no figure. Says what to do where something can be done.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Something that the workload needs is not here, or a setting makes no sense for it.
    #[error("{0}")]
    Unready(String),
    /// The work was done and its answer is wrong. Never retried and never left out.
    #[error(
        "WRONG ANSWER: {workload} computed {found}, and {expected} is right: the hardware, the build or the server \
         cannot be trusted, and neither can any result of it"
    )]
    WrongAnswer {
        /// The id of the workload.
        workload: &'static str,
        /// The answer that it computed.
        found: String,
        /// The answer that is right.
        expected: String,
    },
    /// A program ended with an error.
    #[error("{program} failed, {how}{}", tail(.said))]
    Program {
        /// The name of the program.
        program: String,
        /// Its exit code or signal.
        how: String,
        /// The last lines of its standard error.
        said: String,
    },
    /// A program did not end in time, and was stopped.
    #[error("{program} did not end within {} s and was stopped; --timeout gives it longer", .limit.as_secs_f64())]
    TimedOut {
        /// The name of the program.
        program: String,
        /// How long it had.
        limit: Duration,
    },
    /// The client of a database server that is only looked at had no answer in time.
    #[error("{program} had no answer within {} s", .limit.as_secs_f64())]
    NoAnswer {
        /// The name of the client.
        program: String,
        /// How long it had.
        limit: Duration,
    },
    /// What a program printed holds no figure.
    #[error("{0}")]
    NoFigure(String),
    /// A trial could not be written to its result.
    #[error("cannot keep trials; those before are in {}: {error}", .journal.display())]
    Unkept {
        /// The file with the trials before.
        journal: PathBuf,
        /// What the operating system said.
        error: io::Error,
    },
    /// The machine could not be changed for an arm, or not back.
    #[error("{0}")]
    Unchanged(String),
    /// A guard of an experiment's plan wants it to end here.
    #[error("{0}")]
    Guarded(String),
    /// The user wants to stop.
    #[error("stopped")]
    Stopped,
    /// The operating system refused.
    #[error("{what}: {error}")]
    System {
        /// The step that failed, in words.
        what: String,
        /// The error of the operating system.
        error: io::Error,
    },
}

impl Failure {
    /// The operating system refused `what`.
    pub fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Failure {
        let what = what.into();
        move |error| Failure::System { what, error }
    }
}

/// The last words of a program, which may repeat a password that it was given.
fn tail(said: &str) -> String {
    match said.trim() {
        "" => String::new(),
        said => format!(": {}", secrets::masked(said)),
    }
}
