//! `fullclock history`: the results that were kept, and each of them.

use crate::cli::{Arguments, HistoryAction, HistoryArguments};
use crate::output::{self};
use anyhow::Result;
use engine::results_folder::results_folder;
use lab::store::{History, read, recordings, sweep};
use std::path::Path;
use std::process::ExitCode;

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
                report::history::json(&[entry])?
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
        return Ok(report::history::json(&entries)?);
    }
    Ok(report::history::text(&entries, output::style(arguments.output.color)))
}

fn shown(arguments: &Arguments, history: &History, id: &str) -> Result<String> {
    let entry = history.find(id)?;
    let (record, recordings) = (read(&entry.path)?, recordings(&entry.path));
    if arguments.output.json {
        return Ok(report::history::entry_json(&entry, &record.machine, &recordings)?);
    }
    let style = output::style(arguments.output.color);
    Ok(report::history::entry_text(&entry, &record, recordings, style))
}
