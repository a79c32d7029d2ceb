//! `turbo`: whether clocks above the nominal one may be used.
//!
//! Sources: Documentation/admin-guide/pm/{intel_pstate,cpufreq,amd-pstate}.rst; drivers/cpufreq/intel_pstate.c
//! (`store_no_turbo`), drivers/cpufreq/cpufreq.c (`store_boost`, `store_local_boost`). Turbo that firmware has
//! switched off cannot be distinguished from turbo that a processor never had.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::scaling::MAX_PCT;
use crate::settings::{file, lost, scaling, value};
use facts::Missing;
use facts::change::{Control, Target, Write};
use facts::cpu::cpufreq::Policy;

const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
const MIN_PCT: &str = "/sys/devices/system/cpu/intel_pstate/min_perf_pct";
const BOOST: &str = "/sys/devices/system/cpu/cpufreq/boost";
const POLICY_BOOST: &str = "/sys/devices/system/cpu/cpufreq/policy*/boost";
const MAX: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq";

pub(super) const SETTING: Setting = Setting {
    id: "turbo",
    title: "clocks above the nominal one",
    doc: "\
## What it changes
`intel_pstate/no_turbo`, or `cpufreq/boost`, or, for some CPUs only, `boost` of their cpufreq policies (Linux 6.11 and
later).

## What it costs
On, power and heat. Off, up to a third of the clock of a lightly loaded machine, and its differences from run to run.

## When to leave it alone
Off is for measurements that must not depend on heat, and for a power budget. Turbo that firmware has switched off is
refused here: switch it on in the firmware's setup.
",
    references: &[
        Reference {
            title: "Linux: intel_pstate, Global Attributes in sysfs",
            url: "https://docs.kernel.org/admin-guide/pm/intel_pstate.html#global-attributes",
        },
        Reference {
            title: "Linux: CPU Performance Scaling, Frequency Boost Support",
            url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html#frequency-boost-support",
        },
    ],
    takes: "`on` or `off`",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "turbo draws up to the package's power limit",
    after: &["tuner", "intel-pstate-status", "amd-pstate-status"],
    fixes: &["turbo-off"],
    reads: &[NO_TURBO, MIN_PCT, MAX_PCT, BOOST, POLICY_BOOST, MAX],
    looks_at: scaling::LOOKS_AT.and(scaling::LIMITS_LOOK_AT),
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    let on = value::switch(&SETTING, wanted)?;
    match scene.controls.get(NO_TURBO) {
        Ok(no_turbo) => of_intel(scene, wanted, on, no_turbo),
        Err(missing) if !missing.is_absence() => Err(Refusal::Unknown(missing)),
        Err(_) if wanted.cpus.is_some() => of_policies(scene, wanted, on),
        Err(_) => of_all(scene, wanted, on),
    }
}

fn of_intel(scene: &Scene<'_>, wanted: &Wanted<'_>, on: bool, no_turbo: &str) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    if on && no_turbo == "1" && !scene.host.cpuinfo.as_ref()?.has_turbo() {
        let text =
            "turbo is off in firmware, or this processor has none: look in the firmware's setup";
        return Err(Refusal::Host(text.to_owned()));
    }
    let mut change = file::set(scene, NO_TURBO, if on { "0" } else { "1" })?;
    if !on && !change.writes.is_empty() {
        // Without turbo the lower percentage is cut to that of the nominal clock (`store_no_turbo`).
        change.writes.splice(0..0, lost::forgotten(scene, MIN_PCT));
    }
    Ok(change)
}

/// The switch of all policies, and those of single ones that differ from it.
fn of_all(scene: &Scene<'_>, wanted: &Wanted<'_>, on: bool) -> Planned {
    let to = if on { "1" } else { "0" };
    let from = match scene.controls.get(BOOST) {
        // Single policies have theirs, or nothing has.
        Err(missing) if missing.is_absence() => return of_policies(scene, wanted, on),
        _ => file::read(scene, BOOST)?,
    };
    if from == to {
        // While the switch of all is off, those of single policies are, too.
        let has_own = on && policies_have_it(scene);
        return if has_own { of_policies(scene, wanted, on) } else { Ok(Change::default()) };
    }
    // The kernel gives every policy the value of the common switch, and some drivers a limit that fits.
    let mut writes = limits(scene, |_| true);
    if policies_have_it(scene) {
        let policies = scaling::policies(scene, wanted, POLICY_BOOST)?;
        let differing = policies.iter().filter(|policy| policy.text != from);
        writes.extend(
            differing.map(|it| Write::forgotten(Target::control(it.beside("boost")), it.text)),
        );
    }
    writes.push(Write::of(Target::control(BOOST), from, to));
    Ok(Change::of(writes))
}

fn of_policies(scene: &Scene<'_>, wanted: &Wanted<'_>, on: bool) -> Planned {
    if on && scene.controls.get(BOOST) == Ok("0") {
        let text =
            format!("{BOOST} is 0, and no policy may boost before it is 1: leave out the CPUs");
        return Err(Refusal::Host(text));
    }
    if !policies_have_it(scene) {
        return Err(match scene.controls.get(BOOST) {
            Ok(_) => Refusal::Value(format!("{BOOST} is of the whole host: leave out the CPUs")),
            Err(missing) if !missing.is_absence() => Refusal::Unknown(missing),
            Err(_) => Refusal::Host(format!(
                "this kernel has no switch for turbo, neither {NO_TURBO} nor {BOOST}"
            )),
        });
    }
    let mut changed = Vec::new();
    for policy in scaling::policies(scene, wanted, POLICY_BOOST)? {
        let write = policy.write(if on { "1" } else { "0" });
        changed.extend(write.map(|it| (policy.folder().to_owned(), it)));
    }
    let mut writes = limits(scene, |it| changed.iter().any(|(folder, _)| *folder == it.folder));
    writes.extend(changed.into_iter().map(|(_, write)| write));
    Ok(Change::of(writes))
}

/// Whether policies have a switch of their own; the answers also name policies that have none, as absent.
fn policies_have_it(scene: &Scene<'_>) -> bool {
    let is_absent = |it: &Control<'_>| it.text.as_ref().is_err_and(Missing::is_absence);
    !scene.controls.matching(POLICY_BOOST).iter().all(is_absent)
}

/// Upper limits that a user has requested and that a driver which requests turbo by its clock sets anew
/// (`policy_set_boost` in drivers/cpufreq/cpufreq.c).
fn limits(scene: &Scene<'_>, is_meant: impl Fn(&Policy) -> bool) -> Vec<Write> {
    let policies = scene.host.cpufreq.policies.as_deref().unwrap_or_default();
    let lost = policies.iter().filter(|it| is_meant(it)).filter_map(|policy| {
        let (limit, full) =
            (*policy.scaling_max.as_ref().ok()?, scene.host.highest_request(policy).ok()?);
        let is_lost = policy.asks_for_turbo() && limit < full;
        scaling::no_passing_limit(scene, policy).ok().filter(|()| is_lost)?;
        let path = policy.path("scaling_max_freq");
        let text = scene.controls.get(&path).ok()?;
        Some(Write::forgotten(Target::control(path), text))
    });
    lost.collect()
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn intel(no_turbo: &str, flags: &str) -> String {
        files(&format!(
            "intel_pstate/no_turbo {no_turbo}
             /proc/cpuinfo processor : 0\\nvendor_id : GenuineIntel\\nflags : {flags}"
        ))
    }

    fn policies(boost: &str, own: [&str; 2]) -> String {
        let [first, second] = own;
        files(&format!(
            "cpufreq/boost {boost}
             cpufreq/policy0/affected_cpus 0
             cpufreq/policy0/boost {first}
             cpufreq/policy1/affected_cpus 1
             cpufreq/policy1/boost {second}"
        ))
    }

    #[test]
    fn the_lower_percentage_that_the_kernel_cuts_comes_back() {
        let host = intel("0", "ida") + &files("intel_pstate/min_perf_pct 90");
        assert_eq!(
            planned(&SETTING, "off", &host),
            "intel_pstate/min_perf_pct: 90 is forgotten\nintel_pstate/no_turbo: 0 -> 1"
        );
        assert_eq!(
            planned(&SETTING, "off", &host.replace("no_turbo\n0", "no_turbo\n1")),
            "nothing"
        );
    }

    #[test]
    fn a_limit_that_goes_with_the_boost_of_its_policy_comes_back() {
        let of = |number: u32| {
            format!(
                "cpufreq/policy{number}/scaling_driver amd-pstate
                 cpufreq/policy{number}/cpuinfo_min_freq 400000
                 cpufreq/policy{number}/cpuinfo_max_freq 3500000
                 cpufreq/policy{number}/scaling_max_freq 2000000\n"
            )
        };
        let host = policies("1", ["1", "1"]) + &files(&(of(0) + &of(1)));
        assert_eq!(
            planned(&SETTING, "off@1", &host),
            "cpufreq/policy1/scaling_max_freq: 2000000 is forgotten\ncpufreq/policy1/boost: 1 -> 0"
        );
    }

    #[test]
    fn the_common_switch_takes_those_of_policies_along() {
        assert_eq!(
            planned(&SETTING, "off", &policies("1", ["1", "0"])),
            "cpufreq/policy1/boost: 0 is forgotten\ncpufreq/boost: 1 -> 0"
        );
        assert_eq!(planned(&SETTING, "on", &policies("0", ["0", "0"])), "cpufreq/boost: 0 -> 1");
        assert_eq!(
            planned(&SETTING, "on", &policies("1", ["1", "0"])),
            "cpufreq/policy1/boost: 0 -> 1"
        );
        assert_eq!(planned(&SETTING, "off", &policies("0", ["0", "0"])), "nothing");
    }

    #[test]
    fn the_common_switch_is_set_where_policies_have_none() {
        let none = files("cpufreq/policy0/affected_cpus 0\ncpufreq/policy1/affected_cpus 1");
        let host = |boost: u32| files(&format!("cpufreq/boost {boost}")) + &none;
        assert_eq!(planned(&SETTING, "on", &host(0)), "cpufreq/boost: 0 -> 1");
        assert_eq!(planned(&SETTING, "off", &host(1)), "cpufreq/boost: 1 -> 0");
        assert_eq!(planned(&SETTING, "on", &host(1)), "nothing");
        assert!(planned(&SETTING, "off@1", &host(1)).contains("boost is of the whole host"));
        assert!(planned(&SETTING, "on", &none).starts_with("refused: this kernel has no switch"));
    }

    #[test]
    fn some_cpus_have_it_where_policies_have_switches() {
        assert_eq!(
            planned(&SETTING, "off@1", &policies("1", ["1", "1"])),
            "cpufreq/policy1/boost: 1 -> 0"
        );
        assert!(planned(&SETTING, "on@1", &policies("0", ["0", "0"])).starts_with("refused: "));
        assert_eq!(
            planned(&SETTING, "off@1", &files("cpufreq/boost 1")),
            "value: /sys/devices/system/cpu/cpufreq/boost is of the whole host: leave out the CPUs"
        );
    }

    #[test]
    fn turbo_that_firmware_has_switched_off_is_refused() {
        assert_eq!(
            planned(&SETTING, "on", &intel("1", "est")),
            "refused: turbo is off in firmware, or this processor has none: look in the firmware's setup"
        );
        assert!(planned(&SETTING, "on", "").starts_with("refused: this kernel has no "));
    }
}
