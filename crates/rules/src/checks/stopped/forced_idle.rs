//! Looks for idle time that is forced onto CPUs that have work.
//!
//! Sources: Documentation/admin-guide/thermal/intel_powerclamp.rst; Intel SDM vol. 3B, "Hardware Duty Cycling (HDC)";
//! Documentation/driver-api/thermal/cpu-idle-cooling.rst.
//! It sees what was asked for, not how much idle time came of it.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use crate::loss_scale::Lost;
use facts::cpu::cooling::{CoolingDevice, Kind};
use facts::msr::intel::PKG_HDC_CTL;
use facts::{HostView, IfPresent, Missing};

pub(crate) const CHECK: Check = Check {
    id: "forced-idle",
    title: "CPUs are forced to idle while they have work",
    doc: "\
## What it looks at
`cur_state` of the cooling device `intel_powerclamp`: the percentage of the time that its kernel threads keep every
CPU idle together (0 is off; before Linux 6.3, -1 is off, and the number is the time that the packages idled for
whatever reason). And IA32_PKG_HDC_CTL, MSR 0xDB0 bit 0, which lets the
processor force its cores to idle by itself. On machines with a device tree, `cur_state` of the cooling devices `idle-cpuN`.

## Why it matters
Forced idle time is lost whatever the clock shows: the CPU runs at full speed, and then not at all. The threads
`idle_inject/N` (`kidle_inj/N` on older kernels) run with real-time priority, so a database process that holds a
lock waits with the rest. All CPUs stop at the same time, for milliseconds.

## When to leave it alone
While it is what keeps the machine from shutting down: fix the cooling or the power supply first. thermald
switches it on when a sensor is hot.
",
    references: &[
        Reference {
            title: "Linux: Intel Powerclamp Driver",
            url: "https://docs.kernel.org/admin-guide/thermal/intel_powerclamp.html",
        },
        Reference {
            title: "Intel SDM vol. 3B, Power and Thermal Management: Hardware Duty Cycling (HDC)",
            url: "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    host.platform.hides("forced idle time")?;
    let info = host.cpuinfo.as_ref()?;
    if !info.is_intel() {
        let found = if info.is_x86() { Vec::new() } else { injected(host)? };
        return match found.is_empty() {
            true => Err(Missing::not_here("forced idle time", "the processor is not Intel's")),
            false => Ok(found),
        };
    }
    let answers = [powerclamp(host), hardware(host)];
    let found: Vec<Finding> =
        answers.iter().filter_map(|it| it.as_ref().ok().cloned().flatten()).collect();
    let is_unknown = |it: &&Missing| !it.is_absence();
    let missing = answers.iter().filter_map(|it| it.as_ref().err().copied());
    match missing.clone().find(is_unknown).or_else(|| missing.clone().nth(1)) {
        Some(missing) if found.is_empty() => Err(missing.into()),
        _ => Ok(found),
    }
}

/// By the cooling devices of a device tree, each of one CPU or of those that idle with it.
fn injected(host: &HostView) -> Verdict {
    let Some(devices) = host.cooling.if_present()? else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    for device in devices.iter().filter(|it| it.kind == Kind::IdleInjection) {
        let percent = device.level()?;
        if percent == 0 {
            continue;
        }
        let message =
            format!("the kernel forces CPUs to idle for {percent} % of the time to cool them");
        let lost = Lost::of(percent.min(100) as f64 / 100.0, false);
        let finding = Finding::of_lost(lost, Confidence::High, message)
            .evidence(device.state_path(), percent)
            .cost(
                format!("{percent} % of these CPUs while it lasts"),
                "the share of the time for which idle is requested",
            )
            .command(&commands::THERMAL_ZONES, "")
            .fix_lasting("fix the cooling, which keeps the machine from shutting down");
        findings.push(match device.cpu {
            Ok(cpu) => finding.on([cpu].into_iter().collect(), host.topology.n_online()),
            Err(_) => finding,
        });
    }
    Ok(findings)
}

fn powerclamp(host: &HostView) -> Result<Option<Finding>, &Missing> {
    let devices = host.cooling.as_ref()?;
    let Some(device) = devices.iter().find(|it| it.kind == Kind::Powerclamp) else {
        return Ok(None);
    };
    Ok(match device.level()? {
        0 => None,
        percent => Some(clamped(host, device, percent)),
    })
}

fn clamped(host: &HostView, device: &CoolingDevice, percent: u64) -> Finding {
    let finding = if shows_true_idle_time(host) {
        let message = "intel_powerclamp forces the CPUs to idle for a part of the time";
        Finding::new(Severity::High, Confidence::High, message)
            .evidence(device.state_path(), percent)
    } else {
        let lost = Lost::of(percent as f64 / 100.0, true);
        let message =
            format!("intel_powerclamp forces the CPUs to idle for {percent} % of the time");
        Finding::of_lost(lost, Confidence::High, message)
            .evidence(device.state_path(), percent)
            .cost(
                format!("{percent} % of every CPU while it lasts"),
                "the share of the time for which idle is requested",
            )
    };
    let finding = finding
        .command(&commands::THERMAL_ZONES, "")
        .command(&commands::COOLING_OFF, device.state_path())
        .fix_lasting(
            "find what switches it on (thermald, a script) and why: fix the cooling, then `echo blacklist intel_powerclamp > /etc/modprobe.d/powerclamp.conf`",
        );
    match &host.topology.online {
        Ok(online) => finding.on(online.clone(), online.len()),
        Err(_) => finding,
    }
}

/// Before Linux 6.3 (621084965459) the state was the share of the time that the packages idled for whatever
/// reason, not the share that is asked for.
fn shows_true_idle_time(host: &HostView) -> bool {
    host.kernel.version().is_ok_and(|version| version < (6, 3))
}

fn hardware(host: &HostView) -> Result<Option<Finding>, &Missing> {
    let registers = host.msrs.of(&PKG_HDC_CTL)?;
    let Some((cpu, value)) = registers.known().find(|(_, value)| *value & 1 == 1) else {
        return registers.all_known().map(|()| None);
    };
    let message = "hardware duty cycling is on: the processor may force its cores to idle";
    let finding = Finding::new(Severity::Low, Confidence::Medium, message)
        .evidence(PKG_HDC_CTL.path(cpu), format!("{value:#x}"))
        .fix_lasting("a firmware setup or update that leaves hardware duty cycling (HDC) off");
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{XEON, findings, verdict};

    const NO_HDC: &str = "//- cpuid 0x6 0x0\n0x77 0x2 0x9 0x0\n";

    fn powerclamp(state: &str) -> String {
        let folder = "/sys/class/thermal/cooling_device9";
        format!(
            "{XEON}{NO_HDC}//- {folder}/type\nintel_powerclamp\n//- {folder}/cur_state\n{state}\n"
        )
    }

    #[test]
    fn idle_time_that_a_device_tree_injects_is_found_on_its_cpu() {
        let arm = |kind: &str, state: &str| {
            let folder = "//- /sys/class/thermal/cooling_device0";
            let cpuinfo = "//- /proc/cpuinfo\nprocessor : 0\nCPU part : 0xd0b\n";
            let text = format!(
                "{cpuinfo}//- /sys/devices/system/cpu/online\n0-3\n{folder}/type\n{kind}\n{folder}/cur_state\n{state}\n"
            );
            verdict(&CHECK, &text)
        };
        assert_eq!(
            arm("idle-cpu2", "40"),
            "medium: the kernel forces CPUs to idle for 40 % of the time to cool them [CPU 2 (1 of 4)]"
        );
        assert!(arm("idle-cpu2", "0").starts_with("not applicable: "));
        assert!(arm("cpufreq-cpu2", "3").starts_with("not applicable: "));
        assert!(arm("idle-cpu2", "!denied").starts_with("unknown: "));
    }

    #[test]
    fn a_clamp_of_thirty_percent_is_high() {
        assert_eq!(
            verdict(&CHECK, &powerclamp("30")),
            "high: intel_powerclamp forces the CPUs to idle for 30 % of the time [all 4 CPUs]"
        );
        let finding = findings(&CHECK, &powerclamp("30")).remove(0);
        assert_eq!(
            finding.fix.by_hand[0].command,
            "echo 0 > /sys/class/thermal/cooling_device9/cur_state"
        );
    }

    #[test]
    fn an_old_kernel_shows_idle_time_of_every_cause_which_is_no_loss() {
        let host = powerclamp("93") + "//- /proc/sys/kernel/osrelease\n5.14.0-427.el9.x86_64\n";
        assert_eq!(
            verdict(&CHECK, &host),
            "high: intel_powerclamp forces the CPUs to idle for a part of the time [all 4 CPUs]"
        );
        assert!(findings(&CHECK, &host)[0].cost.is_none());
    }

    #[test]
    fn a_clamp_that_is_off_is_clean_however_the_kernel_writes_it() {
        assert_eq!(verdict(&CHECK, &powerclamp("0")), "clean");
        assert_eq!(verdict(&CHECK, &powerclamp("-1")), "clean");
    }

    #[test]
    fn a_clamp_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &powerclamp("!denied")),
            "unknown: /sys/class/thermal/cooling_device9/cur_state may not be read"
        );
    }

    #[test]
    fn hardware_duty_cycling_that_is_on_is_medium() {
        let host = powerclamp("0").replace("0x77", "0x2077") + "//- /dev/cpu/0/msr 0xdb0\n0x1\n";
        assert_eq!(
            verdict(&CHECK, &host),
            "low: hardware duty cycling is on: the processor may force its cores to idle"
        );
    }

    #[test]
    fn a_host_with_neither_has_nothing_to_judge() {
        assert!(verdict(&CHECK, &format!("{XEON}{NO_HDC}")).starts_with("not applicable: "));
    }
}
