//! JUnit's XML (<https://github.com/testmoapp/junitxml>, which describes what Jenkins, GitLab and others read): a test case for each check.
//!
//! A test case fails where the audit fails: by what `--fail-on` names. Other findings are the output of a test that passed, and a check
//! that is unknown is skipped, not passed.

use super::{Audited, Format, line_of, line_of_suppressed, put};
use crate::harmless::{harmless, harmless_lines};
use facts::Missing;
use rules::audit::Suppressed;
use rules::check::Check;
use rules::checks::CHECKS;
use rules::finding::Finding;
use serde_json::Result;

pub(super) const FORMAT: Format =
    Format { name: "junit", ending: Some("xml"), write, plugin: None };

/// What came of a check.
enum Outcome<'a> {
    Found(Vec<&'a Finding>),
    Suppressed(Vec<&'a Suppressed>),
    Unknown(&'a Missing),
    NotApplicable(&'a Missing),
    Clean,
}

/// How many cases of a suite there are of each kind.
#[derive(Default)]
struct Tally {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

fn write(audited: &Audited<'_>) -> Result<String> {
    let mut cases = String::new();
    let mut tally = Tally::default();
    for check in CHECKS {
        if let Some(outcome) = outcome(audited, check) {
            case(audited, check, &outcome, &mut cases, &mut tally);
        }
    }
    let Tally { tests, failures, errors, skipped } = tally;
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"");
    let (host, time) = (attribute(&audited.head.host), attribute(local_time(&audited.head.began)));
    Ok(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n\
         <testsuite name=\"fullclock audit\" {counts} skipped=\"{skipped}\" hostname=\"{host}\" timestamp=\"{time}\">\n\
         {cases}</testsuite>\n</testsuites>\n"
    ))
}

/// `None` where the audit did not make the check.
fn outcome<'a>(audited: &'a Audited<'_>, check: &Check) -> Option<Outcome<'a>> {
    let audit = audited.audit;
    let is_it = |other: &Check| other.id == check.id;
    let found: Vec<&Finding> =
        audit.findings.iter().filter(|it| is_it(it.0)).map(|it| &it.1).collect();
    if !found.is_empty() {
        return Some(Outcome::Found(found));
    }
    let suppressed: Vec<&Suppressed> =
        audit.suppressed.iter().filter(|it| is_it(it.check)).collect();
    if !suppressed.is_empty() {
        return Some(Outcome::Suppressed(suppressed));
    }
    let reason =
        |list: &'a [(&'static Check, Missing)]| list.iter().find(|it| is_it(it.0)).map(|it| &it.1);
    let is_clean = || audit.clean.iter().any(|it| is_it(it)).then_some(Outcome::Clean);
    reason(&audit.unknown)
        .map(Outcome::Unknown)
        .or_else(|| reason(&audit.not_applicable).map(Outcome::NotApplicable))
        .or_else(is_clean)
}

fn case(
    audited: &Audited<'_>,
    check: &Check,
    outcome: &Outcome<'_>,
    cases: &mut String,
    tally: &mut Tally,
) {
    tally.tests += 1;
    let class = "fullclock.audit";
    put(cases, format_args!("<testcase classname=\"{class}\" name=\"{}\">", attribute(check.id)));
    match outcome {
        Outcome::Clean => {}
        Outcome::NotApplicable(missing) => {
            tally.skipped += 1;
            put(cases, format_args!("<skipped message=\"does not apply: {}\"/>", of(missing)));
        }
        Outcome::Suppressed(all) => {
            tally.skipped += 1;
            let lines: Vec<String> = all.iter().map(|it| line_of_suppressed(it)).collect();
            let message = attribute(&lines.join("; "));
            put(cases, format_args!("<skipped message=\"{message}\"/>"));
        }
        Outcome::Unknown(missing) if audited.fail_on.unknown => {
            tally.errors += 1;
            put(cases, format_args!("<error type=\"unknown\" message=\"{}\"/>", of(missing)));
        }
        Outcome::Unknown(missing) => {
            tally.skipped += 1;
            put(cases, format_args!("<skipped message=\"unknown: {}\"/>", of(missing)));
        }
        Outcome::Found(findings) => {
            let named = findings.iter().find(|it| audited.fail_on.names(it));
            let text: String = findings.iter().map(|it| whole(check, it)).collect();
            let text = content(&text);
            match named {
                Some(worst) => {
                    tally.failures += 1;
                    let (severity, message) = (worst.severity.name(), attribute(&worst.message));
                    let head = format_args!("<failure type=\"{severity}\" message=\"{message}\">");
                    put(cases, head);
                    put(cases, format_args!("{text}</failure>"));
                }
                None => put(cases, format_args!("<system-out>{text}</system-out>")),
            }
        }
    }
    cases.push_str("</testcase>\n");
}

/// A finding with its evidence, a line each.
fn whole(check: &Check, finding: &Finding) -> String {
    let (severity, line) = (finding.severity.name(), line_of(check.id, finding));
    let mut text = format!("[{severity}] {}\n", harmless(&line));
    for it in &finding.evidence {
        put(&mut text, format_args!("{} = {}\n", harmless(&it.source), harmless(&it.value)));
    }
    text
}

fn of(missing: &Missing) -> String {
    attribute(&missing.to_string())
}

/// The time without its zone, which JUnit's schema does not take: it is UTC.
fn local_time(utc: &str) -> &str {
    utc.split_once(['.', 'Z']).map_or(utc, |it| it.0)
}

fn attribute(text: &str) -> String {
    escaped(&harmless(text))
}

fn content(text: &str) -> String {
    escaped(&harmless_lines(text))
}

/// Text in which nothing is markup, and nothing is left that XML does not take (XML 1.0, section 2.2: control characters are escapes of
/// JSON by then, and U+FFFE and U+FFFF are none of its characters).
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            letter => escaped.push(letter),
        }
    }
    escaped
}
