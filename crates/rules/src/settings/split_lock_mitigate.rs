//! `split-lock-mitigate`: whether a process that locks two cache lines at once is made to wait.
//!
//! Sources: Documentation/admin-guide/sysctl/kernel.rst, arch/x86/kernel/cpu/bus_lock.c. Whether any process does
//! such a thing only the kernel's log tells.

use crate::check::Reference;
use crate::setting::{Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::file;
use facts::Subjects;

const PATH: &str = "/proc/sys/kernel/split_lock_mitigate";

pub(super) const SETTING: Setting = Setting {
    id: "split-lock-mitigate",
    title: "whether a split lock puts its process to sleep",
    doc: "\
## What it changes
`kernel.split_lock_mitigate`. On, a process that does an atomic operation across two cache lines sleeps for 10 ms and
then runs alone among its like. Off, the kernel only logs it.

## What it costs
Off, one such program slows memory for every core while it does it. Nothing where no program does.

## When to leave it alone
Leave it on unless the log names the database (`split_lock trap`): then switch it off until the program is fixed. On a
host shared with programs that nobody trusts, leave it on.
",
    references: &[Reference {
        title: "Linux: Documentation for /proc/sys/kernel/",
        url: "https://docs.kernel.org/admin-guide/sysctl/kernel.html",
    }],
    takes: "`on` or `off`",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "none",
    after: &["tuner"],
    fixes: &[],
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
    fn the_penalty_is_switched_on_and_off() {
        let host = |value: &str| files(&format!("/proc/sys/kernel/split_lock_mitigate {value}"));
        assert_eq!(
            planned(&SETTING, "off", &host("1")),
            "/proc/sys/kernel/split_lock_mitigate: 1 -> 0"
        );
        assert_eq!(
            planned(&SETTING, "on", &host("0")),
            "/proc/sys/kernel/split_lock_mitigate: 0 -> 1"
        );
        assert_eq!(planned(&SETTING, "off", &host("0")), "nothing");
    }

    #[test]
    fn other_words_and_lists_of_cpus_are_refused() {
        let host = files("/proc/sys/kernel/split_lock_mitigate 1");
        let takes = "value: split-lock-mitigate takes `on` or `off`, not ";
        assert_eq!(planned(&SETTING, "2", &host), format!("{takes}\"2\""));
        assert_eq!(
            planned(&SETTING, "off@1", &host),
            "value: split-lock-mitigate is of the whole host: leave out @1"
        );
    }

    #[test]
    fn a_kernel_without_it_refuses_and_a_denied_one_is_unknown() {
        assert_eq!(
            planned(&SETTING, "off", ""),
            "refused: this kernel has no /proc/sys/kernel/split_lock_mitigate"
        );
        assert_eq!(
            planned(&SETTING, "off", &files("/proc/sys/kernel/split_lock_mitigate !denied")),
            "unknown: /proc/sys/kernel/split_lock_mitigate may not be read"
        );
    }
}
