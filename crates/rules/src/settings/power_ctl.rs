//! The bits of MSR_POWER_CTL that are switched on or off, on every core.
//!
//! Source: Intel SDM vol. 4, MSR_POWER_CTL (0x1FC). Some firmware locks it, which shows only when a write fails.

use super::{register, value};
use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use facts::msr::intel::POWER_CTL;
use facts::{Subject, Subjects};

/// Whether the processor obeys when something else on the board asserts PROCHOT#: bit 0 (bidirectional PROCHOT#). Who
/// asserts it only the management controller knows.
pub(super) const BD_PROCHOT: Setting = Setting {
    id: "bd-prochot",
    title: "whether others may slow the processor by PROCHOT#",
    doc: "\
## What it changes
Bit 0 of register 0x1FC, which acts on the whole package and is written on every core: on, the processor slows down while a regulator, a power supply or the
management controller asserts PROCHOT#. Off, it does not.

## What it costs
Off, nothing but the processor's own sensor guards the machine: regulators and power supplies may shut down, or be damaged.

## When to leave it alone
Almost always. An asserted PROCHOT# has a cause, and that is to be fixed. Off is for a sensor that is known to be
broken, until it is replaced; so it cures no finding.
",
    references: &[Reference {
        title: "Intel SDM vol. 4, MSR_POWER_CTL (0x1FC)",
        url: "https://www.intel.com/sdm",
    }],
    takes: "`on` or `off`",
    scope: Scope::Cpu,
    effect: Effect::AtOnce,
    survives: Survives { reboot: false, hotplug: true, suspend: false },
    risk: Risk::High,
    power: "as much as the processor can draw, with no word from those who supply it",
    after: &["tuner"],
    fixes: &[],
    reads: &[register::LOCKDOWN, register::ALLOW_WRITES],
    looks_at: LOOKS_AT,
    plan: |scene, wanted| {
        const HARM: &str = "without BD PROCHOT, regulators and power supplies that overheat can no longer slow the processor: fix what asserts it";
        switch(&BD_PROCHOT, scene, wanted, 0, HARM)
    },
};

/// Whether a package whose cores all sleep goes to its lowest clock and voltage: bit 1 (C1E enable).
/// drivers/idle/intel_idle.c writes it at boot on some models, and again for each CPU that comes online.
pub(super) const C1E: Setting = Setting {
    id: "c1e",
    title: "whether a sleeping package lowers its clock and voltage",
    doc: "\
## What it changes
Bit 1 of register 0x1FC, which acts on the whole package and is written on every core: on, a core that asks for C1 is let into C1E, at the lowest clock and voltage.
Off, C1 is C1.

## What it costs
Off, an idle machine draws more, and leaves less for turbo; on, waking up takes some microseconds more.

## When to leave it alone
Where the idle states C1 and C1E are listed apart: choose by `idle-state` there, which needs no register.
",
    references: &[Reference {
        title: "Intel SDM vol. 4, MSR_POWER_CTL (0x1FC)",
        url: "https://www.intel.com/sdm",
    }],
    takes: "`on` or `off`",
    scope: Scope::Cpu,
    effect: Effect::AtOnce,
    survives: Survives { reboot: false, hotplug: false, suspend: false },
    risk: Risk::High,
    power: "off, idle cores draw more",
    after: &["tuner"],
    fixes: &[],
    reads: &[register::LOCKDOWN, register::ALLOW_WRITES],
    looks_at: LOOKS_AT,
    plan: |scene, wanted| {
        const HARM: &str = "C1E belongs to firmware and the idle driver, which count on what they have set: prefer idle-state";
        switch(&C1E, scene, wanted, 1, HARM)
    },
};

/// The facts that are read for one bit of it.
const LOOKS_AT: Subjects = register::LOOKS_AT.and(Subjects::of(&[Subject::Groups]));

/// The change of one bit on every core that is meant, with the user's consent to what `harm` says; a core is meant with any
/// of its threads.
fn switch(
    setting: &Setting,
    scene: &Scene<'_>,
    wanted: &Wanted<'_>,
    bit: u32,
    harm: &str,
) -> Planned {
    let on = value::switch(setting, wanted)?;
    if !wanted.i_know {
        return Err(Refusal::NeedsConsent(harm.to_owned()));
    }
    let values = register::values(scene, &POWER_CTL)?;
    let mask = 1u64 << bit;
    let bits = if on { mask } else { 0 };
    let is_meant = |cpu: u32| scene.host.topology.core_of(cpu).iter().any(|it| wanted.covers(it));
    let meant = values.known().filter(|(cpu, _)| is_meant(*cpu));
    let writes: Vec<_> = meant
        .filter_map(|(cpu, &value)| register::write(cpu, &POWER_CTL, mask, value, bits))
        .collect();
    Ok(Change { canary: writes.len() > 1, ..Change::of(writes) }.note(register::TAINT))
}

#[cfg(test)]
mod tests {
    use super::{BD_PROCHOT, C1E};
    use crate::fixture::XEON;
    use crate::fixture::planned::{planned, planned_knowing};

    fn host(first: &str, second: &str) -> String {
        format!("{XEON}//- /dev/cpu/0/msr 0x1fc\n{first}\n//- /dev/cpu/1/msr 0x1fc\n{second}\n")
    }

    #[test]
    fn the_bit_alone_is_changed_on_one_thread_of_each_core() {
        for (setting, on, off) in
            [(&BD_PROCHOT, 0x24_005b, 0x24_005a), (&C1E, 0x24_005a, 0x24_0058)]
        {
            let hosts = host(&format!("{on:#x}"), &format!("{off:#x}"));
            assert_eq!(
                planned_knowing(setting, "off", &hosts),
                format!(
                    "/dev/cpu/0/msr 0x1fc: {on:#x} -> {off:#x}\n\
                     note: writing a register taints the kernel (S in /proc/sys/kernel/tainted) until the next boot"
                )
            );
            let both = planned_knowing(setting, "on", &host(&format!("{off:#x}"), "0x0"));
            assert_eq!(
                both.lines().take(3).collect::<Vec<_>>(),
                [
                    "one first",
                    &format!("/dev/cpu/0/msr 0x1fc: {off:#x} -> {on:#x}"),
                    &format!("/dev/cpu/1/msr 0x1fc: 0x0 -> {:#x}", on ^ off),
                ]
            );
        }
    }

    #[test]
    fn nothing_is_done_without_consent_for_other_words_or_on_other_processors() {
        let amd = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : AuthenticAMD\ncpu family : 25\n\
                   //- /sys/devices/system/cpu/online\n0\n//- /dev/cpu/0/msr 0xc0010064\n0x8000000000000000\n";
        for setting in [&BD_PROCHOT, &C1E] {
            let takes = format!("value: {} takes", setting.id);
            assert!(planned(setting, "2", &host("0x0", "0x0")).starts_with(&takes));
            assert!(planned(setting, "off", &host("0x3", "0x3")).starts_with("consent: "));
            assert!(planned_knowing(setting, "off", amd).starts_with("refused: no "));
        }
    }

    #[test]
    fn a_register_that_may_not_be_read_is_unknown() {
        for setting in [&BD_PROCHOT, &C1E] {
            assert_eq!(
                planned_knowing(setting, "off", &host("!denied", "0x0")),
                "unknown: /dev/cpu/0/msr 0x1fc may not be read"
            );
        }
    }
}
