//! `max-cstate`: the deepest idle state that the driver offers.
//!
//! Source: Documentation/admin-guide/kernel-parameters.txt, drivers/idle/intel_idle.c and drivers/acpi/processor_idle.c.

use crate::boot_edit;
use crate::check::Reference;
use crate::setting::{Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted};
use facts::{Subject, Subjects};

pub(in crate::settings) const SETTING: Setting = Setting {
    id: "max-cstate",
    title: "the deepest idle state, from the next boot on",
    doc: "\
## What it changes
`intel_idle.max_cstate=` of the boot line, or `processor.max_cstate=` where the ACPI driver is in charge: states beyond that number do
not exist. 1 leaves C1 alone.

## What it costs
Idle cores stay awake: tens of watts a socket. On processors whose turbo grows as others sleep deeply, the highest clock is lost.

## When to leave it alone
Where `idle-state` or `cpu-dma-latency` do the same while the machine runs, and can be measured first. 0 turns intel_idle off,
and the ACPI driver takes over: it does not turn idle states off.
",
    references: &[Reference {
        title: "Linux: The kernel's command-line parameters",
        url: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
    }],
    takes: "a number from 0 to 9, or none",
    scope: Scope::Host,
    effect: Effect::AtBoot,
    survives: Survives { reboot: true, hotplug: true, suspend: true },
    risk: Risk::Medium,
    power: "idle cores draw up to tens of watts more a socket",
    after: &[],
    fixes: &[],
    reads: boot_edit::READS,
    looks_at: boot_edit::LOOKS_AT.and(Subjects::of(&[Subject::IdleDriver])),
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    let value = match wanted.value {
        "none" => None,
        it if it.len() == 1 && it.starts_with(|it: char| it.is_ascii_digit()) => Some(it),
        it => {
            let text = format!("max-cstate={it}: expected a number from 0 to 9, or none");
            return Err(Refusal::Value(text));
        }
    };
    match scene.host.cpuidle.driver.as_ref()?.as_str() {
        "intel_idle" => boot_edit::edit(scene, "intel_idle.max_cstate", value),
        "acpi_idle" => boot_edit::edit(scene, "processor.max_cstate", value),
        other => {
            Err(Refusal::Host(format!("the idle driver {other} takes no limit on the boot line")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::boot_loaders::*;
    use crate::fixture::planned::planned;

    /// Debian with an idle driver.
    fn host(driver: &str) -> String {
        format!("{DEBIAN}//- /sys/devices/system/cpu/cpuidle/current_driver\n{driver}\n")
    }

    #[test]
    fn each_driver_has_a_parameter_of_its_own() {
        assert!(planned(&SETTING, "1", &host("intel_idle")).contains(" intel_idle.max_cstate=1\""));
        assert!(planned(&SETTING, "1", &host("acpi_idle")).contains(" processor.max_cstate=1\""));
    }

    #[test]
    fn a_driver_without_a_limit_is_refused() {
        let refusal = "refused: the idle driver haltpoll takes no limit on the boot line";
        assert_eq!(planned(&SETTING, "1", &host("haltpoll")), refusal);
    }

    #[test]
    fn only_a_digit_or_none_is_a_depth() {
        let refusal = "value: max-cstate=C1: expected a number from 0 to 9, or none";
        assert_eq!(planned(&SETTING, "C1", &host("intel_idle")), refusal);
    }

    #[test]
    fn an_unknown_driver_is_no_plan() {
        assert!(planned(&SETTING, "1", DEBIAN).starts_with("unknown: "));
    }
}
