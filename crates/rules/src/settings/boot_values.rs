//! Words and numbers on the boot line.
//!
//! Source: Documentation/admin-guide/kernel-parameters.txt (idle=, intel_pstate=, clocksource=, *.max_cstate=).

use crate::boot_edit;
use crate::check::Reference;
use crate::setting::{Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted};
use facts::{Subject, Subjects};

/// The deepest idle state that the driver offers.
///
/// Sources: drivers/idle/intel_idle.c and drivers/acpi/processor_idle.c.
pub(super) const MAX_CSTATE: Setting = Setting {
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
    plan: max_cstate,
};

fn max_cstate(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(MAX_CSTATE.id)?;
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

/// What an idle CPU does.
pub(super) const IDLE: Setting = Setting {
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
    plan: idle,
};

fn idle(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(IDLE.id)?;
    match wanted.value {
        "none" => boot_edit::edit(scene, "idle", None),
        it @ ("poll" | "halt" | "nomwait") => boot_edit::edit(scene, "idle", Some(it)),
        it => {
            let text = format!("idle={it}: expected poll, halt, nomwait or none");
            Err(Refusal::Value(text))
        }
    }
}

/// Which driver chooses the clock of Intel processors.
///
/// Source: intel_pstate_init in drivers/cpufreq/intel_pstate.c.
pub(super) const INTEL_PSTATE: Setting = Setting {
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
    plan: intel_pstate,
};

fn intel_pstate(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(INTEL_PSTATE.id)?;
    scene.host.pstate.intel.status.as_ref()?;
    match wanted.value {
        "none" => boot_edit::edit(scene, "intel_pstate", None),
        it @ ("active" | "passive" | "disable" | "no_hwp") => {
            boot_edit::edit(scene, "intel_pstate", Some(it))
        }
        it => {
            let text = format!("intel-pstate={it}: expected {}", INTEL_PSTATE.takes);
            Err(Refusal::Value(text))
        }
    }
}

/// The clock from which programs read the time, from boot on.
pub(super) const BOOT_CLOCKSOURCE: Setting = Setting {
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
    plan: boot_clocksource,
};

fn boot_clocksource(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(BOOT_CLOCKSOURCE.id)?;
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
    use super::{BOOT_CLOCKSOURCE, IDLE, INTEL_PSTATE, MAX_CSTATE};
    use crate::fixture::boot_loaders::*;
    use crate::fixture::planned::planned;
    use crate::setting::Setting;

    const ALL: [&Setting; 4] = [&MAX_CSTATE, &IDLE, &INTEL_PSTATE, &BOOT_CLOCKSOURCE];

    /// Debian with an idle driver, intel_pstate and two clocks.
    fn host(idle_driver: &str) -> String {
        let cpu = "//- /sys/devices/system/cpu";
        let clock = "//- /sys/devices/system/clocksource/clocksource0";
        format!(
            "{DEBIAN}{cpu}/cpuidle/current_driver\n{idle_driver}\n{cpu}/intel_pstate/status\nactive\n\
             {clock}/available_clocksource\ntsc hpet\n{clock}/current_clocksource\nhpet\n"
        )
    }

    #[test]
    fn a_value_becomes_its_parameter() {
        for (setting, value, driver, parameter) in [
            (&MAX_CSTATE, "1", "intel_idle", "intel_idle.max_cstate=1"),
            (&MAX_CSTATE, "1", "acpi_idle", "processor.max_cstate=1"),
            (&IDLE, "poll", "intel_idle", "idle=poll"),
            (&INTEL_PSTATE, "passive", "intel_idle", "intel_pstate=passive"),
            (&BOOT_CLOCKSOURCE, "tsc", "intel_idle", "clocksource=tsc"),
        ] {
            let plan = planned(setting, value, &host(driver));
            assert!(plan.contains(&format!(" {parameter}\"")), "{plan}");
        }
    }

    #[test]
    fn another_value_is_refused_with_those_it_takes() {
        for (setting, value, refusal) in [
            (&MAX_CSTATE, "C1", "max-cstate=C1: expected a number from 0 to 9, or none"),
            (&IDLE, "deep", "idle=deep: expected poll, halt, nomwait or none"),
            (
                &INTEL_PSTATE,
                "fast",
                "intel-pstate=fast: expected active, passive, disable, no_hwp, or none",
            ),
            (
                &BOOT_CLOCKSOURCE,
                "kvm-clock",
                "this kernel has no clocksource \"kvm-clock\"; it has tsc hpet",
            ),
        ] {
            let plan = planned(setting, value, &host("intel_idle"));
            assert_eq!(plan, format!("value: {refusal}"));
        }
    }

    #[test]
    fn an_idle_driver_without_a_limit_is_refused() {
        let refusal = "refused: the idle driver haltpoll takes no limit on the boot line";
        assert_eq!(planned(&MAX_CSTATE, "1", &host("haltpoll")), refusal);
    }

    #[test]
    fn without_the_driver_or_the_clocks_there_is_no_plan() {
        assert!(planned(&MAX_CSTATE, "1", DEBIAN).starts_with("unknown: "));
        assert!(planned(&BOOT_CLOCKSOURCE, "tsc", DEBIAN).starts_with("unknown: "));
        let unknown = "unknown: /sys/devices/system/cpu/intel_pstate/status does not exist";
        assert_eq!(planned(&INTEL_PSTATE, "passive", DEBIAN), unknown);
    }

    #[test]
    fn what_is_so_already_is_no_plan() {
        assert_eq!(planned(&IDLE, "halt", DEBIAN_EDITED), "nothing");
        assert!(
            planned(&IDLE, "halt", DEBIAN_BY_HAND)
                .starts_with("refused: /etc/default/grub gives idle=")
        );
    }

    #[test]
    fn a_list_of_cpus_is_refused() {
        for setting in ALL {
            let refusal = format!("value: {} is of the whole host: leave out @1", setting.id);
            assert_eq!(planned(setting, "none@1", &host("intel_idle")), refusal);
        }
    }
}
