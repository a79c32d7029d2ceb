//! `fullclock explain`: what an entry of a list is about, or what a pasted line means.

use crate::cli::Arguments;
use crate::complete;
use crate::config;
use crate::head::head;
use crate::result::ResultArguments;
use anyhow::{Context, Result, bail};
use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use engine::explained;
use report::{documentation, explain, json};
use rules::audit::Audit;
use rules::config::Config;
use rules::diagnosis::parts::part_of;
use std::io::Read;
use std::process::ExitCode;

/// Pasted text is a line or a screen; more than this is a file given by mistake.
const LONGEST_TEXT: u64 = 1 << 20;

/// The options of `fullclock explain`.
#[derive(Args, Debug)]
pub(crate) struct ExplainOptions {
    /// An id, or pasted text; `-` reads it from standard input
    #[arg(value_name = "ID|TEXT", add = ArgValueCandidates::new(complete::entries))]
    subject: Vec<String>,
    #[command(flatten)]
    result: ResultArguments,
}

pub(super) fn run(arguments: &Arguments, options: &ExplainOptions) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let format = destination.format();
    let subject = match &*options.subject {
        [] => String::new(),
        [dash] if dash == "-" => from_stdin()?,
        words => words.join(" "),
    };
    let text = if subject.trim().is_empty() {
        match format {
            None => json::entries(&head(arguments))?,
            Some(format) => explain::entries().render(format),
        }
    } else if let [first, others @ ..] = &*documentation::find(subject.trim()) {
        // Whether it is found here is known in some milliseconds; other entries are about no host.
        let is_of_host = first.list == "check" && part_of(first.id).is_some();
        let this_machine = || -> Result<Audit> {
            let config = config::with_advisories(&arguments.config)?;
            Ok(explained::this_machine(&config, &config::today(arguments.began)))
        };
        let here = is_of_host.then(this_machine).transpose()?;
        match (format, &here) {
            (None, here) => json::entry(&head(arguments), first, others, here.as_ref())?,
            (Some(format), Some(here)) => explain::entry_here(first, others, here).render(format),
            (Some(format), None) => explain::entry(first, others).render(format),
        }
    } else {
        // What is pasted may be of any machine: it is of this site where the user says so.
        let config = match arguments.config.config {
            Some(_) => config::with_advisories(&arguments.config)?,
            None => Config::default(),
        };
        let pasted = explained::pasted(&subject, &config, &config::today(arguments.began));
        let audit = pasted.audit.as_ref();
        let [first, others @ ..] = &*pasted.explanations else {
            bail!(explain::unknown(subject.trim()));
        };
        match format {
            None => json::explanation(&head(arguments), first, others, audit)?,
            Some(format) => explain::explanation(first, others, audit).render(format),
        }
    };
    destination.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn from_stdin() -> Result<String> {
    let mut text = String::new();
    let mut limited = std::io::stdin().lock().take(LONGEST_TEXT);
    limited.read_to_string(&mut text).context("standard input is not a text")?;
    if text.trim().is_empty() {
        bail!("standard input is empty: pipe the line to explain into `fullclock explain -`");
    }
    Ok(text)
}

pub(super) const EXAMPLES: &str = "\
Examples:
  fullclock explain                   every id there is
  fullclock explain clock-modulation
  fullclock explain cpu-loop
  fullclock explain Bzy_MHz           a column of turbostat
  fullclock explain HWP               words that others use
  fullclock explain \"Conflicting CPU frequency values detected: 1600 != 2534\"
  dmesg | fullclock explain -         every message in the log that it knows
  cpupower frequency-info | fullclock explain -
                                      outputs of other programs, several at once";
