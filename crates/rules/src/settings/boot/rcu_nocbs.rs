//! `rcu-nocbs`: CPUs whose RCU callbacks run elsewhere.
//!
//! Source: Documentation/admin-guide/kernel-parameters.txt (rcu_nocbs=).

use crate::boot_edit;
use crate::check::Reference;
use crate::setting::{Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};

pub(in crate::settings) const SETTING: Setting = Setting {
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
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    boot_edit::edit_cpus(scene, wanted, "rcu_nocbs")
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::boot_loaders::*;
    use crate::fixture::planned::planned;

    #[test]
    fn isolated_stands_for_the_cpus_that_the_scheduler_leaves_alone() {
        let host = format!("{DEBIAN}//- /sys/devices/system/cpu/isolated\n1-2\n");
        assert!(planned(&SETTING, "isolated", &host).contains(" rcu_nocbs=1-2\"\n"));
    }

    #[test]
    fn without_isolated_cpus_there_is_nothing_to_name() {
        let host = format!("{DEBIAN}//- /sys/devices/system/cpu/isolated\n\n");
        assert_eq!(planned(&SETTING, "isolated", &host), "refused: no CPU is isolated");
    }

    #[test]
    fn none_takes_back_what_this_program_wrote() {
        let plan = planned(&SETTING, "none", DEBIAN_EDITED);
        assert!(
            plan.contains("nohz_full=2-3 idle=halt\"\n") && !plan.contains("-> none"),
            "{plan}"
        );
        assert_eq!(planned(&SETTING, "none", DEBIAN), "nothing");
    }

    #[test]
    fn unknown_cpus_are_no_plan() {
        assert!(planned(&SETTING, "2-3", "//- /x\n1\n").starts_with("unknown: "));
    }
}
