//! Everything about a machine that decides how fast it is, as names and values in words.
//!
//! What is read, and where the kernel documents it, is said in the files of `facts` that each line below names. It
//! cannot know what [`HostView`] does not hold: memory modules, file systems. It names no host: no serial numbers, no
//! names of machines, volumes and addresses.

mod answers;

use crate::record::Fingerprint;
use crate::trial::CPU_QUOTAS;
use answers::{by_cpu, of_policies, of_register, vulnerabilities};
use facts::cpu::turbo::is_sold_with_turbo;
use facts::msr::clock_modulation::Duty;
use facts::msr::{amd, intel, ratios};
use facts::system::boot_line::BootLine;
use facts::system::isolation::Purpose;
use facts::system::scheduler::SchedExt;
use facts::{CpuSet, Fact, Hertz, HostView, Missing};
use std::fmt::Display;

/// What a machine is asked, and what it is called in a result.
type Question = (&'static str, fn(&HostView) -> Fact<String>);

/// Every question. Who adds one makes older results differ in it from later ones, where both are compared.
const QUESTIONS: &[Question] = &[
    ("cpu model", |it| Ok(it.cpuinfo.as_ref()?.model_name.clone())),
    ("cpu family, model, stepping", signature),
    ("cpu microcode", |it| by_cpu(&it.cpuinfo.as_ref()?.microcode, |it| format!("{it:#x}"))),
    ("cpu packages", |it| count(&it.topology.packages)),
    ("cpu cores", |it| count(&it.topology.cores)),
    ("cpu kinds of cores", core_types),
    ("cpus online", |it| shown(&it.topology.online)),
    ("smt control", |it| shown(&it.topology.smt_control)),
    ("hypervisor", |it| named(&it.platform.hypervisor, "none")),
    ("container", |it| named(&it.platform.container, "none")),
    ("machine vendor", |it| shown(&it.dmi.vendor)),
    ("machine product", |it| shown(&it.dmi.product)),
    ("firmware vendor", |it| shown(&it.dmi.firmware_vendor)),
    ("firmware version", |it| shown(&it.dmi.firmware_version)),
    ("firmware date", |it| shown(&it.dmi.firmware_date)),
    ("kernel release", |it| shown(&it.kernel.release)),
    ("kernel boot line", |it| Ok(without_names(it.kernel.boot_line.as_ref()?))),
    ("kernel preemption", |it| Ok(it.kernel.preemption()?.model)),
    ("kernel CONFIG_HZ", ticks_per_second),
    ("scheduler", scheduler),
    ("scaling_driver", |it| of_policies(it, |it| shown(&it.driver))),
    ("scaling_governor", |it| of_policies(it, |it| shown(&it.governor))),
    ("scaling_min_freq", |it| of_policies(it, |it| clock(&it.scaling_min))),
    ("scaling_max_freq", |it| of_policies(it, |it| clock(&it.scaling_max))),
    ("cpuinfo_min_freq", |it| of_policies(it, |it| clock(&it.cpuinfo_min))),
    ("cpuinfo_max_freq", |it| of_policies(it, |it| clock(&it.cpuinfo_max))),
    ("base_frequency", |it| of_policies(it, |it| clock(&it.base_frequency))),
    ("bios_limit", |it| of_policies(it, |it| clock(&it.bios_limit))),
    ("energy preference (EPP)", energy_preference),
    ("energy bias (EPB)", |it| by_cpu(&it.energy_bias.as_ref()?.values, u64::to_string)),
    ("intel_pstate status", |it| shown(&it.pstate.intel.status)),
    ("intel_pstate max_perf_pct", |it| shown(&it.pstate.intel.max_perf_pct)),
    ("intel_pstate min_perf_pct", |it| shown(&it.pstate.intel.min_perf_pct)),
    ("intel_pstate hwp_dynamic_boost", |it| switch(&it.pstate.intel.hwp_dynamic_boost)),
    ("amd_pstate status", |it| shown(&it.pstate.amd.status)),
    ("amd_pstate prefcore", |it| shown(&it.pstate.amd.prefcore)),
    ("amd_pstate dynamic_epp", |it| switch(&it.pstate.amd.dynamic_epp)),
    ("turbo: intel_pstate no_turbo", |it| switch(&it.pstate.intel.no_turbo)),
    ("turbo: cpufreq boost", |it| switch(&it.cpufreq.boost)),
    ("turbo: boost of policies", |it| of_policies(it, |it| switch(&it.boost))),
    ("turbo: offered by CPUID", turbo_in_cpuid),
    ("turbo: switched off by register", turbo_by_register),
    ("clock modulation", clock_modulation),
    ("power limits", |it| answers::power_limits(it.power_limits.as_ref()?)),
    ("uncore limits", |it| answers::uncore(it.uncore.as_ref()?)),
    ("idle driver", |it| shown(&it.cpuidle.driver)),
    ("idle driver's parameters", idle_parameters),
    ("idle governor", |it| shown(&it.cpuidle.governor)),
    ("idle states", |it| answers::idle_states(it.cpuidle.tables.as_ref()?)),
    ("idle: cpu_dma_latency (us)", |it| shown(&it.cpuidle.latency_limit)),
    ("idle: pm_qos_resume_latency_us", |it| {
        by_cpu(&it.cpuidle.resume_latency, ToString::to_string)
    }),
    ("isolated", |it| set(&it.isolation.isolated)),
    ("isolated partitions", |it| set(&it.isolation.partitions)),
    ("nohz_full", |it| set(&it.isolation.nohz_full)),
    ("rcu_nocbs", |it| set(&it.isolation.asked_for(Purpose::Rcu))),
    ("irqaffinity", |it| set(&it.isolation.asked_for(Purpose::IrqAffinity))),
    ("clocksource", |it| shown(&it.clocksource.current)),
    ("kernel.nmi_watchdog", |it| switch(&it.sysctls.nmi_watchdog)),
    ("kernel.watchdog_cpumask", |it| set(&it.sysctls.watchdog_cpumask)),
    ("kernel.timer_migration", |it| switch(&it.sysctls.timer_migration)),
    ("kernel.split_lock_mitigate", |it| switch(&it.sysctls.split_lock_mitigate)),
    ("vm.stat_interval", |it| shown(&it.sysctls.stat_interval)),
    ("tuners", tuners),
    ("tuned profile", |it| Ok(it.tuners.tuned_profile.as_ref()?.join(" "))),
    (CPU_QUOTAS, |it| answers::quotas(it.limited_groups.as_ref()?)),
];

/// Questions that fleets are grouped by, and the labels of [`rules::host_labels`] that answer them, too. The governor is not one of
/// them, as it is a setting as well.
const LABELS: [(&str, &str); 9] = [
    ("cpu model", "cpu_model"),
    ("cpu microcode", "microcode"),
    ("firmware vendor", "bios_vendor"),
    ("firmware version", "bios_version"),
    ("firmware date", "bios_date"),
    ("machine product", "product"),
    ("kernel release", "kernel"),
    ("hypervisor", "hypervisor"),
    ("scaling_driver", "cpufreq_driver"),
];

impl Fingerprint {
    /// Of the machine that `host` shows. What is not known is `unknown: why`, and what the machine does not have
    /// `none: why`; every question has an answer.
    pub fn of(host: &HostView) -> Fingerprint {
        let answer = |(name, ask): &Question| ((*name).to_owned(), or_why(ask(host)));
        Fingerprint(QUESTIONS.iter().map(answer).chain(vulnerabilities(host)).collect())
    }

    /// The label of [`rules::host_labels`] that a question answers; `None` where it answers none.
    pub fn label_of(question: &str) -> Option<&'static str> {
        LABELS.iter().find(|it| it.0 == question).map(|it| it.1)
    }

    /// The name that the processor gives itself, where it is known.
    pub fn cpu_model(&self) -> Option<&str> {
        self.known("cpu model")
    }

    /// The release of the kernel, where it is known.
    pub fn kernel(&self) -> Option<&str> {
        self.known("kernel release")
    }

    /// Changes an answer; `None`: what is asked is no longer named.
    pub fn set(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.0.insert(name.to_owned(), value.to_owned()),
            None => self.0.remove(name),
        };
    }

    fn known(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name)?;
        let is_missing = value.starts_with(UNKNOWN) || value.starts_with(NONE);
        Some(value.as_str()).filter(|it| !is_missing && !it.is_empty())
    }
}

const UNKNOWN: &str = "unknown: ";
const NONE: &str = "none: ";

/// The value, or why there is none.
fn or_why(fact: Fact<String>) -> String {
    match fact {
        Ok(value) => value,
        Err(why) if why.is_absence() => format!("{NONE}{why}"),
        Err(why) => format!("{UNKNOWN}{why}"),
    }
}

fn shown<T: Display>(fact: &Fact<T>) -> Fact<String> {
    Ok(fact.as_ref()?.to_string())
}

/// To the kilohertz: acpi-cpufreq's clock for turbo lies 1 MHz above the nominal one.
fn clock(fact: &Fact<Hertz>) -> Fact<String> {
    Ok(format!("{} MHz", fact.as_ref()?.mhz()))
}

fn switch(fact: &Fact<bool>) -> Fact<String> {
    Ok(u8::from(*fact.as_ref()?).to_string())
}

fn set(fact: &Fact<CpuSet>) -> Fact<String> {
    let cpus = fact.as_ref()?;
    Ok(if cpus.is_empty() { "no CPU".to_owned() } else { cpus.to_string() })
}

fn count<T>(fact: &Fact<Vec<T>>) -> Fact<String> {
    Ok(fact.as_ref()?.len().to_string())
}

fn named(fact: &Fact<Option<String>>, nobody: &str) -> Fact<String> {
    Ok(fact.as_ref()?.as_deref().unwrap_or(nobody).to_owned())
}

fn signature(host: &HostView) -> Fact<String> {
    let info = host.cpuinfo.as_ref()?;
    Ok(format!("{} {}-{}-{}", info.vendor, info.family, info.model, info.stepping))
}

fn core_types(host: &HostView) -> Fact<String> {
    let types = host.topology.core_types.as_ref()?;
    let words: Vec<String> = types.iter().map(|(name, cpus)| format!("{name} {cpus}")).collect();
    Ok(words.join(", "))
}

fn ticks_per_second(host: &HostView) -> Fact<String> {
    let config = host.kernel.config.as_ref()?;
    let hz = config
        .ticks_per_second()
        .ok_or_else(|| Missing::absent(format!("CONFIG_HZ in {}", config.path)))?;
    Ok(hz.to_string())
}

fn idle_parameters(host: &HostView) -> Fact<String> {
    let parameters = host.cpuidle.parameters.as_ref()?;
    let words: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok(words.join(" "))
}

/// `sched_ext NAME`, or that of the kernel.
fn scheduler(host: &HostView) -> Fact<String> {
    let ext = host.scheduler.ext.as_ref();
    let name = ext.map(SchedExt::name).or_else(|missing| match missing.is_absence() {
        true => Ok(None),
        false => Err(missing),
    })?;
    Ok(name.map_or_else(|| "the kernel's".to_owned(), |it| format!("sched_ext {it}")))
}

fn energy_preference(host: &HostView) -> Fact<String> {
    let preferences = host.energy_preferences();
    if preferences.is_empty() {
        host.cpufreq.policies.as_ref()?;
    }
    by_cpu(&preferences, |it| it.text.clone())
}

fn turbo_in_cpuid(host: &HostView) -> Fact<String> {
    let info = host.cpuinfo.as_ref()?;
    Ok(match (info.has_turbo(), is_sold_with_turbo(info)) {
        (true, _) => "yes",
        (false, Some(true)) => "no, although this model is sold with it",
        (false, _) => "no",
    }
    .to_owned())
}

/// MSR 0x1A0 bit 38 of Intel, MSR 0xC0010015 bit 25 of AMD.
fn turbo_by_register(host: &HostView) -> Fact<String> {
    let is_intel = host.cpuinfo.as_ref()?.is_intel();
    let yes_or_no = |is_off| if is_off { "yes" } else { "no" }.to_owned();
    if is_intel {
        of_register(host, &intel::MISC_ENABLE, |it| yes_or_no(ratios::turbo_is_off(it)))
    } else {
        of_register(host, &amd::HWCR, |it| yes_or_no(ratios::boost_is_off(it)))
    }
}

fn clock_modulation(host: &HostView) -> Fact<String> {
    let extended = host.msrs.extended_duty.as_ref().ok().copied();
    of_register(host, &intel::CLOCK_MODULATION, |it| {
        Duty::of_register(it, extended).map_or("off".to_owned(), |it| it.to_string())
    })
}

fn tuners(host: &HostView) -> Fact<String> {
    let running = host.tuners.running(host.processes.as_ref()?);
    let names: Vec<&str> = running.iter().map(|it| it.tuner.name).collect();
    Ok(if names.is_empty() { "none runs".to_owned() } else { names.join(", ") })
}

/// The parameters without those that name this one machine, its volumes and addresses, and without init's.
fn without_names(line: &BootLine) -> String {
    let parameters = line.parameters().filter(|(key, value)| {
        let is_place = value.is_some_and(|it| it.contains("UUID=") || it.contains("/dev/"));
        !is_place && !names_the_machine(key)
    });
    let word = |(key, value): (&str, Option<&str>)| match value {
        Some(value) => format!("{key}={value}"),
        None => key.to_owned(),
    };
    parameters.map(word).collect::<Vec<_>>().join(" ")
}

/// Documentation/admin-guide/{kernel-parameters.txt,nfs/nfsroot.rst}, dracut.cmdline(7), kernel-command-line(7).
fn names_the_machine(key: &str) -> bool {
    const KEYS: [&str; 14] = [
        "BOOTIF",
        "BOOT_IMAGE",
        "bootdev",
        "cryptdevice",
        "hostname",
        "ifname",
        "initrd",
        "ip",
        "nameserver",
        "netconsole",
        "nfsroot",
        "ostree",
        "resume",
        "root",
    ];
    const BEGINNINGS: [&str; 6] = [
        "rd.",
        "iscsi",
        "luks",
        "systemd.hostname",
        "systemd.machine_id",
        "systemd.set_credential",
    ];
    KEYS.contains(&key) || BEGINNINGS.iter().any(|it| key.starts_with(it))
}

#[cfg(test)]
mod tests;
