//! Looks at the power limits of each package against its thermal design power.
//!
//! Source: Documentation/power/powercap/powercap.rst; Intel SDM vol. 3B, "Package RAPL Domain". It cannot know
//! how much power the load will want: only a loaded machine shows what the limit takes. Limits that a management
//! controller imposes by other ways are not in these registers.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use facts::msr::{Register, intel, rapl};
use facts::power::limit::PowerLimit;
use facts::{CpuSet, Elsewhere, Fact, HostView, IfPresent, Microwatts, Missing};

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

## Why it matters
The nominal clock is promised at TDP. With less power, a package whose cores are all busy lowers its clock until it
fits, whatever the governor says, and the kernel's throttle counters do not count it. Power limits far
below TDP come from a data centre's power cap, from a firmware profile, from a management controller that lost a
power supply, from thermald, which carries out the firmware's power policy on laptops and small machines, or from a laptop's
settings.

## When to leave it alone
Where the cap is meant: a rack with a power budget. Laptops ship with limits below TDP; there it is a
note. A limit a little below TDP costs nothing that a database would notice. A processor in a lower Speed
Select level (SST-PP) or with a lowered configurable TDP is limited to that level's TDP, while MSR 0x614 may state the base
level's: `intel-speed-select perf-profile info` tells. Processors that state no TDP are not
judged.
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
    ],
    run,
};

/// Limits within a fifth of the TDP are how vendors fit a model into a chassis.
const FAR_BELOW: f64 = 0.8;
/// At half of the TDP a server processor cannot hold its nominal clock on all cores.
const HALF: f64 = 0.5;

fn run(host: &HostView) -> Verdict {
    host.shows("the package's power limit", Elsewhere::Firmware)?;
    let zones = host.power_limits.if_present()?.map(Vec::as_slice).unwrap_or_default();
    let registers = (!driver_knows(zones)).then(|| by_register(host));
    let by_registers = matches!(registers, Some(Ok(_)));
    let (mut limits, mut unknown) = (Vec::new(), None);
    for zone in zones.iter().filter(|it| it.is_memory_mapped() || !by_registers) {
        match by_zone(zone, zones, registers.as_ref()) {
            Ok(found) => limits.extend(found),
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    match registers {
        Some(Ok(found)) => limits.extend(found),
        Some(Err(missing)) if zones.is_empty() => return Err(missing),
        _ => {}
    }
    let low = limits.iter().filter(|it| it.power.share_of(it.design) < FAR_BELOW);
    let findings: Vec<Finding> = low.map(|it| finding(host, it)).collect();
    match unknown {
        Some(missing) if findings.is_empty() => Err(missing),
        _ => Ok(findings),
    }
}

/// Whether the driver shows the packages' limits as enabled, and so neither off nor locked by firmware.
fn driver_knows(zones: &[PowerLimit]) -> bool {
    let mut packages = zones.iter().filter(|it| !it.is_memory_mapped()).peekable();
    packages.peek().is_some() && packages.all(|it| it.enabled == Ok(true))
}

/// One limit that counts.
struct Limit {
    package: String,
    name: &'static str,
    power: Microwatts,
    design: Microwatts,
    cpus: CpuSet,
    /// What was read: the limit, then the design power.
    evidence: [(String, String); 2],
    /// What raises it, for [`commands::POWERCAP_LIMIT`].
    command: Option<String>,
    lasting: &'static str,
}

const FIND_OUT: &str = "find out first who set it and whose budget it keeps: the power cap or profile in the firmware's setup, the management controller \
     (`ipmitool dcmi power get_limit`), a lost power supply, a lower TDP level of the processor, thermald (its adaptive mode writes both limits), or another \
     service that writes powercap; a short-term limit is raised to its own maximum (constraint_1_max_power_uw), not to the design power";
const LOCKED: &str = "firmware has locked the limit until the next reset (MSR 0x610 bit 63): look for a power cap or a power profile in its \
     setup, and in the management controller (`ipmitool dcmi power get_limit`)";

const NAMES: [&str; 2] = ["long-term", "short-term"];

/// The limits in the registers of every package.
fn by_register(host: &HostView) -> Fact<Vec<Limit>> {
    let read = |register: &Register, cpu| -> Fact<u64> {
        let value = host.msrs.of(register)?.get(cpu);
        value.cloned().unwrap_or_else(|| Err(Missing::not_collected(register.path(cpu))))
    };
    let mut limits = Vec::new();
    for (cpu, value) in host.msrs.of(&intel::PKG_POWER_LIMIT)?.iter() {
        let value = *value.as_ref()?;
        let units = rapl::Units(read(&intel::RAPL_POWER_UNIT, cpu)?);
        let info = read(&intel::PKG_POWER_INFO, cpu)?;
        let design = units.design_power(info);
        let counting = NAMES.into_iter().zip(units.limits(value));
        for (name, limit) in counting.filter(|(_, it)| it.is_enabled && it.power.0 > 0) {
            limits.push(Limit {
                package: format!("the package of CPU {cpu}"),
                name,
                power: limit.power,
                design,
                cpus: host.topology.package_of(cpu),
                evidence: [
                    (intel::PKG_POWER_LIMIT.path(cpu), format!("{value:#x}")),
                    (intel::PKG_POWER_INFO.path(cpu), format!("{info:#x}")),
                ],
                command: None,
                lasting: if rapl::is_locked(value) { LOCKED } else { FIND_OUT },
            });
        }
    }
    match limits.iter().find(|it| it.design.0 == 0) {
        Some(limit) => Err(no_design_power(&limit.evidence[1].0)),
        None => Ok(limits),
    }
}

/// The limits of one powercap zone. The memory-mapped copy has no design power of its own.
fn by_zone(
    zone: &PowerLimit,
    zones: &[PowerLimit],
    registers: Option<&Fact<Vec<Limit>>>,
) -> Fact<Vec<Limit>> {
    let same = zones.iter().filter(|it| it.name == zone.name);
    let Some(&design) = same.filter_map(|it| it.design.as_ref().ok()).find(|it| it.0 > 0) else {
        zone.design.as_ref()?;
        return Err(no_design_power(&zone.path("constraint_0_max_power_uw")));
    };
    let long = Some(*zone.long_term.as_ref()?);
    let short = zone.short_term.if_present()?.copied();
    let limits = NAMES.into_iter().zip([long, short]).enumerate();
    // From the factory the short-term limit lies above the design power: it has a maximum of its own.
    let highest = |number| match number {
        0 => Some(design),
        _ => zone.short_term_max.as_ref().ok().copied().filter(|it| *it > design),
    };
    let limit = |(number, (name, power)): (usize, (&'static str, Option<Microwatts>))| {
        let path = zone.path(&format!("constraint_{number}_power_limit_uw"));
        let power = power.filter(|it| it.0 > 0)?;
        Some(Limit {
            package: zone.name.clone(),
            name,
            power,
            design,
            cpus: CpuSet::default(),
            command: highest(number).map(|it| format!("{} > {path}", it.0)),
            lasting: FIND_OUT,
            evidence: [
                (path, power.0.to_string()),
                (zone.path("constraint_0_max_power_uw"), design.0.to_string()),
            ],
        })
    };
    let limits: Vec<Limit> = limits.filter_map(limit).collect();
    if *zone.enabled.as_ref()? {
        return Ok(limits);
    }
    // Switched off, or locked and in force: the register would tell.
    let is_low = limits.iter().any(|it| it.power.share_of(design) < FAR_BELOW);
    match registers {
        Some(Err(missing)) if is_low && !zone.is_memory_mapped() => Err(missing.clone()),
        _ => Ok(Vec::new()),
    }
}

fn no_design_power(path: &str) -> Missing {
    Missing::not_here(path, "the processor states no design power")
}

fn finding(host: &HostView, low: &Limit) -> Finding {
    let share = low.power.share_of(low.design);
    let severity = match share {
        _ if host.is_portable() => Severity::Info,
        share if share < HALF => Severity::High,
        _ => Severity::Medium,
    };
    let message = format!(
        "{} may draw {} by its {} limit, {:.0} % of the {} it was designed for",
        low.package,
        low.power,
        low.name,
        100.0 * share,
        low.design
    );
    let mut finding = Finding::new(severity, Confidence::High, message).fix_lasting(low.lasting);
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
    use super::CHECK;
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
