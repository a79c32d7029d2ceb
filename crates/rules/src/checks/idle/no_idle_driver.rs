//! Looks for a machine without a cpuidle driver, whose idle CPUs know only the shallowest idle state.
//!
//! Source: Documentation/admin-guide/pm/cpuidle.rst, "Idle States Control Via Kernel Command Line": without a driver
//! the idle loop asks for what every processor of the architecture has. It cannot know why no driver took the
//! machine, where the boot line does not say.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::cpu::cpuidle::FOLDER;
use facts::{HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "no-idle-driver",
    title: "no cpuidle driver: idle CPUs know only the shallowest idle state",
    doc: "\
## What it looks at
`/sys/devices/system/cpu/cpuidle/current_driver` on Intel and AMD machines: `none`, or no such folder.

## Why it matters
Without intel_idle or acpi_idle an idle CPU executes HLT or MWAIT for C1 and never asks for C6. Cores that
do not sleep leave no turbo headroom to the busy ones, and use power that the busy ones could use. It
happens when the kernel is older than the processor and the firmware's ACPI tables list no C-states, or when the
`processor` module is not loaded.

## When to leave it alone
In a guest: the host decides how deep its cores sleep. Where it is a choice (`idle=`, `cpuidle.off` or a limit
of C-states on the boot line) `turbo-headroom-lost` reports it, and this check does not.
",
    references: &[
        Reference {
            title: "Linux: CPU Idle Time Management",
            url: "https://docs.kernel.org/admin-guide/pm/cpuidle.html",
        },
        Reference {
            title: "Linux: intel_idle, Enumeration of Idle States",
            url: "https://docs.kernel.org/admin-guide/pm/intel_idle.html#enumeration-of-idle-states",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    host.platform.leaves_to_hypervisor("idle driver to choose")?;
    let info = host.cpuinfo.as_ref()?;
    if !info.is_intel() && !info.is_amd() {
        return Err(Missing::not_here(
            "x86 idle driver",
            "/proc/cpuinfo names neither Intel nor AMD",
        ));
    }
    let found = match &host.cpuidle.driver {
        Ok(driver) if driver == "none" => "none".to_owned(),
        Ok(_) => return Ok(Vec::new()),
        Err(missing) if missing.is_absence() => missing.to_string(),
        Err(missing) => return Err(missing.clone()),
    };
    let line = host.kernel.boot_line.as_ref().ok();
    if line.is_some_and(|line| !host.cpuidle.boot_limits(line, info, false).is_empty()) {
        return Ok(Vec::new());
    }
    let finding = Finding::new(
        Severity::Low,
        Confidence::High,
        "no cpuidle driver: idle CPUs know only the shallowest idle state",
    )
    .evidence(format!("{FOLDER}/current_driver"), found)
    .fix_lasting(
        "a kernel that knows this processor, C-states allowed in the firmware's setup, the `processor` module loaded",
    );
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    const XEON: &str = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n";
    const DRIVER: &str = "//- /sys/devices/system/cpu/cpuidle/current_driver\n";

    #[test]
    fn a_machine_without_a_driver_is_low() {
        let expected = "low: no cpuidle driver: idle CPUs know only the shallowest idle state";
        assert_eq!(verdict(&CHECK, &format!("{XEON}{DRIVER}none\n")), expected);
        assert_eq!(verdict(&CHECK, XEON), expected);
    }

    #[test]
    fn a_driver_is_clean() {
        assert_eq!(verdict(&CHECK, &format!("{XEON}{DRIVER}intel_idle\n")), "clean");
    }

    #[test]
    fn a_bundle_without_idle_states_says_nothing_unless_its_collector_takes_them() {
        let online = "//- /sys/devices/system/cpu/online\n0\n";
        let latency = "//- /sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us\n0\n";
        let bundle = |collector: &str| {
            let head = format!("fullclock capture 1 (imported{collector})");
            verdict(&CHECK, &format!("{head}\n{XEON}{online}{latency}"))
        };
        assert_eq!(
            bundle(""),
            "unknown: /sys/devices/system/cpu/cpuidle is not in this copy of the host"
        );
        assert_eq!(
            bundle(" from pepc"),
            "low: no cpuidle driver: idle CPUs know only the shallowest idle state"
        );
    }

    #[test]
    fn a_boot_line_that_explains_it_is_another_checks_business() {
        let host = format!("{XEON}{DRIVER}none\n//- /proc/cmdline\nidle=poll\n");
        assert_eq!(verdict(&CHECK, &host), "clean");
    }

    #[test]
    fn a_guest_has_no_driver_to_choose() {
        let guest = "//- /sys/class/dmi/id/sys_vendor\nQEMU\n";
        assert_eq!(
            verdict(&CHECK, &format!("{XEON}{DRIVER}none\n{guest}")),
            "not applicable: no idle driver to choose here: a guest of QEMU/KVM"
        );
    }

    #[test]
    fn a_driver_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &format!("{XEON}{DRIVER}!denied\n")),
            "unknown: /sys/devices/system/cpu/cpuidle/current_driver may not be read"
        );
    }
}
