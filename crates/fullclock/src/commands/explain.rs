//! `fullclock explain`: what an entry of a list is about, or what a pasted line means.

use crate::cli::Arguments;
use crate::output::{self};
use anyhow::{Context, Result, bail};
use report::documentation;
use rules::pasted;
use std::io::Read;
use std::process::ExitCode;

/// Pasted text is a line or a screen; more than this is a file given by mistake.
const LONGEST_TEXT: u64 = 1 << 20;

pub(super) fn run(arguments: &Arguments, subject: &[String]) -> Result<ExitCode> {
    let style = output::style(arguments.output.color);
    let subject = match subject {
        [] => String::new(),
        [dash] if dash == "-" => from_stdin()?,
        words => words.join(" "),
    };
    let text = if subject.trim().is_empty() {
        if arguments.output.json { report::json::entries()? } else { report::text::entries(style) }
    } else if let [first, others @ ..] = &*documentation::find(subject.trim()) {
        if arguments.output.json {
            report::json::entry(first, others)?
        } else {
            report::text::entry(first, others, style)
        }
    } else if let Some(explanation) = pasted::explain(&subject) {
        if arguments.output.json {
            report::json::explanation(&explanation)?
        } else {
            report::text::explanation(&explanation, style)
        }
    } else {
        bail!("{}", nobody_knows(subject.trim()));
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn from_stdin() -> Result<String> {
    let mut text = String::new();
    let mut limited = std::io::stdin().lock().take(LONGEST_TEXT);
    limited.read_to_string(&mut text).context("standard input is no text")?;
    if text.trim().is_empty() {
        bail!("standard input is empty: pipe the line to explain into `fullclock explain -`");
    }
    Ok(text)
}

/// Names what is nearest, so that a slip of the pen costs no search.
fn nobody_knows(subject: &str) -> String {
    let near = documentation::entries()
        .map(|it| it.id)
        .find(|id| id.split('-').any(|word| word.len() > 3 && subject.contains(word)));
    let shown: String = subject.chars().take(60).collect();
    match near {
        Some(id) => {
            format!("{shown:?} is no id and no line I know; did you mean `fullclock explain {id}`?")
        }
        None => format!(
            "{shown:?} is no id and no line I know: `fullclock explain` lists the ids, `fullclock explain --help` the lines"
        ),
    }
}

pub(super) const EXAMPLES: &str = "\
Examples:
  fullclock explain                   every id there is
  fullclock explain clock-modulation
  fullclock explain cpu-loop
  fullclock explain \"Conflicting CPU frequency values detected: 1600 != 2534\"
  dmesg | grep throttled | fullclock explain -";
