//! Texts of other programs that people paste when they wonder about their clock.
//!
//! What shows files or registers of a host is judged by the audit of that host ([`audited`]); the rules here are for texts of which no file
//! can be made, with the scales of the checks that judge the same.

mod audited;
mod controller;
mod cpu_stat;
mod kernel_log;
mod lspci;
mod perf_stat;
mod perftest;
mod pressure;
mod sensors;
mod tasks;
mod tuned;
mod turbostat;
mod vmstat;
mod xenpm;

pub use audited::audited;

use crate::finding::Severity;
use facts::HostView;
use facts::pasted::Output;

/// What a pasted text is, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What was recognised: "perftest: conflicting CPU frequencies".
    pub what: &'static str,
    /// What it means, paragraph by paragraph.
    pub meaning: Vec<String>,
    /// Checks that look for the cause.
    pub checks: &'static [&'static str],
}

/// An explanation, and where in the text it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The number of the first line that is of it, from 0.
    pub line: usize,
    /// What it is, and what it means.
    pub explanation: Explanation,
}

impl Found {
    fn new(line: usize, output: &Output, meaning: Vec<String>) -> Found {
        Found {
            line,
            explanation: Explanation { what: output.what, meaning, checks: output.checks },
        }
    }
}

/// Recognises a text, and explains it; the host is what the same text tells of it in files and registers.
type Kind = fn(&str, &HostView) -> Option<Found>;

/// Every kind of text of which no file can be made.
const KINDS: &[Kind] = &[
    perftest::explain,
    turbostat::explain,
    perf_stat::explain,
    vmstat::explain,
    pressure::explain,
    cpu_stat::explain,
    tasks::explain,
    sensors::explain,
    controller::explain_log,
    controller::explain_sensors,
    lspci::explain,
    xenpm::explain_frequency,
    xenpm::explain_idle,
    tuned::explain,
];

/// Explains all that is recognised in a pasted text, which [`facts::pasted::cleaned`] has cleaned, but for what an audit judges.
pub fn explain(text: &str, host: &HostView) -> Vec<Found> {
    let tools = KINDS.iter().filter_map(|kind| kind(text, host));
    tools.chain(kernel_log::explain(text)).collect()
}

/// All explanations in the order of the text. Those of the same are joined.
pub fn in_order(mut found: Vec<Found>) -> Vec<Explanation> {
    found.sort_by_key(|it| it.line);
    let mut explanations: Vec<Explanation> = Vec::new();
    for Found { explanation, .. } in found {
        match explanations.iter_mut().find(|it| it.what == explanation.what) {
            Some(known) => known.meaning.extend(explanation.meaning),
            None => explanations.push(explanation),
        }
    }
    explanations
}

/// A fault as every explanation words it: "High, stolen-time: ...".
fn said(severity: Severity, check: &str, message: &str) -> String {
    let name = severity.name();
    let (first, rest) = name.split_at(1);
    format!("{}{rest}, {check}: {message}.", first.to_uppercase())
}

fn untold(output: &Output) -> String {
    format!("It does not tell {}.", output.untold)
}

/// What is said of a text without a fault.
const SOUND: &str = "Nothing in it is wrong.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;

    /// What the first of these kinds that knows a text says of it alone, a line each; "unknown" where none knows it.
    pub(super) fn meaning(text: &str, kinds: &[Kind]) -> String {
        let host = host::view(&host::Captured::empty());
        let found = kinds.iter().find_map(|kind| kind(text, &host));
        found.map_or("unknown".to_owned(), |it| it.explanation.meaning.join("\n"))
    }

    #[test]
    fn every_check_that_an_output_names_exists() {
        for output in facts::pasted::OUTPUTS {
            for id in output.checks {
                assert!(checks::find(id).is_some(), "{id} of {output:?} does not exist");
            }
        }
    }

    #[test]
    fn explanations_stand_in_the_order_of_the_text_and_each_once() {
        let text = "\
Conflicting CPU frequency values detected: 1600.0 != 2534.0
CPU0: Core temperature above threshold, cpu clock throttled (total events = 9)
0 0 1555 78.08 1996 998
CPU0: Core temperature above threshold, cpu clock throttled (total events = 10)";
        let host = host::view(&host::Captured::empty());
        let whats: Vec<&str> = in_order(explain(text, &host)).iter().map(|it| it.what).collect();
        assert_eq!(whats.len(), 3, "{whats:?}");
        assert!(whats[0].starts_with("perftest") && whats[2].starts_with("turbostat"), "{whats:?}");
    }

    #[test]
    fn a_text_of_no_known_kind_is_not_explained() {
        let host = host::view(&host::Captured::empty());
        assert_eq!(explain("hello 1 2 3", &host), []);
        assert_eq!(explain("", &host), []);
    }
}
