//! `idle-governor`: who chooses how deep an idle CPU sleeps.
//!
//! Source: Documentation/admin-guide/pm/cpuidle.rst; drivers/cpuidle/sysfs.c: since Linux 5.8 it can be changed while
//! the kernel runs, before that only with `cpuidle_sysfs_switch` on the boot line.

use crate::check::Reference;
use crate::setting::{Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::file;
use facts::Subjects;

const CURRENT: &str = "/sys/devices/system/cpu/cpuidle/current_governor";
const READ_ONLY: &str = "/sys/devices/system/cpu/cpuidle/current_governor_ro";
const AVAILABLE: &str = "/sys/devices/system/cpu/cpuidle/available_governors";

pub(super) const SETTING: Setting = Setting {
    id: "idle-governor",
    title: "the governor that chooses idle states",
    doc: "\
## What it changes
`current_governor` of cpuidle. `menu` guesses from past idle times and weighs latency, `teo` goes by when CPUs were
woken of late, `ladder` goes one state deeper at a time, and `haltpoll` polls before it halts, in guests.

## What it costs
A governor that sleeps deeper saves power and wakes later; one that sleeps less deep takes turbo from busy neighbours.

## When to leave it alone
`menu` and `teo` are both sound. Change between them only with a measurement of your own load.
",
    references: &[Reference {
        title: "Linux: CPU Idle Time Management, Idle CPU Governors",
        url: "https://docs.kernel.org/admin-guide/pm/cpuidle.html",
    }],
    takes: "a governor that available_governors of cpuidle lists",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "by how deep CPUs sleep",
    after: &["tuner"],
    fixes: &["slow-idle-governor"],
    reads: &[CURRENT, READ_ONLY, AVAILABLE],
    looks_at: Subjects::NONE,
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    if scene.controls.get(CURRENT).is_err_and(|it| it.is_absence())
        && scene.controls.get(READ_ONLY).is_ok()
    {
        return Err(Refusal::Host(
            "this kernel changes it only at boot: cpuidle.governor= on the boot line".to_owned(),
        ));
    }
    file::read(scene, CURRENT)?;
    let available = file::read(scene, AVAILABLE)?;
    if !available.split_whitespace().any(|it| it == wanted.value) {
        let text = format!("cpuidle has no governor {:?}; it has {available}", wanted.value);
        return Err(Refusal::Host(text));
    }
    file::set(scene, CURRENT, wanted.value)
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn host(current: &str) -> String {
        files(&format!(
            "cpuidle/current_governor {current}\ncpuidle/available_governors ladder menu teo"
        ))
    }

    #[test]
    fn a_governor_that_is_not_listed_and_a_kernel_that_cannot_are_refused() {
        assert_eq!(
            planned(&SETTING, "haltpoll", &host("menu")),
            "refused: cpuidle has no governor \"haltpoll\"; it has ladder menu teo"
        );
        assert_eq!(
            planned(&SETTING, "menu", &files("cpuidle/current_governor_ro ladder")),
            "refused: this kernel changes it only at boot: cpuidle.governor= on the boot line"
        );
    }
}
