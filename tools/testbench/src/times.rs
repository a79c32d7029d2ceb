//! How long each machine ran: what a test of limited length spends its minutes on.
#![expect(clippy::disallowed_methods, reason = "the bench keeps files of its own")]

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::cache;

/// A machine that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// How long it held its place, its preparation included.
    pub took: Duration,
    /// The names of its steps.
    pub steps: String,
}

/// The runs since [`forget`], the longest first.
pub fn runs() -> Result<Vec<Run>> {
    let path = path()?;
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display()))?,
    };
    let mut runs: Vec<Run> = text.lines().filter_map(Run::of_line).collect();
    runs.sort_by_key(|it| std::cmp::Reverse(it.took));
    Ok(runs)
}

/// Begins a new list.
pub fn forget() -> Result<()> {
    let path = path()?;
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Adds a run to the list.
pub(crate) fn keep(run: &Run) -> Result<()> {
    let path = path()?;
    let file = OpenOptions::new().create(true).append(true).open(&path);
    // One write: several threads add to it.
    let written = file.and_then(|mut it| it.write_all(run.line().as_bytes()));
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn path() -> Result<PathBuf> {
    Ok(cache::folder()?.join("times.tsv"))
}

impl Run {
    fn line(&self) -> String {
        format!("{}\t{}\n", self.took.as_millis(), self.steps)
    }

    fn of_line(line: &str) -> Option<Run> {
        let (millis, steps) = line.split_once('\t')?;
        let took = Duration::from_millis(millis.parse().ok()?);
        Some(Run { took, steps: steps.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_read_as_it_was_kept_and_half_a_line_is_none() {
        let run =
            Run { took: Duration::from_millis(71_250), steps: "made to last, next".to_owned() };
        assert_eq!(Run::of_line(run.line().trim_end()), Some(run));
        assert_eq!(Run::of_line("71"), None);
    }
}
