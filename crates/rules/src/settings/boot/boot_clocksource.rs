//! `boot-clocksource`: the clock that programs tell the time by, from boot on.
//!
//! Source: Documentation/admin-guide/kernel-parameters.txt (clocksource=).

use crate::boot_edit;
use crate::check::Reference;
use crate::setting::{Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted};
use facts::{Subject, Subjects};

pub(in crate::settings) const SETTING: Setting = Setting {
    id: "boot-clocksource",
    title: "the clock that programs tell the time by, from the next boot on",
    doc: "\
## What it changes
`clocksource=` of the boot line. `clocksource` is the same while the machine runs.

## What it costs
Nothing where it names `tsc` and the TSC is sound; the kernel still leaves a TSC that it finds unstable.

## When to leave it alone
Where the kernel turned the TSC down for a reason: see `dmesg | grep -i tsc`. A database that sees time go backwards is worse
off than a slow one.
",
    references: &[Reference {
        title: "Linux: The kernel's command-line parameters",
        url: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
    }],
    takes: "the name of a clocksource that this kernel has, or none",
    scope: Scope::Host,
    effect: Effect::AtBoot,
    survives: Survives { reboot: true, hotplug: true, suspend: true },
    risk: Risk::Medium,
    power: "none",
    after: &[],
    fixes: &[],
    reads: boot_edit::READS,
    looks_at: boot_edit::LOOKS_AT.and(Subjects::of(&[Subject::Clocksource])),
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    if wanted.value == "none" {
        return boot_edit::edit(scene, "clocksource", None);
    }
    let available = scene.host.clocksource.available.as_ref()?;
    if !available.iter().any(|it| it == wanted.value) {
        let (value, available) = (wanted.value, available.join(" "));
        let text = format!("this kernel has no clocksource {value:?}; it has {available}");
        return Err(Refusal::Value(text));
    }
    boot_edit::edit(scene, "clocksource", Some(wanted.value))
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::boot_loaders::*;
    use crate::fixture::planned::planned;

    /// Debian with two clocks.
    fn host() -> String {
        let folder = "//- /sys/devices/system/clocksource/clocksource0";
        format!(
            "{DEBIAN}{folder}/available_clocksource\ntsc hpet\n{folder}/current_clocksource\nhpet\n"
        )
    }

    #[test]
    fn a_clock_that_the_kernel_has_may_be_asked_for() {
        assert!(planned(&SETTING, "tsc", &host()).contains(" clocksource=tsc\""));
    }

    #[test]
    fn a_clock_that_the_kernel_has_not_is_refused() {
        let refusal = "value: this kernel has no clocksource \"kvm-clock\"; it has tsc hpet";
        assert_eq!(planned(&SETTING, "kvm-clock", &host()), refusal);
    }

    #[test]
    fn unknown_clocks_are_no_plan() {
        assert!(planned(&SETTING, "tsc", DEBIAN).starts_with("unknown: "));
    }
}
