//! The options of `fullclock history`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Which results, and what to do with them.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = false)]
pub(crate) struct HistoryArguments {
    #[command(subcommand)]
    pub(crate) action: Option<HistoryAction>,
    /// Only results of this workload
    #[arg(long, value_name = "ID")]
    pub(crate) workload: Option<String>,
    /// At most so many, the latest first
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 20)]
    pub(crate) count: usize,
    /// The folder of the results [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER", global = true)]
    pub(crate) results: Option<PathBuf>,
}

/// What to do with one result, or all.
#[derive(Debug, Subcommand)]
pub(crate) enum HistoryAction {
    /// Show one result: its figures, its doubts, the machine it was taken on, its file
    Show {
        /// Its id, or as much of its beginning as no other has
        #[arg(value_name = "RESULT")]
        result: String,
    },
    /// Make the index of the results anew from their files
    Rebuild,
    /// Remove one result and its file
    Remove {
        /// Its id, or as much of its beginning as no other has
        #[arg(value_name = "RESULT")]
        result: String,
    },
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock history                           the latest results
  fullclock history --workload cpu-loop -n 5
  fullclock history show 20261120T1543
  fullclock history --json | jq '.results[].path'";
