//! The files in which the kernel takes settings, and what they hold.
//!
//! Sources: Documentation/admin-guide/pm/cpufreq.rst, intel_pstate.rst, amd-pstate.rst, cpuidle.rst and
//! intel_uncore_frequency_scaling.rst, Documentation/admin-guide/sysctl/, Documentation/core-api/workqueue.rst,
//! Documentation/core-api/irq/irq-affinity.rst, Documentation/admin-guide/cgroup-v2.rst (cpuset.cpus.partition), Documentation/ABI/.

use super::{Aim, Target, Write};
use crate::parse::trimmed;
use crate::{Fact, Missing};
use std::collections::BTreeMap;

/// Every file that may be written while the kernel runs, as patterns: a `*` stands for some characters of one name. No other
/// path is written, whatever a profile, a plan or a journal says.
pub const WRITABLE: &[&str] = &[
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_setspeed",
    "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
    "/sys/devices/system/cpu/cpufreq/policy*/boost",
    "/sys/devices/system/cpu/cpufreq/policy*/ondemand/*",
    "/sys/devices/system/cpu/cpufreq/policy*/conservative/*",
    "/sys/devices/system/cpu/cpufreq/policy*/schedutil/*",
    // The same before Linux 4.3, which has a folder of a policy in that of a CPU; the rest came later. Where the policies have folders of
    // their own, the CPUs have links to them, and nothing asks for these paths.
    "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    "/sys/devices/system/cpu/cpu*/cpufreq/scaling_min_freq",
    "/sys/devices/system/cpu/cpu*/cpufreq/scaling_max_freq",
    "/sys/devices/system/cpu/cpu*/cpufreq/scaling_setspeed",
    "/sys/devices/system/cpu/cpu*/cpufreq/ondemand/*",
    "/sys/devices/system/cpu/cpu*/cpufreq/conservative/*",
    "/sys/devices/system/cpu/cpufreq/ondemand/*",
    "/sys/devices/system/cpu/cpufreq/conservative/*",
    "/sys/devices/system/cpu/cpufreq/schedutil/*",
    "/sys/devices/system/cpu/cpufreq/boost",
    "/sys/devices/system/cpu/intel_pstate/no_turbo",
    "/sys/devices/system/cpu/intel_pstate/max_perf_pct",
    "/sys/devices/system/cpu/intel_pstate/min_perf_pct",
    "/sys/devices/system/cpu/intel_pstate/status",
    "/sys/devices/system/cpu/amd_pstate/status",
    "/sys/devices/system/cpu/cpu*/power/energy_perf_bias",
    "/sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us",
    "/sys/devices/system/cpu/cpu*/cpuidle/state*/disable",
    "/sys/devices/system/cpu/cpu*/online",
    "/sys/devices/system/cpu/cpuidle/current_governor",
    "/sys/devices/system/cpu/intel_uncore_frequency/*/min_freq_khz",
    "/sys/devices/system/cpu/intel_uncore_frequency/*/max_freq_khz",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "/sys/devices/virtual/workqueue/cpumask",
    "/sys/fs/cgroup/*/cpuset.cpus.partition",
    "/sys/module/ipmi_si/parameters/kipmid_max_busy_us",
    "/proc/irq/*/smp_affinity_list",
    "/proc/sys/vm/stat_interval",
    "/proc/sys/kernel/nmi_watchdog",
    "/proc/sys/kernel/timer_migration",
    "/proc/sys/kernel/split_lock_mitigate",
];

/// The file of every policy that a pattern names, as a pattern for the folders in which kernels before 4.3 have policies; `None` where it
/// names no such file.
pub fn of_older_policies(pattern: &str) -> Option<String> {
    let file = pattern.strip_prefix("/sys/devices/system/cpu/cpufreq/policy*/")?;
    Some(format!("/sys/devices/system/cpu/cpu*/cpufreq/{file}"))
}

/// Whether the path may be written: it matches one of [`WRITABLE`], and goes straight to where it names.
pub fn is_writable(path: &str) -> bool {
    WRITABLE.iter().any(|pattern| matched(pattern, path).is_some())
}

/// What the `*` of a pattern stand for in a path that matches it. A `*` stands for at least one character, never for a `/`,
/// never for a name of dots only; behind a word, as in `cpu*`, for a number: `cpufreq` is no CPU.
pub fn matched<'a>(pattern: &str, path: &'a str) -> Option<Vec<&'a str>> {
    let mut stars = Vec::new();
    let (mut names, mut patterns) = (path.split('/'), pattern.split('/'));
    loop {
        match (patterns.next(), names.next()) {
            (None, None) => return Some(stars),
            (Some(pattern), Some(name)) => match pattern.split_once('*') {
                None if pattern == name => {}
                None => return None,
                Some((before, after)) => {
                    let star = name.strip_prefix(before)?.strip_suffix(after)?;
                    let is_number = star.bytes().all(|it| it.is_ascii_digit());
                    let is_numbered = !before.is_empty() && after.is_empty();
                    if star.is_empty()
                        || star.contains('\0')
                        || star.chars().all(|it| it == '.')
                        || (is_numbered && !is_number)
                    {
                        return None;
                    }
                    stars.push(star);
                }
            },
            _ => return None,
        }
    }
}

/// What the files that some settings ask for hold.
///
/// Made by `host::controls` of the patterns that the settings name; a path that no pattern covers was not asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Controls(BTreeMap<String, Fact<String>>);

impl FromIterator<(String, Fact<String>)> for Controls {
    fn from_iter<I: IntoIterator<Item = (String, Fact<String>)>>(answers: I) -> Controls {
        Controls(answers.into_iter().collect())
    }
}

impl Controls {
    /// What one file holds; of a file of configuration every byte, of others the text without white space around it.
    pub fn get(&self, path: &str) -> Fact<&str> {
        match self.0.get(path) {
            Some(Ok(text)) => Ok(text),
            Some(Err(missing)) => Err(missing.clone()),
            None => Err(Missing::absent(path)),
        }
    }

    /// Every file, by its path, with what it holds.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Fact<String>)> {
        self.0.iter().map(|(path, text)| (path.as_str(), text))
    }

    /// The same after these writes, so that what is planned later sees what is written earlier.
    #[must_use]
    pub fn after<'a>(mut self, writes: impl IntoIterator<Item = &'a Write>) -> Controls {
        for write in writes {
            match (&write.target, &write.to, write.aim) {
                (_, _, Aim::Forgotten) => {}
                (Target::Control { path }, Some(to), _) => {
                    self.0.insert(path.clone(), Ok(trimmed(to).to_owned()));
                }
                (Target::File { path }, Some(to), _) => {
                    self.0.insert(path.clone(), Ok(to.clone()));
                }
                (Target::File { path }, None, _) => drop(self.0.remove(path)),
                _ => {}
            }
        }
        self
    }

    /// Every file that matches, with what its `*` stand for and what it holds; numbers in the order of numbers. Files of policies are found
    /// where an older kernel has them, too; of either place only one was asked for.
    pub fn matching(&self, pattern: &str) -> Vec<Control<'_>> {
        let mut found = self.matching_one(pattern);
        if let Some(older) = of_older_policies(pattern) {
            found.extend(self.matching_one(&older));
        }
        found.sort_by_cached_key(Control::numbers);
        found
    }

    fn matching_one(&self, pattern: &str) -> Vec<Control<'_>> {
        let before_star = pattern.split('*').next().unwrap_or_default();
        let behind_star = pattern.rsplit('*').next().unwrap_or_default();
        let from = self.0.range(before_star.to_owned()..);
        let near = from.take_while(|(path, _)| path.starts_with(before_star));
        near.filter(|(path, _)| path.ends_with(behind_star))
            .filter_map(|(path, text)| {
                let stars = matched(pattern, path)?;
                Some(Control { path, stars, text: text.as_deref().map_err(Clone::clone) })
            })
            .collect()
    }
}

/// One file of [`Controls`].
#[derive(Clone, Debug, PartialEq)]
pub struct Control<'a> {
    /// The path of the control file.
    pub path: &'a str,
    /// What the `*` of the pattern stand for.
    pub stars: Vec<&'a str>,
    /// What it holds, without white space around it.
    pub text: Fact<&'a str>,
}

impl Control<'_> {
    /// The numbers that the `*` stand for; those that are none count as the largest.
    pub fn numbers(&self) -> Vec<u32> {
        self.stars.iter().map(|it| it.parse().unwrap_or(u32::MAX)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOVERNOR: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor";

    #[test]
    fn behind_a_word_a_star_stands_for_a_number() {
        let bias = |name: &str| format!("/sys/devices/system/cpu/{name}/power/energy_perf_bias");
        assert!(is_writable(&bias("cpu7")));
        assert!(!is_writable(&bias("cpufreq")) && !is_writable(&bias("cpuidle")));
        assert!(is_writable("/sys/devices/system/cpu/cpufreq/ondemand/up_threshold"));
    }

    #[test]
    fn a_star_stands_for_one_name_or_part_of_one() {
        let path = "/sys/devices/system/cpu/cpufreq/policy12/scaling_governor";
        assert_eq!(matched(GOVERNOR, path), Some(vec!["12"]));
        assert!(is_writable(path));
        assert!(is_writable("/proc/sys/vm/stat_interval"));
    }

    #[test]
    fn no_path_leads_out_of_the_list() {
        for path in [
            "/sys/devices/system/cpu/cpufreq/policy/scaling_governor",
            "/sys/devices/system/cpu/cpufreq/policy0/../scaling_governor",
            "/sys/devices/system/cpu/cpufreq/ondemand/..",
            "/sys/devices/system/cpu/cpufreq/ondemand/../../../../../../etc/passwd",
            "/proc/irq/../smp_affinity_list",
            "/proc/irq//smp_affinity_list",
            "/proc/sys/vm/stat_interval/",
            "proc/sys/vm/stat_interval",
            "/etc/passwd",
            "",
        ] {
            assert!(!is_writable(path), "{path}");
        }
    }

    #[test]
    fn nothing_in_debugfs_is_written() {
        // To write to the first clears a log, to the second a register.
        for file in ["plr/domain0/status", "tpmi-id-0c/mem_write", "tpmi-id-0c/mem_dump"] {
            let path = format!("/sys/kernel/debug/tpmi-0000:00:03.1/{file}");
            assert!(!is_writable(&path), "{path}");
        }
        assert!(
            WRITABLE.iter().all(|it| !it.starts_with("/sys/kernel") && !it.starts_with("/sys/*"))
        );
    }

    #[test]
    fn controls_are_found_in_the_order_of_their_numbers() {
        let path = |policy: u32| GOVERNOR.replace('*', &policy.to_string());
        let controls: Controls = [2, 10, 1]
            .map(|policy| (path(policy), Ok("performance".to_owned())))
            .into_iter()
            .collect();
        let found: Vec<Vec<u32>> =
            controls.matching(GOVERNOR).iter().map(Control::numbers).collect();
        assert_eq!(found, [[1], [2], [10]]);
        assert_eq!(controls.get(&path(10)), Ok("performance"));
        assert_eq!(controls.get("/x"), Err(Missing::absent("/x")));
    }

    #[test]
    fn a_file_of_policies_is_found_in_the_folder_of_a_cpu_too() {
        let path = |cpu: u32| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
        assert!(is_writable(&path(10)));
        assert!(!is_writable(&path(10).replace("scaling_governor", "affected_cpus")));
        let controls: Controls =
            [10, 2].map(|cpu| (path(cpu), Ok("ondemand".to_owned()))).into_iter().collect();
        let found = controls.matching(GOVERNOR);
        assert_eq!(found.iter().map(Control::numbers).collect::<Vec<_>>(), [[2], [10]]);
        assert_eq!(found[1].path, path(10));
        assert_eq!(of_older_policies("/sys/devices/system/cpu/cpufreq/boost"), None);
    }

    #[test]
    fn a_later_setting_sees_what_an_earlier_one_writes() {
        let path = GOVERNOR.replace('*', "0");
        let write = Write::of(Target::control(&path), "powersave", "performance");
        let forgotten = Write::forgotten(Target::control("/x"), "1");
        let controls = Controls::default().after([&write, &forgotten]);
        assert_eq!(controls.get(&path), Ok("performance"));
        assert_eq!(controls.get("/x"), Err(Missing::absent("/x")));
    }
}
