//! `idle`: what a CPU does that has nothing to do.
//!
//! Source: Documentation/admin-guide/kernel-parameters.txt (idle=).

use crate::boot_edit;
use crate::check::Reference;
use crate::setting::{Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted};

pub(in crate::settings) const SETTING: Setting = Setting {
    id: "idle",
    title: "how idle CPUs wait, from the next boot on",
    doc: "\
## What it changes
`idle=` of the boot line: `poll` keeps idle CPUs running in a loop, `halt` uses HLT and no deeper state, `nomwait` forbids MWAIT.

## What it costs
`poll` burns the power of a busy CPU on every idle one, takes cycles from SMT siblings, and leaves no room for turbo. `halt`
keeps cores in C1.

## When to leave it alone
Nearly always: `cpu-dma-latency=0` gives what `poll` does, while the machine runs, and ends with the process that asks.
",
    references: &[Reference {
        title: "Linux: The kernel's command-line parameters",
        url: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
    }],
    takes: "poll, halt, nomwait or none",
    scope: Scope::Host,
    effect: Effect::AtBoot,
    survives: Survives { reboot: true, hotplug: true, suspend: true },
    risk: Risk::Medium,
    power: "with poll, idle CPUs draw as much as busy ones",
    after: &[],
    fixes: &[],
    reads: boot_edit::READS,
    looks_at: boot_edit::LOOKS_AT,
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    match wanted.value {
        "none" => boot_edit::edit(scene, "idle", None),
        it @ ("poll" | "halt" | "nomwait") => boot_edit::edit(scene, "idle", Some(it)),
        it => {
            let text = format!("idle={it}: expected poll, halt, nomwait or none");
            Err(Refusal::Value(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::boot_loaders::*;
    use crate::fixture::planned::planned;

    #[test]
    fn idle_cpus_may_be_kept_running() {
        assert!(planned(&SETTING, "poll", DEBIAN).contains(" idle=poll\""));
    }

    #[test]
    fn another_word_is_refused_with_those_it_takes() {
        assert_eq!(
            planned(&SETTING, "deep", DEBIAN),
            "value: idle=deep: expected poll, halt, nomwait or none"
        );
    }

    #[test]
    fn what_is_so_already_is_no_plan() {
        assert_eq!(planned(&SETTING, "halt", DEBIAN_EDITED), "nothing");
        assert!(
            planned(&SETTING, "halt", DEBIAN_BY_HAND)
                .starts_with("refused: /etc/default/grub gives idle=")
        );
    }

    #[test]
    fn a_list_of_cpus_is_refused() {
        assert_eq!(
            planned(&SETTING, "poll@1", DEBIAN),
            "value: idle is of the whole host: leave out @1"
        );
    }
}
