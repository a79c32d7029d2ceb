//! Looks for a machine on which Linux has no say in the clock: no cpufreq policy at all.
//!
//! Source: Documentation/admin-guide/pm/cpufreq.rst. It cannot see what the firmware does with the clock instead,
//! except by the clock that the kernel reports.

use crate::boot_line;
use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, OfClock, Severity};
use crate::loss_scale::Lost;
use crate::loss_scale::deviations::FIRMWARES_SAMPLE;
use crate::makers::{self, Menu};
use facts::cpu::cpuinfo::CpuInfo;
use facts::msr::{intel, ratios};
use facts::{Hertz, HostView, Missing};

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
usual reasons are a firmware profile that hides P-states from the operating system, or has CPPC off, which amd-pstate
and cppc_cpufreq need; `cpufreq.off=1` or `intel_pstate=disable` on the boot line; and a kernel without acpi-cpufreq or,
on arm64, without CONFIG_ACPI_CPPC_CPUFREQ.

## When to leave it alone
Where the firmware's profile for full performance is meant to rule, and the clock under load is right. A guest has
no frequency driver because its host has it. On other architectures this is a note. A copy of a host that lacks
the folders proves nothing, unless its collector takes them.
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
    let finding =
        if is_x86 { without_driver(host, cpuinfo) } else { on_another_architecture(host) };
    Ok(vec![finding.evidence(&missing.what, "does not exist")])
}

/// The flags of Intel's SpeedStep and HWP, AMD's P-states and CPPC.
fn has_pstates(cpuinfo: &CpuInfo) -> bool {
    ["est", "hwp", "hw_pstate", "cppc"].iter().any(|flag| cpuinfo.has(flag))
}

fn without_driver(host: &HostView, cpuinfo: &CpuInfo) -> Finding {
    let slow = slow_clock(host, cpuinfo);
    let mut message = "no frequency driver: the firmware alone chooses the clock".to_owned();
    if let Some((clock, nominal)) = slow {
        message = format!("{message}, {clock} where {nominal} is nominal");
    }
    let in_vain = asked_in_vain(host);
    if let Some(parameter) = &in_vain {
        message = format!("{message}; {parameter} on the boot line finds no CPPC in the firmware");
    }
    let mut finding = match slow {
        Some((clock, nominal)) => {
            let lost = Lost::of_what_is_left(clock.share_of(nominal), true).but(&FIRMWARES_SAMPLE);
            Finding::of_lost(lost, Confidence::Medium, message)
                .evidence("/proc/cpuinfo: cpu MHz", clock)
                .cost_of_clock(
                    OfClock::lost(1.0 - clock.share_of(nominal)).at_most(),
                    format!("{clock} of {nominal}"),
                )
        }
        None => Finding::new(Severity::Low, Confidence::Medium, message),
    };
    if let Some((path, value)) = kept_by_firmware(host) {
        let lasting = setup(host);
        return finding.evidence(path, format!("{value:#x}")).fix_lasting(lasting);
    }
    let parameters = refusals(host);
    for parameter in parameters.iter().chain(&in_vain) {
        finding = finding.evidence("/proc/cmdline", parameter);
    }
    if !parameters.is_empty() || in_vain.is_some() {
        finding = finding.command(&commands::ACPI_CPUFREQ, "");
    }
    let lasting = match (parameters.is_empty(), cpuinfo.is_amd()) {
        (false, _) => boot_line::without(host, &parameters.join(" ")),
        (true, false) => setup(host),
        (true, true) => for_amd(host, cpuinfo),
    };
    finding.fix_lasting(lasting)
}

/// The firmware's menu, and the request that changes it.
fn setup(host: &HostView) -> String {
    makers::setup(host, Menu::Clock) + &makers::over_redfish(host, Menu::Clock)
}

/// What amd-pstate lacks. It says "the _CPC object is not present in SBIOS" or "The CPPC feature is supported but currently disabled by the
/// BIOS" (drivers/cpufreq/amd-pstate.c); acpi-cpufreq takes over where the firmware shows P-states.
fn for_amd(host: &HostView, cpuinfo: &CpuInfo) -> String {
    let config = host.kernel.config.as_ref();
    let lacks = |option: &str| config.is_ok_and(|it| it.is_off(option));
    if lacks("X86_AMD_PSTATE") && lacks("X86_ACPI_CPUFREQ") {
        return "a kernel built with CONFIG_X86_AMD_PSTATE or CONFIG_X86_ACPI_CPUFREQ".to_owned();
    }
    let cppc = if cpuinfo.has("cppc") { "_CPC, by CPPC" } else { "CPPC" };
    format!(
        "{}: amd-pstate needs {cppc} of the firmware (boards with AMD's own menus have it under AMD CBS), acpi-cpufreq its P-states (_PSS){}",
        makers::setup(host, Menu::Clock),
        makers::over_redfish(host, Menu::Clock)
    )
}

const ON_ARM: &str = "on a server with ACPI, CPPC enabled in the firmware's setup, and a kernel built with CONFIG_ACPI_CPPC_CPUFREQ (`modprobe cppc_cpufreq`); on a \
     board with a device tree, a kernel with the driver of its chip";

/// On other architectures there may be no driver for the machine, and firmware may well run it at its full clock.
fn on_another_architecture(host: &HostView) -> Finding {
    let finding = Finding::new(
        Severity::Info,
        Confidence::Medium,
        "control of the clock is not available: no cpufreq policies",
    );
    // Only arm64 describes its cores so (arch/arm64/kernel/cpuinfo.c).
    let is_arm = host.cpuinfo.as_ref().is_ok_and(|it| it.has("asimd"));
    if !is_arm {
        return finding.fix_lasting(
            "a kernel built with the frequency driver of this machine, where Linux has one, and firmware that lets it drive the clock",
        );
    }
    const OPTION: &str = "ACPI_CPPC_CPUFREQ";
    let Ok(config) = &host.kernel.config else { return finding.fix_lasting(ON_ARM) };
    match config.value(OPTION) {
        Some(value) => {
            finding.evidence(&config.path, format!("CONFIG_{OPTION}={value}")).fix_lasting(
                match value {
                    "m" => "enable CPPC in the firmware's setup: without it, `modprobe cppc_cpufreq` finds no device",
                    _ => "enable CPPC in the firmware's setup: cppc_cpufreq is in this kernel, and found none",
                },
            )
        }
        None if config.is_off(OPTION) => {
            finding.evidence(&config.path, format!("# CONFIG_{OPTION} is not set")).fix_lasting(
                "a kernel built with CONFIG_ACPI_CPPC_CPUFREQ, and CPPC enabled in the firmware's setup",
            )
        }
        None => finding.fix_lasting(ON_ARM),
    }
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

/// The mode of amd-pstate that the boot line chooses, where that driver is not there all the same.
fn asked_in_vain(host: &HostView) -> Option<String> {
    let mode = host.kernel.boot_line.as_ref().ok()?.value("amd_pstate")?;
    let is_mode = commands::AMD_PSTATE_MODES.contains(&mode);
    let is_amd = host.cpuinfo.as_ref().is_ok_and(CpuInfo::is_amd);
    (is_mode && is_amd).then(|| format!("amd_pstate={mode}"))
}

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
        let setup = "let the operating system control P-states in the firmware's setup (EIST, SpeedStep or P-states enabled)";
        assert_eq!(lasting("//- /proc/cmdline\nquiet intel_pstate=passive\n"), setup);
        let register =
            "//- /dev/cpu/0/msr 0xce\n0x70a2cfb811500\n//- /dev/cpu/0/msr 0x1aa\n0x401cc0\n";
        let register = register.replace("0x401cc0", "0x401dc0");
        assert_eq!(lasting(&register), setup);
        let dell = "//- /sys/class/dmi/id/sys_vendor\nDell Inc.\n//- /sys/class/dmi/id/product_name\nPowerEdge R740\n";
        assert!(lasting(&format!("{register}{dell}")).contains("OS DBPM"));
    }

    const RYZEN: &str = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : AuthenticAMD\ncpu family : 25\nmodel : 33\n\
         flags : hw_pstate cpb\n//- /sys/devices/system/cpu/online\n0\n//- /proc/cmdline\nrw amd_pstate=active\n";

    #[test]
    fn a_mode_of_amd_pstate_in_vain_is_named_with_what_the_firmware_lacks() {
        let finding = findings(&CHECK, RYZEN).remove(0);
        assert_eq!(
            finding.message,
            "no frequency driver: the firmware alone chooses the clock; amd_pstate=active on the boot line finds no CPPC in the firmware"
        );
        assert!(finding.evidence.iter().any(|it| it.value == "amd_pstate=active"));
        let lasting = finding.fix.lasting.unwrap();
        assert!(lasting.contains("amd-pstate needs CPPC of the firmware"), "{lasting}");
        assert!(!lasting.contains("Dell") && !lasting.contains("boot line"), "{lasting}");
        let commands: Vec<_> = finding.fix.by_hand.iter().map(|it| it.command.as_str()).collect();
        assert_eq!(commands, ["modprobe acpi-cpufreq"]);
        let built_in = format!("{RYZEN}//- /proc/config.gz\nCONFIG_X86_ACPI_CPUFREQ=y\n");
        assert!(findings(&CHECK, &built_in)[0].fix.by_hand.is_empty());
        let neither = format!(
            "{RYZEN}//- /proc/config.gz\nCONFIG_HZ=250\n# CONFIG_X86_AMD_PSTATE is not set\n# CONFIG_X86_ACPI_CPUFREQ is not set\n"
        );
        let fix = findings(&CHECK, &neither).remove(0).fix;
        assert!(fix.by_hand.is_empty() && fix.lasting.unwrap().starts_with("a kernel built with"));
    }

    #[test]
    fn an_arm_server_is_told_of_cppc_in_firmware_and_kernel() {
        let lasting = |more: &str| {
            let arm = "//- /proc/cpuinfo\nprocessor : 0\nFeatures : fp asimd\nCPU part : 0xd0c\n//- /sys/devices/system/cpu/online\n0\n";
            findings(&CHECK, &format!("{arm}{more}")).remove(0).fix.lasting.unwrap()
        };
        let unknown = lasting("");
        assert!(unknown.contains("CPPC") && unknown.contains("CONFIG_ACPI_CPPC_CPUFREQ"));
        let config = |line: &str| lasting(&format!("//- /proc/config.gz\nCONFIG_HZ=250\n{line}\n"));
        assert!(config("# CONFIG_ACPI_CPPC_CPUFREQ is not set").starts_with("a kernel built with"));
        assert!(config("CONFIG_ACPI_CPPC_CPUFREQ=m").contains("`modprobe cppc_cpufreq`"));
        assert!(config("CONFIG_ACPI_CPPC_CPUFREQ=y").starts_with("enable CPPC"));
    }

    #[test]
    fn a_copy_with_a_folder_of_policies_and_none_in_it_proves_it() {
        let copy = |folder: &str| {
            let host =
                host("est", "2100.0", "").replacen("//-", "fullclock capture 1 (imported)\n//-", 1);
            verdict(&CHECK, &format!("{host}//- /proc/sys/kernel/osrelease\n6.1.0\n{folder}"))
        };
        assert!(copy("").starts_with("unknown: "), "{}", copy(""));
        assert!(copy("//- /sys/devices/system/cpu/cpufreq/\n").starts_with("low: "));
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
    fn a_copy_lacks_a_driver_only_where_its_empty_folder_or_its_collector_says_so() {
        let bundle = |more: &str| {
            let release = "//- /proc/sys/kernel/osrelease\n6.8.0\n";
            let host = host("est", "2100.0", more);
            verdict(&CHECK, &format!("fullclock capture 1 (imported)\n{release}{host}"))
        };
        let unknown =
            "unknown: /sys/devices/system/cpu/cpu0/cpufreq is not in this copy of the host";
        assert_eq!(bundle(""), unknown);
        let empty = "//- /sys/devices/system/cpu/cpufreq/\n";
        assert_eq!(bundle(empty), "low: no frequency driver: the firmware alone chooses the clock");
        // Each CPU has its own folder there.
        let old = "//- /proc/sys/kernel/osrelease\n2.6.32\n";
        assert_eq!(bundle(&format!("{empty}{old}")), unknown);
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
