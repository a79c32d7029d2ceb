//! An audit, and the lists, in few lines for a reader who asks on: each line has the id to ask by.
//!
//! A language model reads these, which pays for every line and cannot scroll. What is left out of one answer is in the next:
//! [`audit`] names findings and unknown checks, [`check`] has all of one of them.

use crate::audit::{by_remedy, decided, describe, item, of_site, verdict};
use crate::document::{Block, Document, Role, Text};
use crate::documentation;
use facts::HostView;
use facts::quantity::counted;
use rules::audit::Audit;
use rules::check::Check;
use rules::finding::{Confidence, Finding};

/// The audit of the host called `name`: the verdict, a line for each finding, and the unknown checks by what would make them known.
pub fn audit(name: &str, host: &HostView, audit: &Audit) -> Document {
    let mut document = Document::new(format!("fullclock audit of {name}"));
    document.paragraph(describe(host));
    document.paragraph(Text::strong(verdict(host, audit)));
    for (check, finding) in &audit.findings {
        document.labelled(check.id, line(finding));
    }
    decided(&mut document, audit);
    of_site(&mut document, host);
    unknown(&mut document, audit);
    let n_absent = audit.not_applicable.len();
    let verb = if n_absent == 1 { "does" } else { "do" };
    let n_clean = counted(audit.clean.len() as u64, "check");
    document.note(format!("{n_clean} clean, {n_absent} {verb} not apply here."));
    document
}

/// A finding in a line.
fn line(finding: &Finding) -> Text {
    let severity = finding.severity.name().to_uppercase();
    let cpus = finding.cpus.as_ref().map_or(String::new(), |it| format!(" {it}"));
    let doubt = match finding.confidence {
        Confidence::High => String::new(),
        other => format!(" ({} confidence)", other.name()),
    };
    Text::strong(severity).with(Role::Plain, format!("{cpus}{doubt}: {}", finding.message))
}

/// The unknown checks, a line for each thing that would make some of them known.
fn unknown(document: &mut Document, audit: &Audit) {
    if audit.unknown.is_empty() {
        return;
    }
    document.heading("Unknown, which is not clean");
    let line = |group: &crate::audit::Group<'_>| {
        let ids: Vec<&str> = group.checks.iter().map(|(check, _)| check.id).collect();
        Text::sentence(&format!("{}: {}", group.line(), ids.join(", ")))
    };
    document.push(Block::List(by_remedy(audit).iter().map(line).collect()));
}

/// All that an audit of the host called `name` says of one check: its findings with their evidence, cost and fix, or why it has none.
pub fn check(name: &str, check: &Check, audit: &Audit) -> Document {
    let mut document = Document::new(format!("{} on {name}: {}", check.id, check.title));
    let is_meant = |it: &Check| it.id == check.id;
    for (of, finding) in audit.findings.iter().filter(|(it, _)| is_meant(it)) {
        document.push(Block::Item(item(of, finding)));
    }
    for it in audit.suppressed.iter().filter(|it| is_meant(it.check)) {
        document.push(Block::Item(item(it.check, &it.finding)));
        let (until, because) = (&it.by.until, &it.by.because);
        document.note(format!("Suppressed by the configuration until {until}: {because}."));
    }
    for (_, missing) in audit.unknown.iter().filter(|(it, _)| is_meant(it)) {
        document.paragraph(Text::sentence(&format!(
            "Unknown ({}): {}.",
            missing.reason(),
            missing.advice()
        )));
    }
    for (_, missing) in audit.not_applicable.iter().filter(|(it, _)| is_meant(it)) {
        document.paragraph(Text::sentence(&format!("Does not apply here: {missing}.")));
    }
    if audit.clean.iter().any(|it| is_meant(it)) {
        document.paragraph("Clean.");
    }
    document
}

/// The ids of every list, without their titles.
pub fn ids() -> Document {
    let mut lists: Vec<(&str, Vec<&str>)> = Vec::new();
    for entry in documentation::entries() {
        match lists.last_mut().filter(|(list, _)| *list == entry.list) {
            Some((_, ids)) => ids.push(entry.id),
            None => lists.push((entry.list, vec![entry.id])),
        }
    }
    let mut document = Document::new("What `fullclock explain` knows");
    for (list, ids) in lists {
        document.heading(format!("Every {list}"));
        document.paragraph(ids.join(", "));
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::every_form::text;
    use host::Captured;

    /// Two CPUs of which one has a slow governor, and nothing else that can be read.
    const SLOW: &str = "fullclock capture 1\n//- /sys/devices/system/cpu/online\n0-1\n\
        //- /sys/devices/system/cpu/cpufreq/\npolicy0\npolicy1\n\
        //- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus\n0\n\
        //- /sys/devices/system/cpu/cpufreq/policy1/affected_cpus\n1\n\
        //- /sys/devices/system/cpu/cpufreq/policy0/scaling_driver\nacpi-cpufreq\n\
        //- /sys/devices/system/cpu/cpufreq/policy1/scaling_driver\nacpi-cpufreq\n\
        //- /sys/devices/system/cpu/cpufreq/policy0/scaling_governor\nperformance\n\
        //- /sys/devices/system/cpu/cpufreq/policy1/scaling_governor\npowersave\n\
        //- /proc/sys/kernel/nmi_watchdog\n!denied\n";

    fn judged(capture: &str) -> (HostView, Audit) {
        let host = host::view(&Captured::parse(capture).unwrap());
        let audit = rules::audit::audit(&host);
        (host, audit)
    }

    #[test]
    fn a_finding_is_one_line_and_unknown_checks_are_named_by_what_would_help() {
        let (host, found) = judged(SLOW);
        let text = text(&audit("db7", &host, &found), 300);
        let lines: Vec<&str> = text.lines().filter(|it| it.contains("slow-governor")).collect();
        assert_eq!(lines.len(), 1, "{text}");
        assert!(lines[0].contains("HIGH CPU 1 (1 of 2): "), "{text}");
        assert!(text.contains("Unknown, which is not clean"), "{text}");
        for (check, _) in &found.unknown {
            assert!(text.contains(check.id), "{}: {text}", check.id);
        }
    }

    #[test]
    fn one_check_has_its_evidence_and_its_fix_or_the_reason_that_it_has_none() {
        let (_, found) = judged(SLOW);
        let of = |id: &str| text(&check("db7", rules::checks::find(id).unwrap(), &found), 300);
        let slow = of("slow-governor");
        assert!(slow.contains("policy1/scaling_governor = powersave"), "{slow}");
        let (unknown, missing) = &found.unknown[0];
        let said = of(unknown.id);
        assert!(said.contains(&format!("Unknown ({}): ", missing.reason())), "{said}");
    }

    #[test]
    fn every_id_of_every_list_is_named_once() {
        let text = text(&ids(), 300);
        for entry in documentation::entries() {
            let is_id = |it: &&str| it.trim_end_matches(',') == entry.id;
            assert!(text.split_whitespace().any(|it| is_id(&it)), "{}", entry.id);
        }
    }
}
