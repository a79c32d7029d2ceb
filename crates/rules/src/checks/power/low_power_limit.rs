//! Looks at the power limits of each package against its thermal design power.
//!
//! Source: Documentation/power/powercap/powercap.rst; Intel SDM vol. 3B, "Package RAPL Domain". It cannot know
//! how much power the load will want: only a loaded machine shows what the limit takes.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::msr::intel::PKG_POWER_LIMIT;
use facts::power::limit::{PowerLimit, is_locked};
use facts::{HostView, IfPresent, Microwatts, Missing};

pub(crate) const CHECK: Check = Check {
    id: "low-power-limit",
    title: "a package may draw far less power than it was designed for",
    doc: "\
## What it looks at
The long-term limit (PL1) of each package in /sys/class/powercap/intel-rapl:*, and the short-term limit (PL2),
against the thermal design power (TDP) that the processor states. It speaks up when a limit that counts is
below 80 % of the TDP. Where firmware has locked the limits the kernel shows them as disabled; then MSR 0x610
tells whether they count.

## Why it matters
The nominal clock is promised at TDP. With less power, a package whose cores are all busy lowers its clock until it
fits, whatever the governor says, and the kernel's throttle counters do not count it. Power limits far
below TDP come from a data centre's power cap, from a firmware profile, from a management controller that lost a
power supply, or from a laptop's settings.

## When to leave it alone
Where the cap is meant: a rack with a power budget. Laptops ship with limits below TDP; there it is a
note. A limit a little below TDP costs nothing that a database would notice. Processors that state no TDP are not
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
    host.platform.hides("/sys/class/powercap")?;
    let mut findings = Vec::new();
    let mut missing: Option<Missing> = None;
    for package in host.power_limits.as_ref()? {
        match judge(host, package) {
            Ok(found) => findings.extend(found),
            Err(reason) => missing = missing.or(Some(reason)),
        }
    }
    match missing {
        Some(reason) if findings.is_empty() => Err(reason),
        _ => Ok(findings),
    }
}

fn judge(host: &HostView, package: &PowerLimit) -> Result<Option<Finding>, Missing> {
    let design = *package.design.as_ref()?;
    if design == Microwatts(0) {
        let path = package.path("constraint_0_max_power_uw");
        return Err(Missing::not_here(path, "the processor states no design power"));
    }
    let state = state(host, package)?;
    if state == State::Off {
        return Ok(None);
    }
    let long = *package.long_term.as_ref()?;
    let short = package.short_term.if_present()?.copied().filter(|short| short.0 > 0);
    let limits = [
        ("long-term", "constraint_0_power_limit_uw", Some(long)),
        ("short-term", "constraint_1_power_limit_uw", short),
    ];
    let low = limits.into_iter().find_map(|(name, file, limit)| {
        limit.filter(|limit| limit.share_of(design) < FAR_BELOW).map(|limit| (name, file, limit))
    });
    Ok(low.map(|(name, file, limit)| {
        let finding = finding(host, package, design, (name, file, limit));
        mended(finding, state, format!("echo {} > {}", design.0, package.path(file)))
    }))
}

/// Whether limits count, and who may change them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Off,
    Open,
    Locked,
}

/// `enabled` reads 0 where firmware has locked the limits (`get_domain_enable` in intel_rapl_common.c).
fn state(host: &HostView, package: &PowerLimit) -> Result<State, Missing> {
    if *package.enabled.as_ref()? {
        return Ok(State::Open);
    }
    let registers = match host.msrs.of(&PKG_POWER_LIMIT) {
        Err(missing) if missing.is_absence() => return Ok(State::Off),
        registers => registers?,
    };
    if registers.known().any(|(_, &value)| is_locked(value)) {
        return Ok(State::Locked);
    }
    registers.all_known()?;
    Ok(State::Off)
}

fn mended(finding: Finding, state: State, command: String) -> Finding {
    if state == State::Locked {
        return finding.fix_lasting(
            "firmware has locked the limit until the next reset (MSR 0x610 bit 63): look for a power cap or a power \
             profile in its setup, and in the management controller (`ipmitool dcmi power get_limit`)",
        );
    }
    finding.fix_now(command).fix_lasting(
        "find who sets it: the power cap or profile in the firmware's setup, the management controller (`ipmitool dcmi power \
         get_limit`), a failed power supply, or a service that writes powercap",
    )
}

fn finding(
    host: &HostView,
    package: &PowerLimit,
    design: Microwatts,
    (name, file, limit): (&str, &str, Microwatts),
) -> Finding {
    let share = limit.share_of(design);
    let severity = match share {
        _ if host.is_portable() => Severity::Info,
        share if share < HALF => Severity::High,
        _ => Severity::Medium,
    };
    let message = format!(
        "{} may draw {limit} by its {name} limit, {:.0} % of the {design} it was designed for",
        package.name,
        100.0 * share
    );
    Finding::new(severity, Confidence::High, message)
        .evidence(package.path(file), limit.0)
        .evidence(package.path("constraint_0_max_power_uw"), design.0)
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{XEON, findings, verdict};

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
        assert_eq!(verdict(&CHECK, &package("0", "85000000", "205000000")), "clean");
    }

    #[test]
    fn a_limit_that_firmware_has_locked_counts_although_it_shows_as_disabled() {
        let host = |register| {
            let register = format!("//- /dev/cpu/0/msr 0x610\n{register}\n");
            format!("{XEON}{register}{}", package("0", "85000000", "205000000"))
        };
        let locked = host("0x80438a8000dd82a8");
        assert!(verdict(&CHECK, &locked).starts_with("high: package-0 may draw 85 W"));
        assert!(findings(&CHECK, &locked)[0].fix.now.is_empty());
        assert_eq!(verdict(&CHECK, &host("0x00438a8000dd02a8")), "clean");
        assert_eq!(
            verdict(&CHECK, &host("!denied")),
            "unknown: /dev/cpu/0/msr 0x610 may not be read"
        );
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
}
