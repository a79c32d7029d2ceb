//! `timer-migration`: whether the timers of a CPU that falls idle are run by one that is awake.
//!
//! Sources: kernel/time/timer.c (`timer_migration_handler`), kernel/time/timer_migration.c. Which timers are pinned
//! to their CPU whatever this says, no file tells.

use crate::check::Reference;
use crate::setting::{Effect, Planned, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::file;
use facts::Subjects;

const PATH: &str = "/proc/sys/kernel/timer_migration";

pub(super) const SETTING: Setting = Setting {
    id: "timer-migration",
    title: "whether timers of idle CPUs move to busy ones",
    doc: "\
## What it changes
`kernel.timer_migration`. On, the kernel runs timers that are not bound to a CPU on one that is awake, so that idle
CPUs sleep on. Off, each CPU runs the timers that were started on it.

## What it costs
Off, idle CPUs are woken by their own timers and sleep less. On, a busy CPU is interrupted for others.

## When to leave it alone
Leave it on, unless a trace shows timers of other CPUs on one that must not be interrupted. With nohz_full CPUs leave it
on, too: it is what takes their timers to the others (`get_nohz_timer_target` in kernel/sched/core.c).
",
    references: &[Reference {
        title: "Linux: kernel/time/timer_migration.c",
        url: "https://github.com/torvalds/linux/blob/master/kernel/time/timer_migration.c",
    }],
    takes: "`on` or `off`",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "off, idle CPUs wake up more often",
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
    fn timers_are_kept_or_let_go() {
        let host = |value: &str| files(&format!("/proc/sys/kernel/timer_migration {value}"));
        assert_eq!(
            planned(&SETTING, "off", &host("1")),
            "/proc/sys/kernel/timer_migration: 1 -> 0"
        );
        assert_eq!(planned(&SETTING, "on", &host("0")), "/proc/sys/kernel/timer_migration: 0 -> 1");
        assert_eq!(planned(&SETTING, "off", &host("0")), "nothing");
    }

    #[test]
    fn other_words_and_lists_of_cpus_are_refused() {
        let host = files("/proc/sys/kernel/timer_migration 1");
        let takes = "value: timer-migration takes `on` or `off`, not ";
        assert_eq!(planned(&SETTING, "2", &host), format!("{takes}\"2\""));
        assert_eq!(
            planned(&SETTING, "off@1", &host),
            "value: timer-migration is of the whole host: leave out @1"
        );
    }

    #[test]
    fn a_kernel_without_it_refuses_and_a_denied_one_is_unknown() {
        assert_eq!(
            planned(&SETTING, "off", ""),
            "refused: this kernel has no /proc/sys/kernel/timer_migration"
        );
        assert_eq!(
            planned(&SETTING, "off", &files("/proc/sys/kernel/timer_migration !denied")),
            "unknown: /proc/sys/kernel/timer_migration may not be read"
        );
    }
}
