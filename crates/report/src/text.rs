//! Results as text for a terminal: worst first, what cannot be known last.

use super::page::{BOLD, DIM, Page, color_of};
use crate::{Style, documentation};
use facts::{Fact, HostView, Missing};
use rules::audit::Audit;
use rules::check::Check;
use rules::documentation::Entry;
use rules::finding::{Confidence, Finding, Fix, Severity};
use rules::pasted::Explanation;
use std::collections::BTreeMap;

/// How much of an audit to show.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// Whether only findings are shown.
    pub quiet: bool,
    /// Clean checks and every reason, too.
    pub verbose: bool,
}

/// The column in which a finding's text starts.
const MARGIN: usize = 10;

/// The audit of the host called `name`.
pub fn audit(name: &str, host: &HostView, audit: &Audit, detail: Detail, style: Style) -> String {
    let mut page = Page::new(style);
    if !detail.quiet {
        header(&mut page, name, host);
    }
    for (check, it) in &audit.findings {
        finding(&mut page, check, it);
    }
    if !detail.quiet {
        unknown(&mut page, audit, detail);
        guest(&mut page, host);
        if detail.verbose {
            without_findings(&mut page, audit);
        }
        summary(&mut page, audit);
    }
    page.finish()
}

fn header(page: &mut Page, name: &str, host: &HostView) {
    page.line(&page.paint(BOLD, &format!("fullclock audit of {name}")));
    page.paragraph(0, &describe(host));
    page.line("");
}

/// The host in a line: processor, CPUs, kernel, machine, what runs it.
pub(super) fn describe(host: &HostView) -> String {
    let mut parts = Vec::new();
    if let Ok(cpuinfo) = &host.cpuinfo
        && !cpuinfo.model_name.is_empty()
    {
        parts.push(cpuinfo.model_name.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    if let Ok(online) = &host.topology.online {
        let n = online.len();
        parts.push(format!("{n} {} online", if n == 1 { "CPU" } else { "CPUs" }));
    }
    parts.extend(known(&host.kernel.release).map(|it| format!("Linux {it}")));
    parts.extend(machine(host));
    parts.extend(match &host.platform.hypervisor {
        Ok(Some(_)) if host.platform.is_control_domain => {
            Some("Xen's control domain (Dom0)".to_owned())
        }
        Ok(Some(hypervisor)) => Some(format!("a guest of {hypervisor}")),
        Ok(None) => Some("bare metal".to_owned()),
        Err(_) => None,
    });
    if let Ok(Some(container)) = &host.platform.container {
        parts.push(format!("in a {container} container"));
    }
    parts.join(", ")
}

fn machine(host: &HostView) -> Option<String> {
    let vendor = known(&host.dmi.vendor)?;
    let product = known(&host.dmi.product).unwrap_or_default();
    let machine = format!("{vendor} {product}").trim_end().to_owned();
    Some(match known(&host.dmi.firmware_version) {
        Some(firmware) => format!("{machine} (firmware {firmware})"),
        None => machine,
    })
}

fn known(fact: &Fact<String>) -> Option<&str> {
    fact.as_deref().ok()
}

fn finding(page: &mut Page, check: &Check, finding: &Finding) {
    let severity = finding.severity;
    let word =
        page.paint(color_of(severity), &format!("{:MARGIN$}", severity.name().to_uppercase()));
    let id = page.paint(BOLD, check.id);
    let scope = finding.cpus.as_ref().map_or(String::new(), |it| format!("  {it}"));
    let doubt = match finding.confidence {
        Confidence::High => String::new(),
        doubt => page.paint(DIM, &format!("  ({} confidence)", doubt.name())),
    };
    page.line(&format!("{word}{id}{scope}{doubt}"));
    page.paragraph(MARGIN, &finding.message);
    for (evidence, label) in finding.evidence.iter().zip(once_then_nothing("  seen")) {
        page.labelled(MARGIN, label, &format!("{} = {}", evidence.source, evidence.value));
    }
    if let Some(cost) = &finding.cost {
        page.labelled(MARGIN, "  cost", &format!("{} ({})", cost.estimate, cost.derivation));
    }
    fix(page, &finding.fix);
    page.line("");
}

fn fix(page: &mut Page, fix: &Fix) {
    for (command, label) in fix.look.iter().zip(once_then_nothing("  look")) {
        page.labelled(MARGIN, label, command);
    }
    for (command, label) in fix.now.iter().zip(once_then_nothing("  now")) {
        page.labelled(MARGIN, label, command);
    }
    if !fix.apply.is_empty() {
        let label = if fix.now.is_empty() { "  now" } else { "  or" };
        page.labelled(MARGIN, label, &format!("fullclock apply {}", fix.apply.join(" ")));
    }
    for it in &fix.by_hand {
        page.labelled(MARGIN, "  by hand", &it.command);
        let note = format!("not journaled; {}; {}", it.risk, it.available);
        page.labelled(MARGIN, "", &page.paint(DIM, &note));
    }
    for reason in &fix.refused {
        page.labelled(MARGIN, "", &page.paint(DIM, &format!("no command: {reason}")));
    }
    if let Some(lasting) = &fix.lasting {
        page.labelled(MARGIN, "  lasting", lasting);
    }
}

fn once_then_nothing(label: &str) -> impl Iterator<Item = &str> {
    std::iter::once(label).chain(std::iter::repeat(""))
}

fn unknown(page: &mut Page, audit: &Audit, detail: Detail) {
    if audit.unknown.is_empty() {
        return;
    }
    page.line(&page.paint(BOLD, "Not known"));
    for Group { remedy, checks } in by_remedy(audit) {
        let n = checks.len();
        let ids = checks.iter().map(|(check, _)| check.id).collect::<Vec<_>>().join(", ");
        match remedy {
            Some(remedy) => {
                let plural = if n == 1 { "check" } else { "checks" };
                page.paragraph(2, &format!("{remedy}: {n} {plural}"));
                page.paragraph(MARGIN, &ids);
            }
            None => page.paragraph(2, "nothing that you can run would tell:"),
        }
        if detail.verbose || remedy.is_none() {
            for (check, missing) in checks {
                page.paragraph(MARGIN, &format!("{}: {missing}", check.id));
            }
        }
    }
    page.line("");
}

/// Says once what every hidden check has in common.
fn guest(page: &mut Page, host: &HostView) {
    let Ok(Some(hypervisor)) = &host.platform.hypervisor else { return };
    let text = if host.platform.is_control_domain {
        "This is Xen's control domain (Dom0). Xen decides the clock and the idle states: ask it by `xenpm get-cpufreq-para` \
         and `xenpm get-cpuidle-states`. `xenpm set-scaling-governor` sets the governor until the next boot, and \
         `cpufreq=xen:performance` on Xen's own boot line for good; fullclock does neither, and cannot undo them. The \
         processor's registers, throttling and power limits cannot be seen from here."
            .to_owned()
    } else {
        format!(
            "This is a guest of {hypervisor}, which decides the clock. The processor's registers, firmware, throttling, \
             power limits and idle states cannot be seen from here; audit the machine under it as well."
        )
    };
    page.paragraph(0, &text);
    page.line("");
}

fn without_findings(page: &mut Page, audit: &Audit) {
    page.line(&page.paint(BOLD, "Does not apply here"));
    for (check, missing) in &audit.not_applicable {
        page.paragraph(2, &format!("{}: {missing}", check.id));
    }
    page.line("");
    page.line(&page.paint(BOLD, "Clean"));
    page.paragraph(2, &audit.clean.iter().map(|it| it.id).collect::<Vec<_>>().join(", "));
    page.line("");
}

fn summary(page: &mut Page, audit: &Audit) {
    let count = |severity: Severity| {
        let n = audit.findings.iter().filter(|(_, it)| it.severity == severity).count();
        (n > 0).then(|| format!("{n} {}", severity.name()))
    };
    let counts: Vec<String> = Severity::ALL.iter().rev().filter_map(|it| count(*it)).collect();
    let findings = match audit.findings.len() {
        0 => "No findings".to_owned(),
        1 => format!("1 finding ({})", counts.join(", ")),
        n => format!("{n} findings ({})", counts.join(", ")),
    };
    page.paragraph(
        0,
        &format!(
            "{findings}; {} checks clean, {} not known, {} do not apply here.",
            audit.clean.len(),
            audit.unknown.len(),
            audit.not_applicable.len()
        ),
    );
    if let Some((check, _)) = audit.findings.first() {
        page.paragraph(0, &format!("`fullclock explain {}` says more.", check.id));
    }
}

/// Every entry of every list, a line each.
pub fn entries(style: Style) -> String {
    let mut page = Page::new(style);
    let indent = documentation::entries().map(|it| it.id.len()).max().unwrap_or(0) + 2;
    let mut list = "";
    for entry in documentation::entries() {
        if entry.list != list {
            if !list.is_empty() {
                page.line("");
            }
            list = entry.list;
            page.line(&page.paint(BOLD, &format!("Every {list}")));
        }
        page.labelled(indent, entry.id, entry.title);
    }
    page.line("");
    page.paragraph(
        0,
        "`fullclock explain ID` says what it looks at or does, what it means and what it cannot know.",
    );
    page.finish()
}

/// What one entry says of itself, then what those of other lists with the same id say.
pub fn entry(first: &Entry, others: &[Entry], style: Style) -> String {
    let mut page = Page::new(style);
    documented(&mut page, first);
    for other in others {
        page.line("");
        documented(&mut page, other);
    }
    page.finish()
}

fn documented(page: &mut Page, entry: &Entry) {
    let Entry { list, id, title, .. } = entry;
    let kind = page.paint(DIM, &format!("  ({list})"));
    page.line(&format!("{}: {title}{kind}", page.paint(BOLD, id)));
    for paragraph in entry.doc.trim().split("\n\n") {
        page.line("");
        let mut body = paragraph;
        if let Some(heading) = paragraph.strip_prefix("## ") {
            let (heading, rest) = heading.split_once('\n').unwrap_or((heading, ""));
            page.line(&page.paint(BOLD, heading));
            body = rest;
        }
        document(page, body);
    }
    if !entry.references.is_empty() {
        page.line("");
        page.line(&page.paint(BOLD, "References"));
    }
    for reference in entry.references {
        page.paragraph(2, &format!("{} {}", reference.title, reference.url));
    }
}

/// A paragraph, or lines that stay apart: lists and indented code.
fn document(page: &mut Page, body: &str) {
    let stays = |line: &str| line.starts_with(['-', '|', ' ']);
    if body.lines().any(stays) {
        body.lines().for_each(|line| page.paragraph(2, line));
    } else {
        page.paragraph(2, &body.replace('\n', " "));
    }
}

/// What a pasted text means.
pub fn explanation(explanation: &Explanation, style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&page.paint(BOLD, explanation.what));
    for paragraph in &explanation.meaning {
        page.line("");
        page.paragraph(2, paragraph);
    }
    page.line("");
    page.paragraph(
        0,
        &format!("Checks that look for the cause: {}", explanation.checks.join(", ")),
    );
    page.finish()
}

/// Unknown checks that one and the same deed would make known.
pub(crate) struct Group<'a> {
    /// The deed; `None` where nobody can do anything.
    pub remedy: Option<&'static str>,
    /// The checks, each with the fact that was missing.
    pub checks: Vec<(&'static Check, &'a Missing)>,
}

/// Unknown checks by remedy, the most helpful one first, those beyond remedy last.
pub(crate) fn by_remedy(audit: &Audit) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<Option<&'static str>, Vec<_>> = BTreeMap::new();
    for (check, missing) in &audit.unknown {
        groups.entry(missing.remedy()).or_default().push((*check, missing));
    }
    let mut groups: Vec<Group<'_>> =
        groups.into_iter().map(|(remedy, checks)| Group { remedy, checks }).collect();
    groups.sort_by_key(|it| (it.remedy.is_none(), std::cmp::Reverse(it.checks.len())));
    groups
}
