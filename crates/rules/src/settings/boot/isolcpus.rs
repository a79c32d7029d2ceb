//! `isolcpus`: CPUs that the scheduler gives no work by itself.
//!
//! Source: Documentation/admin-guide/kernel-parameters.txt (isolcpus=).

use crate::boot_edit;
use crate::check::Reference;
use crate::setting::{Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};

pub(in crate::settings) const SETTING: Setting = Setting {
    id: "isolcpus",
    title: "CPUs that take only work that names them, from the next boot on",
    doc: "\
## What it changes
`isolcpus=` of the boot line: the scheduler places nothing on CPUs of the list unless a program asks for them by name.

## What it costs
All other work shares the CPUs that are left; a program on several isolated CPUs is not balanced among them.

## When to leave it alone
Where a cpuset partition does the same while the machine runs (`cpuset.cpus.partition`, cgroup v2). A database that starts
on isolated CPUs by name runs all of its threads on the first of them.
",
    references: &[Reference {
        title: "Linux: The kernel's command-line parameters",
        url: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
    }],
    takes: "a list of CPUs, or none",
    scope: Scope::Host,
    effect: Effect::AtBoot,
    survives: Survives { reboot: true, hotplug: true, suspend: true },
    risk: Risk::Medium,
    power: "none",
    after: &[],
    fixes: &[],
    reads: boot_edit::READS,
    looks_at: boot_edit::CPUS_LOOK_AT,
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    boot_edit::edit_cpus(scene, wanted, "isolcpus")
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::boot_loaders::*;
    use crate::fixture::planned::planned;

    #[test]
    fn systems_with_kernel_install_have_one_line_to_edit() {
        assert_eq!(
            planned(&SETTING, "2-3", KERNEL_INSTALL),
            "/etc/kernel/cmdline: root=/dev/vda1 quiet\n -> root=/dev/vda1 quiet isolcpus=2-3\n"
        );
    }

    #[test]
    fn grubby_is_left_to_the_administrator_with_its_command() {
        let refusal = planned(&SETTING, "2-3", RED_HAT);
        assert!(
            refusal.ends_with("run `grubby --update-kernel=ALL --args='isolcpus=2-3'`"),
            "{refusal}"
        );
        let refusal = planned(&SETTING, "none", RED_HAT);
        assert!(
            refusal.ends_with("run `grubby --update-kernel=ALL --remove-args='isolcpus'`"),
            "{refusal}"
        );
    }

    #[test]
    fn a_host_that_shows_no_boot_loader_is_refused() {
        let refusal = planned(
            &SETTING,
            "2-3",
            "//- /sys/devices/system/cpu/online\n0-3\n//- /sys/devices/system/cpu/possible\n0-3\n",
        );
        assert_eq!(
            refusal,
            "refused: neither /usr/sbin/update-grub nor /etc/kernel/cmdline is here: give the kernel isolcpus= in the boot loader's own way"
        );
    }

    #[test]
    fn unknown_cpus_are_no_plan() {
        assert!(planned(&SETTING, "2-3", "//- /x\n1\n").starts_with("unknown: "));
    }
}
