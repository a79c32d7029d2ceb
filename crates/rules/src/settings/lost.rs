//! What a driver forgets when it is taken down and put up again, as a change of its mode does.
//!
//! Sources: Documentation/admin-guide/pm/intel_pstate.rst, "status"; drivers/cpufreq/{intel_pstate,amd-pstate}.c:
//! every policy is made anew, with the limits of the hardware and the kernel's choice of governor.

use super::{governor_tunable, scaling};
use crate::setting::Scene;
use facts::change::{Target, Write};
use facts::cpu::cpufreq::Policy;
use facts::cpu::cpuinfo::CpuInfo;
use facts::{CpuSet, Subject, Subjects};

/// The files that are read for it.
pub(super) const FILES: [&str; 8] = [
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq",
    "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_setspeed",
    "/sys/devices/system/cpu/cpufreq/policy*/boost",
    BOOST,
    BIAS,
];

/// The facts that are read for it.
pub(super) const LOOKS_AT: Subjects = scaling::LIMITS_LOOK_AT.and(BIAS_LOOKS_AT);

/// The facts that are read for the older bias alone.
pub(super) const BIAS_LOOKS_AT: Subjects = Subjects::of(&[Subject::Cpuinfo]);

/// The older bias, by CPU.
pub(super) const BIAS: &str = "/sys/devices/system/cpu/cpu*/power/energy_perf_bias";

const BOOST: &str = "/sys/devices/system/cpu/cpufreq/boost";

/// What every policy forgets, so that what has to be written back first stands last: the governor before the rest,
/// which it decides about, the common switch of boost before those of policies, and those before the limits.
pub(super) fn of_policies(scene: &Scene<'_>) -> Vec<Write> {
    let policies = scene.host.cpufreq.policies.as_deref().unwrap_or_default();
    let mut lost: Vec<Write> = policies.iter().flat_map(|it| bias(scene, &it.cpus)).collect();
    let file = |policy: &Policy, file: &str| forgotten(scene, &policy.path(file));
    lost.extend(policies.iter().filter_map(|it| clock_of_user(scene, &it.folder)));
    lost.extend(policies.iter().filter_map(|it| file(it, "energy_performance_preference")));
    lost.extend(
        policies.iter().filter(|it| has_own_min(it)).filter_map(|it| file(it, "scaling_min_freq")),
    );
    lost.extend(
        policies
            .iter()
            .filter(|it| has_own_max(scene, it))
            .filter_map(|it| file(it, "scaling_max_freq")),
    );
    lost.extend(policies.iter().filter_map(|it| file(it, "boost")));
    lost.extend(forgotten(scene, BOOST));
    let mut governors: Vec<&str> = Vec::new();
    for policy in policies {
        if let Ok(governor) = scene.controls.get(&policy.path("scaling_governor")) {
            lost.extend(governor_tunable::forgotten(scene, &policy.folder, governor));
            governors.push(governor);
        }
    }
    governors.sort_unstable();
    governors.dedup();
    for governor in governors {
        lost.extend(governor_tunable::forgotten(scene, governor_tunable::FOLDER, governor));
    }
    lost.extend(policies.iter().filter_map(|it| file(it, "scaling_governor")));
    lost
}

/// One file that is forgotten, where it is there.
pub(super) fn forgotten(scene: &Scene<'_>, path: &str) -> Option<Write> {
    let text = scene.controls.get(path).ok()?;
    Some(Write::forgotten(Target::control(path), text))
}

/// The clock that a user has set under the governor `userspace`, which goes with the governor
/// (drivers/cpufreq/cpufreq_userspace.c).
pub(super) fn clock_of_user(scene: &Scene<'_>, folder: &str) -> Option<Write> {
    let governor = scene.controls.get(&format!("{folder}/scaling_governor")).ok()?;
    let path = format!("{folder}/scaling_setspeed");
    (governor == "userspace").then(|| forgotten(scene, &path)).flatten()
}

/// The bias of these CPUs where the energy preference is kept in it: with HWP and no preference of its own
/// (`intel_pstate_set_epb` in drivers/cpufreq/intel_pstate.c). The words of the preference do not bring back its number.
pub(super) fn bias(scene: &Scene<'_>, cpus: &CpuSet) -> Vec<Write> {
    let is_preference = |it: &CpuInfo| it.has("hwp") && !it.has("hwp_epp");
    if !scene.host.cpuinfo.as_ref().is_ok_and(is_preference) {
        return Vec::new();
    }
    cpus.iter().filter_map(|cpu| forgotten(scene, &BIAS.replace('*', &cpu.to_string()))).collect()
}

/// Whether a lower limit other than the hardware's was requested.
fn has_own_min(policy: &Policy) -> bool {
    matches!((&policy.scaling_min, &policy.cpuinfo_min), (Ok(min), Ok(lowest)) if min != lowest)
}

/// Whether an upper limit other than the hardware's was requested by a user, and not set by heat or firmware.
fn has_own_max(scene: &Scene<'_>, policy: &Policy) -> bool {
    match (&policy.scaling_max, scene.host.highest_request(policy)) {
        (Ok(max), Ok(full)) => *max < full && scaling::no_passing_limit(scene, policy).is_ok(),
        _ => false,
    }
}
