//! A plugin of Nagios, Icinga, Naemon and others (Monitoring Plugins Development Guidelines; Nagios Plugin API).
//!
//! The first line has the state, the verdict and the performance data; the lines after it are the long text, a finding each. The exit
//! code is the state.

use super::{Audited, Format, Plugin, State, line_of, line_of_suppressed, plugin_line, put};
use crate::audit;
use facts::quantity::counted;
use serde_json::Result;

pub(super) const FORMAT: Format = Format {
    name: "nagios",
    ending: None,
    write,
    plugin: Some(Plugin { failed, exit_code: State::code }),
};

/// More is cut off by Nagios, the performance data included (`MAX_PLUGIN_OUTPUT_LENGTH`, include/nagios.h of Nagios Core 4).
const LONGEST: usize = 8191;

fn write(audited: &Audited<'_>) -> Result<String> {
    let found = audit::found(audited.audit);
    let head = status_line(audited.state(), &found);
    let mut output = format!("{head} | {}\n", performance_data(audited));
    let mut lines = audited.audit.findings.iter().map(|(check, finding)| {
        let state = audited.state_of(finding).name();
        format!("[{state}] {}\n", plugin_line(&line_of(check.id, finding)))
    });
    let mut n_left = audited.audit.findings.len();
    for line in &mut lines {
        // The rest has to fit as well.
        if output.len() + line.len() + 120 > LONGEST {
            break;
        }
        output += &line;
        n_left -= 1;
    }
    if n_left > 0 {
        put(&mut output, format_args!("... and {}\n", counted(n_left as u64, "more finding")));
    }
    suppressed(audited, &mut output);
    unknown(audited, &mut output);
    Ok(output)
}

fn suppressed(audited: &Audited<'_>, output: &mut String) {
    for it in &audited.audit.suppressed {
        let line = plugin_line(&line_of_suppressed(it)) + "\n";
        if output.len() + line.len() <= LONGEST {
            *output += &line;
        }
    }
}

/// Checks without a verdict: how many, and where all are wanted and fit, why.
fn unknown(audited: &Audited<'_>, output: &mut String) {
    let unknown = &audited.audit.unknown;
    if unknown.is_empty() {
        return;
    }
    let n = counted(unknown.len() as u64, "check");
    put(output, format_args!("{n} unknown: `fullclock audit -v` says why\n"));
    if audited.verbose {
        for (check, missing) in unknown {
            let line = format!("[UNKNOWN] {}: {}\n", check.id, plugin_line(&missing.to_string()));
            if output.len() + line.len() <= LONGEST {
                *output += &line;
            }
        }
    }
}

/// `'label'=value[UOM];[warn];[crit];[min];[max]`: the guidelines' section "Performance data". Limits are ranges: `0` alerts above 0.
fn performance_data(audited: &Audited<'_>) -> String {
    let mut data = String::new();
    for (severity, n) in audited.counts() {
        let limits = match audited.state_at(severity) {
            State::Critical => ";0",
            State::Warning => "0;",
            State::Ok | State::Unknown => ";",
        };
        put(&mut data, format_args!("{}={n};{limits};0 ", severity.name()));
    }
    let limits = if audited.fail_on.unknown { "0;" } else { ";" };
    put(&mut data, format_args!("unknown={};{limits};0 ", audited.audit.unknown.len()));
    put(&mut data, format_args!("clean={};;;0", audited.audit.clean.len()));
    if let Some(lost) = audited.clock_lost_percent() {
        put(&mut data, format_args!(" clock_lost={lost}%;;;0;100"));
    }
    data
}

fn status_line(state: State, text: &str) -> String {
    format!("FULLCLOCK {}: {}", state.name(), plugin_line(text))
}

fn failed(why: &str) -> String {
    status_line(State::Unknown, why) + "\n"
}
