//! What the audit of a pasted host says, as the explanation of each text that it was made of.

use super::{Found, SOUND, said, untold};
use crate::audit::Audit;
use crate::check::Check;
use crate::finding::{Finding, Fix};
use facts::pasted::Output;

/// Explains outputs of which a host was made, each with the number of its first line, by the audit of that host.
///
/// A finding belongs to the first output whose checks found it.
pub fn audited(outputs: &[(usize, &'static Output)], audit: &Audit) -> Vec<Found> {
    let is_of = |output: &Output, check: &Check| output.checks.contains(&check.id);
    let mut rest: Vec<&(&Check, Finding)> = audit.findings.iter().collect();
    let mut found = Vec::new();
    for (at, (line, output)) in outputs.iter().enumerate() {
        let is_last = at + 1 == outputs.len();
        let (own, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|(check, _)| is_last || is_of(output, check));
        rest = others;
        let mut meaning: Vec<String> =
            own.iter().flat_map(|(check, finding)| paragraphs(check, finding)).collect();
        if meaning.is_empty() {
            meaning.push(sound(output, audit));
        }
        meaning.push(untold(output));
        found.push(Found::new(*line, output, meaning));
    }
    found
}

/// What the audit says of an output in which it found nothing.
fn sound(output: &Output, audit: &Audit) -> String {
    let is_of = |check: &Check| output.checks.contains(&check.id);
    if audit.findings.iter().any(|(it, _)| is_of(it)) {
        return "What is wrong in it is said above.".to_owned();
    }
    let suppressed: Vec<&str> =
        audit.suppressed.iter().map(|it| it.check).filter(|it| is_of(it)).map(|it| it.id).collect();
    if !suppressed.is_empty() {
        return format!(
            "The configuration suppresses what is wrong in it: {}.",
            suppressed.join(", ")
        );
    }
    let clean: Vec<&str> = audit.clean.iter().filter(|it| is_of(it)).map(|it| it.id).collect();
    let unknown = || audit.unknown.iter().filter(|(it, _)| is_of(it));
    match &*clean {
        [] => {
            let lacking = unknown().take(MOST_LACKING);
            let lacking: Vec<String> =
                lacking.map(|(it, missing)| format!("{} needs {}", it.id, missing.what)).collect();
            match &*lacking {
                [] => "No fault shows in it, and no check is about what it shows.".to_owned(),
                lacking => format!(
                    "No fault shows in it, but it is too little for a verdict: {}.",
                    lacking.join(", ")
                ),
            }
        }
        clean => {
            let not_judged: Vec<&str> = unknown().map(|it| it.0.id).collect();
            let rest = match &*not_judged {
                [] => String::new(),
                ids => format!(" Too little for: {}.", ids.join(", ")),
            };
            format!("{SOUND} Judged by: {}.{rest}", clean.join(", "))
        }
    }
}

/// Checks of which it is said what they lack.
const MOST_LACKING: usize = 3;

/// A finding, line by line: what is wrong, what was seen, what it costs, what fixes it.
fn paragraphs(check: &Check, finding: &Finding) -> Vec<String> {
    let cpus = finding.cpus.as_ref().map_or(String::new(), |it| format!("{it}: "));
    let mut lines = vec![said(finding.severity, check.id, &format!("{cpus}{}", finding.message))];
    let seen = finding.evidence.iter().map(|it| format!("{} = {}", it.source, it.value));
    let seen: Vec<String> = seen.collect();
    if !seen.is_empty() {
        lines.push(format!("Seen: {}.", seen.join("; ")));
    }
    lines.extend(
        finding.cost.as_ref().map(|it| format!("Cost: {} ({}).", it.estimate, it.derivation)),
    );
    lines.extend(fix(&finding.fix));
    lines
}

fn fix(fix: &Fix) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if !fix.apply.is_empty() {
        lines.push(format!("Now, on that host: `fullclock apply {}`.", fix.apply.join(" ")));
    }
    lines.extend(fix.look.iter().map(|it| format!("Look: `{it}`.")));
    lines.extend(fix.lasting.iter().map(|it| format!("Lasting: {it}.")));
    lines
}
