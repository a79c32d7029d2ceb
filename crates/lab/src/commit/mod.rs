//! Commits, and the log that they wait for: engines that can be started, sampled at any moment and stopped, and what two
//! samples say.
//!
//! A commit is over when its redo is on disk. The time that a database reports for a log write runs from the call to the
//! moment the writer runs again, so that it also holds the time for which the writer could have run and had no CPU: a
//! machine that lacks CPU looks like one with a slow disk. A [`Split`] takes the two apart, and a [`Verdict`] says which of
//! them grew between two machines or two settings. Both are pure; only engines do IO.

mod embedded;
mod engine;
mod figures;
mod latency;
mod sample;
mod server;
mod split;
#[cfg(test)]
pub(crate) mod texts;
mod verdict;

pub use engine::{ENGINES, Engine, open};
pub use figures::{figures, verdict_of};
pub use latency::Latency;
pub use sample::{LogCounts, Ran, Sample};
pub use split::{CommitTime, Split, WriteTime};
pub use verdict::{Cause, Verdict, judge};

/// The id of the workload that commits, in results.
pub(crate) const WORKLOAD: &str = "commit";
