//! `c1e`: whether a package whose cores all sleep goes to its lowest clock and voltage.
//!
//! Source: Intel SDM vol. 4, MSR_POWER_CTL (0x1FC), bit 1 (C1E enable); drivers/idle/intel_idle.c writes it at boot
//! on some models, and again for each CPU that comes online.

use crate::check::Reference;
use crate::setting::{Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::{power_ctl, register};

pub(super) const SETTING: Setting = Setting {
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
    looks_at: power_ctl::LOOKS_AT,
    plan,
};

/// In MSR_POWER_CTL.
const BIT: u32 = 1;

const HARM: &str = "C1E belongs to firmware and the idle driver, which count on what they have set: prefer idle-state";

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    power_ctl::switch(&SETTING, scene, wanted, BIT, HARM)
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::XEON;
    use crate::fixture::planned::{planned, planned_knowing};

    fn host(first: &str, second: &str) -> String {
        format!("{XEON}//- /dev/cpu/0/msr 0x1fc\n{first}\n//- /dev/cpu/1/msr 0x1fc\n{second}\n")
    }

    #[test]
    fn the_bit_alone_is_changed_on_one_thread_of_each_core() {
        assert_eq!(
            planned_knowing(&SETTING, "off", &host("0x24005b", "0x240058")),
            "/dev/cpu/0/msr 0x1fc: 0x24005b -> 0x240059\n\
             note: writing a register taints the kernel (S in /proc/sys/kernel/tainted) until the next boot"
        );
        let both = planned_knowing(&SETTING, "on", &host("0x240059", "0x240058"));
        assert_eq!(
            both.lines().take(3).collect::<Vec<_>>(),
            [
                "one first",
                "/dev/cpu/0/msr 0x1fc: 0x240059 -> 0x24005b",
                "/dev/cpu/1/msr 0x1fc: 0x240058 -> 0x24005a",
            ]
        );
    }

    #[test]
    fn nothing_is_done_without_consent() {
        let plan = planned(&SETTING, "off", &host("0x24005b", "0x24005b"));
        assert!(plan.starts_with("consent: "), "{plan}");
    }

    #[test]
    fn other_words_and_other_processors_are_refused() {
        assert!(planned(&SETTING, "2", &host("0x0", "0x0")).starts_with("value: c1e takes"));
        let amd = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : AuthenticAMD\ncpu family : 25\n\
                   //- /sys/devices/system/cpu/online\n0\n//- /dev/cpu/0/msr 0xc0010064\n0x8000000000000000\n";
        assert!(planned_knowing(&SETTING, "off", amd).starts_with("refused: no "));
    }

    #[test]
    fn a_register_that_may_not_be_read_is_unknown() {
        assert_eq!(
            planned_knowing(&SETTING, "off", &host("!denied", "0x0")),
            "unknown: /dev/cpu/0/msr 0x1fc may not be read"
        );
    }
}
