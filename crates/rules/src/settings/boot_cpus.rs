//! Lists of CPUs on the boot line.
//!
//! Source: Documentation/admin-guide/kernel-parameters.txt (nohz_full=, isolcpus=, rcu_nocbs=).

use crate::boot_edit;
use crate::check::Reference;
use crate::setting::{Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted};
use facts::CpuSet;
use facts::system::kernel_config::KernelConfig;

/// CPUs whose tick stops while they run one task.
///
/// Source: Documentation/timers/no_hz.rst.
pub(super) const NOHZ_FULL: Setting = Setting {
    id: "nohz-full",
    title: "CPUs without a tick, from the next boot on",
    doc: "\
## What it changes
`nohz_full=` of the boot line: a CPU of the list stops its timer tick while it has one task to run, which gives that task
some tenths of a percent, and no pause of some microseconds each millisecond. RCU callbacks leave these CPUs, too.

## What it costs
Each entry into the kernel takes longer (context tracking), so that programs of many system calls lose. CPUs that are not in
the list keep the time for the others.

## When to leave it alone
Where CPUs run more than one task each, as those of most databases do. A kernel without CONFIG_NO_HZ_FULL ignores it.
",
    references: &[Reference {
        title: "Linux: The kernel's command-line parameters",
        url: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
    }],
    takes: "a list of CPUs, `isolated` for those of isolcpus=, or none",
    scope: Scope::Host,
    effect: Effect::AtBoot,
    survives: Survives { reboot: true, hotplug: true, suspend: true },
    risk: Risk::Medium,
    power: "none",
    after: &[],
    fixes: &["isolated-without-nohz-full"],
    reads: boot_edit::READS,
    looks_at: boot_edit::CPUS_LOOK_AT,
    plan: nohz_full,
};

fn nohz_full(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    let is_without = |it: &KernelConfig| wanted.value != "none" && !it.has("NO_HZ_FULL");
    if let Some(config) = scene.host.kernel.config.as_ref().ok().filter(|it| is_without(it)) {
        let text =
            format!("this kernel ignores nohz_full=: {} has no CONFIG_NO_HZ_FULL=y", config.path);
        return Err(Refusal::Host(text));
    }
    let isolated = scene.host.isolation.scheduler_isolated();
    let list = match wanted.value {
        "isolated" => isolated.unwrap_or_default(),
        list => CpuSet::parse_list(list).unwrap_or_default(),
    };
    // `tick_nohz_init` in kernel/time/tick-sched.c: "Clearing %d from nohz_full range for timekeeping".
    if list.contains(0) {
        let text = "CPU 0 keeps the time for the others, and the kernel takes it out of nohz_full=: leave it out";
        return Err(Refusal::Host(text.to_owned()));
    }
    boot_edit::edit_cpus(scene, wanted, "nohz_full")
}

/// CPUs on which the scheduler places nothing by itself.
pub(super) const ISOLCPUS: Setting = Setting {
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
    plan: |scene, wanted| boot_edit::edit_cpus(scene, wanted, "isolcpus"),
};

/// CPUs whose RCU callbacks run elsewhere.
pub(super) const RCU_NOCBS: Setting = Setting {
    id: "rcu-nocbs",
    title: "CPUs whose RCU callbacks run on others, from the next boot on",
    doc: "\
## What it changes
`rcu_nocbs=` of the boot line: threads (rcuo...) that may run on any CPU invoke the callbacks of CPUs of the list, instead of a
softirq on these CPUs themselves.

## What it costs
A wake-up of such a thread for each batch of callbacks; under much of that, throughput falls.

## When to leave it alone
Where `nohz_full=` names the CPUs: it does this, too. A kernel without CONFIG_RCU_NOCB_CPU ignores it.
",
    references: &[Reference {
        title: "Linux: The kernel's command-line parameters",
        url: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
    }],
    takes: "a list of CPUs, `isolated` for those of isolcpus=, or none",
    scope: Scope::Host,
    effect: Effect::AtBoot,
    survives: Survives { reboot: true, hotplug: true, suspend: true },
    risk: Risk::Medium,
    power: "none",
    after: &[],
    fixes: &["rcu-callbacks-on-isolated"],
    reads: boot_edit::READS,
    looks_at: boot_edit::CPUS_LOOK_AT,
    plan: |scene, wanted| boot_edit::edit_cpus(scene, wanted, "rcu_nocbs"),
};

#[cfg(test)]
mod tests {
    use super::{ISOLCPUS, NOHZ_FULL, RCU_NOCBS};
    use crate::fixture::boot_loaders::*;
    use crate::fixture::planned::planned;

    #[test]
    fn a_list_becomes_a_file_of_its_own() {
        assert_eq!(
            planned(&NOHZ_FULL, "2-3", DEBIAN),
            "/etc/default/grub.d/90-fullclock.cfg: none -> # Written by `fullclock apply`, taken away by `fullclock revert`. \
             Recovery entries do not have it.\n\
             GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT nohz_full=2-3\"\n"
        );
    }

    #[test]
    fn a_list_takes_the_place_of_an_earlier_one_and_leaves_the_rest() {
        let plan = planned(&NOHZ_FULL, "1-3", DEBIAN_EDITED);
        assert!(plan.contains("rcu_nocbs=2-3 idle=halt nohz_full=1-3\"\n"), "{plan}");
    }

    #[test]
    fn what_the_administrator_wrote_is_left_to_them() {
        let refusal = "refused: /etc/default/grub gives nohz_full= to the kernel: change it there, then run `update-grub`";
        assert_eq!(planned(&NOHZ_FULL, "1-3", DEBIAN_BY_HAND), refusal);
    }

    #[test]
    fn lists_that_make_no_sense_are_refused() {
        let refusal = |value: &str| planned(&NOHZ_FULL, value, DEBIAN);
        assert_eq!(refusal("2-9"), "value: nohz_full=2-9: expected a list within 0-3, or none");
        assert_eq!(refusal("x"), "value: nohz_full=x: expected a list of CPUs like 0-3,8");
    }

    #[test]
    fn the_cpu_that_keeps_the_time_is_refused() {
        assert!(planned(&NOHZ_FULL, "0-1", DEBIAN).starts_with("refused: CPU 0 keeps the time"));
        // Whatever keeps the boot line, and where it may not be read.
        let denied = format!("{DEBIAN}//- /etc/default/grub\n!denied\n");
        assert!(planned(&NOHZ_FULL, "2-3", &denied).starts_with("unknown: "));
        assert!(planned(&NOHZ_FULL, "0-3", &denied).starts_with("refused: CPU 0 keeps the time"));
        let host = format!("{DEBIAN}//- /sys/devices/system/cpu/isolated\n0\n");
        assert!(
            planned(&NOHZ_FULL, "isolated", &host).starts_with("refused: CPU 0 keeps the time")
        );
    }

    #[test]
    fn a_kernel_that_ignores_it_is_named() {
        let host = format!("{DEBIAN}//- /boot/config-6.1.0\nCONFIG_HZ=250\n");
        let refusal = "refused: this kernel ignores nohz_full=: /boot/config-6.1.0 has no CONFIG_NO_HZ_FULL=y";
        assert_eq!(planned(&NOHZ_FULL, "2-3", &host), refusal);
    }

    #[test]
    fn systems_with_kernel_install_have_one_line_to_edit() {
        assert_eq!(
            planned(&ISOLCPUS, "2-3", KERNEL_INSTALL),
            "/etc/kernel/cmdline: root=/dev/vda1 quiet\n -> root=/dev/vda1 quiet isolcpus=2-3\n"
        );
    }

    #[test]
    fn grubby_is_left_to_the_administrator_with_its_command() {
        let refusal = planned(&ISOLCPUS, "2-3", RED_HAT);
        assert!(
            refusal.ends_with("run `grubby --update-kernel=ALL --args='isolcpus=2-3'`"),
            "{refusal}"
        );
        let refusal = planned(&ISOLCPUS, "none", RED_HAT);
        assert!(
            refusal.ends_with("run `grubby --update-kernel=ALL --remove-args='isolcpus'`"),
            "{refusal}"
        );
    }

    #[test]
    fn a_host_that_shows_no_boot_loader_is_refused() {
        let refusal = planned(
            &ISOLCPUS,
            "2-3",
            "//- /sys/devices/system/cpu/online\n0-3\n//- /sys/devices/system/cpu/possible\n0-3\n",
        );
        assert_eq!(
            refusal,
            "refused: neither /usr/sbin/update-grub nor /etc/kernel/cmdline is here: give the kernel isolcpus= in the boot loader's own way"
        );
    }

    #[test]
    fn isolated_stands_for_the_cpus_that_the_scheduler_leaves_alone() {
        let host = format!("{DEBIAN}//- /sys/devices/system/cpu/isolated\n1-2\n");
        assert!(planned(&RCU_NOCBS, "isolated", &host).contains(" rcu_nocbs=1-2\"\n"));
    }

    #[test]
    fn without_isolated_cpus_there_is_nothing_to_name() {
        let host = format!("{DEBIAN}//- /sys/devices/system/cpu/isolated\n\n");
        assert_eq!(planned(&RCU_NOCBS, "isolated", &host), "refused: no CPU is isolated");
    }

    #[test]
    fn none_takes_back_what_this_program_wrote() {
        let plan = planned(&RCU_NOCBS, "none", DEBIAN_EDITED);
        assert!(
            plan.contains("nohz_full=2-3 idle=halt\"\n") && !plan.contains("-> none"),
            "{plan}"
        );
        assert_eq!(planned(&RCU_NOCBS, "none", DEBIAN), "nothing");
    }

    #[test]
    fn unknown_cpus_are_no_plan() {
        let unnamed = DEBIAN.replace("possible", "impossible");
        for setting in [&NOHZ_FULL, &ISOLCPUS, &RCU_NOCBS] {
            for host in [unnamed.as_str(), "//- /x\n1\n"] {
                let plan = planned(setting, "2-3", host);
                assert!(plan.starts_with("unknown: "), "{}: {plan}", setting.id);
            }
        }
    }
}
