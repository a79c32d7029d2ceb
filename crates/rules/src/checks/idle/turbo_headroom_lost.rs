//! Looks for what keeps idle CPUs in C1 or shallower, so that busy cores get no turbo beyond the all-core one.
//!
//! Source: Documentation/admin-guide/pm/cpuidle.rst and intel_idle.rst. It judges what the kernel may ask for;
//! how deep the cores really sleep is in their residency counters.

use crate::advice::lasting::{active_profile, child_profile, off_the_boot_line};
use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use facts::cpu::cpuidle::{FOLDER, IdleState, LATENCY_DEVICE, ResumeLatency, StateTable};
use facts::cpu::cpuinfo::CpuInfo;
use facts::cpu::idle_limits::Barrier;
use facts::msr::intel::{PKG_CST_CONFIG_CONTROL, TURBO_RATIO_LIMIT};
use facts::msr::turbo_ratios;
use facts::{CpuSet, HostView, Missing};
use std::collections::BTreeMap;

const CPUS: &str = "/sys/devices/system/cpu";

pub(crate) const CHECK: Check = Check {
    id: "turbo-headroom-lost",
    title: "idle CPUs may not sleep deep enough to leave turbo to the busy ones",
    doc: "\
## What it looks at
The deepest idle state that the kernel may ask for on every CPU: the states that the driver offers (the boot
line can shorten the list: `intel_idle.max_cstate`, `processor.max_cstate`, `idle=`, `cpuidle.off`), those
that are switched off (`cpuN/cpuidle/stateM/disable`), and the exit latency that is allowed for all CPUs
(`/dev/cpu_dma_latency`) and for each (`cpuN/power/pm_qos_resume_latency_us`). A package limit (MSR 0xE2, bits 3:0) does
not lower turbo: a package with a busy core is awake, and its other cores sleep in C6 whatever the limit is.

It looks at what the kernel may request. On Intel it also reads whether cores that were demoted to C1 are ever promoted back
(MSR 0xE2, bits 26 and 28). With C1 demotion on, the usual setting, a processor turns requests for C6 of a core that wakes up
often into C1; `core-residency` shows how deep the cores really sleep. C1E promotion (MSR 0x1FC, bit 1) turns requests
for C1 into C1E and leaves those for C6 alone, so that it takes no turbo.

## Why it matters
A core in C1 has stopped its clock but keeps its voltage and its place in the count of active cores. Only cores
in C3, C6 or deeper give their share of power, current and turbo bins to the busy ones. With C1 only, a
single busy core gets no more than the all-core turbo: the finding says how far that is below the turbo of one core,
where the processor tells (MSR 0x1AD). An example: on two Xeon E5-2680 the same single-threaded test took
7.97 s at 3.45 GHz with C6, and 9.00 s at 3.09 GHz with C1 only: 13 % slower, by a setting made for speed.

## When to leave it alone
Where a tuned profile (`sap-hana`, `postgresql`, `mssql`, `latency-performance`) or a program holds `/dev/cpu_dma_latency`
for the sake of its wake-ups: then this is a note. Where every core is busy all the time, so that there is nothing to give; where a wake-up of some tens of
microseconds hurts more than a slower clock (C6 takes 80 to 300 microseconds to leave, as `latency` shows); on
processors without turbo. Measure both: the single-threaded phases of a database gain from deep idle
states, its wake-up latency from shallow ones.
",
    references: &[
        Reference {
            title: "Linux: CPU Idle Time Management, Idle States Control Via Kernel Command Line",
            url: "https://docs.kernel.org/admin-guide/pm/cpuidle.html#idle-states-control-via-kernel-command-line",
        },
        Reference {
            title: "Linux: Power Management Quality of Service for CPUs",
            url: "https://docs.kernel.org/admin-guide/pm/cpuidle.html#power-management-quality-of-service-for-cpus",
        },
        Reference {
            title: "Linux: intel_idle, Kernel Command Line Options and Module Parameters",
            url: "https://docs.kernel.org/admin-guide/pm/intel_idle.html#kernel-command-line-options-and-module-parameters",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let info = host.cpuinfo.as_ref()?;
    if !info.is_intel() && !info.is_amd() {
        return Err(Missing::not_here("turbo", "/proc/cpuinfo names neither Intel nor AMD"));
    }
    if let Some(finding) = limited_at_boot(host, info) {
        return Ok(vec![finding]);
    }
    let tables = host.cpuidle.tables.as_ref()?;
    let mut findings = kept_shallow(host, tables);
    if findings.is_empty() {
        findings.extend(tables.iter().flat_map(|table| left_out(host, table)));
    }
    if findings.is_empty() {
        host.cpuidle.limits_known()?;
        // A guest's states are not the hardware's.
        host.platform.hides("how deep the processor's cores sleep")?;
        findings.extend(demoted(host));
    }
    Ok(findings)
}

/// The driver offers nothing deeper than C1: by a boot parameter, or by the firmware's word.
fn limited_at_boot(host: &HostView, info: &CpuInfo) -> Option<Finding> {
    let deepest = match &host.cpuidle.tables {
        Ok(tables) => {
            let mut states = tables.iter().flat_map(|it| &it.states);
            if states.clone().any(IdleState::is_deep) {
                return None;
            }
            states.next_back().map(|it| it.name.as_str())
        }
        Err(missing) if missing.is_absence() => None,
        Err(_) => return None,
    };
    let line = host.kernel.boot_line.as_ref().ok();
    let parameters = line.map(|it| host.cpuidle.boot_limits(it, info, host.platform.is_guest()));
    let parameters = parameters.unwrap_or_default().join(" ");
    if parameters.is_empty() {
        return limited_by_firmware(host, info, deepest?);
    }
    let message = if parameters.contains("idle=poll") {
        format!("idle CPUs poll and never sleep: {parameters} on the boot line")
    } else {
        let deepest = deepest.unwrap_or("C1");
        format!("idle CPUs go no deeper than {deepest}: {parameters} on the boot line")
    };
    let finding = judged(host, host.topology.online.clone().unwrap_or_default(), message)
        .evidence("/proc/cmdline", &parameters)
        .fix_lasting(off_the_boot_line(&parameters));
    Some(finding)
}

/// No boot parameter explains a list without deep states. Old processors and most guests have none.
fn limited_by_firmware(host: &HostView, info: &CpuInfo, deepest: &str) -> Option<Finding> {
    if !info.has_turbo() || !host.platform.is_bare_metal() {
        return None;
    }
    let driver = host.cpuidle.driver.as_deref().unwrap_or("the idle driver");
    let message = format!("idle CPUs go no deeper than {deepest}: {driver} offers no deeper state");
    Some(
        Finding::new(Severity::Low, Confidence::Medium, message)
            .evidence(format!("{FOLDER}/current_driver"), driver)
            .fix_lasting("allow core C-states (C6) in the firmware's setup"),
    )
}

/// CPUs that have deep states and may use none of them, by reason.
fn kept_shallow(host: &HostView, tables: &[StateTable]) -> Vec<Finding> {
    let mut kept: BTreeMap<(&str, Vec<Barrier>), CpuSet> = BTreeMap::new();
    for table in tables {
        for cpu in table.cpus.iter() {
            if let Some(barriers) = host.cpuidle.barriers(table, cpu) {
                let deepest = host.cpuidle.deepest_usable(table, cpu);
                kept.entry((deepest, barriers)).or_default().insert(cpu);
            }
        }
    }
    let explained = |((deepest, barriers), cpus)| explained(host, deepest, barriers, &cpus);
    kept.into_iter().map(explained).collect()
}

fn explained(host: &HostView, deepest: &str, barriers: Vec<Barrier>, cpus: &CpuSet) -> Finding {
    let first = cpus.first().unwrap_or(0);
    let reasons: Vec<String> = barriers.iter().map(|it| reason(host, it)).collect();
    let message = format!("idle CPUs go no deeper than {deepest}: {}", reasons.join(", "));
    let mut finding = judged(host, cpus.clone(), message);
    // Another barrier is a fault for itself, whatever the limit is for.
    if let [Barrier::EveryCpu(_)] = barriers[..] {
        finding = excused(host, finding);
    }
    let limit = barriers.iter().find_map(|it| match it {
        Barrier::EveryCpu(limit) => Some(*limit),
        _ => None,
    });
    let mut lasting = Vec::new();
    for barrier in barriers {
        let text;
        (finding, text) = match barrier {
            Barrier::Disabled(states) => {
                let enabled = |it, (number, name): &(u32, String)| {
                    // Enabled, it would still take too long to leave.
                    let is_in_vain = limit.is_some_and(|it| forbids(host, it, *number, cpus));
                    if is_in_vain {
                        off(it, *number, cpus)
                    } else {
                        enabled(it, *number, name, cpus)
                    }
                };
                let text = "stop the service or boot script that disables it".to_owned();
                (states.iter().fold(finding, enabled), text)
            }
            Barrier::EveryCpu(limit) => with_holders(host, finding, limit),
            Barrier::OneCpu(limit) => (
                finding
                    .evidence(format!("{CPUS}/cpu{first}/power/pm_qos_resume_latency_us"), limit)
                    .fix_by_on("resume-latency", "any", cpus.clone()),
                "stop the service or boot script that writes pm_qos_resume_latency_us".to_owned(),
            ),
        };
        lasting.push(text);
    }
    finding.fix_lasting(lasting.join("; "))
}

fn reason(host: &HostView, barrier: &Barrier) -> String {
    match barrier {
        Barrier::Disabled(states) => {
            let names: Vec<&str> = states.iter().map(|(_, name)| name.as_str()).collect();
            format!("{} disabled", names.join(" and "))
        }
        Barrier::EveryCpu(limit) => {
            let holders = host.cpuidle.latency_holders.as_deref().unwrap_or_default();
            let holders: Vec<String> =
                holders.iter().map(|it| format!("{} ({})", it.name, it.pid)).collect();
            let by = if holders.is_empty() { String::new() } else { " held by ".to_owned() };
            format!("{LATENCY_DEVICE}{by}{} allows {limit} µs", holders.join(" and "))
        }
        Barrier::OneCpu(ResumeLatency::None) => {
            "pm_qos_resume_latency_us forbids every state".to_owned()
        }
        Barrier::OneCpu(limit) => format!("pm_qos_resume_latency_us allows {limit} µs"),
    }
}

fn enabled(finding: Finding, number: u32, name: &str, cpus: &CpuSet) -> Finding {
    off(finding, number, cpus).fix_by_on("idle-state", format!("{name}:on"), cpus.clone())
}

fn off(finding: Finding, number: u32, cpus: &CpuSet) -> Finding {
    let first = cpus.first().unwrap_or(0);
    finding.evidence(format!("{CPUS}/cpu{first}/cpuidle/state{number}/disable"), 1)
}

/// Whether a latency limit of `limit` µs forbids a state on each of `cpus`.
fn forbids(host: &HostView, limit: u32, number: u32, cpus: &CpuSet) -> bool {
    let tables = host.cpuidle.tables.as_deref().unwrap_or_default();
    let tables = tables.iter().filter(|it| !it.cpus.and(cpus).is_empty());
    let mut states = tables.flat_map(|it| &it.states).filter(|it| it.number == number);
    states.all(|it| it.latency.as_ref().is_ok_and(|&latency| latency > u64::from(limit)))
}

/// A finding of nothing but the latency limit of all CPUs. A tuned profile that holds it does so on purpose, and so does a program: that is a
/// note, or little more. Where no descriptor could be read, an active profile may be the holder.
fn excused(host: &HostView, mut finding: Finding) -> Finding {
    let most = match (&host.cpuidle.latency_holders, active_profile(host)) {
        (Ok(holders), profile) if holders.iter().any(|it| it.name == "tuned") => {
            if let Some(active) = profile {
                finding.message =
                    format!("{}; tuned's profile {active} sets it on purpose", finding.message);
            }
            Severity::Info
        }
        (Ok(holders), _) if !holders.is_empty() => Severity::Low,
        (Err(_), Some(_)) => Severity::Low,
        _ => return finding,
    };
    finding.severity = finding.severity.min(most);
    finding
}

/// The latency limit of all CPUs: who holds it, and what ends it.
fn with_holders(host: &HostView, finding: Finding, limit: u32) -> (Finding, String) {
    let holders = host.cpuidle.latency_holders.as_deref().unwrap_or_default();
    let mut finding = finding.evidence(LATENCY_DEVICE, limit);
    for holder in holders {
        finding = finding.evidence(format!("/proc/{}/fd", holder.pid), LATENCY_DEVICE);
    }
    if holders.iter().any(|it| it.name == "tuned") {
        let text = match active_profile(host) {
            Some(active) => {
                let child = child_profile(&active, "force_latency=none");
                format!("where single-threaded speed matters more than wake-ups: {child}")
            }
            None => "the tuned profile sets it (`[cpu] force_latency`)".to_owned(),
        };
        return (finding, text);
    }
    let text = "the limit ends when the process that holds the device closes it; without one, a driver requested it";
    (finding.command(&commands::LATENCY_HOLDERS, ""), text.to_owned())
}

/// A deep state that is disabled while another deep one may be used.
fn left_out(host: &HostView, table: &StateTable) -> Vec<Finding> {
    let off = table.states.iter().map(|state| (state, state.disabled.cpus_where(|&off| off)));
    off.filter(|(_, cpus)| !cpus.is_empty())
        .map(|(state, cpus)| {
            let message =
                format!("idle state {} is disabled, others deeper than C1 are not", state.name);
            let finding = Finding::new(Severity::Info, Confidence::High, message);
            enabled(finding, state.number, &state.name, &cpus).on(cpus, host.topology.n_online())
        })
        .collect()
}

/// Requests for C6 that the processor may turn into C1, where it never turns them back.
fn demoted(host: &HostView) -> Option<Finding> {
    let demoted = host.msrs.demoted_to_c1().ok()??;
    let first = demoted.cpus.first()?;
    let message = "cores that wake up often are demoted to C1 and never promoted back: C1 demotion is on, undemotion off";
    let finding = Finding::new(Severity::Info, Confidence::Medium, message)
        .evidence(PKG_CST_CONFIG_CONTROL.path(first), format!("{:#x}", demoted.value));
    let threads =
        demoted.cpus.iter().flat_map(|cpu| host.topology.core_of(cpu).iter().collect::<Vec<_>>());
    Some(finding.on(threads.collect(), host.topology.n_online()))
}

/// A finding as severe as the turbo there is to lose.
fn judged(host: &HostView, cpus: CpuSet, message: String) -> Finding {
    let has_turbo = host.cpuinfo.as_ref().is_ok_and(CpuInfo::has_turbo);
    let (severity, confidence) = match has_turbo {
        // A guest's idle states and flags need not be the hardware's.
        _ if host.platform.is_guest() => (Severity::Low, Confidence::Low),
        false => (Severity::Info, Confidence::Medium),
        true if is_most(host, &cpus) => (Severity::Medium, Confidence::High),
        true => (Severity::Low, Confidence::High),
    };
    let finding = Finding::new(severity, confidence, message).on(cpus, host.topology.n_online());
    match turbo_range(host) {
        Some((one, most)) if has_turbo && one > most => finding.cost(
            format!(
                "up to {:.0} % of the clock of a core that is busy alone",
                100.0 * f64::from(one - most) / f64::from(one)
            ),
            format!(
                "turbo ratio {one} for the fewest active cores, {most} for the most ({})",
                TURBO_RATIO_LIMIT.path(0)
            ),
        ),
        _ => finding,
    }
}

/// The turbo ratios for the fewest and for the most active cores.
fn turbo_range(host: &HostView) -> Option<(u8, u8)> {
    let (_, limit) = host.msrs.of(&TURBO_RATIO_LIMIT).ok()?.known().next()?;
    turbo_ratios::range(host.cpuinfo.as_ref().ok()?, *limit)
}

/// Whether `cpus` keep at least half of the cores awake; one thread is enough for a core.
fn is_most(host: &HostView, cpus: &CpuSet) -> bool {
    match &host.topology.cores {
        Ok(cores) => 2 * cores.iter().filter(|it| !it.and(cpus).is_empty()).count() >= cores.len(),
        Err(_) => 2 * cpus.len() >= host.topology.n_online(),
    }
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    /// Two CPUs of a Xeon E5-2680 with POLL, C1, C3 and C6; `more` adds or replaces answers.
    fn host(more: &str) -> String {
        let state = |number: u32, name: &str, latency: u32| {
            let folder =
                |cpu| format!("//- /sys/devices/system/cpu/cpu{cpu}/cpuidle/state{number}");
            let (first, second) = (folder(0), folder(1));
            format!(
                "{first}/name\n{name}\n{first}/latency\n{latency}\n{first}/disable\n0\n{second}/disable\n0\n"
            )
        };
        let states =
            [state(0, "POLL", 0), state(1, "C1", 2), state(2, "C3", 80), state(3, "C6", 104)];
        format!("{BOX}{}{more}", states.concat())
    }

    const BOX: &str = "\
//- /proc/cpuinfo
processor : 0
vendor_id : GenuineIntel
flags : ida
//- /proc/cmdline
quiet
//- /sys/devices/system/cpu/online
0-1
//- /sys/devices/system/cpu/cpuidle/current_driver
intel_idle
";

    const C3_OFF: &str = "//- /sys/devices/system/cpu/cpu0/cpuidle/state2/disable\n1\n//- /sys/devices/system/cpu/cpu1/cpuidle/state2/disable\n1\n";
    const C6_OFF: &str = "//- /sys/devices/system/cpu/cpu0/cpuidle/state3/disable\n1\n//- /sys/devices/system/cpu/cpu1/cpuidle/state3/disable\n1\n";

    /// Only POLL and C1 are offered.
    fn shallow(boot_line: &str, more: &str) -> String {
        let state = "//- /sys/devices/system/cpu/cpu0/cpuidle/state";
        format!(
            "{BOX}{state}0/name\nPOLL\n{state}1/name\nC1\n//- /proc/cmdline\n{boot_line}\n{more}"
        )
    }

    const GUEST: &str = "//- /sys/class/dmi/id/sys_vendor\nQEMU\n";

    #[test]
    fn a_boot_limit_to_c1_is_medium_and_disappears_with_it() {
        assert_eq!(
            verdict(&CHECK, &shallow("quiet intel_idle.max_cstate=1", "")),
            "medium: idle CPUs go no deeper than C1: intel_idle.max_cstate=1 on the boot line [all 2 CPUs]"
        );
        assert_eq!(verdict(&CHECK, &host("")), "clean");
    }

    #[test]
    fn a_boot_limit_counts_by_the_states_it_left() {
        assert_eq!(verdict(&CHECK, &host("//- /proc/cmdline\nintel_idle.max_cstate=0\n")), "clean");
    }

    #[test]
    fn polling_by_boot_line_is_named() {
        assert_eq!(
            verdict(&CHECK, &format!("{BOX}//- /proc/cmdline\nidle=poll\n")),
            "medium: idle CPUs poll and never sleep: idle=poll on the boot line [all 2 CPUs]"
        );
    }

    #[test]
    fn disabled_states_are_a_fault_only_when_none_deeper_than_c1_is_left() {
        assert_eq!(
            verdict(&CHECK, &host(&format!("{C3_OFF}{C6_OFF}"))),
            "medium: idle CPUs go no deeper than C1: C3 and C6 disabled [all 2 CPUs]"
        );
        assert_eq!(
            verdict(&CHECK, &host(C3_OFF)),
            "info: idle state C3 is disabled, others deeper than C1 are not [all 2 CPUs]"
        );
    }

    const HELD_BY_TUNED: &str = "//- /dev/cpu_dma_latency\n!bytes 01000000\n//- /proc/812/stat\n812 (tuned) S 1 1 1 0 -1 4194560 0\n//- /proc/812/fd/7 -> /dev/cpu_dma_latency\n";

    #[test]
    fn a_limit_that_a_tuned_profile_holds_is_a_note_and_the_profile_stays() {
        let held = format!("{HELD_BY_TUNED}//- /etc/tuned/active_profile\nsap-hana\n");
        assert_eq!(
            verdict(&CHECK, &host(&held)),
            "info: idle CPUs go no deeper than POLL: /dev/cpu_dma_latency held by tuned (812) allows 1 µs; tuned's profile sap-hana sets it on purpose [all 2 CPUs]"
        );
        let fix = findings(&CHECK, &host(&held)).remove(0).fix;
        assert!(fix.now.is_empty() && fix.apply.is_empty() && fix.by_hand.is_empty(), "{fix:?}");
        let lasting = fix.lasting.unwrap();
        assert!(
            lasting.contains("include=sap-hana") && !lasting.contains("throughput"),
            "{lasting}"
        );
    }

    #[test]
    fn a_limit_that_another_program_holds_is_low_and_one_without_a_holder_medium() {
        let held = HELD_BY_TUNED.replace("(tuned)", "(trader)");
        assert_eq!(
            verdict(&CHECK, &host(&held)),
            "low: idle CPUs go no deeper than POLL: /dev/cpu_dma_latency held by trader (812) allows 1 µs [all 2 CPUs]"
        );
        let driver = "//- /dev/cpu_dma_latency\n!bytes 01000000\n";
        assert!(verdict(&CHECK, &host(driver)).starts_with("medium: "));
        let idle = "//- /dev/cpu_dma_latency\n!bytes 00943577\n";
        assert_eq!(verdict(&CHECK, &host(idle)), "clean");
    }

    #[test]
    fn a_held_limit_does_not_excuse_a_state_that_is_disabled_as_well() {
        let held = format!("{HELD_BY_TUNED}//- /etc/tuned/active_profile\nsap-hana\n{C6_OFF}");
        assert_eq!(
            verdict(&CHECK, &host(&held)),
            "medium: idle CPUs go no deeper than POLL: C6 disabled, /dev/cpu_dma_latency held by tuned (812) allows 1 µs [all 2 CPUs]"
        );
        let fix = findings(&CHECK, &host(&held)).remove(0).fix;
        assert!(fix.requests.is_empty() && fix.apply.is_empty(), "{fix:?}");
        let lasting = fix.lasting.unwrap();
        assert!(lasting.contains("disables it; ") && lasting.contains("sap-hana"), "{lasting}");
        // 90 µs leave C3, which only the switch keeps out, and forbid C6.
        let c3_only = held.replace("01000000", "5a000000").replace(C6_OFF, C3_OFF);
        let fix = findings(&CHECK, &host(&c3_only)).remove(0).fix;
        assert_eq!(fix.apply, ["idle-state=C3:on"]);
    }

    #[test]
    fn a_limit_of_unknown_holders_is_low_where_a_tuned_profile_is_active() {
        let held = format!("{HELD_BY_TUNED}//- /etc/tuned/active_profile\nsap-hana\n")
            .replace("/fd/7 -> /dev/cpu_dma_latency", "/fd/\n!denied");
        assert_eq!(
            verdict(&CHECK, &host(&held)),
            "low: idle CPUs go no deeper than POLL: /dev/cpu_dma_latency allows 1 µs [all 2 CPUs]"
        );
        let no_profile = held.replace("sap-hana", "");
        assert!(verdict(&CHECK, &host(&no_profile)).starts_with("medium: "));
        assert!(verdict(&CHECK, &host(&format!("{held}{C6_OFF}"))).starts_with("medium: "));
    }

    #[test]
    fn disabled_states_are_enabled_by_name_and_no_other_place_is_written() {
        let fix = findings(&CHECK, &host(&format!("{C3_OFF}{C6_OFF}"))).remove(0).fix;
        assert_eq!(fix.apply, ["idle-state=C3:on", "idle-state=C6:on"]);
        let cpuidle = |state| {
            format!("echo 0 | tee /sys/devices/system/cpu/cpu{{0,1}}/cpuidle/state{state}/disable")
        };
        assert_eq!(fix.now, [cpuidle(2), cpuidle(3)]);
    }

    #[test]
    fn the_cost_is_that_of_this_processor() {
        let ratios = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nflags : ida\n//- /dev/cpu/0/msr 0xce\n0x1800\n//- /dev/cpu/0/msr 0x1ad\n0x1e1e1e1e1e1e2628\n";
        let cost =
            |more: &str| findings(&CHECK, &host(&format!("{C3_OFF}{C6_OFF}{more}"))).remove(0).cost;
        assert_eq!(
            cost(ratios).unwrap().estimate,
            "up to 25 % of the clock of a core that is busy alone"
        );
        assert_eq!(cost(""), None);
    }

    #[test]
    fn one_cpu_that_may_not_sleep_names_its_own_limit() {
        assert_eq!(
            verdict(
                &CHECK,
                &host("//- /sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us\nn/a\n")
            ),
            "medium: idle CPUs go no deeper than POLL: pm_qos_resume_latency_us forbids every state [CPU 1 (1 of 2)]"
        );
    }

    #[test]
    fn without_turbo_it_is_a_note() {
        let host = host(&format!("{C3_OFF}{C6_OFF}")).replace("flags : ida", "flags : sse2");
        assert!(verdict(&CHECK, &host).starts_with("info: "));
    }

    #[test]
    fn a_guest_with_idle_states_of_its_own_is_judged_with_care() {
        let acpi =
            format!("{GUEST}//- /sys/devices/system/cpu/cpuidle/current_driver\nacpi_idle\n");
        assert_eq!(
            verdict(&CHECK, &shallow("processor.max_cstate=1", &acpi)),
            "low: idle CPUs go no deeper than C1: processor.max_cstate=1 on the boot line [all 2 CPUs]"
        );
        assert_eq!(
            verdict(&CHECK, &shallow("", &acpi)),
            "unknown: how deep the processor's cores sleep is hidden from a guest of QEMU/KVM"
        );
    }

    #[test]
    fn a_guest_without_idle_states_ignores_the_parameters_of_its_image() {
        let none = "//- /sys/devices/system/cpu/cpuidle/current_driver\nnone\n";
        let host = format!("{BOX}{GUEST}{none}//- /proc/cmdline\nintel_idle.max_cstate=0\n");
        assert_eq!(
            verdict(&CHECK, &host),
            "not applicable: /sys/devices/system/cpu/cpu0/cpuidle does not exist"
        );
    }

    #[test]
    fn firmware_without_deep_states_is_low() {
        assert_eq!(
            verdict(&CHECK, &shallow("quiet", "")),
            "low: idle CPUs go no deeper than C1: intel_idle offers no deeper state"
        );
    }

    #[test]
    fn a_package_that_is_kept_awake_takes_no_turbo() {
        let msrs = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 79\nflags : ida\n//- /dev/cpu/0/msr 0xce\n0x1800\n//- /dev/cpu/0/msr 0xe2\n0x8400\n";
        assert_eq!(verdict(&CHECK, &host(msrs)), "clean");
    }

    #[test]
    fn a_limit_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("//- /dev/cpu_dma_latency\n!denied\n")),
            "unknown: /dev/cpu_dma_latency may not be read"
        );
    }
}
