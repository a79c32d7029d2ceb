//! `fullclock history`: the results that were kept, and each of them.

use crate::cli::Arguments;
use crate::head::head;
use crate::output;
use anyhow::Result;
use clap::{Args, Subcommand};
use engine::results_folder::results_folder;
use lab::store::{History, read, recordings, sweep};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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

pub(super) fn run(arguments: &Arguments, options: &HistoryArguments) -> Result<ExitCode> {
    let folder = results_folder(options.results.as_deref())?;
    for left in sweep(&folder).into_iter().filter_map(Result::err) {
        output::note(&arguments.output, &format!("a run that was cut short: {left}"));
    }
    let text = match &options.action {
        None => listed(arguments, options, &open(arguments, &folder)?)?,
        Some(HistoryAction::Show { result }) => {
            shown(arguments, &open(arguments, &folder)?, result)?
        }
        Some(HistoryAction::Rebuild) => {
            listed(arguments, options, &noting(arguments, History::rebuild(&folder)?))?
        }
        Some(HistoryAction::Remove { result }) => {
            let history = open(arguments, &folder)?;
            let entry = history.find(result)?;
            history.remove(&entry)?;
            if arguments.output.json {
                report::history::json(&head(arguments), &[entry])?
            } else {
                format!(
                    "removed {}\n",
                    report::harmless::harmless(&entry.path.display().to_string())
                )
            }
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn open(arguments: &Arguments, folder: &Path) -> Result<History> {
    Ok(noting(arguments, History::open(folder)?))
}

/// Says which files of the folder were to be results and are none.
fn noting(arguments: &Arguments, history: History) -> History {
    for unreadable in history.unreadable() {
        output::note(&arguments.output, &unreadable.to_string());
    }
    history
}

fn listed(arguments: &Arguments, options: &HistoryArguments, history: &History) -> Result<String> {
    let entries = history.list(options.workload.as_deref(), options.count)?;
    if arguments.output.json {
        return Ok(report::history::json(&head(arguments), &entries)?);
    }
    Ok(report::history::text(&entries, output::style(arguments.output.color)))
}

fn shown(arguments: &Arguments, history: &History, id: &str) -> Result<String> {
    let entry = history.find(id)?;
    let (record, recordings) = (read(&entry.path)?, recordings(&entry.path));
    if arguments.output.json {
        let head = head(arguments);
        return Ok(report::history::entry_json(&head, &entry, &record.machine, &recordings)?);
    }
    let style = output::style(arguments.output.color);
    Ok(report::history::entry_text(&entry, &record, recordings, style))
}
