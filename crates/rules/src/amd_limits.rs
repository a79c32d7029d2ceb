//! Limits on the clock of AMD's and Hygon's processors that no cpufreq policy shows.
//!
//! Sources: PStateCurLim (MSR 0xC0010061), AMD's PPRs; HSMP, facts::power::hsmp. The register says that firmware, heat or
//! the board limits the P-states, not which of them; the sources of HSMP's limit say it where the driver shows them.

mod hsmp;

pub(crate) use hsmp::{cpus_of, on_socket, signals};

use crate::check::Verdict;
use crate::commands;
use crate::finding::{Confidence, Finding, OfClock, Severity};
use crate::loss_scale::{self, Lost};
use crate::party::Party;
use facts::cpu::cpuinfo::CpuInfo;
use facts::msr::{Register, amd};
use facts::{CpuSet, Hertz, HostView};
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
            let mut findings = hsmp::by_hsmp(host);
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
        let lost = OfClock::lost(1.0 - share).at_least();
        finding = finding.cost_of_clock(lost, format!("{limit} of {nominal}"));
    }
    let cpus = of_cores(host, &cpus.iter().map(|(cpu, _)| *cpu).collect());
    finding
        .held_by(Party::Firmware)
        .advising("find whose budget the firmware keeps, in the log of the management controller")
        .by_means_of(format!("the P-state limit register (P{limit})"))
        .command(&commands::BMC_EVENTS, "")
        .fix_lasting(CAUSE)
        .on(cpus, host.topology.n_online())
}

#[cfg(test)]
mod tests {
    use super::capped;
    use crate::check::Verdict;
    use crate::fixture::host_of;

    /// An EPYC 7763 with this value of PStateCurLim, and what else there is.
    pub(super) fn epyc(limit: &str, more: &str) -> String {
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

    pub(super) fn words(verdict: Verdict) -> String {
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
}
