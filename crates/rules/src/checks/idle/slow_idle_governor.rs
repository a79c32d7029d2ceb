//! Looks for the cpuidle governor `ladder` on a kernel whose tick stops on idle CPUs.
//!
//! Source: Documentation/admin-guide/pm/cpuidle.rst; drivers/cpuidle/governors/ladder.c and its history: since Linux 4.5
//! (66a5f6b63996) the kernel prefers it where the tick never stops, and menu or teo elsewhere.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::cpu::cpuidle::FOLDER;
use facts::{HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "slow-idle-governor",
    title: "the idle governor needs many wake-ups to reach a deep state",
    doc: "\
## What it looks at
The cpuidle governor (`current_governor`, or `current_governor_ro` on older kernels), and whether the kernel
stops the tick on idle CPUs (`CONFIG_NO_HZ_COMMON`, and no `nohz=off` on the boot line).

## Why it matters
`ladder` starts at the shallowest state and goes one step deeper after four sleeps that were long enough. With a
periodic tick that takes some milliseconds. A tickless idle CPU wakes up rarely, so that it stays in C1 for long
although nothing needs it, and leaves no turbo headroom meanwhile. `menu` and `teo` predict the length of the
next sleep and pick its state at once.

## When to leave it alone
On a kernel with a periodic tick ladder is the default and right. In a guest the host decides.
",
    references: &[
        Reference {
            title: "Linux: CPU Idle Time Management, Idle CPUs and the Scheduler Tick",
            url: "https://docs.kernel.org/admin-guide/pm/cpuidle.html#idle-cpus-and-the-scheduler-tick",
        },
        Reference {
            title: "Linux commit 66a5f6b63996: cpuidle: Default to ladder governor on ticking systems",
            url: "https://git.kernel.org/torvalds/c/66a5f6b63996",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    host.platform.leaves_to_hypervisor("idle governor to choose")?;
    let governor = host.cpuidle.governor.as_ref()?;
    if governor != "ladder" || !stops_tick(host)? {
        return Ok(Vec::new());
    }
    let mut finding = Finding::new(
        Severity::Low,
        Confidence::High,
        "idle governor ladder on a tickless kernel: idle CPUs reach deep states late",
    )
    .evidence(format!("{FOLDER}/current_governor"), governor);
    if let Ok(config) = &host.kernel.config {
        finding = finding.evidence(config.path.as_str(), "CONFIG_NO_HZ_COMMON=y");
    }
    Ok(vec![
        finding
            .fix_by("idle-governor", "menu")
            .fix_lasting("cpuidle.governor=menu on the boot line, or no cpuidle.governor= at all"),
    ])
}

/// Whether idle CPUs stop their tick.
fn stops_tick(host: &HostView) -> Result<bool, Missing> {
    let line = host.kernel.boot_line.as_ref()?;
    if matches!(line.value("nohz"), Some("off" | "0" | "n")) {
        return Ok(false);
    }
    Ok(host.kernel.config.as_ref()?.has("NO_HZ_COMMON"))
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    fn host(governor: &str, boot_line: &str, config: &str) -> String {
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n\
             //- /sys/devices/system/cpu/cpuidle/current_governor\n{governor}\n\
             //- /proc/cmdline\n{boot_line}\n\
             //- /proc/sys/kernel/osrelease\n6.1.0\n//- /boot/config-6.1.0\n{config}\n"
        )
    }

    const TICKLESS: &str = "CONFIG_NO_HZ_COMMON=y\nCONFIG_NO_HZ_IDLE=y";

    #[test]
    fn ladder_on_a_tickless_kernel_is_low() {
        assert_eq!(
            verdict(&CHECK, &host("ladder", "cpuidle.governor=ladder", TICKLESS)),
            "low: idle governor ladder on a tickless kernel: idle CPUs reach deep states late"
        );
    }

    #[test]
    fn other_governors_are_clean() {
        assert_eq!(verdict(&CHECK, &host("menu", "", TICKLESS)), "clean");
        assert_eq!(verdict(&CHECK, &host("teo", "", TICKLESS)), "clean");
    }

    #[test]
    fn ladder_is_right_where_the_tick_never_stops() {
        assert_eq!(verdict(&CHECK, &host("ladder", "nohz=off", TICKLESS)), "clean");
        assert_eq!(verdict(&CHECK, &host("ladder", "", "CONFIG_HZ_PERIODIC=y")), "clean");
    }

    #[test]
    fn a_kernel_of_unknown_configuration_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("ladder", "", "!denied")),
            "unknown: /boot/config-6.1.0 may not be read"
        );
    }
}
