//! Looks for CPUs of one kind that are set differently: governor, limits, energy hints.
//!
//! Source: Documentation/admin-guide/pm/cpufreq.rst: every policy has settings of its own. It cannot know whether
//! somebody meant it.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::cpu::cpufreq::Policy;
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
Where it is meant, as on CPUs set aside for one task; where the odd ones are the isolated CPUs, this is a note.
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
    severity: Severity,
    values: fn(&HostView) -> PerCpu<String>,
}

/// A difference in limits or hints counts less: what it takes is reported by the checks about them.
const SETTINGS: &[Setting] = &[
    Setting {
        file: "scaling_governor",
        severity: Severity::Medium,
        values: |host| of_policies(host, |it| it.governor.clone()),
    },
    Setting {
        file: "scaling_min_freq",
        severity: Severity::Low,
        values: |host| {
            of_policies(host, |it| it.scaling_min.clone().map(|it| it.khz().to_string()))
        },
    },
    Setting {
        file: "scaling_max_freq",
        severity: Severity::Low,
        values: |host| {
            of_policies(host, |it| it.scaling_max.clone().map(|it| it.khz().to_string()))
        },
    },
    Setting {
        file: "energy_performance_preference",
        severity: Severity::Low,
        values: |host| of_policies(host, |it| it.preference.clone()),
    },
    Setting { file: "energy_perf_bias", severity: Severity::Low, values: biases },
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

/// What makes CPUs alike: core type, driver, lowest and highest clock.
type Kind<'a> = (Option<&'a str>, Option<&'a str>, [Option<Hertz>; 2]);

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
        let range = [&policy.cpuinfo_min, &policy.cpuinfo_max];
        let driver = policy.driver.as_deref().ok();
        (host.topology.core_type(cpu), driver, range.map(|it| it.as_ref().ok().copied()))
    };
    let mut kinds = BTreeMap::new();
    for policy in policies {
        kinds.extend(policy.cpus.iter().map(|cpu| (cpu, kind(policy, cpu))));
    }
    kinds
}

/// The value of most CPUs counts as the rule, the CPUs with another as the odd ones.
fn differing(
    host: &HostView,
    setting: &Setting,
    values: BTreeMap<&str, CpuSet>,
) -> Option<Finding> {
    let mut values: Vec<(&str, CpuSet)> = values.into_iter().collect();
    values.sort_by_key(|(_, cpus)| std::cmp::Reverse(cpus.len()));
    let ((usual, most), odd) = values.split_first().filter(|(_, odd)| !odd.is_empty())?;
    let cpus: CpuSet = odd.iter().flat_map(|(_, cpus)| cpus.iter()).collect();
    let words: Vec<String> =
        odd.iter().map(|(value, cpus)| format!("{value} on {}", cpus.len())).collect();
    let file = setting.file;
    let message = format!(
        "{file} differs between like CPUs: {usual} on {}, {}",
        most.len(),
        words.join(", ")
    );
    let isolation = [&host.isolation.isolated, &host.isolation.nohz_full];
    let is_meant = isolation.iter().any(|it| it.as_ref() == Ok(&cpus));
    let severity = if is_meant { Severity::Info } else { setting.severity };
    let mut finding = Finding::new(severity, Confidence::High, message);
    for (value, cpus) in &values {
        let path = path(host, file, cpus.first()?);
        finding = finding.evidence(path, value);
    }
    Some(
        with_commands(host, finding, file, usual, &cpus)
            .fix_lasting("make the settings from a udev rule or tuned, which see a CPU that comes online again")
            .on(cpus, host.topology.n_online()),
    )
}

/// Commands that give the odd CPUs the value of the others.
fn with_commands(
    host: &HostView,
    finding: Finding,
    file: &str,
    usual: &str,
    cpus: &CpuSet,
) -> Finding {
    /// So many show how the rest goes.
    const SHOWN: usize = 4;
    let option = match file {
        "scaling_governor" => "frequency-set --governor",
        "scaling_min_freq" => "frequency-set --min",
        "scaling_max_freq" => "frequency-set --max",
        "energy_perf_bias" => "set --perf-bias",
        _ => {
            let paths = cpus.iter().take(SHOWN).map(|cpu| path(host, file, cpu));
            return paths.fold(finding, |it, path| it.fix_now(format!("echo {usual} > {path}")));
        }
    };
    finding.fix_now(format!("cpupower -c {cpus} {option} {usual}"))
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
    use crate::fixture::verdict;

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
            "low: energy_perf_bias differs between like CPUs: 6 on 3, 0 on 1 [CPU 2 (1 of 4)]"
        );
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
    }

    #[test]
    fn a_cpu_that_does_not_answer_leaves_it_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("scaling_governor !denied")),
            "unknown: /sys/devices/system/cpu/cpufreq/policy3/scaling_governor may not be read"
        );
    }
}
