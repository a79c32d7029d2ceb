//! Looks for turbo (Intel) or boost (AMD) that the processor was sold with and may not use.
//!
//! Sources: Documentation/admin-guide/pm/intel_pstate.rst (`no_turbo`) and cpufreq.rst (`boost`); Intel SDM vol. 3B,
//! "Opportunistic Processor Performance Operation", and vol. 4, IA32_MISC_ENABLE; AMD PPR, MSRC001_0015. Whether a
//! model was sold with turbo comes from its name, where neither flag nor register can tell.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use crate::loss_scale::{self, Lost};
use crate::makers::{self, Menu};
use crate::party::Party;
use crate::writers::{self, Knob};
use facts::cpu::cpuinfo::CpuInfo;
use facts::cpu::pstate::IntelPstate;
use facts::cpu::turbo::is_sold_with_turbo;
use facts::msr::{Register, amd, intel, ratios};
use facts::{CpuSet, Fact, Hertz, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "turbo-off",
    title: "turbo is switched off on a processor that has it",
    doc: "\
## What it looks at
The kernel's switches (`intel_pstate/no_turbo`, `cpufreq/boost`, `boost` of each policy), the processor's
(IA32_MISC_ENABLE bit 38 on Intel, HWCR bit 25 on AMD), and the flags `ida` and `cpb` in /proc/cpuinfo, which
are missing when firmware switched turbo off. A missing flag counts only on models that are known to have
turbo. A frequency table that ends at the nominal clock, on a processor with the flag, is reported too.

## Why it matters
The nominal clock is what the manufacturer promises with every core busy. Turbo is what cores run at the rest
of the time, which for a database is most of the time. A Xeon Gold 6330 without turbo runs everything at
2.0 GHz; with it, a core may reach 3.1 GHz. Firmware profiles that save power or promise determinism are the
usual reason.

## When to leave it alone
Where even latencies matter more than short ones, or a benchmark must be repeatable. On a desktop board, manual
overclocking of a Ryzen also takes the flag `cpb` away.
",
    references: &[
        Reference {
            title: "Linux: intel_pstate, Turbo P-states Support",
            url: "https://docs.kernel.org/admin-guide/pm/intel_pstate.html#turbo-p-states-support",
        },
        Reference {
            title: "Linux: CPU Performance Scaling, Frequency Boost Support",
            url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html#frequency-boost-support",
        },
        Reference {
            title: "Intel SDM vol. 4, IA32_MISC_ENABLE (MSR 0x1A0), bit 38",
            url: "https://www.intel.com/sdm",
        },
        Reference { title: "AMD PPR, MSRC001_0015 HWCR, CpbDis", url: "https://www.amd.com" },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let cpuinfo = host.cpuinfo.as_ref()?;
    host.platform.hides("turbo")?;
    let is_x86 = cpuinfo.is_intel() || cpuinfo.is_amd();
    if is_x86 && cpuinfo.flags.is_empty() {
        return Err(Missing::not_collected("/proc/cpuinfo: flags"));
    }
    if is_x86 && !cpuinfo.has_turbo() {
        return match is_sold_with_turbo(cpuinfo) {
            Some(true) => Ok(vec![off_in_firmware(host, cpuinfo)]),
            Some(false) => Err(Missing::not_here("turbo", "this model has none")),
            None => Err(Missing::not_here("turbo", "the processor shows none")),
        };
    }
    // intel_pstate repeats the register in `no_turbo`, and then refuses to be written.
    let repeated = (host.pstate.intel.no_turbo == Ok(true)).then(|| off_by_register(host, cpuinfo));
    let found = repeated
        .flatten()
        .or_else(|| off_by_switch(host))
        .or_else(|| off_by_register(host, cpuinfo))
        .or_else(|| missing_from_table(host, cpuinfo));
    match found {
        Some(finding) => Ok(vec![finding]),
        None if is_x86 => every_switch_is_known(host, cpuinfo).map(|()| Vec::new()),
        None => Ok(host.cpufreq.boost.as_ref().map(|_| Vec::new())?),
    }
}

/// Somebody wrote one of the kernel's switches.
fn off_by_switch(host: &HostView) -> Option<Finding> {
    let (path, off, cpus) = if host.pstate.intel.no_turbo == Ok(true) {
        (format!("{}/no_turbo", IntelPstate::FOLDER), 1, every_cpu(host))
    } else if host.cpufreq.boost == Ok(false) {
        ("/sys/devices/system/cpu/cpufreq/boost".to_owned(), 0, every_cpu(host))
    } else {
        let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
        let mut off = policies.iter().filter(|it| it.boost == Ok(false)).peekable();
        let first = off.peek()?.path("boost");
        (first, 0, off.flat_map(|it| it.cpus.iter()).collect())
    };
    let name = path.rsplit('/').next().unwrap_or_default();
    let message = format!("turbo is switched off in Linux: {name} is {off}");
    let writers = writers::writers(host, Knob::Turbo, &off.to_string());
    let finding = weighed(host, &cpus, Confidence::High, message)
        .evidence(&path, off)
        .fix_lasting(writers::where_to_look(Knob::Turbo, writers.as_deref()));
    let finding = writers::attributed(finding, Knob::Turbo, writers.as_deref());
    let finding = match path.contains("/policy") {
        true => finding.fix_by_on("turbo", "on", cpus.clone()),
        false => finding.fix_by("turbo", "on"),
    };
    Some(finding.on(cpus, host.topology.n_online()))
}

/// The bit that switches turbo off, set although the processor showed turbo at boot and the kernel allows it.
fn off_by_register(host: &HostView, cpuinfo: &CpuInfo) -> Option<Finding> {
    let (register, is_off) = switch(cpuinfo);
    let values = host.msrs.of(register).ok()?;
    let off = values.cpus_where(|&value| is_off(value));
    let first = off.first()?;
    let linux = match host.pstate.intel.no_turbo {
        Ok(true) => "where Linux may not switch it on",
        _ => "and Linux does not know",
    };
    let message = format!("turbo is switched off in {register}, {linux}");
    let value = values.get(first)?.as_ref().ok()?;
    let cpus = sharing(host, register, &off);
    let finding = weighed(host, &cpus, Confidence::High, message)
        .evidence(register.path(first), format!("{value:#x}"))
        .fix_lasting("firmware, or a program that writes registers, sets it: look in the firmware's setup and for wrmsr in boot scripts");
    Some(finding.on(cpus, host.topology.n_online()))
}

fn off_in_firmware(host: &HostView, cpuinfo: &CpuInfo) -> Finding {
    let flag = if cpuinfo.is_intel() { "ida" } else { "cpb" };
    let name = cpuinfo.model_name.split_whitespace().collect::<Vec<_>>().join(" ");
    let (register, is_off) = switch(cpuinfo);
    let set = host
        .msrs
        .of(register)
        .ok()
        .and_then(|values| values.known().find(|(_, value)| is_off(**value)));
    let confidence = if set.is_some() { Confidence::High } else { Confidence::Medium };
    let message = format!("turbo is off in firmware: {name} has it, and CPUID shows no `{flag}`");
    let mut finding = weighed(host, &every_cpu(host), confidence, message)
        .evidence("/proc/cpuinfo: flags", format!("no {flag}"))
        .on(every_cpu(host), host.topology.n_online());
    if let Some((cpu, value)) = set {
        finding = finding.evidence(register.path(cpu), format!("{value:#x}"));
    }
    finding.held_by(Party::Firmware).fix_lasting(format!(
        "{}, then reboot{}",
        makers::setup(host, Menu::Turbo),
        makers::over_redfish(host, Menu::Turbo)
    ))
}

/// A frequency table without the entry that stands for turbo: the kernel can ask for nothing above nominal.
///
/// The nominal clock must be known to the kHz, which names give for steps of 100 MHz only.
fn missing_from_table(host: &HostView, cpuinfo: &CpuInfo) -> Option<Finding> {
    let named = cpuinfo.clock_in_name().filter(|it| it.0 % 100_000_000 == 0)?;
    let policies = host.cpufreq.policies.as_deref().ok().filter(|it| !it.is_empty())?;
    let ends_at_nominal = policies.iter().all(|it| it.cpuinfo_max == Ok(named) && it.shows_turbo());
    if !ends_at_nominal || !cpuinfo.is_intel() || is_sold_with_turbo(cpuinfo) != Some(true) {
        return None;
    }
    let message = format!(
        "Linux is offered no turbo: the table ends at the nominal {named}, though CPUID shows `ida`"
    );
    let finding = weighed(host, &every_cpu(host), Confidence::Medium, message)
        .evidence(policies.first()?.path("cpuinfo_max_freq"), named.khz())
        .evidence("/proc/cpuinfo: model name", &cpuinfo.model_name)
        .fix_lasting("the firmware's P-state table (_PSS) or a limit of its own leaves turbo out: look for Turbo Boost and power profiles in the firmware's setup");
    Some(finding.on(every_cpu(host), host.topology.n_online()))
}

/// A finding as severe as the turbo range is wide, where that is known.
fn weighed(host: &HostView, cpus: &CpuSet, confidence: Confidence, message: String) -> Finding {
    let range = host.nominal_clock().map(|it| it.0).zip(highest_turbo(host));
    // A table's mark for turbo, 1 MHz above the nominal clock, says nothing about the range.
    match range.filter(|(nominal, turbo)| nominal.share_of(*turbo) < 0.99) {
        Some((nominal, turbo)) => {
            let lost = 1.0 - nominal.share_of(turbo);
            let are_many = loss_scale::are_many(host, cpus);
            let of_turbo = Lost::of_what_is_left(nominal.share_of(turbo), are_many);
            Finding::of_lost(of_turbo, confidence, message).cost(
                format!("up to {:.0} % of the clock of a core that is busy alone", 100.0 * lost),
                format!("{nominal} nominal of {turbo} turbo"),
            )
        }
        None => Finding::new(Severity::Medium, confidence, message),
    }
}

/// The turbo clock of one active core: in the first byte of MSR_TURBO_RATIO_LIMIT, or what the driver tells.
fn highest_turbo(host: &HostView) -> Option<Hertz> {
    let cpuinfo = host.cpuinfo.as_ref().ok()?;
    let ratio = || {
        ratios::Layout::of(cpuinfo)?;
        let values = host.msrs.of(&intel::TURBO_RATIO_LIMIT).ok()?;
        let (_, limit) = values.known().next()?;
        Some(Hertz(ratios::bus_clock(cpuinfo)?.0.checked_mul(limit & 0xff)?))
    };
    let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
    let told = policies.iter().filter_map(|it| it.cpuinfo_max.clone().ok()).max();
    ratio().max(told)
}

/// The register with the processor's switch, and how to read it.
fn switch(cpuinfo: &CpuInfo) -> (&'static Register, fn(u64) -> bool) {
    if cpuinfo.is_intel() {
        (&intel::MISC_ENABLE, ratios::turbo_is_off)
    } else {
        (&amd::HWCR, ratios::boost_is_off)
    }
}

/// The kernel's view is not enough for "clean": its switches do not show the register.
fn every_switch_is_known(host: &HostView, cpuinfo: &CpuInfo) -> Fact<()> {
    match host.msrs.of(switch(cpuinfo).0) {
        Ok(values) => Ok(values.all_known()?),
        Err(missing) if missing.is_absence() => Ok(()),
        Err(missing) => Err(missing.clone()),
    }
}

fn every_cpu(host: &HostView) -> CpuSet {
    host.topology.online.clone().unwrap_or_default()
}

/// Every CPU whose package's register was read on one of `read`.
fn sharing(host: &HostView, register: &Register, read: &CpuSet) -> CpuSet {
    if register.address != intel::MISC_ENABLE.address {
        return read.clone();
    }
    every_cpu(host).iter().filter(|&it| read.contains(host.topology.package_leader(it))).collect()
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    const CPU: &str = "/sys/devices/system/cpu";

    fn host(vendor: &str, name: &str, flags: &str, more: &str) -> String {
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : {vendor}\ncpu family : 6\nmodel : 85\n\
             model name : {name}\nflags : sse2 {flags}\n//- {CPU}/online\n0-1\n{more}"
        )
    }

    fn gold(flags: &str, more: &str) -> String {
        host("GenuineIntel", "Intel(R) Xeon(R) Gold 6330 CPU @ 2.00GHz", flags, more)
    }

    /// What vouches for a register that is 0, then IA32_MISC_ENABLE of both CPUs.
    fn misc_enable(value: &str) -> String {
        format!(
            "//- /dev/cpu/0/msr 0xce\n0x70a2cfb811400\n//- /dev/cpu/0/msr 0x1a0\n{value}\n\
             //- /dev/cpu/1/msr 0x1a0\n{value}\n"
        )
    }

    fn file(name: &str, value: &str) -> String {
        format!("//- {CPU}/{name}\n{value}\n")
    }

    #[test]
    fn turbo_off_in_firmware_shows_as_a_missing_flag() {
        assert_eq!(
            verdict(&CHECK, &gold("", "")),
            "medium: turbo is off in firmware: Intel(R) Xeon(R) Gold 6330 CPU @ 2.00GHz has it, and CPUID shows no `ida` [all 2 CPUs]"
        );
        let ryzen = host("AuthenticAMD", "AMD Ryzen 5 1600 Six-Core Processor", "", "");
        assert_eq!(
            verdict(&CHECK, &ryzen),
            "medium: turbo is off in firmware: AMD Ryzen 5 1600 Six-Core Processor has it, and CPUID shows no `cpb` [all 2 CPUs]"
        );
        assert_eq!(verdict(&CHECK, &gold("ida", &misc_enable("0x850089"))), "clean");
    }

    #[test]
    fn the_wider_the_turbo_range_the_worse() {
        let policy = file("cpufreq/policy0/cpuinfo_max_freq", "3100000");
        assert!(verdict(&CHECK, &gold("", &policy)).starts_with("high: "));
        let ratios = format!(
            "{}//- /dev/cpu/0/msr 0x1ad\n0x1a1b1c1d1e1f1f1f\n",
            misc_enable("0x4000850089")
        );
        assert!(verdict(&CHECK, &gold("", &ratios)).starts_with("high: "));
    }

    #[test]
    fn the_kernels_switch_is_named() {
        assert_eq!(
            verdict(&CHECK, &gold("ida", &file("intel_pstate/no_turbo", "1"))),
            "medium: turbo is switched off in Linux: no_turbo is 1 [all 2 CPUs]"
        );
        let epyc =
            |more: &str| host("AuthenticAMD", "AMD EPYC 7451 24-Core Processor", "cpb", more);
        assert_eq!(
            verdict(&CHECK, &epyc(&file("cpufreq/boost", "0"))),
            "medium: turbo is switched off in Linux: boost is 0 [all 2 CPUs]"
        );
        let policy =
            file("cpufreq/policy1/affected_cpus", "1") + &file("cpufreq/policy1/boost", "0");
        assert_eq!(
            verdict(&CHECK, &epyc(&policy)),
            "medium: turbo is switched off in Linux: boost is 0 [CPU 1 (1 of 2)]"
        );
        assert_eq!(
            findings(&CHECK, &epyc(&policy))[0].fix.now,
            ["echo 1 > /sys/devices/system/cpu/cpufreq/policy1/boost"]
        );
    }

    #[test]
    fn a_model_without_turbo_never_fires() {
        let i3 = host(
            "GenuineIntel",
            "Intel(R) Core(TM) i3-4005U CPU @ 1.70GHz",
            "",
            &file("intel_pstate/no_turbo", "1"),
        );
        assert_eq!(verdict(&CHECK, &i3), "not applicable: no turbo here: this model has none");
    }

    #[test]
    fn a_boost_file_of_an_old_kernel_is_no_switch_on_a_processor_without_boost() {
        let opteron =
            host("AuthenticAMD", "AMD Opteron(tm) Processor 6168", "", &file("cpufreq/boost", "0"));
        assert_eq!(
            verdict(&CHECK, &opteron),
            "not applicable: no turbo here: the processor shows none"
        );
    }

    #[test]
    fn a_bit_set_behind_the_kernels_back_is_found_in_the_register() {
        assert_eq!(
            verdict(&CHECK, &gold("ida", &misc_enable("0x4000850089"))),
            "medium: turbo is switched off in MSR 0x1a0 IA32_MISC_ENABLE, and Linux does not know [all 2 CPUs]"
        );
    }

    #[test]
    fn a_switch_that_only_repeats_the_register_is_not_advised() {
        let host =
            gold("ida", &(file("intel_pstate/no_turbo", "1") + &misc_enable("0x4000850089")));
        assert_eq!(
            verdict(&CHECK, &host),
            "medium: turbo is switched off in MSR 0x1a0 IA32_MISC_ENABLE, where Linux may not switch it on [all 2 CPUs]"
        );
        assert!(findings(&CHECK, &host)[0].fix.now.is_empty());
    }

    #[test]
    fn a_table_that_ends_at_the_nominal_clock_leaves_turbo_out() {
        let with_driver = |khz, driver| {
            file("cpufreq/policy0/cpuinfo_max_freq", khz)
                + &file("cpufreq/policy0/scaling_driver", driver)
                + &misc_enable("0x850089")
        };
        let policy = |khz| with_driver(khz, "acpi-cpufreq");
        // Its highest clock is the nominal one whatever the processor can do.
        assert_eq!(verdict(&CHECK, &gold("ida", &with_driver("2000000", "pcc-cpufreq"))), "clean");
        assert_eq!(
            verdict(&CHECK, &gold("ida", &policy("2000000"))),
            "medium: Linux is offered no turbo: the table ends at the nominal 2000 MHz, though CPUID shows `ida` [all 2 CPUs]"
        );
        assert_eq!(verdict(&CHECK, &gold("ida", &policy("2001000"))), "clean");
    }

    #[test]
    fn a_guest_does_not_see_turbo() {
        assert_eq!(
            verdict(&CHECK, &gold("hypervisor", "")),
            "unknown: turbo: not available in a guest of an unnamed hypervisor"
        );
    }

    #[test]
    fn a_switch_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &gold("ida", &misc_enable("!denied"))),
            "unknown: /dev/cpu/0/msr 0x1a0 may not be read"
        );
    }
}
