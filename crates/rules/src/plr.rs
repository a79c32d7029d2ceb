//! What the log of performance limits (PLR) of Intel's servers with TPMI says, as findings.
//!
//! Source: facts::power::plr. The log is never a state: it says that something held the clock down since boot, or since somebody
//! cleared it, and neither when nor for how long. What decides is which reason it is: PROCHOT#, a regulator, hardware errors and the
//! management controller have a cause that somebody can look for; a power or current limit under full load is how a processor with
//! turbo works.

use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use crate::party::Party;
use facts::msr::limit_reasons::Kind;
use facts::power::plr::{self, Domain, Interface, Reason};
use facts::watched::Sight;
use facts::{CpuSet, Elsewhere, Fact, HostView, Missing};
use std::cmp::Reverse;

/// Evidence for so many domains; a machine of eight packages has dozens.
const MOST_EVIDENCE: usize = 4;

/// What was logged of some kinds: a finding for each kind and interface, worst first.
///
/// Errors: there is no log, or nothing was found and the log of a domain could not be read. It is an absence only on processors that have
/// none.
pub(crate) fn findings(host: &HostView, kinds: &[Kind]) -> Fact<Vec<Finding>> {
    let domains = domains(host)?;
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut unknown = None;
    for domain in domains {
        let log = match &domain.log {
            Ok(log) => log,
            Err(missing) => {
                unknown = unknown.or(Some(missing));
                continue;
            }
        };
        for seen in log.seen().into_iter().filter(|it| kinds.contains(&it.reason.kind)) {
            let began = began_in_look(host, domain, &seen);
            let is_same = |it: &Group<'_>| it.has(seen.reason) && it.began == began;
            let at = groups.iter().position(is_same).unwrap_or(groups.len());
            if at == groups.len() {
                groups.push(Group { began: began.clone(), ..Group::of(seen.reason) });
            }
            groups[at].add(domain, seen.reason, &seen.cpus, seen.text);
        }
    }
    groups.sort_by_key(|it| Reverse(it.severity()));
    match unknown {
        Some(missing) if groups.is_empty() => Err(missing.clone()),
        _ => Ok(groups.into_iter().map(|it| it.finding(host, domains.len())).collect()),
    }
}

/// The reasons of one CPU that its log has at the second moment and had not at the first, and so began between the two; none where the log
/// was not read twice. What was set before tells nothing.
pub(crate) fn began(before: &HostView, after: &HostView, cpu: u32) -> Vec<&'static Reason> {
    let of = |domain: &Domain| -> Option<Vec<&'static Reason>> {
        let seen = domain.log.as_ref().ok()?.seen();
        let is_of_cpu =
            |it: &plr::Seen<'_>| it.cpus.contains(cpu) && it.reason.kind != Kind::Normal;
        Some(seen.into_iter().filter(is_of_cpu).map(|it| it.reason).collect())
    };
    let first = before.plr.as_deref().unwrap_or_default();
    let mut began = Vec::new();
    for domain in after.plr.as_deref().unwrap_or_default() {
        let was = first.iter().find(|it| it.path == domain.path && it.number == domain.number);
        if let (Some(was), Some(is)) = (was.and_then(of), of(domain)) {
            began.extend(is.into_iter().filter(|it| !was.contains(it)));
        }
    }
    began
}

/// "in the 2 s that were looked at", where the log had this reason of none of these CPUs when a look began. What it had tells nothing.
fn began_in_look(host: &HostView, domain: &Domain, seen: &plr::Seen<'_>) -> Option<String> {
    let watched = host.watched.as_ref().filter(|it| it.has(Sight::Logs))?;
    let is_same = |it: &&Domain| it.path == domain.path && it.number == domain.number;
    let first = watched.plr.as_deref().ok()?.iter().find(is_same)?.log.as_ref().ok()?;
    let was_set = first.seen().iter().any(|it| it.reason == seen.reason);
    (!was_set).then(|| watched.within())
}

fn domains(host: &HostView) -> Fact<&[Domain]> {
    let has_logs = host.cpuinfo.as_ref().is_ok_and(plr::has_logs);
    match &host.plr {
        Ok(domains) => Ok(domains),
        Err(missing) if missing.is_absence() && has_logs => {
            Err(Missing::elsewhere(plr::NAME, Elsewhere::Plr))
        }
        Err(missing) => Err(missing.clone()),
    }
}

/// What one interface had held by one kind of reason.
struct Group<'a> {
    kind: Kind,
    set_by: Option<Interface>,
    /// When a look saw it begin: "in the 2 s that were looked at".
    began: Option<String>,
    names: Vec<&'static str>,
    cpus: CpuSet,
    /// A line of each domain that has it.
    lines: Vec<(&'a Domain, String)>,
}

impl<'a> Group<'a> {
    fn of(reason: &Reason) -> Group<'a> {
        Group {
            kind: reason.kind,
            set_by: reason.set_by,
            began: None,
            names: Vec::new(),
            cpus: CpuSet::default(),
            lines: Vec::new(),
        }
    }

    fn has(&self, reason: &Reason) -> bool {
        self.kind == reason.kind && self.set_by == reason.set_by
    }

    fn add(&mut self, domain: &'a Domain, reason: &Reason, cpus: &CpuSet, text: &str) {
        if !self.names.contains(&reason.what) {
            self.names.push(reason.what);
        }
        self.cpus.extend(cpus.iter());
        if !self.lines.iter().any(|(it, _)| std::ptr::eq(*it, domain)) {
            self.lines.push((domain, text.to_owned()));
        }
    }

    fn finding(self, host: &HostView, n_domains: usize) -> Finding {
        let names = self.names.join(" and ");
        let set_by = self.set_by.map_or_else(String::new, |it| format!(", {},", it.name()));
        let severity = self.severity();
        let by = self.set_by.map_or_else(|| names.clone(), |it| format!("{names} ({})", it.name()));
        let held = format!("{names}{set_by} held the clock down");
        let finding = match &self.began {
            Some(within) => Finding::new(
                severity,
                Confidence::High,
                format!("{held} {within}, by the log that was clear before"),
            ),
            None => {
                let message =
                    format!("{held} at some time since boot, or since the log was cleared");
                Finding::new(severity, Confidence::Medium, message).since_boot()
            }
        };
        let mut finding = finding.by_means_of(by);
        if let Some(party) = party(self.kind, self.set_by) {
            finding = finding.held_by(party);
        }
        for (domain, text) in self.lines.iter().take(MOST_EVIDENCE) {
            let is_of_cpus = domain.log.as_ref().is_ok_and(|it| !it.cpus.is_empty());
            let instance = format!("{} instance {}", domain.path, domain.number);
            let source = if is_of_cpus { &domain.path } else { &instance };
            finding = finding.evidence(source, text);
        }
        // A dump names no CPUs; what each domain has is of all.
        let all = || host.topology.online.clone().unwrap_or_default();
        let cpus = match self.cpus.is_empty() {
            true if self.lines.len() == n_domains => all(),
            _ => self.cpus,
        };
        if !cpus.is_empty() {
            finding = finding.on(cpus, host.topology.n_online());
        }
        advised(finding, self.kind, self.set_by)
    }
}

impl Group<'_> {
    /// A reason that began while somebody looked acts; a limit on power binds under full load, and is another check's.
    fn severity(&self) -> Severity {
        let severity = severity(self.kind, self.set_by);
        match self.kind {
            Kind::Power | Kind::Current => severity,
            _ if self.began.is_some() => Severity::Medium,
            _ => severity,
        }
    }
}

fn severity(kind: Kind, set_by: Option<Interface>) -> Severity {
    match (kind, set_by) {
        (_, Some(Interface::Controller)) => Severity::Low,
        (Kind::Prochot | Kind::Platform | Kind::Controller | Kind::Errors, _) => Severity::Low,
        _ => Severity::Info,
    }
}

/// Whose a reason is; what asserts a signal, and who set a limit in-band, is unknown.
fn party(kind: Kind, set_by: Option<Interface>) -> Option<Party> {
    match (kind, set_by) {
        (Kind::Controller, _) | (_, Some(Interface::Controller)) => {
            Some(Party::ManagementController)
        }
        (Kind::Heat | Kind::Current, _) => Some(Party::Physics),
        _ => None,
    }
}

/// Where to look for the cause, where it is none of the processor's own.
fn advised(finding: Finding, kind: Kind, set_by: Option<Interface>) -> Finding {
    match (kind, set_by) {
        (Kind::Controller, _) | (_, Some(Interface::Controller)) => {
            finding.command(&commands::BMC_LIMIT, "").fix_lasting(
                "find out whose budget the management controller keeps: its page for power, Redfish, or the power management of the rack; see bmc-power-cap",
            )
        }
        (Kind::Prochot | Kind::Platform, _) => {
            finding.command(&commands::BMC_EVENTS, "").fix_lasting(
                "look in the management controller's log for what pulled the signal: a power supply, a voltage regulator, a power cap",
            )
        }
        (Kind::Errors, _) => finding
            .command(&commands::KERNEL_LOG, "-i -E 'mce|hardware error|edac'")
            .command(&commands::BMC_EVENTS, ""),
        _ => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::host_of;

    const STATUS: &str = "//- /sys/kernel/debug/tpmi-0000:00:03.1/plr/domain";

    /// A Granite Rapids of two CPUs in each of two domains.
    fn host(domains: &[&str]) -> HostView {
        let files = domains.iter().enumerate();
        let files: String =
            files.map(|(number, text)| format!("{STATUS}{number}/status\n{text}\n")).collect();
        host_of(&format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 173\n\
             //- /sys/devices/system/cpu/online\n0-3\n{files}"
        ))
    }

    fn words(host: &HostView, kinds: &[Kind]) -> String {
        let line = |it: &Finding| {
            let scope = it.cpus.as_ref().map_or(String::new(), |it| format!(" [{it}]"));
            format!("{} {}{scope}", it.severity.name(), it.message)
        };
        match findings(host, kinds) {
            Ok(found) => found.iter().map(line).collect::<Vec<_>>().join("\n"),
            Err(missing) => missing.advice(),
        }
    }

    const SINCE: &str = "held the clock down at some time since boot, or since the log was cleared";

    #[test]
    fn limits_of_one_interface_are_one_finding_and_the_controllers_are_worse() {
        let host = host(&[
            "cpus POWER\ncpu0 POWER POWER_PKG_PL1_MSR_TPMI POWER_PKG_PL2_MSR_TPMI\ncpu1 none",
            "cpus POWER\ncpu2 POWER POWER_PKG_PL1_PCS\ncpu3 POWER POWER_PKG_PL1_MSR_TPMI",
        ]);
        assert_eq!(
            words(&host, &[Kind::Power]),
            format!(
                "low the package's power limit PL1, set by the management controller (PCS), {SINCE} [CPU 2 (1 of 4)]\n\
                 info the package's power limit PL1 and the package's power limit PL2, set in-band (MSR, TPMI), {SINCE} [CPUs 0,3 (2 of 4)]"
            )
        );
        assert_eq!(words(&host, &[Kind::Heat, Kind::Normal]), "");
        let found = findings(&host, &[Kind::Power]).unwrap();
        assert_eq!(found[1].evidence.len(), 2);
        assert_eq!(found[1].evidence[1].value, "cpu3 POWER POWER_PKG_PL1_MSR_TPMI");
        assert!(found.iter().all(|it| it.confidence == Confidence::Medium));
        assert!(found[0].fix.lasting.as_ref().unwrap().contains("bmc-power-cap"));
    }

    #[test]
    fn what_the_log_has_anew_began_in_between_and_what_it_had_tells_nothing() {
        let broken = "!failed Connection timed out";
        let began = |before: &str, after: &str| {
            let (before, after) = (host(&[before]), host(&[after]));
            began(&before, &after, 1).iter().map(|it| it.name).collect::<Vec<_>>()
        };
        let power = "cpus POWER\ncpu0 none\ncpu1 POWER POWER_FAST_RAPL FREQUENCY";
        assert_eq!(began("cpus none\ncpu0 none\ncpu1 none", power), ["POWER_FAST_RAPL"]);
        assert_eq!(began(power, power), [""; 0]);
        assert_eq!(began(broken, power), [""; 0]);
        assert_eq!(began("cpus none\ncpu0 none", "cpus RAS\ncpu0 RAS"), [""; 0]);
    }

    #[test]
    fn a_signal_from_outside_is_low_and_never_a_state() {
        let host = host(&["cpus PLATFORM\ncpu0 PLATFORM PLATFORM_PROCHOT\ncpu1 none"]);
        assert_eq!(
            words(&host, &[Kind::Prochot, Kind::Platform]),
            format!("low PROCHOT# from another device {SINCE} [CPU 0 (1 of 4)]")
        );
    }

    #[test]
    fn a_domain_that_could_not_be_read_is_no_clean_one_and_hides_no_other() {
        let broken = "!failed Connection timed out";
        assert!(
            words(&host(&["cpus none\ncpu0 none", broken]), &[Kind::Power]).contains("timed out")
        );
        let found = words(&host(&["cpus RAS\ncpu0 RAS", broken]), &[Kind::Errors]);
        assert!(
            found.starts_with("low its protection against hardware errors (RAS) held"),
            "{found}"
        );
    }

    #[test]
    fn a_dump_is_of_all_cpus_where_every_die_has_it() {
        let dump = |value: &str| {
            let words =
                format!("00000001 00000000 00000000 00000000 00000000 00000000 {value} 00000000");
            let instance = |n| format!("TPMI Instance:{n} offset:0x0\n 00000000: {words}\n");
            instance(0) + &instance(1).replace(value, "00000004")
        };
        let host = |value: &str| {
            let mut host = host(&[]);
            let text = format!(
                "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 175\n\
                 //- /sys/kernel/debug/tpmi-0000:00:03.1/tpmi-id-0c/mem_dump\n{}",
                dump(value)
            );
            host.plr = host_of(&text).plr;
            host
        };
        let power = format!("info a power limit of the package or the platform {SINCE}");
        assert_eq!(words(&host("00000014"), &[Kind::Power]), format!("{power} [all 4 CPUs]"));
        let platform = host("00000014");
        assert_eq!(
            words(&platform, &[Kind::Platform]),
            format!("low PROCHOT# or a hot voltage regulator {SINCE}")
        );
        assert_eq!(
            findings(&platform, &[Kind::Platform]).unwrap()[0].evidence[0].source,
            "/sys/kernel/debug/tpmi-0000:00:03.1/tpmi-id-0c/mem_dump instance 0"
        );
    }

    #[test]
    fn without_its_files_a_server_with_tpmi_is_unknown_and_another_has_none() {
        assert_eq!(
            words(&host(&[]), &[Kind::Power]),
            "performance limit reasons (PLR) cannot be read: this processor logs it for the driver intel_plr_tpmi, which shows nothing in debugfs here \
             (mount debugfs, and modprobe intel_plr_tpmi (Linux 6.11 and later; not under lockdown))"
        );
        let xeon = host_of(crate::fixture::XEON);
        assert!(findings(&xeon, &[Kind::Power]).unwrap_err().is_absence());
    }
}
