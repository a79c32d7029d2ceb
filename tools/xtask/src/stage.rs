//! Stages of a long command: a heading before each, the time it took after it.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::tally::Tally;

/// Runs one stage between its heading and its time. An error names the stage.
pub(crate) fn stage<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("\n=== {name}");
    let started = Instant::now();
    let result = work().with_context(|| format!("stage '{name}'"))?;
    println!("--- {name}: {}", seconds(started.elapsed()));
    Ok(result)
}

/// A duration as a reader of the log wants it.
pub(crate) fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs();
    format!("{} min {:02} s", seconds / 60, seconds % 60)
}

/// The last lines of a command that ran tests.
pub(crate) fn print_tally(tally: Tally, took: Duration) {
    println!("\nall stages: {}", seconds(took));
    println!("{} passed, {} failed", tally.passed, tally.failed);
}
