//! `fullclock history`: the results that were kept, and each of them.

use crate::cli::Arguments;
use crate::commands::bench::arms::COMMAND;
use crate::complete;
use crate::head::head;
use crate::output;
use crate::result::{Form, RowsArguments};
use anyhow::Result;
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;
use engine::results_folder::results_folder;
use lab::record::Arm;
use lab::store::{Entry, History, read, read_arms, recordings, sweep};
use report::history::Listed;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Which results, and what to do with them.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = false)]
pub(crate) struct HistoryArguments {
    #[command(subcommand)]
    pub(crate) action: Option<HistoryAction>,
    /// Only results of this workload
    #[arg(long, value_name = "ID", add = ArgValueCandidates::new(complete::workloads))]
    pub(crate) workload: Option<String>,
    /// List at most this many, the latest first
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 20)]
    pub(crate) count: usize,
    /// The folder of the results [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER", global = true)]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) result: RowsArguments,
}

/// What to do with one result, or all.
#[derive(Debug, Subcommand)]
pub(crate) enum HistoryAction {
    /// Show one result: its values, its doubts, the machine it was taken on, its file; as CSV its trials
    Show {
        /// Its id, or a beginning of it that no other id has
        #[arg(value_name = "RESULT", add = ArgValueCandidates::new(complete::results))]
        result: String,
    },
    /// Make the index of the results anew from their files
    Rebuild,
    /// Remove one result and its file
    Remove {
        /// Its id, or a beginning of it that no other id has
        #[arg(value_name = "RESULT", add = ArgValueCandidates::new(complete::results))]
        result: String,
    },
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock history                           the latest results
  fullclock history --workload cpu-loop -n 5
  fullclock history show 20261120T1543
  fullclock history --json | jq '.results[].path'
  fullclock history -n 1000 -o results.csv";

pub(super) fn run(arguments: &Arguments, options: &HistoryArguments) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let form = destination.form;
    let folder = results_folder(options.results.as_deref())?;
    for left in sweep(&folder).into_iter().filter_map(Result::err) {
        output::note(&arguments.output, &format!("a run that was cut short: {left}"));
    }
    let text = match &options.action {
        None => listed(arguments, options, form, &open(arguments, &folder)?)?,
        Some(HistoryAction::Show { result }) => {
            shown(arguments, form, &open(arguments, &folder)?, result)?
        }
        Some(HistoryAction::Rebuild) => {
            listed(arguments, options, form, &noting(arguments, History::rebuild(&folder)?))?
        }
        Some(HistoryAction::Remove { result }) => {
            let history = open(arguments, &folder)?;
            let entry = history.find(result)?;
            history.remove(&entry)?;
            if let Form::Json = form {
                report::history::json(&head(arguments), &[entry])?
            } else {
                format!(
                    "removed {}\n",
                    report::harmless::harmless(&entry.path.display().to_string())
                )
            }
        }
    };
    destination.print(&text)?;
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

fn listed(
    arguments: &Arguments,
    options: &HistoryArguments,
    form: Form,
    history: &History,
) -> Result<String> {
    let entries = history.list(options.workload.as_deref(), options.count)?;
    if let Form::Json = form {
        return Ok(report::history::json(&head(arguments), &entries)?);
    }
    let listed: Vec<Listed<'_>> =
        entries.iter().map(|entry| Listed { entry, arms: commands(entry) }).collect();
    Ok(match form {
        Form::Document(format) => report::history::document(&listed).render(format),
        Form::Csv | Form::Json => report::history::csv(&listed),
    })
}

/// The arms of a result that measured commands, which the history does not hold; none where they cannot be read.
fn commands(entry: &Entry) -> Vec<Arm> {
    let is_command = entry.arms.iter().any(|it| it.workload == COMMAND);
    if is_command { read_arms(&entry.path).unwrap_or_default() } else { Vec::new() }
}

fn shown(arguments: &Arguments, form: Form, history: &History, id: &str) -> Result<String> {
    let entry = history.find(id)?;
    let (record, recordings) = (read(&entry.path)?, recordings(&entry.path));
    Ok(match form {
        Form::Json => {
            let head = head(arguments);
            report::history::entry_json(&head, &entry, &record.machine, &recordings)?
        }
        Form::Csv => report::bench::csv(&record),
        Form::Document(format) => {
            report::history::entry_document(&entry, &record, recordings).render(format)
        }
    })
}
