//! `fullclock baseline`: the speed of this machine from boot to boot.

use crate::cli::Arguments;
use crate::head::head;
use crate::result::{Form, RowsArguments};
use crate::tell::tell;
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use engine::baseline::{Kept, Wanted, take};
use engine::clock::since_1970_ns;
use engine::interrupt::Interrupt;
use engine::results_folder::results_folder;
use facts::quantity;
use lab::baseline::{Since, Store};
use report::baseline as worded;
use report::baseline::{Report, Window};
use report::json::Head;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Whether to take one, or which to show.
#[derive(Args, Debug)]
pub(crate) struct BaselineArguments {
    #[command(subcommand)]
    action: Option<BaselineAction>,
    /// How long to wait for the machine to be idle: 10s, 2m
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = quantity::duration)]
    wait: Duration,
    /// Take another one in a boot that has one: both together are less noisy
    #[arg(long)]
    again: bool,
    /// The folder of the results, below which baselines are kept [default: /var/lib/fullclock as root, or ~/.local/state/fullclock]
    #[arg(long, value_name = "FOLDER", global = true)]
    results: Option<PathBuf>,
    #[command(flatten)]
    result: RowsArguments,
}

/// What to show.
#[derive(Debug, Subcommand)]
enum BaselineAction {
    /// List the baselines, the latest first: speed, and what changed
    List {
        /// List at most this many
        #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 20)]
        count: usize,
    },
    /// Say what changed from boot to boot, and what that did to the speed
    Diff {
        /// Every change since then: a day (2026-05-12), a time (12h, 30d, 8w, 1y) or the number of a baseline; the last change
        /// without it
        #[arg(value_name = "SINCE", allow_negative_numbers = true)]
        since: Option<String>,
    },
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock baseline                  measure this boot, once it is idle
  fullclock baseline diff             the last change, and what it did
  fullclock baseline diff 2026-05-12  every change since that day
  fullclock baseline list -n 5
  systemctl enable --now fullclock-baseline.timer
                                      one in each boot";

/// What exits with 1: the machine was not idle.
const NOT_IDLE: u8 = 1;

pub(super) fn run(arguments: &Arguments, options: &BaselineArguments) -> Result<ExitCode> {
    if options.again && options.action.is_some() {
        bail!("--again takes a baseline: it goes with neither list nor diff");
    }
    let destination = options.result.destination(&arguments.output)?;
    let form = destination.form;
    let results = results_folder(options.results.as_deref())?;
    let store = Store::below(&results);
    let file = store.history_file();
    let head = head(arguments);
    let (text, code) = match &options.action {
        None => {
            let interrupt = Interrupt::listen()?;
            let wanted = Wanted { wait: options.wait, again: options.again };
            let taken = take(&results, wanted, &interrupt, &mut tell(arguments))?;
            let report = Report { history: &taken.history, file: &file, now_ns: since_1970_ns() };
            shown(&head, form, &report, &taken.kept)?
        }
        Some(action) => {
            let history = store.read()?;
            let report = Report { history: &history, file: &file, now_ns: since_1970_ns() };
            let text = match action {
                BaselineAction::List { count } => list(&head, form, &report, *count)?,
                BaselineAction::Diff { since } => diff(&head, form, &report, since.as_deref())?,
            };
            (text, ExitCode::SUCCESS)
        }
    };
    destination.print(&text)?;
    Ok(code)
}

/// The baseline that was taken.
fn shown(head: &Head, form: Form, report: &Report<'_>, kept: &Kept) -> Result<(String, ExitCode)> {
    let (kept, code) = match kept {
        Kept::Now => (worded::Kept::Now, ExitCode::SUCCESS),
        Kept::Before => (worded::Kept::Before, ExitCode::SUCCESS),
        Kept::WithoutSpeed(why) => (worded::Kept::WithoutSpeed(why), ExitCode::from(NOT_IDLE)),
    };
    let text = match form {
        Form::Json => worded::taken_json(head, report, kept)?,
        Form::Csv => worded::list_csv(report, 1),
        Form::Document(format) => worded::taken(report, kept).render(format),
    };
    Ok((text, code))
}

fn list(head: &Head, form: Form, report: &Report<'_>, count: usize) -> Result<String> {
    Ok(match form {
        Form::Json => worded::list_json(head, report, count)?,
        Form::Csv => worded::list_csv(report, count),
        Form::Document(format) => worded::list(report, count).render(format),
    })
}

fn diff(head: &Head, form: Form, report: &Report<'_>, since: Option<&str>) -> Result<String> {
    let window = since.map(|it| window(it, report)).transpose()?;
    Ok(match form {
        Form::Json => worded::diff_json(head, report, window)?,
        Form::Csv => worded::diff_csv(report, window),
        Form::Document(format) => worded::diff(report, window).render(format),
    })
}

/// Errors: the text is not a time; there is no baseline from then on.
fn window<'a>(text: &'a str, report: &Report<'_>) -> Result<Window<'a>> {
    let since: Since = text.parse().map_err(anyhow::Error::msg)?;
    since.check(report.history, report.now_ns).map_err(anyhow::Error::msg)?;
    Ok(Window { text, since, now_ns: report.now_ns })
}
