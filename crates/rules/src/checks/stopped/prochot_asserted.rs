//! Looks for what holds the clock down at the moment of reading: PROCHOT# pulled from outside, heat, power and
//! current limits.
//!
//! Source: Intel SDM vol. 3B, "Thermal Status Information" (0x19C, 0x1B1); for the limit reasons, see
//! facts::msr::limit_reasons. A signal that comes and goes may be missed; its log has no date.

mod signals;

use crate::amd_limits;
use crate::check::{Check, Reference, Verdict};
use crate::clock::occ;
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use crate::loss_scale::{self, Lost};
use crate::party::Party;
use facts::ipmi::PowerLimit;
use facts::msr::intel::{PACKAGE_THERM_STATUS, THERM_STATUS};
use facts::msr::limit_reasons::{Layout, undecoded};
use facts::msr::thermal_status::{CRITICAL, TOO_HOT};
use facts::{CpuSet, Elsewhere, HostView, Missing};
use signals::{IsLog, Signals};
use std::collections::BTreeMap;

pub(crate) const CHECK: Check = Check {
    id: "prochot-asserted",
    title: "a signal or limit outside of the kernel holds the clock down",
    doc: "\
## What it looks at
Bit 2 of IA32_THERM_STATUS (MSR 0x19C, each core) and IA32_PACKAGE_THERM_STATUS (0x1B1): another device pulls PROCHOT#.
Bits 0 and 4 of both: the processor's own temperature. The limit reasons of processors that document them:
0x64F from Skylake to Ice Lake, 0x690 on Haswell and Broadwell. On later models the other two registers are looked at, and
nothing in them is unknown and not clean. What is only in a log (bit 3, and bits 31:16 of
the limit reasons) is reported as such: it happened since boot, or since somebody cleared it, at no known time.
On AMD the files of the driver hsmp_acpi (amd_hsmp on older kernels) (`prochot_status`, `pwr_current_active_freq_limit_source`), which newer kernels
have on EPYC 7003 and later. On POWER the reasons that the on-chip controller counts (`throttle_stats`): low where they are only counts, high where
it has lowered the clock more often than raised it again (`unthrottle`), the host has work, and every CPU is at its lowest clock.
Elsewhere Linux shows nothing of it, and the check is unknown.

## Why it matters
Power supplies, voltage regulators, boards and management controllers pull PROCHOT# to make the processor drop to its
lowest clock at once. A chassis that lost a power supply, or a charger that the firmware does not like, holds a
machine at a few hundred MHz for months while every temperature is fine. On Intel nothing in sysfs shows it: the
kernel's throttle counters count bit 0 only. On a cluster of 900 blades this bit alone told the slow nodes from the others.

## When to leave it alone
PROCHOT# has a cause: find it before hiding the signal. That it may be pulled from outside (bit 0 of MSR 0x1FC) is the
normal setting of nearly every machine and no fault. A power limit that is reached under full load is
how a processor with turbo works, and only a note.
",
    references: &[
        Reference {
            title: "Intel SDM vol. 3B, Power and Thermal Management: Thermal Status Information",
            url: "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html",
        },
        Reference {
            title: "Ryan Cox, ryancox.net (2010): finding slow Dell M1000e blades by MSR 0x19C",
            url: "",
        },
        Reference {
            title: "Linux: what the throttle counters count, drivers/thermal/intel/therm_throt.c",
            url: "https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/drivers/thermal/intel/therm_throt.c",
        },
    ],
    run,
};

const SIGNAL: &str = "PROCHOT#";

fn run(host: &HostView) -> Verdict {
    host.platform.hides(SIGNAL)?;
    let info = host.cpuinfo.as_ref()?;
    if info.is_amd() {
        return amd_limits::signals(host);
    }
    if info.is_power() {
        return by_on_chip_controller(host);
    }
    host.shows(SIGNAL, Elsewhere::Hsmp)?;
    let layout = Layout::of(info);
    let mut signals = Signals { host, found: BTreeMap::new() };
    let mut missing: Vec<&Missing> = Vec::new();
    for register in [&THERM_STATUS, &PACKAGE_THERM_STATUS] {
        missing.extend(signals.thermal_status(register, info, layout.is_some()).err());
    }
    if let Some(layout) = layout {
        missing.extend(signals.limit_reasons(layout).err());
    }
    if !signals.found.is_empty() {
        return Ok(signals.findings());
    }
    let unknown = missing.iter().find(|missing| !missing.is_absence());
    let neither_register = missing.get(1).and(missing.first());
    match (unknown.or(neither_register), undecoded(info)) {
        (Some(&missing), _) => Err(missing.into()),
        (None, Some(undecoded)) => Err(undecoded),
        (None, None) => Ok(Vec::new()),
    }
}

/// What the on-chip controller (OCC) of a POWER processor lowered the highest clock for; heat is thermal-throttling's.
///
/// Unknown without its counters: in a guest of PowerVM, and without the driver powernv-cpufreq.
fn by_on_chip_controller(host: &HostView) -> Verdict {
    let counted = &host.throttling.occ;
    if counted.known().next().is_none() {
        return match counted.missing() {
            Some(missing) if !missing.is_absence() => Err(missing.clone()),
            _ => Err(Missing::elsewhere(SIGNAL, Elsewhere::Firmware)),
        };
    }
    let mut found: BTreeMap<&str, (u64, &str, CpuSet)> = BTreeMap::new();
    for (cpu, occ) in counted.known() {
        for reason in occ.reasons.iter().filter(|it| it.events > 0) {
            let (events, path, cpus) =
                found.entry(reason.name).or_insert((0, reason.path.as_str(), CpuSet::default()));
            cpus.extend(host.topology.package_of(cpu).iter());
            if reason.events > *events {
                (*events, *path) = (reason.events, reason.path.as_str());
            }
        }
    }
    if found.is_empty() {
        counted.all_known()?;
    }
    if let Some(held) = occ::holds(host) {
        let reasons = found.into_iter().map(|(name, (events, path, _))| (name, events, path));
        return Ok(vec![held_by_controller(host, held, &reasons.collect::<Vec<_>>())]);
    }
    let finding = |(name, (events, path, cpus)): (&str, (u64, &str, CpuSet))| {
        let message = format!("{name} lowered the highest clock {events} times since boot");
        Finding::new(Severity::Low, Confidence::Medium, message)
            .evidence(path, events)
            .on(cpus, host.topology.n_online())
            .by_means_of(name)
            .since_boot()
    };
    Ok(found.into_iter().map(finding).collect())
}

/// What the controller keeps CPUs at their lowest clock for: its reasons, each with its count and file.
fn held_by_controller(host: &HostView, held: occ::Held, reasons: &[(&str, u64, &str)]) -> Finding {
    let occ::Held { cpus, clock, full, evidence: (source, value) } = held;
    let names: Vec<&str> = reasons.iter().map(|(name, ..)| *name).collect();
    let message =
        format!("firmware holds the clock at {clock} of {full} since {}", names.join(" and "));
    let lost = Lost::of_what_is_left(clock.share_of(full), loss_scale::are_many(host, &cpus));
    let mut finding = Finding::of_lost(lost, Confidence::Medium, message);
    for (_, events, path) in reasons {
        finding = finding.evidence(*path, events);
    }
    if let Some((_, occ)) = host.throttling.occ.known().find(|(_, it)| it.may_hold()) {
        for (file, count) in
            [("unthrottle", &occ.n_raised), ("sub_turbo_stat", &occ.n_below_nominal)]
        {
            if let Ok(count) = count {
                finding = finding.evidence(format!("{}/{file}", occ.folder), count);
            }
        }
    }
    finding
        .held_by(Party::Firmware)
        .to_do("find out why the on-chip controller stopped, in the log of the service processor")
        .by_means_of(format!("its on-chip controller ({clock} of {full})"))
        .evidence(source, value)
        .on(cpus, host.topology.n_online())
        .cost(
            format!("{:.0} % of the clock, while it lasts", 100.0 * (1.0 - clock.share_of(full))),
            format!("{clock} of {full}"),
        )
        .command(&commands::KERNEL_LOG, "-i -E 'occ|pmax|safe frequency'")
        .fix_lasting(
            "find out why the controller stopped: OPAL's log (`cat /sys/firmware/opal/msglog`), the log of the service processor (BMC); a restart of the machine, or opal-prd, \
             starts it again; a newer firmware, which brings the controller's program",
        )
}

fn finding(severity: Severity, is_log: IsLog, name: &'static str) -> Finding {
    if is_log {
        let when = "at some time since boot, or since the log was cleared";
        let message = format!("{name} held the clock down {when}");
        return Finding::new(severity, Confidence::Medium, message).by_means_of(name).since_boot();
    }
    let message = format!("{name} holds the clock down at this moment");
    let finding = Finding::new(severity, Confidence::High, message).by_means_of(name);
    match severity {
        _ if name == CRITICAL.name || name == TOO_HOT.name => finding
            .held_by(Party::Physics)
            .to_do("fix the cooling")
            .command(&commands::BMC_SENSORS, "")
            .fix_lasting("fix the cooling; see thermal-throttling"),
        Severity::High => finding
            .command(&commands::BMC_EVENTS, "")
            .fix_lasting(
                "fix what pulls the signal: a power supply that is missing, failed or too small, a hot voltage regulator, a power cap of chassis or BMC; a signal that stays without a cause has been cured by taking the machine off its power for a minute",
            ),
        _ => finding,
    }
}

/// A limit of the management controller is the first to be suspected: it has a check of its own.
fn pointed(mut finding: Finding, limit: Option<&PowerLimit>) -> Finding {
    if let Some(limit) = limit {
        let held = limit.power;
        let before = finding.fix.lasting.take().map_or_else(String::new, |it| format!("; or {it}"));
        let see = format!(
            "the management controller holds the board to {held}: see bmc-power-cap{before}"
        );
        return finding.fix_lasting(see);
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{XEON, verdict};

    /// [`XEON`] with these values of 0x19C on its two cores, 0x1B1 and 0x64F.
    fn host(cores: [&str; 2], package: &str, reasons: &str) -> String {
        format!(
            "{XEON}//- /dev/cpu/0/msr 0x19c\n{}\n//- /dev/cpu/1/msr 0x19c\n{}\n\
             //- /dev/cpu/0/msr 0x1b1\n{package}\n//- /dev/cpu/0/msr 0x64f\n{reasons}\n",
            cores[0], cores[1]
        )
    }

    const COOL: &str = "0x88450000";

    #[test]
    fn prochot_from_outside_is_high_on_the_threads_of_its_core() {
        assert_eq!(
            verdict(&CHECK, &host([COOL, "0x881f000c"], COOL, "0x0")),
            "high: PROCHOT# from another device holds the clock down at this moment [CPUs 1,3 (2 of 4)]"
        );
    }

    #[test]
    fn one_signal_in_several_registers_is_one_finding() {
        let all = host(["0x881f000c", "0x881f000c"], "0x881f000c", "0x10001");
        assert_eq!(verdict(&CHECK, &all).lines().count(), 1);
        assert_eq!(crate::fixture::findings(&CHECK, &all)[0].evidence.len(), 3);
    }

    #[test]
    fn a_limit_of_the_management_controller_is_pointed_at() {
        let pulled = host([COOL, "0x881f000c"], COOL, "0x0");
        let limit = "//- /dev/ipmi0 0x2c 0x01 dc 01\n00 dc 01 05 02 00 01 07\n\
                     //- /dev/ipmi0 0x2c 0x03 dc 00 00\n00 dc 00 00 11 f4 01 70 17 00 00 00 00 01 00\n";
        let lasting =
            |text: &str| crate::fixture::findings(&CHECK, text).remove(0).fix.lasting.unwrap();
        let pointing = lasting(&(pulled.clone() + limit));
        let begins =
            "the management controller holds the board to 500 W: see bmc-power-cap; or fix what";
        assert!(pointing.starts_with(begins), "{pointing}");
        assert!(!lasting(&pulled).contains("bmc-power-cap"));
    }

    #[test]
    fn a_log_is_no_state_and_has_no_date() {
        assert_eq!(
            verdict(&CHECK, &host([COOL, "0x881f0008"], COOL, "0x0")),
            "low: PROCHOT# from another device held the clock down at some time since boot, or since the log was cleared [CPUs 1,3 (2 of 4)]"
        );
    }

    #[test]
    fn a_power_limit_is_told_from_its_log() {
        assert_eq!(
            verdict(&CHECK, &host([COOL; 2], COOL, "0x0c000400")),
            "info: power limit PL1 holds the clock down at this moment [all 4 CPUs]\n\
             info: power limit PL2 held the clock down at some time since boot, or since the log was cleared [all 4 CPUs]"
        );
    }

    #[test]
    fn heat_at_the_moment_is_medium() {
        assert!(verdict(&CHECK, &host(["0x88000003", COOL], COOL, "0x0")).starts_with("medium: "));
    }

    #[test]
    fn a_critical_temperature_is_a_matter_of_cooling_and_not_of_power_supplies() {
        let hot = host(["0x88000010", COOL], COOL, "0x0");
        let finding = crate::fixture::findings(&CHECK, &hot).remove(0);
        assert_eq!(finding.message, "a critical temperature holds the clock down at this moment");
        assert_eq!(finding.fix.lasting.unwrap(), "fix the cooling; see thermal-throttling");
        assert!(finding.fix.look[0].contains("type Fan"));
    }

    #[test]
    fn a_processor_without_limit_reasons_says_it_in_its_thermal_status() {
        let sapphire_rapids = host(["0x88450400", COOL], COOL, "0x0").replace(": 85", ": 143");
        assert_eq!(
            verdict(&CHECK, &sapphire_rapids),
            "info: a power limit holds the clock down at this moment [CPUs 0,2 (2 of 4)]"
        );
        assert_eq!(verdict(&CHECK, &host(["0x88450400", COOL], COOL, "0x0")), "clean");
    }

    #[test]
    fn limit_reasons_that_nobody_decodes_are_never_clean() {
        let sapphire_rapids = host([COOL; 2], COOL, "0x10001").replace(": 85", ": 143");
        assert_eq!(
            verdict(&CHECK, &sapphire_rapids),
            "unknown: core limit reasons (MSR 0x64f) cannot be read: the bits of family 6, model 143 are unknown to this program"
        );
        let pulled = host(["0x881f000c", COOL], COOL, "0x0").replace(": 85", ": 143");
        assert!(verdict(&CHECK, &pulled).starts_with("high: PROCHOT#"));
    }

    #[test]
    fn turbo_rules_are_no_fault() {
        assert_eq!(verdict(&CHECK, &host([COOL; 2], COOL, "0x30003000")), "clean");
    }

    #[test]
    fn a_register_that_may_not_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host([COOL, "!denied"], COOL, "0x0")),
            "unknown: /dev/cpu/1/msr 0x19c may not be read"
        );
    }

    #[test]
    fn a_processor_that_shows_it_elsewhere_is_unknown_and_never_free_of_it() {
        let of = |vendor: &str| {
            verdict(&CHECK, &host([COOL; 2], COOL, "0x0").replace("GenuineIntel", vendor))
        };
        for vendor in ["AuthenticAMD", "HygonGenuine"] {
            assert!(
                of(vendor).starts_with("unknown: PROCHOT# cannot be read: EPYC"),
                "{}",
                of(vendor)
            );
        }
        let other = "unknown: PROCHOT# cannot be read: this program reads no interface to it on this processor";
        let arm = "//- /proc/cpuinfo\nprocessor : 0\nCPU implementer : 0xc0\n";
        assert_eq!(verdict(&CHECK, arm), other);
        let s390 = "//- /proc/cpuinfo\nvendor_id : IBM/S390\n";
        assert_eq!(verdict(&CHECK, s390), other);
    }

    #[test]
    fn the_on_chip_controller_of_a_power9_tells_its_reasons() {
        let power9 = |reasons: &[(&str, u64)]| {
            let cpuinfo = "//- /proc/cpuinfo\nprocessor : 0\ncpu : POWER9, altivec supported\n\
                           //- /sys/devices/system/cpu/online\n0-3\n\
                           //- /sys/devices/system/cpu/cpu0/topology/core_siblings_list\n0-3\n";
            let file = |(name, count): &(&str, u64)| {
                format!("//- /sys/devices/system/cpu/cpu0/cpufreq/throttle_stats/{name}\n{count}\n")
            };
            verdict(&CHECK, &(cpuinfo.to_owned() + &reasons.iter().map(file).collect::<String>()))
        };
        let quiet = [("supply_fault", 0), ("powercap", 0), ("overcurrent", 0), ("occ_reset", 0)];
        assert_eq!(power9(&quiet), "clean");
        let mut loud = quiet;
        loud[0].1 = 3;
        assert_eq!(
            power9(&loud),
            "low: a failed power supply lowered the highest clock 3 times since boot [all 4 CPUs]"
        );
        assert!(
            power9(&[])
                .starts_with("unknown: PROCHOT# cannot be read: this program reads no interface")
        );
    }

    #[test]
    fn a_controller_that_has_not_raised_the_clock_again_holds_it_where_busy_cpus_are_at_the_lowest()
    {
        let power9 = |clock: &str, n_raised: u32, idle: u32| {
            let cpu = "/sys/devices/system/cpu";
            let stats = format!("{cpu}/cpu0/cpufreq/throttle_stats");
            let counts = ["supply_fault", "powercap", "overcurrent"];
            let zeros: String = counts.iter().map(|it| format!("//- {stats}/{it}\n0\n")).collect();
            let policy = format!("//- {cpu}/cpufreq/policy0");
            format!(
                "//- /proc/cpuinfo\nprocessor : 0\ncpu : POWER9, altivec supported\nclock : {clock}MHz\n\
                 //- {cpu}/online\n0\n//- {cpu}/cpu0/topology/core_siblings_list\n0\n\
                 {policy}/affected_cpus\n0\n{policy}/cpuinfo_min_freq\n2154000\n\
                 {policy}/cpuinfo_max_freq\n3800000\n{policy}/scaling_max_freq\n3800000\n\
                 {zeros}//- {stats}/occ_reset\n1\n//- {stats}/unthrottle\n{n_raised}\n//- {stats}/sub_turbo_stat\n1\n\
                 //- /proc/stat\ncpu0 1000 0 0 {idle} 0 0 0 0 0 0\n"
            )
        };
        let held = power9("2154.000000", 0, 3000);
        assert_eq!(
            verdict(&CHECK, &held),
            "high: firmware holds the clock at 2154 MHz of 3800 MHz since a reset of the on-chip controller (OCC) [CPU 0 (1 of 1)]"
        );
        let finding = crate::fixture::findings(&CHECK, &held).remove(0);
        assert_eq!(finding.cost.unwrap().estimate, "43 % of the clock, while it lasts");
        assert!(finding.fix.lasting.unwrap().contains("/sys/firmware/opal/msglog"));
        for other in [
            power9("3800.000000", 0, 3000),
            power9("2154.000000", 1, 3000),
            power9("2154.000000", 0, 1_000_000),
        ] {
            assert!(verdict(&CHECK, &other).starts_with("low: "), "{}", verdict(&CHECK, &other));
        }
    }
}
