//! `nohz-full`: CPUs whose tick stops while they run one task.
//!
//! Source: Documentation/admin-guide/kernel-parameters.txt and Documentation/timers/no_hz.rst.

use crate::boot_edit;
use crate::check::Reference;
use crate::setting::{Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted};
use facts::CpuSet;
use facts::system::kernel_config::KernelConfig;

pub(in crate::settings) const SETTING: Setting = Setting {
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
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
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

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::boot_loaders::*;
    use crate::fixture::planned::planned;

    #[test]
    fn a_list_becomes_a_file_of_its_own() {
        assert_eq!(
            planned(&SETTING, "2-3", DEBIAN),
            "/etc/default/grub.d/90-fullclock.cfg: none -> # Written by `fullclock apply`, taken away by `fullclock revert`. \
             Recovery entries do not have it.\n\
             GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT nohz_full=2-3\"\n"
        );
    }

    #[test]
    fn a_list_takes_the_place_of_an_earlier_one_and_leaves_the_rest() {
        let plan = planned(&SETTING, "1-3", DEBIAN_EDITED);
        assert!(plan.contains("rcu_nocbs=2-3 idle=halt nohz_full=1-3\"\n"), "{plan}");
    }

    #[test]
    fn what_the_administrator_wrote_is_left_to_them() {
        let refusal = "refused: /etc/default/grub gives nohz_full= to the kernel: change it there, then run `update-grub`";
        assert_eq!(planned(&SETTING, "1-3", DEBIAN_BY_HAND), refusal);
    }

    #[test]
    fn lists_that_make_no_sense_are_refused() {
        let refusal = |value: &str| planned(&SETTING, value, DEBIAN);
        assert_eq!(refusal("2-9"), "value: nohz_full=2-9: expected a list within 0-3, or none");
        assert_eq!(refusal("x"), "value: nohz_full=x: expected a list of CPUs like 0-3,8");
    }

    #[test]
    fn the_cpu_that_keeps_the_time_is_refused() {
        assert!(planned(&SETTING, "0-1", DEBIAN).starts_with("refused: CPU 0 keeps the time"));
        // Whatever keeps the boot line, and where it may not be read.
        let denied = format!("{DEBIAN}//- /etc/default/grub\n!denied\n");
        assert!(planned(&SETTING, "2-3", &denied).starts_with("unknown: "));
        assert!(planned(&SETTING, "0-3", &denied).starts_with("refused: CPU 0 keeps the time"));
        let host = format!("{DEBIAN}//- /sys/devices/system/cpu/isolated\n0\n");
        assert!(planned(&SETTING, "isolated", &host).starts_with("refused: CPU 0 keeps the time"));
    }

    #[test]
    fn a_kernel_that_ignores_it_is_named() {
        let host = format!("{DEBIAN}//- /boot/config-6.1.0\nCONFIG_HZ=250\n");
        let refusal = "refused: this kernel ignores nohz_full=: /boot/config-6.1.0 has no CONFIG_NO_HZ_FULL=y";
        assert_eq!(planned(&SETTING, "2-3", &host), refusal);
    }

    #[test]
    fn unknown_cpus_are_no_plan() {
        let host = DEBIAN.replace("possible", "impossible");
        assert!(planned(&SETTING, "2-3", &host).starts_with("unknown: "));
    }
}
