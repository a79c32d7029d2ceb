//! A local check of Checkmk (<https://docs.checkmk.com/latest/en/localchecks.html>): `STATE "SERVICE" METRICS TEXT`, a line a service.
//!
//! One service, whose name never changes: services that come and go with the findings would be new, and then vanished, at each discovery.
//! The details of the service name each finding. The exit code is 0: the agent takes the state from the line.

use super::{Audited, Format, Plugin, State, line_of, line_of_suppressed, plugin_line, put};
use crate::audit;
use facts::quantity::counted;
use serde_json::Result;

pub(super) const FORMAT: Format =
    Format { name: "checkmk", ending: None, write, plugin: Some(Plugin { failed, exit_code }) };

const SERVICE: &str = "fullclock audit";

/// Ends a line of the details.
const NEW_LINE: &str = "\\n";

fn write(audited: &Audited<'_>) -> Result<String> {
    let state = audited.state().code();
    let mut line = format!("{state} \"{SERVICE}\" {} ", metrics(audited));
    line += &text_of(&audit::found(audited.audit));
    for (check, finding) in &audited.audit.findings {
        let mark = mark(audited.state_of(finding));
        let text = text_of(&line_of(check.id, finding));
        put(&mut line, format_args!("{NEW_LINE}{}: {text}{mark}", finding.severity.name()));
    }
    for it in &audited.audit.suppressed {
        put(&mut line, format_args!("{NEW_LINE}{}", text_of(&line_of_suppressed(it))));
    }
    let unknown = &audited.audit.unknown;
    if !unknown.is_empty() {
        let n = counted(unknown.len() as u64, "check");
        put(&mut line, format_args!("{NEW_LINE}{n} unknown: `fullclock audit -v` says why"));
    }
    if audited.verbose {
        for (check, missing) in unknown {
            let why = text_of(&missing.to_string());
            put(&mut line, format_args!("{NEW_LINE}unknown: {}: {why}", check.id));
        }
    }
    Ok(line + "\n")
}

/// `name=value;warn;crit;min;max`, with `|` between; names are those of all metrics of a site. Levels alert from their value on.
fn metrics(audited: &Audited<'_>) -> String {
    let mut metrics = String::new();
    for (severity, n) in audited.counts() {
        let levels = match audited.state_at(severity) {
            State::Critical => ";1",
            State::Warning => "1;",
            State::Ok | State::Unknown => ";",
        };
        put(&mut metrics, format_args!("fullclock_{}={n};{levels};0|", severity.name()));
    }
    let n_unknown = audited.audit.unknown.len();
    put(&mut metrics, format_args!("fullclock_unknown={n_unknown};;;0"));
    if let Some(lost) = audited.clock_lost_percent() {
        put(&mut metrics, format_args!("|fullclock_clock_lost={lost};;;0;100"));
    }
    metrics
}

/// As checks of Checkmk mark the part of a text that makes the state.
fn mark(state: State) -> &'static str {
    match state {
        State::Ok => "",
        State::Warning => " (!)",
        State::Critical => " (!!)",
        State::Unknown => " (?)",
    }
}

/// Text in which no `\n` begins a line.
fn text_of(text: &str) -> String {
    plugin_line(text).replace(NEW_LINE, "\\ n")
}

fn failed(why: &str) -> String {
    format!("{} \"{SERVICE}\" - {}\n", State::Unknown.code(), text_of(why))
}

fn exit_code(_: State) -> u8 {
    0
}
