//! `governor`: who chooses the clock between the limits.
//!
//! Source: Documentation/admin-guide/pm/cpufreq.rst, "Policy Interface in sysfs". A change of the governor resets the
//! tunables of the one that goes (drivers/cpufreq/cpufreq_governor.c, cpufreq_userspace.c) and, where the driver chooses
//! the clock by itself, the energy preference (intel_pstate.c, amd-pstate.c), so that these are undone after it.

use crate::check::Reference;
use crate::setting::{
    Change, Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted,
};
use crate::settings::scaling::{self, PolicyFile};
use crate::settings::{file, governor_tunable, reset_state};
use facts::change::{Target, Write};

const GOVERNOR: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
const AVAILABLE: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_available_governors";
const PREFERENCE: &str = "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference";
const SETSPEED: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_setspeed";

pub(super) const SETTING: Setting = Setting {
    id: "governor",
    title: "the governor that chooses the clock",
    doc: "\
## What it changes
`scaling_governor` of every cpufreq policy. `performance` keeps the highest clock that the limits allow; with
intel_pstate and amd-pstate in active mode it also turns the energy preference to performance. What the governor that
goes was told (`up_threshold` and the like), and the energy preference, are written down and come back when the
change is undone.

## What it costs
Idle cores keep a higher voltage where they cannot enter deep idle states: some watts a socket.

## When to leave it alone
Where power matters more than latency. In active mode, where `powersave` is the normal, dynamic mode, measure first.
",
    references: &[Reference {
        title: "Linux: CPU Performance Scaling, Policy Interface in sysfs",
        url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html#policy-interface-in-sysfs",
    }],
    takes: "a governor that scaling_available_governors lists",
    scope: Scope::Policy,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Low,
    power: "idle cores draw some watts more a socket",
    after: &["tuner", "cpu-online", "intel-pstate-status", "amd-pstate-status"],
    fixes: &["slow-governor", "mixed-frequency-settings", "rival-tuner"],
    reads: &file::joined::<11>(&[&[GOVERNOR, AVAILABLE, PREFERENCE, SETSPEED, reset_state::BIAS], &governor_tunable::FILES]),
    looks_at: scaling::LOOKS_AT.and(reset_state::BIAS_LOOKS_AT),
    plan,
};

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    let mut changed = Vec::new();
    for policy in scaling::policies(scene, wanted, GOVERNOR)? {
        let available = scene.controls.get(&policy.beside("scaling_available_governors"))?;
        if !available.split_whitespace().any(|it| it == wanted.value) {
            let text = format!(
                "{} has no governor {:?}; it has {available}",
                policy.folder(),
                wanted.value
            );
            return Err(Refusal::Host(text));
        }
        if let Some(write) = policy.write(wanted.value) {
            changed.push((policy, write));
        }
    }
    let policies: Vec<&PolicyFile<'_>> = changed.iter().map(|(policy, _)| policy).collect();
    let mut writes = biases(scene, &policies);
    writes.extend(preferences(scene, &policies));
    writes.extend(policies.iter().filter_map(|it| reset_state::clock_of_user(scene, it.folder())));
    writes.extend(lost_tunables(scene, &policies));
    writes.extend(changed.into_iter().map(|(_, write)| write));
    Ok(Change::of(writes))
}

/// The older biases that the driver sets anew in place of a preference.
fn biases(scene: &Scene<'_>, changed: &[&PolicyFile<'_>]) -> Vec<Write> {
    let policies = changed.iter().filter_map(|it| scaling::of_host(scene, it.folder()));
    let driven = policies.filter(|it| it.drives_itself() == Ok(true));
    driven.flat_map(|it| reset_state::bias(scene, &it.cpus)).collect()
}

/// The energy preferences that the driver sets anew with the governor.
fn preferences(scene: &Scene<'_>, changed: &[&PolicyFile<'_>]) -> Vec<Write> {
    let forgotten = |policy: &&PolicyFile<'_>| {
        scaling::of_host(scene, policy.folder())?.drives_itself().ok().filter(|it| *it)?;
        let path = policy.beside("energy_performance_preference");
        let text = scene.controls.get(&path).ok()?;
        Some(Write::forgotten(Target::control(path), text))
    };
    changed.iter().filter_map(forgotten).collect()
}

/// The tunables that go: those of each policy, and those that policies share once the last of these goes.
fn lost_tunables(scene: &Scene<'_>, changed: &[&PolicyFile<'_>]) -> Vec<Write> {
    let mut reset = Vec::new();
    let mut gone: Vec<&str> = changed.iter().map(|it| it.text).collect();
    gone.sort_unstable();
    gone.dedup();
    for governor in gone {
        let with_it = |it: &&&PolicyFile<'_>| it.text == governor;
        let n_changed = changed.iter().filter(with_it).count();
        let all = scaling::files_of_policies(scene, GOVERNOR);
        let shared = governor_tunable::forgotten(scene, governor_tunable::FOLDER, governor);
        if !shared.is_empty() {
            // Kernels before 3.10 show the same numbers in the folder of each policy, too.
            let is_last = all.iter().filter(|it| it.text == Ok(governor)).count() == n_changed;
            reset.extend(shared.into_iter().filter(|_| is_last));
            continue;
        }
        for policy in changed.iter().filter(with_it) {
            reset.extend(governor_tunable::forgotten(scene, policy.folder(), governor));
        }
    }
    reset
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned};

    fn policy(number: u32, governor: &str) -> String {
        files(&format!(
            "cpufreq/policy{number}/affected_cpus {number}
             cpufreq/policy{number}/scaling_driver acpi-cpufreq
             cpufreq/policy{number}/scaling_governor {governor}
             cpufreq/policy{number}/scaling_available_governors ondemand performance powersave"
        ))
    }

    #[test]
    fn every_policy_that_has_another_governor_gets_this_one() {
        let host = policy(0, "powersave") + &policy(1, "performance") + &policy(10, "powersave");
        assert_eq!(
            planned(&SETTING, "performance", &host),
            "cpufreq/policy0/scaling_governor: powersave -> performance\n\
             cpufreq/policy10/scaling_governor: powersave -> performance"
        );
    }

    #[test]
    fn shared_tunables_are_kept_for_undoing_when_the_last_policy_leaves_them() {
        let host = policy(0, "ondemand")
            + &policy(1, "ondemand")
            + &files("cpufreq/ondemand/up_threshold 63\ncpufreq/ondemand/sampling_rate_min 1");
        assert_eq!(
            planned(&SETTING, "performance", &host),
            "cpufreq/ondemand/up_threshold: 63 is forgotten\n\
             cpufreq/policy0/scaling_governor: ondemand -> performance\n\
             cpufreq/policy1/scaling_governor: ondemand -> performance"
        );
        assert_eq!(
            planned(&SETTING, "performance@1", &host),
            "cpufreq/policy1/scaling_governor: ondemand -> performance"
        );
    }

    #[test]
    fn thresholds_come_back_in_an_order_that_the_kernel_takes() {
        let host = |down: u32, up: u32| {
            policy(0, "conservative")
                + &files(&format!(
                    "cpufreq/policy0/conservative/down_threshold {down}
                     cpufreq/policy0/conservative/up_threshold {up}"
                ))
        };
        let forgotten = |host: &str| {
            let plan = planned(&SETTING, "performance", host);
            let names = plan.lines().filter_map(|it| it.split('/').nth(3)?.split(':').next());
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        // Undone backwards: 10 before 15, and 95 before 85.
        assert_eq!(forgotten(&host(10, 15)), ["up_threshold", "down_threshold"]);
        assert_eq!(forgotten(&host(85, 95)), ["down_threshold", "up_threshold"]);
    }

    #[test]
    fn a_driver_that_chooses_the_clock_forgets_the_energy_preference_with_the_governor() {
        let host = policy(0, "powersave").replace("acpi-cpufreq", "intel_pstate")
            + &files("cpufreq/policy0/energy_performance_preference balance_power");
        assert_eq!(
            planned(&SETTING, "performance", &host),
            "cpufreq/policy0/energy_performance_preference: balance_power is forgotten\n\
             cpufreq/policy0/scaling_governor: powersave -> performance"
        );
    }

    #[test]
    fn a_processor_whose_preference_is_the_older_bias_gets_its_number_back() {
        let host = policy(0, "powersave").replace("acpi-cpufreq", "intel_pstate")
            + &files("cpu0/power/energy_perf_bias 7\n/proc/cpuinfo processor : 0\\nflags : hwp");
        let plan = planned(&SETTING, "performance", &host);
        assert_eq!(
            plan,
            "cpu0/power/energy_perf_bias: 7 is forgotten\n\
             cpufreq/policy0/scaling_governor: powersave -> performance"
        );
        let own = host.replace("flags : hwp", "flags : hwp hwp_epp");
        assert!(!planned(&SETTING, "performance", &own).contains("energy_perf_bias"));
    }

    #[test]
    fn the_clock_that_a_user_has_set_goes_with_the_governor_userspace() {
        let host = policy(0, "userspace")
            + &policy(1, "ondemand")
            + &files(
                "cpufreq/policy0/scaling_setspeed 2000000\ncpufreq/policy1/scaling_setspeed <unsupported>",
            );
        assert_eq!(
            planned(&SETTING, "performance", &host),
            "cpufreq/policy0/scaling_setspeed: 2000000 is forgotten\n\
             cpufreq/policy0/scaling_governor: userspace -> performance\n\
             cpufreq/policy1/scaling_governor: ondemand -> performance"
        );
    }

    #[test]
    fn a_policy_of_offline_cpus_does_not_answer_and_is_left_alone() {
        let host = policy(0, "ondemand")
            + &files(
                "online 0
                 cpufreq/policy1/affected_cpus !failed EBUSY
                 cpufreq/policy1/scaling_governor !failed EBUSY",
            );
        assert_eq!(
            planned(&SETTING, "performance", &host),
            "cpufreq/policy0/scaling_governor: ondemand -> performance"
        );
        let online = host.replace("online\n0\n", "online\n0-1\n");
        assert!(planned(&SETTING, "performance", &online).starts_with("unknown: "));
    }

    /// RHEL 6, where CPUs 0 and 1 share a clock; kernels of its time have the shared tunables in both places.
    fn older() -> String {
        files(
            "/proc/sys/kernel/osrelease 2.6.32-754.el6.x86_64
             online 0-2
             cpu0/cpufreq/affected_cpus 0 1
             cpu0/cpufreq/scaling_driver acpi-cpufreq
             cpu0/cpufreq/scaling_governor ondemand
             cpu0/cpufreq/scaling_available_governors ondemand userspace performance
             cpu0/cpufreq/ondemand/up_threshold 80
             cpu1/cpufreq/affected_cpus 0 1
             cpu1/cpufreq/scaling_driver acpi-cpufreq
             cpu1/cpufreq/scaling_governor ondemand
             cpu1/cpufreq/scaling_available_governors ondemand userspace performance
             cpu1/cpufreq/ondemand/up_threshold 80
             cpu2/cpufreq/affected_cpus 2
             cpu2/cpufreq/scaling_driver acpi-cpufreq
             cpu2/cpufreq/scaling_governor ondemand
             cpu2/cpufreq/scaling_available_governors ondemand userspace performance
             cpu2/cpufreq/ondemand/up_threshold 80
             cpufreq/ondemand/up_threshold 80",
        )
    }

    #[test]
    fn the_folders_of_cpus_are_written_once_for_each_policy() {
        assert_eq!(
            planned(&SETTING, "performance", &older()),
            "cpufreq/ondemand/up_threshold: 80 is forgotten\n\
             cpu0/cpufreq/scaling_governor: ondemand -> performance\n\
             cpu2/cpufreq/scaling_governor: ondemand -> performance"
        );
        assert_eq!(
            planned(&SETTING, "performance@2", &older()),
            "cpu2/cpufreq/scaling_governor: ondemand -> performance"
        );
        assert_eq!(
            planned(&SETTING, "performance@1", &older()),
            "value: CPUs 0-1 share one clock: add 0 to @1, or leave them all out"
        );
    }

    #[test]
    fn links_to_the_folders_of_policies_are_not_written() {
        let host = policy(0, "ondemand")
            + &files(
                "cpu0/cpufreq/scaling_governor ondemand\ncpu0/cpufreq/scaling_available_governors performance",
            );
        assert_eq!(
            planned(&SETTING, "performance", &host),
            "cpufreq/policy0/scaling_governor: ondemand -> performance"
        );
    }

    #[test]
    fn a_governor_that_the_kernel_does_not_list_is_refused() {
        assert_eq!(
            planned(&SETTING, "schedutil", &policy(0, "ondemand")),
            "refused: /sys/devices/system/cpu/cpufreq/policy0 has no governor \"schedutil\"; it has ondemand \
             performance powersave"
        );
    }

    #[test]
    fn half_of_a_policy_and_a_host_without_policies_are_refused() {
        let host = policy(0, "ondemand").replace("affected_cpus\n0", "affected_cpus\n0 1");
        assert_eq!(
            planned(&SETTING, "performance@1", &host),
            "value: CPUs 0-1 share one clock: add 0 to @1, or leave them all out"
        );
        assert!(planned(&SETTING, "performance", "").starts_with("unknown: "));
    }
}
