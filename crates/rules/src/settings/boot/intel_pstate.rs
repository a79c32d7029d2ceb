//! `intel-pstate`: which driver chooses the clock of Intel processors.
//!
//! Source: Documentation/admin-guide/kernel-parameters.txt (intel_pstate=); intel_pstate_init in
//! drivers/cpufreq/intel_pstate.c.

use crate::boot_edit;
use crate::check::Reference;
use crate::setting::{Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted};
use facts::{Subject, Subjects};

pub(in crate::settings) const SETTING: Setting = Setting {
    id: "intel-pstate",
    title: "how intel_pstate starts, from the next boot on",
    doc: "\
## What it changes
`intel_pstate=` of the boot line: `active` lets the driver or the hardware choose the clock, `passive` leaves that to the generic
governors, `disable` leaves the processor to acpi-cpufreq, `no_hwp` keeps the hardware out of it and, since Linux 5.8,
starts the driver in passive mode.

## What it costs
Nothing by itself; `disable` loses clocks above the nominal one in what the kernel shows.

## When to leave it alone
Where `intel-pstate-status` switches between active and passive while the machine runs.
",
    references: &[Reference {
        title: "Linux: The kernel's command-line parameters",
        url: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
    }],
    takes: "active, passive, disable, no_hwp, or none",
    scope: Scope::Host,
    effect: Effect::AtBoot,
    survives: Survives { reboot: true, hotplug: true, suspend: true },
    risk: Risk::Medium,
    power: "none",
    after: &[],
    fixes: &[],
    reads: boot_edit::READS,
    looks_at: boot_edit::LOOKS_AT.and(Subjects::of(&[Subject::Pstate])),
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    scene.host.pstate.intel.status.as_ref()?;
    match wanted.value {
        "none" => boot_edit::edit(scene, "intel_pstate", None),
        it @ ("active" | "passive" | "disable" | "no_hwp") => {
            boot_edit::edit(scene, "intel_pstate", Some(it))
        }
        it => {
            let text = format!("intel-pstate={it}: expected {}", SETTING.takes);
            Err(Refusal::Value(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::boot_loaders::*;
    use crate::fixture::planned::planned;

    /// Debian with intel_pstate.
    fn host() -> String {
        format!("{DEBIAN}//- /sys/devices/system/cpu/intel_pstate/status\nactive\n")
    }

    #[test]
    fn the_driver_may_be_told_how_to_start() {
        assert!(planned(&SETTING, "passive", &host()).contains(" intel_pstate=passive\""));
    }

    #[test]
    fn another_word_is_refused_with_those_it_takes() {
        let refusal =
            "value: intel-pstate=fast: expected active, passive, disable, no_hwp, or none";
        assert_eq!(planned(&SETTING, "fast", &host()), refusal);
    }

    #[test]
    fn a_host_without_the_driver_is_no_plan() {
        let unknown = "unknown: /sys/devices/system/cpu/intel_pstate/status does not exist";
        assert_eq!(planned(&SETTING, "passive", DEBIAN), unknown);
    }
}
