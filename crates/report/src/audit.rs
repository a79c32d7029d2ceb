//! An audit as a document: the verdict first, then what is wrong, worst first, then what could not be known.

use crate::diagnosis::{because, sentences, who};
use crate::document::{Block, Document, Item, Role, Text};
use crate::wording::once_then_nothing;
use facts::elsewhere::{XEN_CLOCK, XEN_IDLE};
use facts::quantity::{counted, counted_all};
use facts::watched;
use facts::{Fact, HostView, Missing, Obstacle};
use rules::audit::{Audit, Suppressed};
use rules::check::Check;
use rules::diagnosis::{self, Chain};
use rules::finding::{Confidence, Finding, Fix, Scope, Severity};
use rules::hypervisors::frequency;
use std::collections::BTreeMap;

/// How much of an audit to show.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// Findings only.
    pub quiet: bool,
    /// Clean checks and every reason, too.
    pub verbose: bool,
}

/// The audit of the host called `name`.
pub fn document(name: &str, host: &HostView, audit: &Audit, detail: Detail) -> Document {
    let mut document = Document::new(format!("fullclock audit of {name}"));
    let chains = diagnosis::chains(audit);
    if !detail.quiet {
        document.paragraph(describe(host));
        document.paragraph(Text::strong(verdict_with(host, audit, &chains)));
        if let Some(incomplete) = &host.incomplete {
            document.note(format!("{}.", incomplete_copy(incomplete)));
        }
    }
    items(&mut document, audit, &chains);
    decided(&mut document, audit);
    if !detail.quiet {
        if let Some(watched) = &host.watched {
            document.note(format!("Looked for {}.", watched::time(watched.time)));
        }
        of_site(&mut document, host);
        unknown(&mut document, audit, detail);
        if detail.verbose || host.platform.is_control_domain {
            guest(&mut document, host);
        }
        if detail.verbose {
            without_findings(&mut document, audit);
        }
        closing(&mut document, audit, detail);
    }
    document
}

/// Says that a copy is not whole, and why: a sentence without a full stop.
pub fn incomplete_copy(why: &str) -> String {
    format!("Not the whole copy could be read: {why}. What it lacks is unknown, not absent")
}

/// The host in a line: processor, CPUs, kernel, machine, what runs it.
pub(crate) fn describe(host: &HostView) -> String {
    let mut parts = Vec::new();
    if let Ok(cpuinfo) = &host.cpuinfo
        && !cpuinfo.model_name.is_empty()
    {
        parts.push(cpuinfo.model_name.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    if let Ok(online) = &host.topology.online {
        parts.push(format!("{} online", counted(online.len() as u64, "CPU")));
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

/// The audit in one or two sentences.
pub fn verdict(host: &HostView, audit: &Audit) -> String {
    verdict_with(host, audit, &diagnosis::chains(audit))
}

fn verdict_with(host: &HostView, audit: &Audit, chains: &[Chain<'_>]) -> String {
    let found = found_with(audit, chains);
    match (n_hidden(audit), &host.platform.hypervisor) {
        (0, _) => found,
        (n, Ok(Some(hypervisor))) => {
            let need = if n == 1 { "check needs" } else { "checks need" };
            format!("{found} {n} {need} the hypervisor: this is a guest of {hypervisor}.")
        }
        _ => found,
    }
}

/// What was found: the first chain of the diagnosis, and how many findings there are.
pub(crate) fn found(audit: &Audit) -> String {
    found_with(audit, &diagnosis::chains(audit))
}

fn found_with(audit: &Audit, chains: &[Chain<'_>]) -> String {
    let first = chains.first().filter(|it| it.severity() >= Severity::Medium);
    let worst = audit.findings.first().map(|(_, it)| it.severity);
    match first {
        Some(chain) if Some(chain.severity()) == worst => {
            format!("{} {}", sentences(chain), numbers(audit))
        }
        Some(chain) => format!("{} {}", in_numbers(audit), sentences(chain)),
        None => in_numbers(audit),
    }
}

/// How many findings there are, and how severe.
fn numbers(audit: &Audit) -> String {
    let n = counted(audit.findings.len() as u64, "finding");
    let worst = audit.findings.first().map_or("none", |(_, it)| it.severity.name());
    let before = if audit.findings.len() == 1 { "" } else { "worst " };
    with_suppressed(audit, format!("{n}, {before}{worst}."))
}

fn with_suppressed(audit: &Audit, found: String) -> String {
    match audit.suppressed.len() {
        0 => found,
        n => format!("{found} {n} suppressed."),
    }
}

/// How many findings there are, and what the worst one says.
fn in_numbers(audit: &Audit) -> String {
    let found = match audit.findings.as_slice() {
        [] if audit.clean.is_empty() => "Nothing could be judged.".to_owned(),
        [] => "No findings.".to_owned(),
        [(_, worst)] => {
            format!("1 finding, {}: {}.", worst.severity.name(), in_short(&worst.message))
        }
        [(_, worst), ..] => {
            let n = audit.findings.len();
            let severity = worst.severity.name();
            format!("{n} findings, worst {severity}: {}.", in_short(&worst.message))
        }
    };
    with_suppressed(audit, found)
}

/// How many checks a guest cannot make.
fn n_hidden(audit: &Audit) -> usize {
    audit.unknown.iter().filter(|(_, why)| why.obstacle() == Obstacle::Guest).count()
}

/// What a message says before it explains: up to its colon or semicolon.
fn in_short(message: &str) -> &str {
    let end = message.find(": ").into_iter().chain(message.find("; ")).min();
    end.and_then(|end| message.get(..end)).unwrap_or(message).trim_end_matches('.')
}

/// The findings, worst first; those of a chain together, where the worst of them stands.
fn items(document: &mut Document, audit: &Audit, chains: &[Chain<'_>]) {
    let mut shown: Vec<&Chain<'_>> = Vec::new();
    for (check, finding) in &audit.findings {
        let has_it = |chain: &&Chain<'_>| chain.links().any(|it| std::ptr::eq(it.finding, finding));
        match chains.iter().find(has_it) {
            Some(chain) if shown.iter().any(|it| std::ptr::eq(*it, chain)) => {}
            Some(chain) => {
                document.push(Block::Item(item_of_chain(chain)));
                shown.push(chain);
            }
            None => document.push(Block::Item(item(check, finding))),
        }
    }
}

fn head(id: &str, cpus: Option<&Scope>, confidence: Confidence) -> Text {
    let mut head = Text::strong(id);
    if let Some(cpus) = cpus {
        head = head.with(Role::Plain, format!("  {cpus}"));
    }
    if confidence != Confidence::High {
        let confidence = confidence.name();
        head = head.with(Role::Quiet, format!("  ({confidence} confidence)"));
    }
    head
}

pub(crate) fn item(check: &Check, finding: &Finding) -> Item {
    let head = head(check.id, finding.cpus.as_ref(), finding.confidence);
    let mut body = vec![Block::paragraph(&*finding.message)];
    seen(&mut body, [finding]);
    cost(&mut body, finding, "");
    fix(&mut body, &finding.fix);
    Item { severity: finding.severity, head, body }
}

/// A chain: its findings from the cause on, the cost that was measured, and the fix of the cause.
fn item_of_chain(chain: &Chain<'_>) -> Item {
    let ids: Vec<&str> = chain.links().map(|it| it.check.id).collect();
    // Signs that nothing explains do not explain each other.
    let between = if chain.cause().is_some() { " -> " } else { ", " };
    let head = head(&ids.join(between), chain.cpus().as_ref(), chain.confidence());
    let findings = || chain.links().map(|it| it.finding);
    let on = |it: &Finding| {
        let cpus = it.cpus.as_ref().filter(|_| chain.has_several_scopes());
        cpus.map_or(String::new(), |it| format!("{it}: "))
    };
    let message = |it: &Finding| Block::paragraph(format!("{}{}", on(it), it.message));
    let mut body: Vec<Block> = findings().map(message).collect();
    if let Some(who) = who(chain) {
        body.push(Block::labelled("who", who));
    }
    for (candidate, label) in chain.candidates.iter().zip(once_then_nothing("perhaps")) {
        let because = because(candidate);
        body.push(Block::labelled(label, format!("{}: {because}", candidate.name())));
    }
    seen(&mut body, findings());
    let costly = findings().filter(|it| it.cost.is_some()).last();
    costly.into_iter().for_each(|it| cost(&mut body, it, &on(it)));
    findings().take(1).for_each(|it| fix(&mut body, &it.fix));
    Item { severity: chain.severity(), head, body }
}

/// What was read, each once.
fn seen<'a>(body: &mut Vec<Block>, findings: impl IntoIterator<Item = &'a Finding>) {
    let mut all: Vec<String> = Vec::new();
    for evidence in findings.into_iter().flat_map(|it| &it.evidence) {
        let seen = format!("{} = {}", evidence.source, evidence.value);
        if !all.contains(&seen) {
            all.push(seen);
        }
    }
    for (seen, label) in all.into_iter().zip(once_then_nothing("seen")) {
        body.push(Block::labelled(label, Text::code(seen)));
    }
}

/// `on` says on which CPUs, where that has to be said.
fn cost(body: &mut Vec<Block>, finding: &Finding, on: &str) {
    if let Some(cost) = &finding.cost {
        let cost = format!("{on}{} ({})", cost.estimate, cost.derivation);
        body.push(Block::labelled("cost", cost));
    }
}

/// What the site has decided about: each finding in a line, with the decision; and decisions whose day is over.
pub(crate) fn decided(document: &mut Document, audit: &Audit) {
    if !audit.suppressed.is_empty() {
        document.heading("Suppressed by the configuration");
    }
    for Suppressed { check, finding, by } in &audit.suppressed {
        let (severity, message) = (finding.severity.name().to_uppercase(), &finding.message);
        let cpus = finding.cpus.as_ref().map_or(String::new(), |it| format!("  {it}"));
        document.labelled(check.id, format!("{severity}{cpus}  {message}"));
        document.labelled("", Text::quiet(format!("until {}: {}", by.until, by.because)));
    }
    for it in &audit.expired {
        let on = it.cpus.as_ref().map_or(String::new(), |cpus| format!(" on {}", cpus.named()));
        let (id, until, because) = (it.check.id, &it.until, &it.because);
        document.note(format!("No longer suppressed: {id}{on}, until {until} ({because})."));
    }
}

/// What the site says about amounts, where it is not the default.
pub(crate) fn of_site(document: &mut Document, host: &HostView) {
    for (threshold, value) in host.thresholds.set() {
        let (check, unit, default) = (threshold.check, threshold.unit, threshold.default);
        document.note(format!(
            "Threshold of this site: {check} at least {value} {unit} (default {default})."
        ));
    }
}

fn fix(body: &mut Vec<Block>, fix: &Fix) {
    let mut commands = |label, commands: &[String]| {
        for (command, label) in commands.iter().zip(once_then_nothing(label)) {
            body.push(Block::labelled(label, Text::code(&**command)));
        }
    };
    commands("look", &fix.look);
    commands("now", &fix.now);
    if !fix.apply.is_empty() {
        let label = if fix.now.is_empty() { "now" } else { "or" };
        commands(label, &[format!("fullclock apply {}", fix.apply.join(" "))]);
    }
    for it in &fix.by_hand {
        body.push(Block::labelled("by hand", Text::code(&*it.command)));
        let note = format!("not journaled; {}; {}", it.risk, it.available);
        body.push(Block::labelled("", Text::quiet(note)));
    }
    for reason in &fix.refused {
        body.push(Block::labelled("", Text::quiet(format!("no command: {reason}"))));
    }
    if let Some(lasting) = &fix.lasting {
        body.push(Block::labelled("lasting", &**lasting));
    }
}

/// What could not be known, by what would help: a line or two, and every reason if `detail` is verbose.
fn unknown(document: &mut Document, audit: &Audit, detail: Detail) {
    if audit.unknown.is_empty() {
        return;
    }
    let groups = by_remedy(audit);
    if !detail.verbose {
        let lines = groups.iter().filter(|it| !it.is_of_the_guest()).map(Group::line);
        let lines: Vec<String> = lines.collect();
        if !lines.is_empty() {
            let text = lines.join("; ") + ". `-v` lists them.";
            document.labelled("Unknown", Text::sentence(&text));
        }
        return;
    }
    document.heading("Unknown");
    for group in &groups {
        document.paragraph(Text::sentence(&(group.line() + ":")));
        for (check, missing) in &group.checks {
            document.labelled(check.id, missing.to_string());
        }
    }
}

/// Unknown checks that one and the same step would make known.
pub(crate) struct Group<'a> {
    /// The step; `None` where nobody can do anything.
    remedy: Option<&'static str>,
    /// The checks, each with the fact that was missing.
    pub(crate) checks: Vec<(&'static Check, &'a Missing)>,
}

impl Group<'_> {
    pub(crate) fn line(&self) -> String {
        let n = counted_all(&self.checks, "check");
        match self.remedy {
            Some(remedy) => format!("{n}: {remedy}"),
            None => format!("{n}: no command on this host can show it"),
        }
    }

    /// The verdict speaks of these.
    fn is_of_the_guest(&self) -> bool {
        self.checks.iter().all(|(_, missing)| missing.obstacle() == Obstacle::Guest)
    }
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

/// What all hidden checks have in common.
fn guest(document: &mut Document, host: &HostView) {
    let Ok(Some(hypervisor)) = &host.platform.hypervisor else { return };
    let text = if host.platform.is_control_domain {
        format!(
            "This is Xen's control domain (Dom0). Xen decides the clock and the idle states: ask it by `{XEN_CLOCK}` \
             and `{XEN_IDLE}`. `xenpm set-scaling-governor` sets the governor until the next boot, and \
             `cpufreq=xen:performance` on Xen's own boot line for good; fullclock does neither, and cannot undo them. The \
             processor's registers, throttling and power limits cannot be seen from here."
        )
    } else {
        let by = frequency(&host.platform).map_or(String::new(), |it| format!(": {it}"));
        let hidden = if shows_idle_states(host) {
            "throttling and power limits"
        } else {
            "throttling, power limits and idle states"
        };
        format!(
            "This is a guest of {hypervisor}, which decides the clock{by}. The processor's registers, firmware, {hidden} \
             cannot be seen from here; audit the machine under it as well."
        )
    };
    document.note(Text::sentence(&text));
}

/// Whether the idle states of a guest are the processor's, or the boot line keeps it from them: then there are verdicts on them. A
/// guest that polls before it gives its processor back has none of its own (drivers/cpuidle/cpuidle-haltpoll.c).
fn shows_idle_states(host: &HostView) -> bool {
    let cpuidle = &host.cpuidle;
    let is_polling = cpuidle.driver.as_ref().is_ok_and(|it| it == "haltpoll");
    let has_states = cpuidle.tables.as_ref().is_ok_and(|it| !it.is_empty()) && !is_polling;
    let is_limited = match (&host.kernel.boot_line, &host.cpuinfo) {
        (Ok(line), Ok(info)) => !cpuidle.boot_limits(line, info, true).is_empty(),
        _ => false,
    };
    has_states || is_limited
}

fn without_findings(document: &mut Document, audit: &Audit) {
    document.heading("Does not apply here");
    for (check, missing) in &audit.not_applicable {
        document.labelled(check.id, missing.to_string());
    }
    document.heading("Clean");
    document.paragraph(audit.clean.iter().map(|it| it.id).collect::<Vec<_>>().join(", "));
}

fn closing(document: &mut Document, audit: &Audit, detail: Detail) {
    let mut parts = Vec::new();
    let n_clean = audit.clean.len();
    parts.push(format!("{} clean", counted(n_clean as u64, "check")));
    match audit.not_applicable.len() {
        0 => {}
        1 => parts.push("1 does not apply here".to_owned()),
        n => parts.push(format!("{n} do not apply here")),
    }
    let mut text = parts.join(", ") + ".";
    if let Some((check, _)) = audit.findings.first() {
        text += " `fullclock explain ";
        text += check.id;
        text += "` says more.";
    }
    if !detail.verbose {
        text += " `-v` lists every check.";
    }
    document.note(Text::sentence(&text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::every_form::text;

    const GUEST: &str = "//- /sys/class/dmi/id/sys_vendor\nAmazon EC2\n//- /sys/class/dmi/id/product_name\nr7i.48xlarge\n\
         //- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\nflags : hypervisor\n";

    /// The note of an audit's long form about what a guest cannot see.
    fn note(excerpt: &str) -> String {
        let host = host::view(&host::Captured::excerpt(excerpt).unwrap());
        let mut document = Document::new("");
        guest(&mut document, &host);
        text(&document, 1000)
    }

    #[test]
    fn idle_states_that_were_judged_are_not_said_to_be_hidden() {
        let states = |driver: &str, name: &str| {
            let state = "//- /sys/devices/system/cpu/cpu0/cpuidle/state0";
            format!(
                "{GUEST}//- /sys/devices/system/cpu/online\n0\n{state}/name\n{name}\n{state}/latency\n170\n\
                 {state}/residency\n340\n{state}/disable\n1\n//- /sys/devices/system/cpu/cpuidle/current_driver\n{driver}\n"
            )
        };
        let hidden = "throttling, power limits and idle states cannot be seen from here";
        let seen = "firmware, throttling and power limits cannot be seen from here";
        assert!(note(GUEST).contains(hidden), "{}", note(GUEST));
        assert!(note(&states("haltpoll", "haltpoll")).contains(hidden));
        assert!(note(&states("intel_idle", "C6")).contains(seen));
        assert!(note(&format!("{GUEST}//- /proc/cmdline\nquiet idle=poll\n")).contains(seen));
    }

    #[test]
    fn a_guest_is_told_where_its_clock_is_decided() {
        let vmware = "//- /sys/class/dmi/id/sys_vendor\nVMware, Inc.\n//- /sys/class/dmi/id/product_name\nVMware7,1\n";
        let note = note(vmware);
        assert!(
            note.contains("a guest of VMware, which decides the clock: on ESXi it is"),
            "{note}"
        );
    }
}
