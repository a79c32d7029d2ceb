//! A study on disk: a folder with its trials and its report.
#![expect(clippy::disallowed_methods, reason = "studies are files that the user asked for")]

use super::{Place, Tell};
use crate::cli::Arguments;
use crate::output::{self};
use anyhow::{Context, Result, anyhow, bail};
use engine::results_folder::folder_of;
use lab::experiment::analysis::analyse;
use lab::failure::Failure;
use lab::record::Record;
use lab::store::{JOURNAL, Journal, RESULT};
use report::experiment::{Study, i_know_of};
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A setting was refused, or is not as it was.
const REFUSED: u8 = 3;

/// Keeps what was run, reports it, and says what ended it early.
pub(super) fn end(
    (arguments, tell): (&Arguments, &Tell<'_>),
    place: Place,
    record: &Record,
    outcome: Result<(), Failure>,
) -> Result<ExitCode> {
    let Place { folder, journal } = place;
    let why = stopped(&outcome);
    // One that waits for a reboot has edits of the boot line.
    let takes_boots = record.experiment.as_ref().is_some_and(|it| it.design.boots.is_some());
    if record.trials.is_empty() && !takes_boots {
        journal.map_or(Ok(()), Journal::discard)?;
        // Empty, since nothing else is in it.
        std::fs::remove_dir(&folder).ok();
        let why = why.unwrap_or_default();
        if matches!(outcome, Err(Failure::Unchanged(_))) {
            output::complain(&anyhow!("no trial was run: {why}"));
            return Ok(ExitCode::from(REFUSED));
        }
        bail!("no trial was run: {why}");
    }
    if why.is_none()
        && let Some(journal) = journal
    {
        journal.finish(record)?;
    }
    let reported = report((arguments, tell), record, &folder);
    match outcome {
        Ok(()) => reported.map(|()| ExitCode::SUCCESS),
        Err(Failure::Stopped) => {
            reported?;
            note_resume(arguments, record);
            Ok(ExitCode::SUCCESS)
        }
        Err(Failure::Unchanged(why)) => {
            output::complain(&anyhow!("{why}"));
            reported?;
            note_resume(arguments, record);
            Ok(ExitCode::from(REFUSED))
        }
        Err(failure) => {
            reported?;
            note_resume(arguments, record);
            let after = format!("ended after {} trials", record.trials.len());
            Err(anyhow::Error::new(failure).context(after))
        }
    }
}

/// What ends a study early, in the words of its report; nothing where it is whole.
fn stopped(outcome: &Result<(), Failure>) -> Option<String> {
    match outcome {
        Ok(()) => None,
        Err(Failure::Stopped) => Some("stopped by the user".to_owned()),
        Err(failure) => Some(failure.to_string()),
    }
}

fn note_resume(arguments: &Arguments, record: &Record) {
    let consent = record.experiment.as_ref().map_or("", i_know_of);
    let text =
        format!("`fullclock experiment{consent} resume {}` goes on where it ended", record.id);
    output::note(&arguments.output, &text);
}

/// What the trials of a study say.
pub(super) fn words(arguments: &Arguments, study: &Study<'_>) -> Result<String> {
    Ok(if arguments.output.json {
        report::experiment::json(study)?
    } else {
        report::experiment::text(study, output::style(arguments.output.color))
    })
}

/// Prints what the trials say, and writes the report into a folder.
pub(super) fn report(
    (arguments, tell): (&Arguments, &Tell<'_>),
    record: &Record,
    folder: &Path,
) -> Result<()> {
    let analysis = analyse(record).map_err(|why| anyhow!("{why}"))?;
    let study = Study::of(record, &analysis).context("it is no study")?;
    output::print(&tell(&study)?)?;
    host::state_folder::create(folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let files = report::experiment::files(&study)?;
    for (name, text) in &files {
        let path = folder.join(name);
        written(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    output::note(&arguments.output, &format!("report: {}", folder.join("report.html").display()));
    Ok(())
}

/// Reports say what a machine is and what it runs, as results do: they are their owner's until that one shares them. A link of
/// this name is not written through: another user may have made it.
fn written(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path)?;
    file.write_all(text.as_bytes())
}

/// The study in a folder, or in a file, and its folder.
pub(super) fn read(path: &Path) -> Result<(Record, PathBuf)> {
    let file = if path.is_dir() {
        result_in(path).or_else(|| journal_in(path)).with_context(|| {
            format!("{} holds no study: neither a result nor trials", path.display())
        })?
    } else {
        path.to_owned()
    };
    let record = lab::store::read(&file)?;
    if record.experiment.is_none() {
        bail!("{} is a result of `fullclock bench`; `fullclock compare` shows it", file.display());
    }
    Ok((record, folder_of(&file).to_owned()))
}

/// The journal of the study in a folder.
pub(super) fn journal_in(folder: &Path) -> Option<PathBuf> {
    file_in(folder, JOURNAL)
}

fn result_in(folder: &Path) -> Option<PathBuf> {
    file_in(folder, RESULT)
}

/// The file with this ending in a folder, which may have been copied under another name; never empty, and no report.
fn file_in(folder: &Path, ending: &str) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).ok()?.filter_map(|it| Some(it.ok()?.path()));
    let mut files: Vec<PathBuf> = files
        .filter(|it| it.extension().is_some_and(|it| it == ending))
        .filter(|it| it.file_stem().is_some_and(|it| it != "report"))
        .filter(|it| it.metadata().is_ok_and(|it| it.len() > 0))
        .collect();
    files.sort();
    files.pop()
}

/// The journals of the studies in a folder, the latest last.
pub(super) fn journals(place: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place).into_iter().flatten();
    let mut found: Vec<PathBuf> = entries.filter_map(|it| journal_in(&it.ok()?.path())).collect();
    found.sort();
    found
}
