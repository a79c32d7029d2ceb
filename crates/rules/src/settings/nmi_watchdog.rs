//! `nmi-watchdog`: whether each CPU proves by a performance counter that it has not locked up.
//!
//! Sources: Documentation/admin-guide/lockup-watchdogs.rst; kernel/watchdog.c. A kernel or a virtual machine without
//! a counter for it refuses to switch it on, which no file tells beforehand.

use crate::check::Reference;
use crate::setting::{Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::file;
use facts::Subjects;

const PATH: &str = "/proc/sys/kernel/nmi_watchdog";

pub(super) const SETTING: Setting = Setting {
    id: "nmi-watchdog",
    title: "the hard lockup detector",
    doc: "\
## What it changes
`kernel.nmi_watchdog`. The detector takes one performance counter of every CPU that it watches, and interrupts the CPU
some times a minute to see whether it still takes timer interrupts.

## What it costs
A CPU that hangs in the kernel with interrupts off is not noticed by Linux any more. A watchdog of the board still
restarts such a machine. One more performance counter is free for `perf`.

## When to leave it alone
Where lockups are being looked for, and where a cluster relies on the panic that `kernel.hardlockup_panic` makes of
them.
",
    references: &[Reference {
        title: "Linux: Softlockup detector and hardlockup detector",
        url: "https://docs.kernel.org/admin-guide/lockup-watchdogs.html",
    }],
    takes: "`on` or `off`",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "none that can be measured",
    after: &["tuner"],
    fixes: &["nmi-watchdog-tick"],
    reads: &[PATH],
    looks_at: Subjects::NONE,
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    file::switch(&SETTING, scene, wanted, PATH)
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    #[test]
    fn the_detector_is_switched_on_and_off() {
        let host = |value: &str| files(&format!("/proc/sys/kernel/nmi_watchdog {value}"));
        assert_eq!(planned(&SETTING, "off", &host("1")), "/proc/sys/kernel/nmi_watchdog: 1 -> 0");
        assert_eq!(planned(&SETTING, "on", &host("0")), "/proc/sys/kernel/nmi_watchdog: 0 -> 1");
        assert_eq!(planned(&SETTING, "off", &host("0")), "nothing");
    }

    #[test]
    fn other_words_and_lists_of_cpus_are_refused() {
        let host = files("/proc/sys/kernel/nmi_watchdog 1");
        let takes = "value: nmi-watchdog takes `on` or `off`, not ";
        assert_eq!(planned(&SETTING, "2", &host), format!("{takes}\"2\""));
        assert_eq!(
            planned(&SETTING, "off@1", &host),
            "value: nmi-watchdog is of the whole host: leave out @1"
        );
    }

    #[test]
    fn a_kernel_without_it_refuses_and_a_denied_one_is_unknown() {
        assert_eq!(
            planned(&SETTING, "off", ""),
            "refused: this kernel has no /proc/sys/kernel/nmi_watchdog"
        );
        assert_eq!(
            planned(&SETTING, "off", &files("/proc/sys/kernel/nmi_watchdog !denied")),
            "unknown: /proc/sys/kernel/nmi_watchdog may not be read"
        );
    }
}
