//! Looks for what keeps idle CPUs in C1 or shallower, so that busy cores get no turbo beyond the all-core one.
//!
//! Source: Documentation/admin-guide/pm/cpuidle.rst and intel_idle.rst. It judges what the kernel may ask for;
//! how deep the cores really sleep is in their residency counters.

mod barriers;

use crate::boot_line;
use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use crate::loss_scale::Lost;
use crate::loss_scale::deviations::{CHOSEN_LATENCY, ONE_BUSY_CORE, SLEEP_OF_A_GUEST};
use facts::cpu::cpuidle::{FOLDER, IdleState};
use facts::cpu::cpuinfo::CpuInfo;
use facts::msr::intel::{PKG_CST_CONFIG_CONTROL, TURBO_RATIO_LIMIT};
use facts::msr::ratios;
use facts::{CpuSet, HostView, Missing};

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
    let mut findings = barriers::kept_shallow(host, tables);
    if findings.is_empty() {
        findings.extend(tables.iter().flat_map(|table| barriers::left_out(host, table)));
    }
    if findings.is_empty() {
        // A guest's states are not the hardware's, whoever asks.
        host.platform.hides("how deep the processor's cores sleep")?;
        host.cpuidle.limits_known()?;
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
        .evidence("/proc/cmdline", &parameters);
    Some(match is_for_latency(host) {
        Some(why) => finding
            .but(&CHOSEN_LATENCY)
            .fix_lasting(format!("leave it where short waits are worth more than turbo: {why}")),
        None => finding.fix_lasting(boot_line::without(host, &parameters)),
    })
}

/// Why somebody has probably given up turbo to wake up sooner.
fn is_for_latency(host: &HostView) -> Option<String> {
    let config = host.kernel.config.as_ref();
    let is_realtime = host.kernel.release.as_ref().is_ok_and(|it| it.contains("-rt"))
        || config.is_ok_and(|it| it.has("PREEMPT_RT"));
    let isolated = host.isolation.kept_free().unwrap_or_default();
    match (is_realtime, isolated.is_empty()) {
        (true, _) => Some("the kernel is a real-time one".to_owned()),
        (false, false) => Some(format!("CPUs {isolated} are isolated")),
        (false, true) => None,
    }
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
    let is_guest = host.platform.is_guest();
    let (severity, confidence) = match has_turbo {
        _ if is_guest => (Severity::Low, Confidence::Low),
        false => (Severity::Info, Confidence::Medium),
        true if is_most(host, &cpus) => (Severity::Medium, Confidence::High),
        true => (Severity::Low, Confidence::High),
    };
    let finding = match turbo_range(host) {
        Some((one, most)) if has_turbo && one > most => {
            let share = f64::from(one - most) / f64::from(one);
            let lost = Lost::of(share, is_most(host, &cpus))
                .but(&ONE_BUSY_CORE)
                .but_if(is_guest, &SLEEP_OF_A_GUEST);
            Finding::of_lost(lost, confidence, message).cost(
                format!("up to {:.0} % of the clock of a core that is busy alone", 100.0 * share),
                format!(
                    "turbo ratio {one} for the fewest active cores, {most} for the most ({})",
                    TURBO_RATIO_LIMIT.path(0)
                ),
            )
        }
        _ => Finding::new(severity, confidence, message),
    };
    finding.on(cpus, host.topology.n_online())
}

/// The turbo ratios for the fewest and for the most active cores.
fn turbo_range(host: &HostView) -> Option<(u8, u8)> {
    let (_, limit) = host.msrs.of(&TURBO_RATIO_LIMIT).ok()?.known().next()?;
    ratios::range(host.cpuinfo.as_ref().ok()?, *limit)
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
    pub(super) fn host(more: &str) -> String {
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

    pub(super) const C3_OFF: &str = "//- /sys/devices/system/cpu/cpu0/cpuidle/state2/disable\n1\n//- /sys/devices/system/cpu/cpu1/cpuidle/state2/disable\n1\n";
    pub(super) const C6_OFF: &str = "//- /sys/devices/system/cpu/cpu0/cpuidle/state3/disable\n1\n//- /sys/devices/system/cpu/cpu1/cpuidle/state3/disable\n1\n";

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
        // Somebody wants short waits.
        let isolated = shallow("quiet intel_idle.max_cstate=1 isolcpus=1", "");
        let release = "//- /proc/sys/kernel/osrelease\n6.1.0-18-rt-amd64\n";
        for host in [isolated, shallow("quiet intel_idle.max_cstate=1", release)] {
            assert!(
                verdict(&CHECK, &host).starts_with("info: idle CPUs"),
                "{}",
                verdict(&CHECK, &host)
            );
            let fix = findings(&CHECK, &host).remove(0).fix;
            assert!(fix.lasting.unwrap().starts_with("leave it where short waits"));
        }
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
            "unknown: how deep the processor's cores sleep: not available in a guest of QEMU/KVM"
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
    fn a_guest_is_not_told_to_read_as_root_what_says_nothing_there() {
        let guest = host(&format!("{GUEST}//- /dev/cpu_dma_latency\n!denied\n"));
        let verdict = verdict(&CHECK, &guest);
        assert!(verdict.contains("not available in a guest"), "{verdict}");
    }

    #[test]
    fn a_limit_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("//- /dev/cpu_dma_latency\n!denied\n")),
            "unknown: /dev/cpu_dma_latency may not be read"
        );
    }
}
