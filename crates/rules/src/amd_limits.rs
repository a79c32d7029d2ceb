//! Limits on the clock of AMD's and Hygon's processors that no cpufreq policy shows.
//!
//! Sources: PStateCurLim (MSR 0xC0010061), AMD's PPRs; HSMP, facts::power::hsmp. The register says that firmware, heat or
//! the board limits the P-states, not which of them; the sources of HSMP's limit say it where the driver shows them.

use crate::check::Verdict;
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use crate::loss_scale::{self, Lost};
use crate::party::Party;
use facts::cpu::cpuinfo::CpuInfo;
use facts::msr::{Register, amd};
use facts::power::hsmp::HsmpSocket;
use facts::{CpuSet, Elsewhere, Fact, Hertz, HostView, IfPresent};
use std::collections::BTreeMap;

/// Below this share of the nominal clock a limit is no rounding.
const REACHED: f64 = 0.99;

const CAUSE: &str = "find what firmware reacts to: a power cap of the management controller, a failed power supply, heat, or a power profile in the firmware's setup";

/// Clocks that firmware or the processor's own controller keeps below the nominal one.
///
/// No findings on other processors and on guests. Unknown where nothing is found and the register could not be read.
pub(crate) fn capped(host: &HostView) -> Verdict {
    match &host.cpuinfo {
        Ok(info) if info.is_amd() && !host.platform.is_guest() => {
            let by_register = by_register(host, info);
            let mut findings = by_hsmp(host);
            match by_register {
                Ok(found) => findings.extend(found),
                Err(missing) if findings.is_empty() => return Err(missing),
                Err(_) => {}
            }
            Ok(findings)
        }
        _ => Ok(Vec::new()),
    }
}

fn by_register(host: &HostView, info: &CpuInfo) -> Verdict {
    let values = match host.msrs.of(&amd::PSTATE_LIMIT) {
        Err(missing) if missing.is_absence() => return Ok(Vec::new()),
        values => values?,
    };
    let mut limited: BTreeMap<u64, Vec<(u32, u64)>> = BTreeMap::new();
    for (cpu, &value) in values.known().filter(|(_, value)| amd::pstate_limit(**value) > 0) {
        limited.entry(amd::pstate_limit(value)).or_default().push((cpu, value));
    }
    if limited.is_empty() {
        values.all_known()?;
    }
    let all: CpuSet = limited.values().flatten().map(|(cpu, _)| *cpu).collect();
    let are_many = loss_scale::are_many(host, &of_cores(host, &all));
    let finding =
        |(limit, cpus): (&u64, &Vec<(u32, u64)>)| limited_to(host, info, (*limit, are_many), cpus);
    Ok(limited.iter().map(finding).collect())
}

/// All threads of the cores of these CPUs.
fn of_cores(host: &HostView, cpus: &CpuSet) -> CpuSet {
    cpus.iter().flat_map(|cpu| host.topology.core_of(cpu).iter().collect::<Vec<_>>()).collect()
}

/// `limit` comes with whether all CPUs that have one are many.
fn limited_to(
    host: &HostView,
    info: &CpuInfo,
    (limit, are_many): (u64, bool),
    cpus: &[(u32, u64)],
) -> Finding {
    let definition = |number: u64| -> Option<Hertz> {
        let register: &Register = match number {
            0 => &amd::PSTATE_0,
            1 => &amd::PSTATE_1,
            2 => &amd::PSTATE_2,
            _ => return None,
        };
        let (_, &value) = host.msrs.of(register).ok()?.known().next()?;
        amd::pstate_clock(info.family, value)
    };
    let clocks = definition(limit).zip(definition(0));
    let share = clocks.map(|(limit, nominal)| limit.share_of(nominal));
    let range =
        clocks.map_or_else(String::new, |(limit, nominal)| format!(": {limit} of {nominal}"));
    let message =
        format!("the P-state limit register allows nothing above P{limit}{range}, and no boost");
    let mut finding = match share {
        Some(share) => {
            let lost = Lost::of_what_is_left(share, are_many);
            Finding::of_lost(lost, Confidence::High, message)
        }
        None => Finding::new(Severity::Medium, Confidence::High, message),
    };
    if let Some((cpu, value)) = cpus.first() {
        finding = finding.evidence(amd::PSTATE_LIMIT.path(*cpu), format!("{value:#x}"));
    }
    if let Some((share, (limit, nominal))) = share.zip(clocks) {
        let lost = format!("at least {:.0} % of the clock", 100.0 * (1.0 - share));
        finding = finding.cost(lost, format!("{limit} of {nominal}"));
    }
    let cpus = of_cores(host, &cpus.iter().map(|(cpu, _)| *cpu).collect());
    finding
        .held_by(Party::Firmware)
        .to_do("find whose budget the firmware keeps, in the log of the management controller")
        .by_means_of(format!("the P-state limit register (P{limit})"))
        .command(&commands::BMC_EVENTS, "")
        .fix_lasting(CAUSE)
        .on(cpus, host.topology.n_online())
}

/// A limit below the nominal clock; above it, the limit is the boost that power and current leave.
fn by_hsmp(host: &HostView) -> Vec<Finding> {
    let Some((nominal, _)) = host.nominal_clock() else { return Vec::new() };
    let sockets = host.hsmp.as_deref().unwrap_or_default();
    let limited = sockets.iter().filter_map(|socket| {
        let limit = *socket.clock_limit.as_ref().ok()?;
        (limit.0 > 0 && limit.share_of(nominal) < REACHED).then_some((socket, limit))
    });
    let limited: Vec<(&HsmpSocket, Hertz)> = limited.collect();
    let are_many = 2 * limited.len() >= sockets.len();
    let finding = |(socket, limit): (&HsmpSocket, Hertz)| {
        let lost = Lost::of_what_is_left(limit.share_of(nominal), are_many);
        held_by_socket(socket, lost, (limit, nominal))
    };
    limited.into_iter().map(finding).collect()
}

fn held_by_socket(socket: &HsmpSocket, lost: Lost, (limit, nominal): (Hertz, Hertz)) -> Finding {
    let sources = socket.limit_sources.as_deref().unwrap_or_default().join(", ");
    let because = if sources.is_empty() { String::new() } else { format!(" ({sources})") };
    let message = format!(
        "the processor's controller holds the cores of a socket to {limit}, below the nominal {nominal}{because}"
    );
    let share = limit.share_of(nominal);
    let mut finding = Finding::of_lost(lost, Confidence::High, message)
        .evidence(socket.path("cclk_freq_limit_input"), limit.0 / 1_000_000);
    if !sources.is_empty() {
        finding = finding.evidence(socket.path("pwr_current_active_freq_limit_source"), sources);
    }
    finding
        .cost(
            format!("{:.0} % of the clock", 100.0 * (1.0 - share)),
            format!("{limit} of {nominal}"),
        )
        .command(&commands::BMC_EVENTS, "")
        .fix_lasting(CAUSE)
}

/// What limits the clock at the moment of reading, by HSMP: PROCHOT#, heat, and agents of the management.
///
/// Limits of power and current are how a processor with boost works, and no finding.
///
/// Unknown where no socket tells.
pub(crate) fn signals(host: &HostView) -> Verdict {
    const WHAT: &str = "PROCHOT#";
    host.platform.hides(WHAT)?;
    let Some(sockets) = host.hsmp.if_present()? else {
        host.shows(WHAT, Elsewhere::Hsmp)?;
        return Ok(Vec::new());
    };
    let (mut findings, mut unknown) = (Vec::new(), None);
    for socket in sockets {
        match signals_of(socket) {
            Ok(found) => findings.extend(found),
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    match unknown {
        Some(missing) if findings.is_empty() => Err(missing),
        _ => Ok(findings),
    }
}

/// The names that drivers/platform/x86/amd/hsmp/acpi.c gives the sources (freqlimit_srcnames); "PPT Limit", "TDC limit",
/// "OPN Max" and "Reliability Limit" are normal.
const SOURCES: [(&str, Severity, &str); 4] = [
    ("PROCHOT", Severity::High, "PROCHOT#"),
    ("cHTC-Active", Severity::Medium, "its own temperature"),
    ("APML Agent", Severity::Low, "the management controller (APML)"),
    ("HSMP Agent", Severity::Low, "a program that uses HSMP"),
];

fn signals_of(socket: &HsmpSocket) -> Fact<Vec<Finding>> {
    let found = |severity, name: &str, file, value: &str| {
        let message = format!("{name} holds the clock of a socket down at this moment");
        Finding::new(severity, Confidence::High, message)
            .evidence(socket.path(file), value)
            .command(&commands::BMC_EVENTS, "")
            .fix_lasting(CAUSE)
    };
    let mut findings = Vec::new();
    for source in socket.limit_sources.as_deref().unwrap_or_default() {
        let known = SOURCES.iter().find(|(name, ..)| name == source);
        let file = "pwr_current_active_freq_limit_source";
        findings.extend(known.map(|(_, severity, name)| found(*severity, name, file, source)));
    }
    let is_hot = socket.prochot.clone();
    if is_hot == Ok(true) && findings.iter().all(|it| it.severity < Severity::Medium) {
        findings.push(found(Severity::High, "its thermal threshold", "prochot_status", "1"));
    }
    if findings.is_empty() {
        // A driver without the file of sources has the status all the same.
        is_hot?;
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::{capped, signals};
    use crate::check::Verdict;
    use crate::fixture::host_of;

    /// An EPYC 7763 with this value of PStateCurLim, and what else there is.
    fn epyc(limit: &str, more: &str) -> String {
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : AuthenticAMD\ncpu family : 25\nmodel : 1\n\
             model name : AMD EPYC 7763 64-Core Processor\nflags : hw_pstate cpb\n\
             //- /sys/devices/system/cpu/online\n0-1\n\
             //- /sys/devices/system/cpu/cpu0/topology/core_cpus_list\n0-1\n\
             //- /sys/devices/system/cpu/cpu0/topology/package_cpus_list\n0-1\n\
             //- /sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq\n2450\n\
             //- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus\n0 1\n\
             //- /dev/cpu/0/msr 0xc0010061\n{limit}\n//- /dev/cpu/0/msr 0xc0010064\n0x8000000049120862\n\
             //- /dev/cpu/0/msr 0xc0010066\n0x8000000049120c5a\n{more}"
        )
    }

    fn socket(prochot: &str, limit: &str, sources: &str) -> String {
        let folder = "//- /sys/devices/platform/AMDI0097:00";
        format!(
            "{folder}/prochot_status\n{prochot}\n{folder}/cclk_freq_limit_input\n{limit}\n\
             {folder}/pwr_current_active_freq_limit_source\n{sources}\n"
        )
    }

    fn words(verdict: Verdict) -> String {
        match verdict {
            Err(missing) => missing.advice(),
            Ok(findings) => {
                let line = |it: &crate::finding::Finding| {
                    format!("{}: {}", it.severity.name(), it.message)
                };
                findings.iter().map(line).collect::<Vec<_>>().join("\n")
            }
        }
    }

    #[test]
    fn a_pstate_that_firmware_does_not_allow_is_found_with_its_clock() {
        let found = |limit: &str| words(capped(&host_of(&epyc(limit, ""))));
        assert_eq!(
            found("0x22"),
            "high: the P-state limit register allows nothing above P2: 1500 MHz of 2450 MHz, and no boost"
        );
        assert_eq!(found("0x20"), "");
        assert_eq!(found("!denied"), "/dev/cpu/0/msr 0xc0010061 may not be read (run as root)");
        // A guest's registers are its hypervisor's.
        let guest = epyc("0x22", "").replace("hw_pstate cpb", "hw_pstate cpb hypervisor");
        assert_eq!(words(capped(&host_of(&guest))), "");
    }

    #[test]
    fn hygons_processors_are_amds_design() {
        let hygon =
            epyc("0x22", "").replace("AuthenticAMD", "HygonGenuine").replace(": 25", ": 24");
        assert!(words(capped(&host_of(&hygon))).starts_with("high: the P-state limit register"));
    }

    #[test]
    fn a_limit_of_the_processors_controller_counts_below_the_nominal_clock_only() {
        let found = |limit: &str| {
            let host = epyc("0x20", &socket("0", limit, "PPT Limit"));
            words(capped(&host_of(&host)))
        };
        assert_eq!(
            found("1200"),
            "high: the processor's controller holds the cores of a socket to 1200 MHz, below the nominal 2450 MHz (PPT Limit)"
        );
        assert_eq!(found("3400"), "");
    }

    #[test]
    fn prochot_is_read_of_the_driver_and_unknown_without_it() {
        let found = |more: &str| words(signals(&host_of(&epyc("0x20", more))));
        assert_eq!(
            found(""),
            "PROCHOT# cannot be read: EPYC 7003 and later report it through HSMP, and no driver shows it here \
             (on EPYC 7003 and later: modprobe hsmp_acpi (amd_hsmp on older kernels); else ask the management controller)"
        );
        assert_eq!(found(&socket("0", "3400", "PPT Limit")), "");
        assert_eq!(
            found(&socket("1", "1200", "")),
            "high: its thermal threshold holds the clock of a socket down at this moment"
        );
        assert_eq!(
            found(&socket("1", "1200", "cHTC-Active\nPROCHOT")),
            "medium: its own temperature holds the clock of a socket down at this moment\n\
             high: PROCHOT# holds the clock of a socket down at this moment"
        );
        assert!(found(&socket("!denied", "3400", "")).contains("prochot_status may not be read"));
    }
}
