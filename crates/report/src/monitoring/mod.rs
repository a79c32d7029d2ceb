//! An audit in the formats of monitoring systems, pipelines and code scanners.
//!
//! What a finding means to a monitoring system is one table, [`STATES`], and what `--fail-on` names is [`FailOn`]: each format goes by
//! these two, and judges nothing itself.

mod checkmk;
mod junit;
mod nagios;
mod sarif;
#[cfg(test)]
mod tests;

use crate::harmless::harmless;
use crate::json::Head;
use facts::HostView;
use rules::audit::{Audit, Suppressed};
use rules::finding::{Finding, Severity};
use serde_json::Result;
use std::fmt::{Arguments, Write as _};

/// One format that another program reads.
#[derive(Debug)]
pub struct Format {
    /// What it is called on the command line.
    pub name: &'static str,
    /// How files of it end, where they do so by custom.
    pub ending: Option<&'static str>,
    /// The audit in it.
    pub write: fn(&Audited<'_>) -> Result<String>,
    /// What the monitoring system that starts the program expects of it; `None` of a document.
    pub plugin: Option<Plugin>,
}

/// A program that a monitoring system starts: it tells states, also where it could not run.
#[derive(Debug)]
pub struct Plugin {
    /// What is printed where the audit could not run, with the reason in words.
    pub failed: fn(&str) -> String,
    /// The exit code that says a state.
    pub exit_code: fn(State) -> u8,
}

/// Every format, in the order of the help.
pub const FORMATS: &[Format] = &[nagios::FORMAT, checkmk::FORMAT, junit::FORMAT, sarif::FORMAT];

/// An audit, and what is made of it.
pub struct Audited<'a> {
    /// The host by name, and the time.
    pub head: &'a Head,
    /// What was audited.
    pub host: &'a HostView,
    /// What was found.
    pub audit: &'a Audit,
    /// What fails the audit.
    pub fail_on: FailOn,
    /// Whether checks without a verdict are listed where a format can leave them out.
    pub verbose: bool,
}

/// What `--fail-on` names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailOn {
    /// Findings that are at least this severe.
    pub severity: Option<Severity>,
    /// Checks that could not be judged.
    pub unknown: bool,
}

impl FailOn {
    /// Whether it names this finding.
    pub fn names(self, finding: &Finding) -> bool {
        self.severity.is_some_and(|least| finding.severity >= least)
    }

    /// Whether the audit has something that it names.
    pub fn is_in(self, audit: &Audit) -> bool {
        let is_unknown = self.unknown && !audit.unknown.is_empty();
        is_unknown || audit.findings.iter().any(|(_, it)| self.names(it))
    }
}

/// The state of a service, as monitoring systems know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing to do.
    Ok,
    /// To be looked at.
    Warning,
    /// To be fixed.
    Critical,
    /// Could not be judged.
    Unknown,
}

/// The state that a finding of each severity gives, where `--fail-on` does not say otherwise.
pub const STATES: [(Severity, State); 5] = [
    (Severity::Critical, State::Critical),
    (Severity::High, State::Critical),
    (Severity::Medium, State::Warning),
    (Severity::Low, State::Ok),
    (Severity::Info, State::Ok),
];

impl State {
    /// The number of the state (Monitoring Plugins Development Guidelines, "Plugin Return Codes").
    pub fn code(self) -> u8 {
        match self {
            State::Ok => 0,
            State::Warning => 1,
            State::Critical => 2,
            State::Unknown => 3,
        }
    }

    /// Its name there.
    pub fn name(self) -> &'static str {
        match self {
            State::Ok => "OK",
            State::Warning => "WARNING",
            State::Critical => "CRITICAL",
            State::Unknown => "UNKNOWN",
        }
    }

    /// The place among states of which the worst counts: what is unknown is less than a fault and more than none (`max_state_alt` of the
    /// Monitoring Plugins, lib/utils_base).
    fn rank(self) -> u8 {
        match self {
            State::Ok => 0,
            State::Unknown => 1,
            State::Warning => 2,
            State::Critical => 3,
        }
    }
}

impl Audited<'_> {
    /// The state that a finding gives.
    fn state_of(&self, finding: &Finding) -> State {
        self.state_at(finding.severity)
    }

    /// The state of findings of a severity: critical where `--fail-on` names it; what it does not name is a warning at most.
    fn state_at(&self, severity: Severity) -> State {
        let usual = STATES.iter().find(|it| it.0 == severity).map_or(State::Unknown, |it| it.1);
        match (self.fail_on.severity, usual) {
            (Some(least), _) if severity >= least => State::Critical,
            (Some(_), State::Critical) => State::Warning,
            (_, usual) => usual,
        }
    }

    /// The state of the whole host: the worst there is.
    ///
    /// Checks that are unknown leave it as it is, as a guest always has some: only `--fail-on unknown` makes them a state. An audit that
    /// could judge nothing is unknown.
    pub fn state(&self) -> State {
        let findings = self.audit.findings.iter().map(|(_, it)| self.state_of(it));
        let is_unknown = self.fail_on.unknown && !self.audit.unknown.is_empty();
        let unknown = (is_unknown || self.audit.judged_nothing()).then_some(State::Unknown);
        findings.chain(unknown).max_by_key(|it| it.rank()).unwrap_or(State::Ok)
    }

    /// How many findings there are of each severity, the worst first.
    fn counts(&self) -> [(Severity, usize); 5] {
        let findings = &self.audit.findings;
        STATES.map(|(severity, _)| {
            (severity, findings.iter().filter(|(_, it)| it.severity == severity).count())
        })
    }

    /// The largest share of the clock that a finding says is lost, in percent with one decimal.
    fn clock_lost_percent(&self) -> Option<f64> {
        let lost = self.audit.findings.iter().filter_map(|(_, it)| it.cost.as_ref()?.clock_lost);
        lost.reduce(f64::max).map(|it| (1000.0 * it).round() / 10.0)
    }
}

/// What a finding is about and says, in one line.
fn line_of(id: &str, finding: &Finding) -> String {
    let mut line = id.to_owned();
    if let Some(cpus) = &finding.cpus {
        put(&mut line, format_args!(", {cpus}"));
    }
    put(&mut line, format_args!(": {}", finding.message));
    if let Some(cost) = &finding.cost {
        put(&mut line, format_args!("; cost: {}", cost.estimate));
    }
    if !finding.fix.apply.is_empty() {
        put(&mut line, format_args!("; fix: fullclock apply {}", finding.fix.apply.join(" ")));
    }
    line
}

/// A finding that the site has decided about, in one line: it makes no state.
fn line_of_suppressed(it: &Suppressed) -> String {
    let Suppressed { check, finding, by } = it;
    format!("suppressed until {} ({}): {}", by.until, by.because, line_of(check.id, finding))
}

/// Text as one line of a plugin's output, where a `|` begins the performance data and nothing escapes it: U+2758, which looks like it,
/// stands for it.
fn plugin_line(text: &str) -> String {
    let one_line = text.replace(['\n', '\r'], " ").replace('|', "\u{2758}");
    harmless(&one_line).into_owned()
}

/// Appends to a text.
#[expect(clippy::let_underscore_must_use, reason = "a String takes everything")]
fn put(text: &mut String, more: Arguments<'_>) {
    let _ = text.write_fmt(more);
}
