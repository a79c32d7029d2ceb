//! What a study says when its trials are over: on the terminal, and as a report in its folder.
#![expect(clippy::disallowed_methods, reason = "reports are files that the user requested")]

use crate::cli::Arguments;
use crate::commands::bench;
use crate::commands::change::code;
use crate::head::head;
use crate::output;
use anyhow::{Context, Result, anyhow, bail};
use engine::experiment::Ran;
use engine::secret;
use facts::quantity::counted_all;
use lab::bench::PlannedArm;
use lab::experiment::Design;
use lab::experiment::analysis::analyse;
use lab::failure::Failure;
use lab::record::Record;
use report::document::Format;
use report::experiment::{Study, i_know_of};
use report::json::Head;
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::ExitCode;

/// In what words a study is told.
pub(in crate::commands) type Words<'a> = dyn Fn(&Study<'_>) -> Result<String> + 'a;

/// The workloads of a design, each with its options.
///
/// Errors: one does not exist, or takes no such options; a password is in one.
pub(in crate::commands) fn workloads(design: &Design) -> Result<Vec<PlannedArm>> {
    let allowed = host::probe::allowed()?;
    let of = |text: &String| {
        secret::refuse_secrets_in("--workload", text)?;
        bench::arms::of_text(text, text, &allowed).with_context(|| format!("--workload {text:?}"))
    };
    design.workloads.iter().map(of).collect()
}

/// Reports what was run, and says what ended it early.
pub(in crate::commands) fn end(
    arguments: &Arguments,
    ran: Ran,
    words: &Words<'_>,
) -> Result<ExitCode> {
    let is_unchanged = matches!(ran.outcome, Err(Failure::Unchanged(_)));
    if ran.is_void() {
        let why = stopped(&ran.outcome).unwrap_or_default();
        if !is_unchanged {
            bail!("no trial was run: {why}");
        }
        output::complain(&anyhow!("no trial was run: {why}"));
        return Ok(code(true));
    }
    let Ran { record, outcome, folder, is_over, notes } = ran;
    if is_unchanged && let Some(why) = stopped(&outcome) {
        output::complain(&anyhow!("{why}"));
    }
    if is_over {
        report(arguments, &head(arguments), &record, &folder, words)?;
    }
    if outcome.is_err() {
        note_resume(arguments, &record);
    }
    notes.iter().for_each(|it| output::note(&arguments.output, it));
    match outcome {
        Ok(()) | Err(Failure::Stopped) => Ok(ExitCode::SUCCESS),
        Err(Failure::Unchanged(_)) => Ok(code(true)),
        Err(failure) => {
            let after = format!("ended after {}", counted_all(&record.trials, "trial"));
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
pub(super) fn report_text(
    head: &Head,
    format: Option<Format>,
    study: &Study<'_>,
) -> Result<String> {
    Ok(match format {
        None => report::experiment::json(head, study)?,
        Some(format) => report::experiment::document(study).render(format),
    })
}

/// Prints what the trials say, and writes the report into a folder.
pub(super) fn report(
    arguments: &Arguments,
    head: &Head,
    record: &Record,
    folder: &Path,
    words: &Words<'_>,
) -> Result<()> {
    let analysis = analyse(record).map_err(|why| anyhow!("{why}"))?;
    let study = Study::of(record, &analysis).context("it is not a study")?;
    output::print(&words(&study)?)?;
    host::state_folder::create(folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let files = report::experiment::files(head, &study)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(workload: &str) -> Result<Vec<PlannedArm>> {
        workloads(&Design { workloads: vec![workload.to_owned()], ..Design::default() })
    }

    #[test]
    fn a_password_goes_into_no_result_and_no_message() {
        let error = of("plsql-loop --dsn postgres://me:secret@db1/x").err().unwrap();
        let error = format!("{error:#}");
        assert!(error.contains("PGPASSFILE") && !error.contains("secret"), "{error}");
        assert!(of("plsql-loop --dsn postgres://me@db1:5432/x").is_ok());
        assert!(of("./query --a=b").is_ok());
    }

    #[test]
    fn what_is_not_a_workload_is_a_command() {
        let found = of("./query --fast").unwrap();
        assert_eq!(found[0].workload.id, "command");
    }
}
