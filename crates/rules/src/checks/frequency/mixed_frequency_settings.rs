//! Looks for CPUs of one kind that are set differently: governor, limits, energy hints.
//!
//! Source: Documentation/admin-guide/pm/cpufreq.rst: every policy has settings of its own. It cannot know whether
//! somebody meant it.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::cpu::cpufreq::Policy;
use facts::system::isolation::Isolation;
use facts::system::kernel::SUSPENDS;
use facts::{CpuSet, Fact, Hertz, HostView, Missing, PerCpu};
use std::collections::BTreeMap;

pub(crate) const CHECK: Check = Check {
    id: "mixed-frequency-settings",
    title: "like CPUs are set differently",
    doc: "\
## What it looks at
`scaling_governor`, `scaling_min_freq`, `scaling_max_freq`, `energy_performance_preference` and
`energy_perf_bias` (or MSR 0x1B0) of all CPUs that are alike: of the same core type, with the same driver and the
same lowest and highest clock.

## Why it matters
The same query takes different times on different CPUs, and no average shows why. The usual reasons: a CPU
that was taken offline and back after the settings were made, a script that loops over the wrong number of
CPUs, a service that stopped half-way. perftest's \"Conflicting CPU frequency values\" is one of the few
messages that ever mention it.

## When to leave it alone
Where it is meant, as on CPUs set aside for one task. It is a note where the odd ones are the isolated CPUs, and where
the highest `scaling_min_freq` is the highest clock or `base_frequency`: `intel-speed-select` sets cores of high priority so
(SST-BF, SST-TF). Energy hints that differ on a host that was suspended (`/sys/power/suspend_stats/success`) may be the firmware's.
",
    references: &[Reference {
        title: "Linux: CPU Performance Scaling, Policy Interface in sysfs",
        url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html#policy-interface-in-sysfs",
    }],
    run,
};

/// One setting: its file, how much a difference matters, its value on every CPU.
struct Setting {
    file: &'static str,
    /// The setting that gives the slower CPUs the fastest value, where one may: a raised lower limit costs power and is a priority
    /// (SST-BF, SST-TF) as often as an oversight.
    id: Option<&'static str>,
    /// The value that no other of these is faster than, where they can be compared.
    fastest: for<'a> fn(&[&'a str]) -> Option<&'a str>,
    severity: Severity,
    values: fn(&HostView) -> PerCpu<String>,
}

/// A difference in limits or hints counts less: what it takes is reported by the checks about them.
const SETTINGS: &[Setting] = &[
    Setting {
        file: "scaling_governor",
        id: Some("governor"),
        fastest: performance,
        severity: Severity::Medium,
        values: |host| of_policies(host, |it| it.governor.clone()),
    },
    Setting {
        file: "scaling_min_freq",
        id: None,
        fastest: |_| None,
        severity: Severity::Low,
        values: |host| {
            of_policies(host, |it| it.scaling_min.clone().map(|it| it.khz().to_string()))
        },
    },
    Setting {
        file: "scaling_max_freq",
        id: Some("scaling-max"),
        fastest: highest,
        severity: Severity::Low,
        values: |host| {
            of_policies(host, |it| it.scaling_max.clone().map(|it| it.khz().to_string()))
        },
    },
    Setting {
        file: "energy_performance_preference",
        id: Some("energy-performance-preference"),
        fastest: performance,
        severity: Severity::Low,
        values: |host| of_policies(host, |it| it.preference.clone()),
    },
    Setting {
        file: "energy_perf_bias",
        id: Some("energy-perf-bias"),
        fastest: lowest,
        severity: Severity::Low,
        values: biases,
    },
];

fn of_policies(host: &HostView, value: fn(&Policy) -> Fact<String>) -> PerCpu<String> {
    let policies = host.cpufreq.policies.as_deref().unwrap_or_default().iter();
    policies.flat_map(|policy| policy.cpus.iter().map(move |cpu| (cpu, value(policy)))).collect()
}

fn biases(host: &HostView) -> PerCpu<String> {
    let values = host.energy_bias.as_ref().map(|it| it.values.iter());
    let text = |(cpu, fact): (u32, &Fact<u64>)| (cpu, fact.clone().map(|it| it.to_string()));
    values.into_iter().flatten().map(text).collect()
}

/// What makes CPUs alike: core type, driver, lowest, highest and guaranteed clock. The last differs between cores by SST-BF.
type Kind<'a> = (Option<&'a str>, Option<&'a str>, [Option<Hertz>; 3]);

fn run(host: &HostView) -> Verdict {
    let kinds = kinds(host, host.cpufreq.policies.as_ref()?);
    let mut findings = Vec::new();
    let mut unknown: Option<Missing> = None;
    for setting in SETTINGS {
        let values = (setting.values)(host);
        let mut like: BTreeMap<&Kind<'_>, BTreeMap<&str, CpuSet>> = BTreeMap::new();
        for (cpu, value) in values.known() {
            if let Some(kind) = kinds.get(&cpu) {
                like.entry(kind).or_default().entry(value).or_default().insert(cpu);
            }
        }
        findings.extend(like.into_values().filter_map(|values| differing(host, setting, values)));
        unknown = unknown.or(values.missing().filter(|it| !it.is_absence()).cloned());
    }
    match unknown {
        Some(missing) if findings.is_empty() => Err(missing),
        _ => Ok(findings),
    }
}

fn kinds<'a>(host: &'a HostView, policies: &'a [Policy]) -> BTreeMap<u32, Kind<'a>> {
    let kind = |policy: &'a Policy, cpu| {
        let range = [&policy.cpuinfo_min, &policy.cpuinfo_max, &policy.base_frequency];
        let driver = policy.driver.as_deref().ok();
        (host.topology.core_type(cpu), driver, range.map(|it| it.as_ref().ok().copied()))
    };
    let mut kinds = BTreeMap::new();
    for policy in policies {
        kinds.extend(policy.cpus.iter().map(|cpu| (cpu, kind(policy, cpu))));
    }
    kinds
}

/// The fastest value counts as the norm, however few CPUs have it; without one, that of most CPUs, and no command. A majority is no norm:
/// the CPUs that are set right may be the fewer.
fn differing(
    host: &HostView,
    setting: &Setting,
    values: BTreeMap<&str, CpuSet>,
) -> Option<Finding> {
    let mut values: Vec<(&str, CpuSet)> = values.into_iter().collect();
    values.sort_by_key(|(_, cpus)| std::cmp::Reverse(cpus.len()));
    let names: Vec<&str> = values.iter().map(|(value, _)| *value).collect();
    let fastest = (setting.fastest)(&names);
    values.sort_by_key(|(value, _)| Some(*value) != fastest);
    let ((norm, most), odd) = values.split_first().filter(|(_, odd)| !odd.is_empty())?;
    let cpus: CpuSet = odd.iter().flat_map(|(_, cpus)| cpus.iter()).collect();
    let words: Vec<String> =
        odd.iter().map(|(value, cpus)| format!("{value} on {}", cpus.len())).collect();
    let file = setting.file;
    let message =
        format!("{file} differs between like CPUs: {norm} on {}, {}", most.len(), words.join(", "));
    let Isolation { isolated, nohz_full, partitions, .. } = &host.isolation;
    let isolation = [isolated, nohz_full, partitions];
    let is_meant = isolation.iter().any(|it| it.as_ref() == Ok(&cpus) || it.as_ref() == Ok(most))
        || (setting.file == "scaling_min_freq" && is_priority(host, &values));
    let severity = if is_meant { Severity::Info } else { setting.severity };
    let mut finding = Finding::new(severity, Confidence::High, message);
    for (value, cpus) in &values {
        let path = path(host, file, cpus.first()?);
        finding = finding.evidence(path, value);
    }
    if let (true, Ok(n @ 1..)) = (is_reset_on_resume(file), &host.kernel.suspends) {
        finding.message += ": firmware may have written it when the host resumed";
        finding = finding.evidence(SUSPENDS, n);
    }
    if let (Some(fastest), Some(id), false) = (fastest, setting.id, is_meant) {
        finding = finding.fix_by_on(id, fastest, cpus.clone());
    }
    Some(
        finding
            .fix_lasting("make the settings from a udev rule or tuned, which see a CPU that comes online again")
            .on(cpus, host.topology.n_online()),
    )
}

/// Whether firmware may leave another value when a machine resumes: then the CPU that it resumes on differs from those that the kernel
/// starts again (arch/x86/kernel/cpu/intel_epb.c saves and restores EPB for that reason, since Linux 5.2).
fn is_reset_on_resume(file: &str) -> bool {
    file.starts_with("energy_perf")
}

/// Whether some CPUs may not go below their highest or guaranteed clock, as `intel-speed-select` sets those of high priority
/// (tools/power/x86/intel-speed-select/isst-config.c, set_scaling_min_to_cpuinfo_max and adjust_scaling_min_from_base_freq).
fn is_priority(host: &HostView, minima: &[(&str, CpuSet)]) -> bool {
    let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
    let is_raised = |(value, cpus): &(&str, CpuSet)| {
        let policy = policies.iter().find(|it| it.cpus.first().is_some_and(|it| cpus.contains(it)));
        let clocks = policy.map(|it| [&it.cpuinfo_max, &it.base_frequency]);
        let known = clocks.into_iter().flatten().flatten();
        known.map(|it| it.khz().to_string()).any(|it| it == *value)
    };
    minima.iter().any(is_raised)
}

/// Numbers stand for different words on different models, and other governors are not compared.
fn performance<'a>(values: &[&'a str]) -> Option<&'a str> {
    values.iter().copied().find(|it| *it == "performance")
}

fn highest<'a>(values: &[&'a str]) -> Option<&'a str> {
    values.iter().copied().max_by_key(|it| it.parse::<u64>().ok())
}

fn lowest<'a>(values: &[&'a str]) -> Option<&'a str> {
    values.iter().copied().min_by_key(|it| it.parse::<u64>().unwrap_or(u64::MAX))
}

fn path(host: &HostView, file: &str, cpu: u32) -> String {
    if let (Ok(bias), "energy_perf_bias") = (&host.energy_bias, file) {
        return bias.path(cpu);
    }
    let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
    policies.iter().find(|it| it.cpus.contains(cpu)).map_or_else(String::new, |it| it.path(file))
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    const CPU: &str = "/sys/devices/system/cpu";

    /// Four CPUs that differ in what `odd` says of CPU 3: `file value`.
    fn host(odd: &str) -> String {
        let (odd_file, odd_value) = odd.split_once(' ').unwrap_or_default();
        let file = |cpu: u32, (file, usual): &(&str, &str)| {
            let value = if cpu == 3 && *file == odd_file { odd_value } else { usual };
            format!("//- {CPU}/cpufreq/policy{cpu}/{file}\n{value}\n")
        };
        let usual = [
            ("scaling_driver", "acpi-cpufreq"),
            ("scaling_governor", "performance"),
            ("scaling_min_freq", "1200000"),
            ("scaling_max_freq", "2534000"),
            ("cpuinfo_max_freq", "2534000"),
            ("cpuinfo_min_freq", "1200000"),
            ("scaling_available_frequencies", "2534000 1600000 1200000"),
        ];
        let policies: String =
            (0..4).flat_map(|cpu| usual.iter().map(move |it| file(cpu, it))).collect();
        format!("//- {CPU}/online\n0-3\n{policies}")
    }

    #[test]
    fn one_odd_governor_is_medium() {
        assert_eq!(
            verdict(&CHECK, &host("scaling_governor ondemand")),
            "medium: scaling_governor differs between like CPUs: performance on 3, ondemand on 1 [CPU 3 (1 of 4)]"
        );
    }

    #[test]
    fn an_odd_limit_or_hint_is_low() {
        assert_eq!(
            verdict(&CHECK, &host("scaling_max_freq 1600000")),
            "low: scaling_max_freq differs between like CPUs: 2534000 on 3, 1600000 on 1 [CPU 3 (1 of 4)]"
        );
        let bias = |cpu, value| format!("//- {CPU}/cpu{cpu}/power/energy_perf_bias\n{value}\n");
        let biases = [bias(0, 6), bias(1, 6), bias(2, 0), bias(3, 6)].concat();
        let flags = "//- /proc/cpuinfo\nprocessor : 0\nflags : epb\n";
        assert_eq!(
            verdict(&CHECK, &(host("") + &biases + flags)),
            "low: energy_perf_bias differs between like CPUs: 0 on 1, 6 on 3 [CPUs 0-1,3 (3 of 4)]"
        );
    }

    /// Three CPUs are slow and one is set right.
    fn most_are_slow(file: &str, fast: &str, slow: &str) -> String {
        let available = |cpu| {
            format!(
                "//- {CPU}/cpufreq/policy{cpu}/scaling_available_governors\nperformance powersave\n"
            )
        };
        let slow = (0..3).map(|cpu| format!("//- {CPU}/cpufreq/policy{cpu}/{file}\n{slow}\n"));
        let fast = format!("//- {CPU}/cpufreq/policy3/{file}\n{fast}\n");
        host("") + &slow.collect::<String>() + &fast + &(0..4).map(available).collect::<String>()
    }

    #[test]
    fn the_fastest_value_is_the_norm_however_few_cpus_have_it() {
        let fix = findings(&CHECK, &most_are_slow("scaling_governor", "performance", "powersave"))
            .remove(0)
            .fix;
        assert_eq!(fix.apply, ["governor=performance@0-2"]);
        assert_eq!(
            fix.now,
            [format!("echo performance | tee {CPU}/cpufreq/policy{{0..2}}/scaling_governor")]
        );
        let fix = findings(&CHECK, &most_are_slow("scaling_max_freq", "2534000", "1200000"))
            .remove(0)
            .fix;
        assert!(fix.now.iter().chain(&fix.apply).all(|it| !it.contains("1200000")), "{fix:?}");
        assert_eq!(fix.apply, ["scaling-max=2534000@0-2"], "{fix:?}");
    }

    #[test]
    fn no_command_lowers_a_limit_or_is_given_where_no_value_is_known_to_be_the_fastest() {
        for host in [
            most_are_slow("scaling_min_freq", "2534000", "1200000"),
            most_are_slow("scaling_min_freq", "1200000", "2534000"),
            most_are_slow("scaling_governor", "ondemand", "powersave"),
        ] {
            let fix = findings(&CHECK, &host).remove(0).fix;
            assert!(
                fix.now.is_empty() && fix.apply.is_empty() && fix.by_hand.is_empty(),
                "{fix:?}"
            );
        }
    }

    #[test]
    fn cores_of_a_higher_guaranteed_clock_may_have_other_limits() {
        let base = |cpu, khz: u32| format!("//- {CPU}/cpufreq/policy{cpu}/base_frequency\n{khz}\n");
        let bases =
            [base(0, 2_100_000), base(1, 2_100_000), base(2, 2_100_000), base(3, 2_700_000)]
                .concat();
        assert_eq!(verdict(&CHECK, &(host("scaling_min_freq 2534000") + &bases)), "clean");
    }

    #[test]
    fn cores_of_high_priority_are_a_note() {
        assert!(verdict(&CHECK, &host("scaling_min_freq 2534000")).starts_with("info: "));
        assert!(verdict(&CHECK, &host("scaling_min_freq 1600000")).starts_with("low: "));
    }

    #[test]
    fn like_settings_are_clean() {
        assert_eq!(verdict(&CHECK, &host("")), "clean");
    }

    #[test]
    fn cores_of_another_range_may_have_another_limit() {
        let host = host("cpuinfo_max_freq 3000000")
            .replace("policy3/scaling_max_freq\n2534000", "policy3/scaling_max_freq\n3000000");
        assert_eq!(verdict(&CHECK, &host), "clean");
    }

    #[test]
    fn isolated_cpus_may_well_be_meant() {
        let isolated = format!("//- {CPU}/isolated\n3\n");
        assert!(
            verdict(&CHECK, &(host("scaling_governor ondemand") + &isolated)).starts_with("info: ")
        );
        let partition = "//- /sys/fs/cgroup/cpuset.cpus.isolated\n3\n";
        assert!(
            verdict(&CHECK, &(host("scaling_governor ondemand") + partition)).starts_with("info: ")
        );
    }

    #[test]
    fn a_hint_that_differs_after_a_suspend_may_be_the_firmwares() {
        let bias = |cpu, value| format!("//- {CPU}/cpu{cpu}/power/energy_perf_bias\n{value}\n");
        let host = [
            host(""),
            bias(0, 0) + &bias(1, 6) + &bias(2, 6) + &bias(3, 6),
            "//- /proc/cpuinfo\nprocessor : 0\nflags : epb\n".to_owned(),
        ];
        let with = |n: &str| host.concat() + "//- /sys/power/suspend_stats/success\n" + n;
        let words = ": firmware may have written it when the host resumed [CPUs 1-3 (3 of 4)]";
        assert!(verdict(&CHECK, &with("2\n")).ends_with(words));
        assert!(!verdict(&CHECK, &with("0\n")).contains("firmware"));
    }

    #[test]
    fn a_cpu_that_does_not_answer_leaves_it_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("scaling_governor !denied")),
            "unknown: /sys/devices/system/cpu/cpufreq/policy3/scaling_governor may not be read"
        );
    }
}
