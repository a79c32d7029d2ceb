//! What a host has in common with others: labels, settings and facts that are the same on equal machines.
//!
//! Labels have the names and the values of `fullclock_host_info`. The rest is what results keep of a machine (`lab::fingerprint`), and what
//! else a capture holds and a fingerprint does not. Left out is what differs between equal machines: counters, times, serial numbers,
//! addresses, numbers of interrupts.

use super::told::Told;
use facts::change::Controls;
use facts::msr::{Register, amd, intel};
use facts::system::boot_line::BootLine;
use facts::{CpuSet, HostView, Missing};
use fleet::Kind;
use host::Source;
use lab::record::Fingerprint;
use rules::audit::Audit;
use rules::host_labels::{host_labels, joined};
use std::collections::BTreeMap;

/// Questions of a fingerprint that are settings, by their ids.
const SETTINGS: [(&str, &str); 25] = [
    ("amd_pstate status", "amd-pstate-status"),
    ("clock modulation", "on-demand-modulation"),
    ("clocksource", "clocksource"),
    ("energy bias (EPB)", "energy-perf-bias"),
    ("energy preference (EPP)", "energy-performance-preference"),
    ("idle governor", "idle-governor"),
    ("idle states", "idle-state"),
    ("idle: cpu_dma_latency (us)", "cpu-dma-latency"),
    ("idle: pm_qos_resume_latency_us", "resume-latency"),
    ("intel_pstate max_perf_pct", "max-perf-pct"),
    ("intel_pstate min_perf_pct", "min-perf-pct"),
    ("intel_pstate status", "intel-pstate-status"),
    ("isolated", "isolcpus"),
    ("isolated partitions", "isolated-partition"),
    ("kernel.nmi_watchdog", "nmi-watchdog"),
    ("kernel.split_lock_mitigate", "split-lock-mitigate"),
    ("kernel.timer_migration", "timer-migration"),
    ("nohz_full", "nohz-full"),
    ("rcu_nocbs", "rcu-nocbs"),
    ("scaling_governor", "governor"),
    ("scaling_max_freq", "scaling-max"),
    ("scaling_min_freq", "scaling-min"),
    ("tuners", "tuner"),
    ("turbo: cpufreq boost", "turbo"),
    ("vm.stat_interval", "stat-interval"),
];

/// Turbo as intel_pstate has it: 1 is off.
const NO_TURBO: &str = "turbo: intel_pstate no_turbo";

/// Whose parameters are facts of their own.
const BOOT_LINE: &str = "kernel boot line";

/// What a fingerprint says where there is no answer.
const UNKNOWN: &str = "unknown";
const NONE: &str = "none: ";

/// Settings that are files and no question of a fingerprint, with those files.
const FILES: [(&str, &str); 5] = [
    ("governor-tunable", "/sys/devices/system/cpu/cpufreq/"),
    ("kipmid-max-busy", "/sys/module/ipmi_si/parameters/kipmid_max_busy_us"),
    ("uncore-max", "/sys/devices/system/cpu/intel_uncore_frequency/*/max_freq_khz"),
    ("uncore-min", "/sys/devices/system/cpu/intel_uncore_frequency/*/min_freq_khz"),
    ("workqueue-cpumask", "/sys/devices/virtual/workqueue/cpumask"),
];

/// Registers that hold what somebody set, and not what happens.
const REGISTERS: [&Register; 15] = [
    &intel::PLATFORM_INFO,
    &intel::PKG_CST_CONFIG_CONTROL,
    &intel::MISC_ENABLE,
    &intel::TEMPERATURE_TARGET,
    &intel::MISC_PWR_MGMT,
    &intel::TURBO_RATIO_LIMIT,
    &intel::TURBO_RATIO_LIMIT1,
    &intel::POWER_CTL,
    &intel::PKG_POWER_LIMIT,
    &intel::PKG_POWER_INFO,
    &intel::UNCORE_RATIO_LIMIT,
    &intel::CONFIG_TDP_CONTROL,
    &intel::PM_ENABLE,
    &amd::HWCR,
    &amd::PSTATE_0,
];

/// All of a host that was looked at: its labels, findings, settings and facts.
pub(super) fn of_host(told: &mut Told, source: &dyn Source, host: &HostView, audit: &Audit) {
    labels(told, host);
    findings(told, audit);
    of_fingerprint(told, &Fingerprint::of(host));
    let reads: Vec<&str> = rules::settings::reads()
        .into_iter()
        .filter(|it| FILES.iter().any(|(_, path)| it.starts_with(path)))
        .collect();
    files(told, &host::controls(source, &reads));
    if let Ok(config) = &host.kernel.config {
        for (option, value) in config.options() {
            told.add(Kind::Fact, &format!("CONFIG_{option}"), value);
        }
    }
    for register in REGISTERS {
        let Ok(values) = host.msrs.of(register) else { continue };
        if let Some(value) = of_cpus(values.known().map(|(cpu, it)| (cpu, format!("{it:#x}")))) {
            told.add(
                Kind::Fact,
                &format!("MSR {:#x} ({})", register.address, register.name),
                &value,
            );
        }
    }
}

/// The labels of `fullclock_host_info`. A copy does not tell the firmware of the management controller.
fn labels(told: &mut Told, host: &HostView) {
    let controller = Err(Missing::not_collected("the controller's firmware"));
    for (name, value) in host_labels(host, &controller) {
        told.add(Kind::Label, name, &value);
    }
}

/// Findings, and the checks that could not be made.
fn findings(told: &mut Told, audit: &Audit) {
    if !audit.judged_nothing() {
        told.unknown = Some(audit.unknown.iter().map(|(check, _)| check.id.to_owned()).collect());
    }
    // The most severe of a check comes first.
    for (check, finding) in &audit.findings {
        told.add(Kind::Finding, check.id, finding.severity.name());
    }
}

/// What a fingerprint tells, of a host or of a result. Labels that are known already stay.
pub(super) fn of_fingerprint(told: &mut Told, fingerprint: &Fingerprint) {
    for (question, answer) in &fingerprint.0 {
        let value = if answer.starts_with(NONE) { "none" } else { answer };
        let is = |list: &[(&str, &'static str)]| {
            list.iter().find(|(it, _)| it == question).map(|(_, name)| *name)
        };
        // Of some CPUs only it is unknown, too.
        if value.contains(UNKNOWN) {
            continue;
        }
        if let Some(label) = Fingerprint::label_of(question) {
            if value != "none" || label == "hypervisor" {
                told.add(Kind::Label, label, value);
            }
        } else if question == NO_TURBO {
            let turbo = match value {
                "1" => "off",
                "0" => "on",
                other => other,
            };
            if turbo != "none" {
                told.add(Kind::Setting, "turbo", turbo);
            }
        } else if question == BOOT_LINE {
            boot_line(told, value);
        } else if let Some(setting) = is(&SETTINGS) {
            setting_of(told, setting, value);
        } else {
            told.add(Kind::Fact, question, value);
        }
    }
}

/// A setting in the words that `fullclock plan` takes, where these differ from the file's.
fn setting_of(told: &mut Told, setting: &str, value: &str) {
    const SWITCHES: [&str; 4] = ["turbo", "nmi-watchdog", "split-lock-mitigate", "timer-migration"];
    let value = match value {
        "1" if SWITCHES.contains(&setting) => "on",
        "0" if SWITCHES.contains(&setting) => "off",
        // Of a driver that is not in use.
        "none" if setting == "turbo" => return,
        other => other,
    };
    if setting == "governor" {
        told.add(Kind::Label, setting, value);
    }
    told.add(Kind::Setting, setting, value);
}

/// Each parameter; of one that is given several times, all values.
fn boot_line(told: &mut Told, line: &str) {
    let line = BootLine::new(line);
    let mut parameters: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in line.parameters() {
        parameters.entry(name).or_default().extend(value);
    }
    for (name, values) in parameters {
        let value = if values.is_empty() { "given".to_owned() } else { values.join(",") };
        told.add(Kind::Fact, &format!("boot line: {name}"), &value);
    }
}

/// Settings that are files: those of one name together, over all policies or domains.
fn files(told: &mut Told, controls: &Controls) {
    let mut values: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for (path, text) in controls.iter() {
        let Ok(text) = text else { continue };
        let file = path.rsplit('/').next().unwrap_or_default();
        let setting = FILES.iter().find(|(_, of)| match of.split_once('*') {
            Some((before, after)) => path.starts_with(before) && path.ends_with(after),
            None => path.starts_with(of),
        });
        match setting {
            Some((name @ "governor-tunable", _)) if is_tunable(path) => {
                values.entry((name, file.to_owned())).or_default().push(text.clone());
            }
            Some(("governor-tunable", _)) | None => {}
            Some((name, _)) => values.entry((name, String::new())).or_default().push(text.clone()),
        }
    }
    for ((setting, file), texts) in values {
        let name = if file.is_empty() { setting.to_owned() } else { format!("{setting} {file}") };
        told.add(Kind::Setting, &name, &joined(texts.into_iter()));
    }
}

/// Whether a file is a tunable of a governor, and not of a policy.
fn is_tunable(path: &str) -> bool {
    ["/ondemand/", "/conservative/", "/schedutil/"].iter().any(|it| path.contains(it))
}

/// One value for all CPUs, or the CPUs of each.
fn of_cpus(values: impl Iterator<Item = (u32, String)>) -> Option<String> {
    let mut groups: BTreeMap<String, CpuSet> = BTreeMap::new();
    for (cpu, value) in values {
        groups.entry(value).or_default().insert(cpu);
    }
    if groups.len() <= 1 {
        return groups.into_keys().next();
    }
    let words: Vec<String> =
        groups.into_iter().map(|(it, cpus)| format!("{it} on {cpus}")).collect();
    Some(words.join(", "))
}
