//! `bd-prochot`: whether the processor obeys when something else on the board asserts PROCHOT#.
//!
//! Source: Intel SDM vol. 4, MSR_POWER_CTL (0x1FC), bit 0 (bidirectional PROCHOT#). Who asserts it only the
//! management controller knows.

use crate::check::Reference;
use crate::setting::{Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::{power_ctl, register};

pub(super) const SETTING: Setting = Setting {
    id: "bd-prochot",
    title: "whether others may slow the processor by PROCHOT#",
    doc: "\
## What it changes
Bit 0 of register 0x1FC, which acts on the whole package and is written on every core: on, the processor slows down while a regulator, a power supply or the
management controller asserts PROCHOT#. Off, it does not.

## What it costs
Off, nothing but the processor's own sensor guards the machine: regulators and power supplies may shut down, or be damaged.

## When to leave it alone
Almost always. An asserted PROCHOT# has a cause, and that is to be mended. Off is for a sensor that is known to be
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
    looks_at: power_ctl::LOOKS_AT,
    plan,
};

/// In MSR_POWER_CTL.
const BIT: u32 = 0;

const HARM: &str = "without BD PROCHOT, regulators and power supplies that overheat can no longer slow the processor: mend what asserts it";

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
            "/dev/cpu/0/msr 0x1fc: 0x24005b -> 0x24005a\n\
             note: writing a register taints the kernel (S in /proc/sys/kernel/tainted) until the next boot"
        );
        let both = planned_knowing(&SETTING, "on", &host("0x24005a", "0x240058"));
        assert_eq!(
            both.lines().take(3).collect::<Vec<_>>(),
            [
                "one first",
                "/dev/cpu/0/msr 0x1fc: 0x24005a -> 0x24005b",
                "/dev/cpu/1/msr 0x1fc: 0x240058 -> 0x240059",
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
        assert!(planned(&SETTING, "2", &host("0x0", "0x0")).starts_with("value: bd-prochot takes"));
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
