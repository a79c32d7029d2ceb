//! Looks at the power limits of each package against its thermal design power, or against the highest limit there can be.
//!
//! Source: Documentation/power/powercap/powercap.rst; Intel SDM vol. 3B, "Package RAPL Domain"; for AMD and POWER see `caps`. It cannot
//! know how much power the load will want: only a loaded machine shows what the limit takes. Limits that a management
//! controller imposes by other ways are not in these registers.

mod caps;

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use crate::package_limits::{Limit, package_limits};
use crate::party::Party;
use crate::writers::{self, Knob};
use facts::{Elsewhere, HostView};

pub(crate) const CHECK: Check = Check {
    id: "low-power-limit",
    title: "a package may draw far less power than it was designed for",
    doc: "\
## What it looks at
The long-term limit (PL1) of each package in /sys/class/powercap/intel-rapl:*, and the short-term limit (PL2),
against the thermal design power (TDP) that the processor states; and the second copy of them that client
processors have (intel-rapl-mmio:*), because the lower one counts. It speaks up when a limit that counts is below
80 % of the TDP. Without the driver, and where it shows the limits as disabled, which it also does when
firmware has locked them, MSR 0x610 tells.

On EPYC with the driver hsmp_acpi or amd_hsmp, `power1_cap` of each socket against `power1_cap_max`, the highest limit that the
processor takes: it speaks up below three quarters. The limit is a note while the socket draws less (`power1_input`). At the limit the
severity follows the clock that is left, where the driver shows it, and is low where that is the nominal one or more: then it costs
turbo alone. On POWER with OPAL, `powercap-current` against `powercap-max` of the system, with what the on-chip controller counts of it.

## Why it matters
The nominal clock is promised at TDP. With less power, a package whose cores are all busy lowers its clock until it
fits, whatever the governor says, and the kernel's throttle counters do not count it. Power limits far
below TDP come from a data centre's power cap, from a firmware profile, from a management controller that lost a
power supply, from thermald, which carries out the firmware's power policy on laptops and small machines, or from a laptop's
settings.

## When to leave it alone
Where the cap is meant: a rack with a power budget. Laptops ship with limits below TDP; there it is a
note. A limit a little below TDP costs nothing that a database would notice. With a lowered configurable TDP (MSR 0x64B),
the limit is judged against the TDP of that level. A processor in another Speed Select level (SST-PP) is limited to that
level's TDP, while MSR 0x614 may state the base level's: where the clock that HWP guarantees is not the base clock, the
finding has low confidence, and `intel-speed-select perf-profile info` tells. Processors that state no TDP are not judged. Many
EPYCs are set to a TDP below the highest that they take, and a busy one is at its limit: that is how they are meant to work.
",
    references: &[
        Reference {
            title: "Linux: Power Capping Framework",
            url: "https://docs.kernel.org/power/powercap/powercap.html",
        },
        Reference {
            title: "Intel SDM vol. 3B, Power and Thermal Management, Package RAPL Domain (MSR 0x610, 0x614)",
            url: "https://www.intel.com/sdm",
        },
        Reference {
            title: "Linux: AMD HSMP interface",
            url: "https://docs.kernel.org/arch/x86/amd_hsmp.html",
        },
        Reference {
            title: "Linux: /sys/firmware/opal/powercap",
            url: "https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/Documentation/ABI/testing/sysfs-firmware-opal-powercap",
        },
    ],
    run,
};

/// At half of the TDP a server processor cannot hold its nominal clock on all cores.
const HALF: f64 = 0.5;

fn run(host: &HostView) -> Verdict {
    if let Some(verdict) = caps::judged(host) {
        return verdict;
    }
    host.shows("the package's power limit", Elsewhere::Hsmp)?;
    let (limits, unknown) = package_limits(host)?;
    let low = limits.iter().filter(|it| it.is_far_below());
    let findings: Vec<Finding> = low.map(|it| finding(host, it)).collect();
    match unknown {
        Some(missing) if findings.is_empty() => Err(missing),
        _ => Ok(findings),
    }
}

fn finding(host: &HostView, low: &Limit) -> Finding {
    let share = low.power.share_of(low.design);
    let severity = match share {
        _ if low.power.0 == 0 => Severity::Critical,
        _ if host.is_portable() => Severity::Info,
        share if share < HALF => Severity::High,
        _ => Severity::Medium,
    };
    let whole = match low.level {
        0 => format!("{} it was designed for", low.design),
        level => format!("{} of its TDP level {level}", low.design),
    };
    let other_level = host.msrs.guaranteed_beside_base(low.leader);
    let (confidence, perhaps) = match other_level {
        Some(_) => (
            Confidence::Low,
            "; it may run at another level of SST-PP, for HWP does not guarantee its base clock",
        ),
        None => (Confidence::High, ""),
    };
    let message = format!(
        "{} may draw {} by its {} limit, {:.0} % of the {whole}{perhaps}",
        low.package,
        low.power,
        low.name,
        100.0 * share,
    );
    let by =
        format!("the {} power limit of the package ({} of {})", low.name, low.power, low.design);
    let mut finding =
        Finding::new(severity, confidence, message).by_means_of(by).fix_lasting(low.lasting);
    let writers = writers::writers(host, Knob::PowerLimit, &low.power.0.to_string());
    if low.is_locked() {
        finding = finding.held_by(Party::Firmware);
    } else if writers.as_ref().is_some_and(|it| !it.is_empty()) {
        finding = writers::attributed(finding, Knob::PowerLimit, writers.as_deref());
    }
    for (source, value) in other_level.into_iter().flatten() {
        finding = finding.evidence(source, format!("{value:#x}"));
    }
    for (source, value) in &low.evidence {
        finding = finding.evidence(source, value);
    }
    if !low.cpus.is_empty() {
        finding = finding.on(low.cpus.clone(), host.topology.n_online());
    }
    low.command.iter().fold(finding, |it, raised| it.command(&commands::POWERCAP_LIMIT, raised))
}

#[cfg(test)]
mod tests {
    use super::{CHECK, Confidence};
    use crate::fixture::{findings, verdict};

    fn package(enabled: &str, long_term: &str, design: &str) -> String {
        let file = "//- /sys/class/powercap/intel-rapl:0";
        format!(
            "{file}/name\npackage-0\n{file}/enabled\n{enabled}\n{file}/constraint_0_power_limit_uw\n{long_term}\n\
             {file}/constraint_0_max_power_uw\n{design}\n"
        )
    }

    #[test]
    fn a_limit_far_below_the_design_power_is_found() {
        assert_eq!(
            verdict(&CHECK, &package("1", "85000000", "205000000")),
            "high: package-0 may draw 85 W by its long-term limit, 41 % of the 205 W it was designed for"
        );
        assert!(verdict(&CHECK, &package("1", "150000000", "205000000")).starts_with("medium: "));
    }

    #[test]
    fn a_low_short_term_limit_is_found_too() {
        let short = "//- /sys/class/powercap/intel-rapl:0/constraint_1_power_limit_uw\n90000000\n";
        let host = package("1", "205000000", "205000000") + short;
        assert!(verdict(&CHECK, &host).contains("90 W by its short-term limit"));
        assert!(findings(&CHECK, &host)[0].fix.by_hand.is_empty());
    }

    #[test]
    fn a_short_term_limit_is_raised_to_its_own_maximum_and_never_to_the_design_power() {
        let file = "//- /sys/class/powercap/intel-rapl:0/constraint_1";
        let commands = |max: &str| {
            let short = format!("{file}_power_limit_uw\n90000000\n{file}_max_power_uw\n{max}\n");
            let host = package("1", "205000000", "205000000") + &short;
            let by_hand = findings(&CHECK, &host).remove(0).fix.by_hand;
            by_hand.into_iter().map(|it| it.command).collect::<Vec<_>>().join("\n")
        };
        let path = "/sys/class/powercap/intel-rapl:0/constraint_1_power_limit_uw";
        assert_eq!(commands("413000000"), format!("echo 413000000 > {path}"));
        assert_eq!(commands("0"), "");
    }

    #[test]
    fn no_power_at_all_is_critical_as_a_long_term_limit_and_off_as_another() {
        assert_eq!(
            verdict(&CHECK, &package("1", "0", "205000000")),
            "critical: package-0 may draw 0 W by its long-term limit, 0 % of the 205 W it was designed for"
        );
        let short = "//- /sys/class/powercap/intel-rapl:0/constraint_1_power_limit_uw\n0\n";
        assert_eq!(verdict(&CHECK, &(package("1", "205000000", "205000000") + short)), "clean");
    }

    #[test]
    fn a_laptop_is_built_that_way() {
        let chassis = "//- /sys/class/dmi/id/chassis_type\n10\n";
        assert!(
            verdict(&CHECK, &(package("1", "15000000", "28000000") + chassis))
                .starts_with("info: ")
        );
    }

    #[test]
    fn the_design_power_itself_and_a_limit_that_does_not_count_are_clean() {
        assert_eq!(verdict(&CHECK, &package("1", "205000000", "205000000")), "clean");
        let off = package("0", "85000000", "205000000") + &registers("0x0");
        assert_eq!(verdict(&CHECK, &off), "clean");
    }

    #[test]
    fn a_processor_that_states_no_design_power_is_not_judged() {
        assert!(verdict(&CHECK, &package("1", "85000000", "0")).starts_with("not applicable: "));
    }

    #[test]
    fn a_limit_that_may_not_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &package("1", "!denied", "205000000")),
            "unknown: /sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw may not be read"
        );
    }

    #[test]
    fn the_memory_mapped_copy_counts_too() {
        let mapped = package("1", "60000000", "0").replace("intel-rapl:", "intel-rapl-mmio:");
        assert_eq!(
            verdict(&CHECK, &(package("1", "125000000", "125000000") + &mapped)),
            "high: package-0 may draw 60 W by its long-term limit, 48 % of the 125 W it was designed for"
        );
    }

    fn registers(limit: &str) -> String {
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 143\n\
             //- /sys/devices/system/cpu/online\n0\n//- /dev/cpu/0/msr 0xce\n0x405082cfd811600\n\
             //- /dev/cpu/0/msr 0x606\n0xa0e03\n//- /dev/cpu/0/msr 0x614\n0xf17e006400a50\n\
             //- /dev/cpu/0/msr 0x610\n{limit}\n"
        )
    }

    #[test]
    fn the_registers_serve_without_the_driver() {
        assert_eq!(
            verdict(&CHECK, &registers("0x878c6000158640")),
            "medium: the package of CPU 0 may draw 200 W by its long-term limit, 61 % of the 330 W it was designed for [CPU 0 (1 of 1)]"
        );
        assert_eq!(verdict(&CHECK, &registers("0x878c6000158a50")), "clean");
    }

    #[test]
    fn a_lowered_tdp_is_limited_to_its_own_level() {
        // An Ice Lake of 330 W; level 1 is 200 W.
        let level = |control: &str| {
            registers("0x878c6000158640").replace("model : 143", "model : 106")
                + "//- /dev/cpu/0/msr 0x649\n0x140640\n//- /dev/cpu/0/msr 0x64b\n"
                + control
        };
        assert_eq!(verdict(&CHECK, &level("0x80000001\n")), "clean");
        assert!(verdict(&CHECK, &level("0x0\n")).starts_with("medium: "));
        let lower = level("0x1\n").replace("0x878c6000158640", "0x878c6000158320");
        assert_eq!(
            verdict(&CHECK, &lower),
            "medium: the package of CPU 0 may draw 100 W by its long-term limit, 50 % of the 200 W of its TDP level 1 [CPU 0 (1 of 1)]"
        );
    }

    #[test]
    fn a_guaranteed_clock_that_is_not_the_base_clock_lowers_the_confidence() {
        let confidence = |capabilities: &str| {
            let host = registers("0x878c6000158640")
                .replace("model : 143", "model : 143\nflags : hwp")
                + &format!("//- /dev/cpu/0/msr 0x771\n{capabilities}\n");
            findings(&CHECK, &host).remove(0).confidence
        };
        // MSR 0xCE has the base ratio 0x16.
        assert_eq!(confidence("0x8061226"), Confidence::Low);
        assert_eq!(confidence("0x8061626"), Confidence::High);
    }

    #[test]
    fn a_locked_limit_that_powercap_calls_disabled_is_found_in_the_register() {
        let host = package("0", "200000000", "330000000");
        let locked = registers("0x80878c6000158640");
        assert!(verdict(&CHECK, &(host.clone() + &locked)).starts_with("medium: "));
        assert!(findings(&CHECK, &locked)[0].fix.by_hand.is_empty());
        assert_eq!(
            verdict(&CHECK, &(host + &registers("!denied"))),
            "unknown: /dev/cpu/0/msr 0x610 may not be read"
        );
    }
}
