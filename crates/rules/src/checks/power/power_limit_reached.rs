//! Looks at how often cores and packages have reached a power limit since boot.
//!
//! Source: drivers/thermal/intel/therm_throt.c. The kernel counts an interrupt in which bit 10 of 0x19C or 0x1B1 was set: the processor
//! runs below the requested clock because of power. It cannot know for how long, nor which of the limits it was. Servers with TPMI log
//! which one it was, without a count (facts::power::plr).

mod registers;
mod watched;

use crate::check::{Check, Reference, Verdict};
use crate::clock::heat;
use crate::finding::{Confidence, Finding, Severity};
use crate::plr;
use facts::cpu::throttling::Throttled;
use facts::msr::intel::PKG_PERF_STATUS;
use facts::msr::limit_reasons::Kind;
use facts::watched::Watched;
use facts::{CpuSet, Elsewhere, HostView, Missing, PerCpu};
use std::time::Duration;

pub(crate) const CHECK: Check = Check {
    id: "power-limit-reached",
    title: "the processor has run below the requested clock for power",
    doc: "\
## What it looks at
`core_power_limit_count` and `package_power_limit_count` in `cpuN/thermal_throttle`, against the uptime; less than an hour
counts as one. Bit 10 of IA32_THERM_STATUS (MSR 0x19C) and IA32_PACKAGE_THERM_STATUS (0x1B1), and the limit reasons of
processors that document them (0x64F, 0x690): a limit that holds the clock down at this moment, which is a note, and explains a
clock below the nominal one; their log is a note, too. Fewer than twelve events an hour are a note, more are low: the counts say how often, not for how long. Intel
only, and only kernels before 3.11, RHEL 6 among them, or with `int_pln_enable` on the boot line: others do not have the
files. On Granite Rapids, Sierra Forest and later servers also the log of performance limit reasons (PLR) in debugfs,
`tpmi-*/plr/domain*/status` (Linux 6.11; without the driver intel_plr_tpmi `tpmi-id-0c/mem_dump`, which does not say which
limit). It names the limit, PL1 or PL2 of the package or the platform, and the interface that it was set by: in-band (MSR,
TPMI), firmware (MMIO), or the management controller (PCS), which is low; the others are a note. It is a log since boot, or
since somebody cleared it, at no known time. Without counts, registers and log the check does not apply. `fullclock audit --look 10s` sees
counts rise, and on Intel's servers the share of the time for which a power limit held the package back (MSR 0x613): low.

## Why it matters
A processor with turbo reaches its power limit whenever it is busy enough, and that is how it is meant to work. A limit
that is too low, for a power supply that failed or a budget of the chassis, is reached all the time, and the clock is then what
the budget leaves. The same event is the kernel's message \"Core power limit notification\".

## When to leave it alone
Nearly always: look at low-power-limit and bmc-power-cap, which judge the limits themselves, and at prochot-asserted, which says
whether one holds the clock at the moment.
",
    references: &[
        Reference {
            title: "Linux: int_pln_enable in the kernel's command-line parameters",
            url: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
        },
        Reference {
            title: "Linux: debugfs-tpmi, /sys/kernel/debug/tpmi-<n>/plr/domain<n>/status",
            url: "https://www.kernel.org/doc/Documentation/ABI/testing/debugfs-tpmi",
        },
        Reference {
            title: "Intel SDM vol. 3B, Power and Thermal Management: Power Limit Notification",
            url: "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html",
        },
    ],
    run,
};

const WHAT: &str = "events of a power limit";

/// therm_throt.c reports once in 300 s (CHECK_INTERVAL): beyond that it happens all the time.
const MANY_AN_HOUR: f64 = 12.0;

fn run(host: &HostView) -> Verdict {
    host.platform.hides(WHAT)?;
    if let Some(live) = watched::finding(host) {
        return Ok(vec![live]);
    }
    if let Some(live) = registers::live(host) {
        return Ok(vec![live]);
    }
    let counters = &host.throttling;
    let worst = |counts: &'_ PerCpu<Throttled>| -> Option<(u32, Throttled)> {
        let known = counts.known().filter(|(_, it)| it.events > 0);
        known.max_by_key(|(_, it)| it.events).map(|(cpu, it)| (cpu, it.clone()))
    };
    let package = worst(&counters.package_power);
    let core = worst(&counters.core_power);
    let of_package = package.is_some();
    let Some((_, throttled)) = package.or(core) else {
        let noted = registers::logged(host);
        return if noted.is_empty() { logged(host) } else { Ok(noted) };
    };
    let (level, counts) = match of_package {
        true => ("a package", &counters.package_power),
        false => ("a core", &counters.core_power),
    };
    let mut cpus = CpuSet::default();
    for (cpu, _) in counts.known().filter(|(_, it)| it.events > 0) {
        let group =
            if of_package { host.topology.package_of(cpu) } else { host.topology.core_of(cpu) };
        cpus.extend(group.iter());
    }
    let uptime = host.kernel.uptime.as_ref().ok().copied();
    // An event is counted when it begins, and a limit that binds all the time counts none: only the register of its time shows that.
    let shows_time = |it: &&Watched| it.registers.keys().any(|it| it.0 == PKG_PERF_STATUS.address);
    let was_watched = host.watched.as_ref().filter(shows_time);
    let finding = finding(level, &throttled, uptime).on(cpus, host.topology.n_online());
    Ok(vec![finding.still_for(was_watched.map(|it| it.time))])
}

/// What is logged where nothing was counted.
fn logged(host: &HostView) -> Verdict {
    let (cores, packages) = (&host.throttling.core_power, &host.throttling.package_power);
    let is_there = |it: &PerCpu<Throttled>| {
        it.iter().any(|(_, fact)| !matches!(fact, Err(missing) if missing.is_absence()))
    };
    let is_counted = is_there(cores) || is_there(packages);
    match plr::findings(host, &[Kind::Power]) {
        Ok(found) if !found.is_empty() || !is_counted => return Ok(found),
        Err(missing) if !missing.is_absence() && !is_counted => return Err(missing),
        _ => {}
    }
    if cores.is_empty() && packages.is_empty() {
        return Err(Missing::not_here(WHAT, "this processor has no counter of them"));
    }
    host.shows(WHAT, Elsewhere::Firmware)?;
    cores.all_known()?;
    packages.all_known()?;
    Ok(Vec::new())
}

fn finding(level: &str, throttled: &Throttled, uptime: Option<Duration>) -> Finding {
    let is_often = |it| heat::per_hour(throttled.events, it) >= MANY_AN_HOUR;
    let severity = if uptime.is_some_and(is_often) { Severity::Low } else { Severity::Info };
    let how_often = heat::how_often(throttled.events, uptime);
    let confidence = if uptime.is_some() { Confidence::High } else { Confidence::Medium };
    let message = format!("{level} has reached a power limit {how_often}");
    Finding::new(severity, confidence, message)
        .evidence(&throttled.path, throttled.events)
        .since_boot()
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{XEON, verdict};

    /// [`XEON`] with these counts on each of its two cores and on its package.
    fn host(cores: [&str; 2], package: &str, uptime: &str) -> String {
        let count = |cpu: usize, level: &str, count: &str| {
            let folder = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle");
            format!("//- {folder}/{level}_power_limit_count\n{count}\n")
        };
        let cores = cores.into_iter().enumerate().map(|(cpu, it)| count(cpu, "core", it));
        let (cores, package) = (cores.collect::<String>(), count(0, "package", package));
        format!("{XEON}//- /proc/uptime\n{uptime} 0.0\n{cores}{package}")
    }

    #[test]
    fn some_events_over_days_are_a_note_with_their_rate() {
        assert_eq!(
            verdict(&CHECK, &host(["14", "11"], "14", "259200.00")),
            "info: a package has reached a power limit 14 times in 72.0 h (0.2 an hour) [all 4 CPUs]"
        );
        assert_eq!(
            verdict(&CHECK, &host(["0", "3"], "0", "7200.00")),
            "info: a core has reached a power limit 3 times in 2.0 h (1.5 an hour) [CPUs 1,3 (2 of 4)]"
        );
    }

    #[test]
    fn many_an_hour_are_low_and_an_event_after_boot_is_no_rate() {
        assert!(verdict(&CHECK, &host(["0", "0"], "500", "36000.00")).starts_with("low: "));
        assert!(verdict(&CHECK, &host(["0", "0"], "2", "5.00")).starts_with("info: "));
        assert!(verdict(&CHECK, &host(["0", "0"], "900", "!absent")).starts_with("info: "));
    }

    #[test]
    fn zeros_are_clean_and_a_kernel_that_does_not_count_has_none() {
        assert_eq!(verdict(&CHECK, &host(["0", "0"], "0", "36000.00")), "clean");
        assert!(verdict(&CHECK, XEON).starts_with("not applicable: "));
    }

    #[test]
    fn a_log_names_the_limit_and_who_set_it_where_nothing_is_counted() {
        let gnr = |status: &str| {
            let path = "/sys/kernel/debug/tpmi-0000:00:03.1/plr/domain0/status";
            let host = XEON.replace(": 85", ": 173");
            verdict(&CHECK, &format!("{host}//- {path}\n{status}\n"))
        };
        assert_eq!(
            gnr("cpus POWER\ncpu0 POWER POWER_PLATFORM_PL1_MMIO\ncpu1 none"),
            "info: the platform's power limit PL1, set by firmware (MMIO), held the clock down at some time since boot, or since the log was cleared \
             [CPU 0 (1 of 4)]"
        );
        assert!(gnr("cpus POWER\ncpu0 POWER POWER_PKG_PL2_PCS").starts_with("low: "));
        assert_eq!(gnr("cpus PLATFORM\ncpu0 PLATFORM PLATFORM_PROCHOT"), "clean");
        assert!(gnr("!denied").ends_with("domain0/status may not be read"));
        assert!(gnr("!absent").starts_with("unknown: performance limit reasons (PLR)"));
    }

    #[test]
    fn a_count_that_may_not_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host(["0", "!denied"], "0", "36000.00")),
            "unknown: /sys/devices/system/cpu/cpu1/thermal_throttle/core_power_limit_count may not be read"
        );
    }
}
