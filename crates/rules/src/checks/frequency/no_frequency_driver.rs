//! Looks for a machine on which Linux has no say in the clock: no cpufreq policy at all.
//!
//! Source: Documentation/admin-guide/pm/cpufreq.rst. It cannot see what the firmware does with the clock instead,
//! except by the clock that the kernel reports.

use crate::advice::persist::off_the_boot_line;
use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use facts::cpu::cpuinfo::CpuInfo;
use facts::msr::{intel, ratios};
use facts::{Hertz, HostView, Missing, Origin};

pub(crate) const CHECK: Check = Check {
    id: "no-frequency-driver",
    title: "no frequency driver: the firmware alone chooses the clock",
    doc: "\
## What it looks at
Whether there is any cpufreq policy below `/sys/devices/system/cpu`; the flags that say whether the processor has
P-states (`est`, `hwp`, `hw_pstate`, `cppc`); and where MSR 0x1AA says so, whether the firmware keeps
P-states to itself.

## Why it matters
Without a driver the clock is whatever the firmware left or manages on its own, and no governor, limit or hint of
Linux has an effect. Some firmware profiles run at full clock this way, others at the power-saving one. The
usual reasons are a firmware profile that hides P-states from the operating system, `cpufreq.off=1` or
`intel_pstate=disable` on the boot line, and a kernel without acpi-cpufreq.

## When to leave it alone
Where the firmware's profile for full performance is meant to rule, and the clock under load is right. A guest has
no frequency driver because its host has it. On other architectures this is a note. A copy of an x86 host that
lacks the folder proves nothing.
",
    references: &[
        Reference {
            title: "Linux: CPU Performance Scaling",
            url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html",
        },
        Reference {
            title: "Linux: intel_pstate, Kernel Command Line Options",
            url: "https://docs.kernel.org/admin-guide/pm/intel_pstate.html#kernel-command-line-options-for-intel-pstate",
        },
    ],
    run,
};

/// A clock below this share of the nominal one is no rounding and no spread spectrum.
const AT_NOMINAL: f64 = 0.9;

fn run(host: &HostView) -> Verdict {
    let missing = match &host.cpufreq.policies {
        Ok(_) => return Ok(Vec::new()),
        Err(missing) if missing.is_absence() => missing,
        Err(missing) => return Err(missing.into()),
    };
    host.platform.leaves_to_hypervisor("frequency driver")?;
    let cpuinfo = host.cpuinfo.as_ref()?;
    let is_x86 = cpuinfo.is_intel() || cpuinfo.is_amd();
    if is_x86 && !has_pstates(cpuinfo) {
        return Err(Missing::not_here("frequency driver", "the processor has no P-states"));
    }
    let finding = match host.origin {
        // A bundle that leaves out cpufreq looks the same.
        Origin::Tree if is_x86 => return Err(Missing::not_collected(&missing.what)),
        _ if is_x86 => without_driver(host, cpuinfo),
        _ => Finding::new(
            Severity::Info,
            Confidence::Medium,
            "control of the clock is not available: no cpufreq policies",
        ),
    };
    Ok(vec![finding.evidence(&missing.what, "does not exist")])
}

/// The flags of Intel's SpeedStep and HWP, AMD's P-states and CPPC.
fn has_pstates(cpuinfo: &CpuInfo) -> bool {
    ["est", "hwp", "hw_pstate", "cppc"].iter().any(|flag| cpuinfo.has(flag))
}

fn without_driver(host: &HostView, cpuinfo: &CpuInfo) -> Finding {
    let slow = slow_clock(host, cpuinfo);
    let (severity, message) = match slow {
        Some((clock, nominal)) => (
            Severity::Medium,
            format!(
                "no frequency driver: the firmware alone chooses the clock, {clock} where {nominal} is nominal"
            ),
        ),
        None => {
            (Severity::Low, "no frequency driver: the firmware alone chooses the clock".to_owned())
        }
    };
    let mut finding = Finding::new(severity, Confidence::Medium, message);
    if let Some((clock, nominal)) = slow {
        finding = finding.evidence("/proc/cpuinfo: cpu MHz", clock).cost(
            format!("up to {:.0} % of the clock", 100.0 * (1.0 - clock.share_of(nominal))),
            format!("{clock} of {nominal}"),
        );
    }
    if let Some((path, value)) = kept_by_firmware(host) {
        return finding.evidence(path, format!("{value:#x}")).fix_lasting(LET_LINUX);
    }
    let parameters = refusals(host);
    if parameters.is_empty() {
        return finding.fix_lasting(LET_LINUX);
    }
    for parameter in &parameters {
        finding = finding.evidence("/proc/cmdline", parameter);
    }
    finding
        .command(&commands::ACPI_CPUFREQ, "")
        .fix_lasting(off_the_boot_line(&parameters.join(" ")))
}

/// The boot parameters that turn drivers away; those that choose a driver's mode do not.
fn refusals(host: &HostView) -> Vec<String> {
    let Ok(line) = &host.kernel.boot_line else { return Vec::new() };
    let refusal = |(name, value): (&str, &str)| {
        (line.value(name) == Some(value)).then(|| format!("{name}={value}"))
    };
    [("cpufreq.off", "1"), ("intel_pstate", "disable"), ("amd_pstate", "disable")]
        .into_iter()
        .filter_map(refusal)
        .collect()
}

const LET_LINUX: &str = "let the operating system control P-states in the firmware's setup (Dell: CPU Power Management OS DBPM, HPE: Power Regulator OS Control Mode, others: EIST or P-states enabled)";

/// The fastest clock that any CPU shows, where that is below nominal. Without a driver there is no idle clock.
fn slow_clock(host: &HostView, cpuinfo: &CpuInfo) -> Option<(Hertz, Hertz)> {
    let (_, &clock) = cpuinfo.clocks.known().max_by_key(|(_, clock)| **clock)?;
    let (nominal, _) = host.nominal_clock()?;
    (clock.share_of(nominal) < AT_NOMINAL).then_some((clock, nominal))
}

fn kept_by_firmware(host: &HostView) -> Option<(String, u64)> {
    let values = host.msrs.of(&intel::MISC_PWR_MGMT).ok()?;
    let (cpu, value) = values.known().find(|(_, value)| ratios::is_out_of_band(**value))?;
    Some((intel::MISC_PWR_MGMT.path(cpu), *value))
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, host_of, verdict};

    fn host(flags: &str, mhz: &str, more: &str) -> String {
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\n\
             model name : Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz\ncpu MHz : {mhz}\nflags : {flags}\n\
             //- /sys/devices/system/cpu/online\n0\n{more}"
        )
    }

    #[test]
    fn a_machine_without_a_driver_is_low() {
        assert_eq!(
            verdict(&CHECK, &host("est", "2100.0", "")),
            "low: no frequency driver: the firmware alone chooses the clock"
        );
        let policy = "//- /sys/devices/system/cpu/cpufreq/policy0/scaling_driver\nacpi-cpufreq\n";
        assert_eq!(verdict(&CHECK, &host("est", "2100.0", policy)), "clean");
    }

    #[test]
    fn a_slow_clock_makes_it_medium() {
        assert_eq!(
            verdict(&CHECK, &host("est", "1200.0", "")),
            "medium: no frequency driver: the firmware alone chooses the clock, 1200 MHz where 2100 MHz is nominal"
        );
    }

    #[test]
    fn the_boot_line_and_the_register_are_named_where_they_are_the_reason() {
        let lasting = |more: &str| {
            let findings = (CHECK.run)(&host_of(&host("est", "2100.0", more))).unwrap();
            findings[0].fix.lasting.clone().unwrap()
        };
        let disabled = "//- /proc/cmdline\nquiet intel_pstate=disable\n";
        assert!(lasting(disabled).starts_with("take intel_pstate=disable off the boot line: "));
        let by_hand = |more: &str| {
            let fix = findings(&CHECK, &host("est", "2100.0", more)).remove(0).fix;
            fix.by_hand.into_iter().map(|it| it.command).collect::<Vec<_>>()
        };
        assert_eq!(by_hand(disabled), ["modprobe acpi-cpufreq"]);
        // Where the firmware shows no P-states the module answers ENODEV.
        assert!(by_hand("//- /proc/cmdline\nquiet\n").is_empty());
        // It chooses a mode of the driver, and does not turn it away.
        assert_eq!(lasting("//- /proc/cmdline\nquiet intel_pstate=passive\n"), super::LET_LINUX);
        let register =
            "//- /dev/cpu/0/msr 0xce\n0x70a2cfb811500\n//- /dev/cpu/0/msr 0x1aa\n0x401cc0\n";
        assert_eq!(lasting(&register.replace("0x401cc0", "0x401dc0")), super::LET_LINUX);
    }

    #[test]
    fn a_guest_and_a_processor_without_pstates_have_none() {
        assert_eq!(
            verdict(&CHECK, &host("est hypervisor", "2100.0", "")),
            "not applicable: no frequency driver here: a guest of an unnamed hypervisor"
        );
        assert_eq!(
            verdict(&CHECK, &host("sse2", "2100.0", "")),
            "not applicable: no frequency driver here: the processor has no P-states"
        );
    }

    #[test]
    fn other_architectures_get_a_note() {
        let arm = "//- /proc/cpuinfo\nprocessor : 0\nFeatures : fp\n//- /sys/devices/system/cpu/online\n0\n";
        assert_eq!(
            verdict(&CHECK, arm),
            "info: control of the clock is not available: no cpufreq policies"
        );
    }

    #[test]
    fn policies_that_cannot_be_listed_are_unknown() {
        let denied = "//- /sys/devices/system/cpu/cpu0/cpufreq/\n!denied\n";
        assert_eq!(
            verdict(&CHECK, &host("est", "2100.0", denied)),
            "unknown: /sys/devices/system/cpu/cpu0/cpufreq may not be read"
        );
    }
}
