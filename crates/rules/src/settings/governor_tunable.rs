//! `governor-tunable`: one number that the governor in force goes by, in a folder of each policy, or in one for all policies
//! (`CPUFREQ_HAVE_GOVERNOR_PER_POLICY`).
//!
//! Sources: Documentation/admin-guide/pm/cpufreq.rst, "Generic Scaling Governors"; drivers/cpufreq/cpufreq_governor.c;
//! drivers/cpufreq/cpufreq_{ondemand,conservative,schedutil}.c, whose `store_*` functions give the bounds. The folder and
//! its values go when the last policy leaves the governor.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::file;
use crate::settings::scaling::{self, PolicyFile};
use crate::settings::value::whole;
use facts::change::{Target, Write, is_same};

const GOVERNOR: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor";

pub(super) const SETTING: Setting = Setting {
    id: "governor-tunable",
    title: "a number that the governor in force goes by",
    doc: "\
## What it changes
One tunable of `ondemand`, `conservative` or `schedutil`, whichever is in force: `up_threshold:40` has ondemand go to
the highest clock from 40 % of load on. Policies that share a governor share its tunables on most drivers, and then it
holds for all of them.

## What it costs
More eager governors run at high clocks for longer.

## When to leave it alone
Where the governor `performance` may be chosen: it needs no tuning. A change of the governor drops the number.
",
    references: &[Reference {
        title: "Linux: CPU Performance Scaling, Generic Scaling Governors",
        url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html#generic-scaling-governors",
    }],
    takes: "a tunable of the governor in force and its number, such as `up_threshold:40`",
    scope: Scope::Policy,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "more eager governors draw more",
    after: &["tuner", "intel-pstate-status", "amd-pstate-status", "governor"],
    fixes: &[],
    reads: &file::joined::<7>(&[&[GOVERNOR], &FILES]),
    looks_at: scaling::LOOKS_AT,
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    let (name, number) = wanted.value.split_once(':').ok_or_else(|| wanted.not_taken(&SETTING))?;
    let number = whole(number).ok_or_else(|| wanted.not_taken(&SETTING))?;
    let mut writes: Vec<Write> = Vec::new();
    for policy in scaling::policies(scene, wanted, GOVERNOR)? {
        let tunable = known(&policy, name, number)?;
        let path = path(scene, wanted, &policy, tunable)?;
        let from = scene.controls.get(&path)?;
        let write = Write::of(Target::control(path), from, number.to_string());
        if !is_same(from, &number.to_string()) && !writes.contains(&write) {
            writes.push(write);
        }
    }
    Ok(Change::of(writes))
}

/// The tunable of the policy's governor, if it takes the number.
fn known(policy: &PolicyFile<'_>, name: &str, number: u64) -> Result<&'static Tunable, Refusal> {
    let governor = policy.text;
    let Some(tunable) = of(governor).find(|it| it.name == name) else {
        let names: Vec<&str> = of(governor).map(|it| it.name).collect();
        let has = if names.is_empty() { "no tunables".to_owned() } else { names.join(", ") };
        return Err(Refusal::Value(format!("governor {governor} has {has}, and no {name:?}")));
    };
    let (from, to) = tunable.accepted;
    if (from..=to).contains(&number) {
        Ok(tunable)
    } else {
        Err(Refusal::Value(format!("{name} takes {from} to {to}, not {number}")))
    }
}

/// The file that policies share, or else the policy's own. Kernels before 3.10 show what is shared in the folder of each policy, too
/// (`dbs_attr_group_old` in drivers/cpufreq/cpufreq_ondemand.c of 2.6.32); others have one of the two.
fn path(
    scene: &Scene<'_>,
    wanted: &Wanted<'_>,
    policy: &PolicyFile<'_>,
    tunable: &Tunable,
) -> Result<String, Refusal> {
    let Tunable { governor, name, .. } = tunable;
    let own = policy.beside(&format!("{governor}/{name}"));
    let shared = format!("{FOLDER}/{governor}/{name}");
    match (scene.controls.get(&own), scene.controls.get(&shared), wanted.cpus) {
        (_, Ok(_), None) => Ok(shared),
        (_, Ok(_), Some(cpus)) => {
            let text = format!("{shared} is of every policy with that governor: leave out @{cpus}");
            Err(Refusal::Value(text))
        }
        (Ok(_), Err(_), _) => Ok(own),
        (Err(missing), Err(_), _) if !missing.is_absence() => Err(Refusal::Unknown(missing)),
        (Err(_), Err(missing), _) if !missing.is_absence() => Err(Refusal::Unknown(missing)),
        _ => Err(Refusal::Host(format!("neither {own} nor {shared} is there"))),
    }
}

/// The folder of tunables that all policies of a governor share is in here.
pub(super) const FOLDER: &str = "/sys/devices/system/cpu/cpufreq";

/// Where tunables are.
pub(super) const FILES: [&str; 6] = [
    "/sys/devices/system/cpu/cpufreq/policy*/ondemand/*",
    "/sys/devices/system/cpu/cpufreq/policy*/conservative/*",
    "/sys/devices/system/cpu/cpufreq/policy*/schedutil/*",
    "/sys/devices/system/cpu/cpufreq/ondemand/*",
    "/sys/devices/system/cpu/cpufreq/conservative/*",
    "/sys/devices/system/cpu/cpufreq/schedutil/*",
];

/// One number that a governor takes.
pub(super) struct Tunable {
    pub(super) governor: &'static str,
    pub(super) name: &'static str,
    /// The lowest and the highest number that the kernel accepts.
    pub(super) accepted: (u64, u64),
}

const fn tunable(governor: &'static str, name: &'static str, from: u64, to: u64) -> Tunable {
    Tunable { governor, name, accepted: (from, to) }
}

const ANY: u64 = u32::MAX as u64;

/// Every tunable that can be written.
pub(super) const TUNABLES: &[Tunable] = &[
    tunable("ondemand", "ignore_nice_load", 0, 1),
    tunable("ondemand", "io_is_busy", 0, 1),
    tunable("ondemand", "powersave_bias", 0, 1000),
    tunable("ondemand", "sampling_down_factor", 1, 100_000),
    tunable("ondemand", "sampling_rate", 1, ANY),
    tunable("ondemand", "up_threshold", 1, 100),
    tunable("conservative", "down_threshold", 1, 99),
    tunable("conservative", "freq_step", 0, 100),
    tunable("conservative", "ignore_nice_load", 0, 1),
    tunable("conservative", "sampling_down_factor", 1, 10),
    tunable("conservative", "sampling_rate", 1, ANY),
    tunable("conservative", "up_threshold", 1, 100),
    tunable("schedutil", "rate_limit_us", 0, ANY),
];

/// The tunables of a governor.
pub(super) fn of(governor: &str) -> impl Iterator<Item = &'static Tunable> {
    TUNABLES.iter().filter(move |it| it.governor == governor)
}

/// What is forgotten when a governor leaves: the tunables in the folder that is named after it in `parent`.
pub(super) fn forgotten(scene: &Scene<'_>, parent: &str, governor: &str) -> Vec<Write> {
    let mut reset: Vec<(&str, String, &str)> = of(governor)
        .filter_map(|tunable| {
            let path = format!("{parent}/{governor}/{}", tunable.name);
            let text = scene.controls.get(&path).ok()?;
            Some((tunable.name, path, text))
        })
        .collect();
    // conservative keeps its thresholds apart: against its own 80 and 20, a high one goes up before the other follows.
    // What is forgotten last is written back first.
    let is_high =
        |(name, _, text): &(&str, String, &str)| *name == "down_threshold" && above_default(text);
    if !reset.iter().any(is_high) {
        reset.reverse();
    }
    reset.into_iter().map(|(_, path, text)| Write::forgotten(Target::control(path), text)).collect()
}

/// Whether the lower threshold of conservative is not below what its upper one starts with
/// (`DEF_FREQUENCY_UP_THRESHOLD` in drivers/cpufreq/cpufreq_conservative.c).
fn above_default(text: &str) -> bool {
    text.parse::<u64>().is_ok_and(|it| it >= 80)
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn host(governor: &str, more: &str) -> String {
        let policy = |number: u32| {
            format!(
                "cpufreq/policy{number}/affected_cpus {number}
                 cpufreq/policy{number}/scaling_governor {governor}\n"
            )
        };
        files(&(policy(0) + &policy(1) + more))
    }

    #[test]
    fn the_file_of_each_policy_or_the_shared_one_is_written_once() {
        let own = "cpufreq/policy0/schedutil/rate_limit_us 500
                   cpufreq/policy1/schedutil/rate_limit_us 0";
        assert_eq!(
            planned(&SETTING, "rate_limit_us:0", &host("schedutil", own)),
            "cpufreq/policy0/schedutil/rate_limit_us: 500 -> 0"
        );
        let shared = host("ondemand", "cpufreq/ondemand/up_threshold 95");
        assert_eq!(
            planned(&SETTING, "up_threshold:40", &shared),
            "cpufreq/ondemand/up_threshold: 95 -> 40"
        );
    }

    #[test]
    fn a_number_that_an_older_kernel_shows_in_two_places_is_written_once() {
        let older = "/proc/sys/kernel/osrelease 2.6.32-754.el6.x86_64
                     online 0-1
                     cpu0/cpufreq/affected_cpus 0
                     cpu0/cpufreq/scaling_governor ondemand
                     cpu0/cpufreq/ondemand/up_threshold 95
                     cpu1/cpufreq/affected_cpus 1
                     cpu1/cpufreq/scaling_governor ondemand
                     cpu1/cpufreq/ondemand/up_threshold 95\n";
        let shared = files(&format!("{older}cpufreq/ondemand/up_threshold 95"));
        assert_eq!(
            planned(&SETTING, "up_threshold:40", &shared),
            "cpufreq/ondemand/up_threshold: 95 -> 40"
        );
        assert_eq!(
            planned(&SETTING, "up_threshold:40", &files(older)),
            "cpu0/cpufreq/ondemand/up_threshold: 95 -> 40\ncpu1/cpufreq/ondemand/up_threshold: 95 -> 40"
        );
    }

    #[test]
    fn what_the_governor_does_not_take_is_refused_with_what_it_takes() {
        let host = host("ondemand", "cpufreq/ondemand/up_threshold 95");
        assert_eq!(
            planned(&SETTING, "up_threshold:101", &host),
            "value: up_threshold takes 1 to 100, not 101"
        );
        assert_eq!(
            planned(&SETTING, "freq_step:5", &host),
            "value: governor ondemand has ignore_nice_load, io_is_busy, powersave_bias, sampling_down_factor, \
             sampling_rate, up_threshold, and no \"freq_step\""
        );
        assert!(planned(&SETTING, "up_threshold:40@1", &host).ends_with("leave out @1"));
    }

    #[test]
    fn a_path_in_the_name_leads_nowhere() {
        let host = host("ondemand", "");
        let plan = planned(&SETTING, "../../boost:1", &host);
        assert!(plan.ends_with("and no \"../../boost\""), "{plan}");
    }
}
