//! Looks for what holds the clock down at the moment of reading: PROCHOT# pulled from outside, heat and current limits.
//!
//! Source: Intel SDM vol. 3B, "Thermal Status Information" (0x19C, 0x1B1); for the limit reasons, see
//! facts::msr::limit_reasons. A signal that comes and goes may be missed; its log has no date.

mod signals;

use crate::amd_limits;
use crate::check::{Check, Reference, Verdict};
use crate::clock::occ;
use crate::commands;
use crate::finding::{Confidence, Finding, OfClock, Severity};
use crate::loss_scale::{self, Lost};
use crate::party::Party;
use crate::plr;
use facts::cpu::cpuinfo::CpuInfo;
use facts::cpu::throttling::Occ;
use facts::ipmi::PowerLimit;
use facts::msr::intel::{PACKAGE_THERM_STATUS, THERM_STATUS};
use facts::msr::limit_reasons::{Kind, Layout, undecoded};
use facts::msr::thermal_status::{CRITICAL, PROCHOT, TOO_HOT};
use facts::quantity::counted;
use facts::watched::Sight;
use facts::{CpuSet, Elsewhere, HostView, Missing};
use signals::{Signals, When};
use std::collections::BTreeMap;

pub(crate) const CHECK: Check = Check {
    id: "prochot-asserted",
    title: "a signal or limit outside of the kernel holds the clock down",
    doc: "\
## What it looks at
Bit 2 of IA32_THERM_STATUS (MSR 0x19C, each core) and IA32_PACKAGE_THERM_STATUS (0x1B1): another device pulls PROCHOT#. Bits
0 and 4 of both: the processor's own temperature. The limit reasons of processors that document them: 0x64F from Skylake to
Ice Lake, on clients to Raptor Lake, 0x690 on Haswell and Broadwell. On Granite Rapids, Sierra Forest and later servers the
log of performance limit reasons (PLR) in debugfs: PROCHOT#, the platform, current limits, hardware errors and requests of
the management controller, by die and CPU (`tpmi-*/plr/domain*/status`, Linux 6.11), or by die alone (`tpmi-id-0c/mem_dump`)
without the driver intel_plr_tpmi. It is only read; writing 0 to it clears it. On Sapphire and Emerald Rapids, and on clients
since Meteor Lake, no such register is documented: the thermal status is looked at, and nothing in it is unknown and not
clean. What is only in a log (bit 3, bits 31:16 of the limit reasons, all of PLR) is reported as such: it happened since
boot, or since somebody cleared it, at no known time. On AMD the files of the driver hsmp_acpi (amd_hsmp on older kernels)
(`prochot_status`, `pwr_current_active_freq_limit_source`), which newer kernels have on EPYC 7003 and later. On POWER the
reasons that the on-chip controller counts (`throttle_stats`): low where they are only counts, a note where it never went
below the nominal clock (`sub_turbo_stat`), high where it has lowered the clock more often than raised it again
(`unthrottle`), the host has work, and every CPU is at its lowest clock. Elsewhere Linux shows nothing of it, and the check is unknown.

`fullclock audit --look 10s` reads the registers several times: a signal that is there in less than half of the
readings is a step less severe, and a log that is set meanwhile counts as seen.

## Why it matters
Power supplies, voltage regulators, boards and management controllers pull PROCHOT# to make the processor drop to its
lowest clock at once. A chassis that lost a power supply, or a charger that the firmware does not like, holds a
machine at a few hundred MHz for months while every temperature is fine. On Intel nothing in sysfs shows it: the
kernel's throttle counters count bit 0 only. On a cluster of 900 blades this bit alone told the slow nodes from the others.

## When to leave it alone
PROCHOT# has a cause: find it before hiding the signal. That it may be pulled from outside (bit 0 of MSR 0x1FC) is the
normal setting of nearly every machine and no fault. Whether a power limit holds, which is how a processor with turbo works under
full load, power-limit-reached says.
",
    references: &[
        Reference {
            title: "Intel SDM vol. 3B, Power and Thermal Management: Thermal Status Information",
            url: "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html",
        },
        Reference {
            title: "Linux: debugfs-tpmi, /sys/kernel/debug/tpmi-<n>/plr/domain<n>/status",
            url: "https://www.kernel.org/doc/Documentation/ABI/testing/debugfs-tpmi",
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
    let logged = logged(host, info);
    if !signals.found.is_empty() {
        let has_prochot = signals.found.keys().any(|(_, _, name)| *name == PROCHOT.name);
        let mut findings = signals.findings();
        // The same signal again.
        let is_new = |it: &Finding| !(has_prochot && it.message.starts_with(SIGNAL));
        findings.extend(logged.unwrap_or_default().into_iter().filter(is_new));
        return Ok(findings);
    }
    let unknown = missing.iter().find(|missing| !missing.is_absence());
    let neither_register = missing.get(1).and(missing.first());
    match (unknown.or(neither_register), logged) {
        (_, Ok(found)) if !found.is_empty() => Ok(found),
        (Some(&missing), _) => Err(missing.into()),
        (None, logged) => logged,
    }
}

/// What a processor without documented limit reasons has logged elsewhere; nothing where it has them, or where there are none.
///
/// Power is power-limit-reached's, and heat thermal-throttling's.
fn logged(host: &HostView, info: &CpuInfo) -> Verdict {
    const KINDS: &[Kind] = &[
        Kind::Prochot,
        Kind::Platform,
        Kind::Current,
        Kind::Controller,
        Kind::Errors,
        Kind::Other,
    ];
    let Some(undecoded) = undecoded(info) else { return Ok(Vec::new()) };
    plr::findings(host, KINDS)
        .map_err(|missing| if missing.is_absence() { undecoded } else { missing })
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
        let counts = cpus.first().and_then(|it| counted.get(it)).and_then(|it| it.as_ref().ok());
        let finding = match watched_controller(host, name) {
            Some(live) => live,
            None => {
                let cost_turbo_alone = counts.is_some_and(|it| it.n_below_nominal == Ok(0));
                let severity = if cost_turbo_alone { Severity::Info } else { Severity::Low };
                let never = if cost_turbo_alone { ", and never below the nominal one" } else { "" };
                let times = facts::quantity::counted(events, "time");
                let message = format!("{name} lowered the highest clock {times} since boot{never}");
                let was_watched = host.watched.as_ref().filter(|it| it.has(Sight::Throttling));
                Finding::new(severity, Confidence::Medium, message)
                    .since_boot()
                    .still_for(was_watched.map(|it| it.time))
            }
        };
        let finding =
            finding.evidence(path, events).on(cpus, host.topology.n_online()).by_means_of(name);
        counts.into_iter().fold(finding, with_counts)
    };
    Ok(found.into_iter().map(finding).collect())
}

/// A reason for which the controller lowered the clock while the host was watched; low where it left the nominal clock each time.
fn watched_controller(host: &HostView, name: &str) -> Option<Finding> {
    let watched = host.watched.as_ref().filter(|it| it.has(Sight::Throttling))?;
    let events = |occ: &Occ| Some(occ.reasons.iter().find(|it| it.name == name)?.events);
    let rise = |(cpu, last): (u32, &Occ)| {
        let first = watched.throttling.occ.get(cpu)?.as_ref().ok()?;
        let n_events = events(last)?.checked_sub(events(first)?).filter(|it| *it > 0)?;
        let went_below = match (&first.n_below_nominal, &last.n_below_nominal) {
            (Ok(first), Ok(last)) => last > first,
            _ => true,
        };
        Some((n_events, went_below))
    };
    let risen: Vec<(u64, bool)> = host.throttling.occ.known().filter_map(rise).collect();
    let n_events = risen.iter().map(|it| it.0).max()?;
    let went_below = risen.iter().any(|it| it.1);
    let severity = if went_below { Severity::Medium } else { Severity::Low };
    let (times, within) = (counted(n_events, "time"), watched.within());
    let message = format!("{name} lowered the highest clock {times} {within}");
    Some(Finding::new(severity, Confidence::High, message))
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
        finding = with_counts(finding, occ);
    }
    if reasons.iter().any(|(_, _, path)| path.ends_with("/powercap")) {
        finding = with_cap(host, finding);
    }
    finding
        .held_by(Party::Firmware)
        .advising("find out why the on-chip controller stopped, in the log of the service processor")
        .by_means_of(format!("its on-chip controller ({clock} of {full})"))
        .evidence(source, value)
        .on(cpus, host.topology.n_online())
        .cost_of_clock(
            OfClock::lost(1.0 - clock.share_of(full)).lasting(", while it lasts"),
            format!("{clock} of {full}"),
        )
        .command(&commands::KERNEL_LOG, "-i -E 'occ|pmax|safe frequency'")
        .fix_lasting(
            "find out why the controller stopped: OPAL's log (`cat /sys/firmware/opal/msglog`), the log of the service processor (BMC); a restart of the machine, or opal-prd, \
             starts it again; a newer firmware, which brings the controller's program",
        )
}

/// The limit on the system's power that the controller keeps (see low-power-limit).
fn with_cap(host: &HostView, finding: Finding) -> Finding {
    let Ok(cap) = &host.board_power.cap else { return finding };
    let files = [("powercap-current", &cap.current), ("powercap-max", &cap.highest)];
    files.into_iter().fold(finding, |finding, (file, power)| match power {
        Ok(power) => finding.evidence(cap.path(file), power.0 / 1_000_000),
        Err(_) => finding,
    })
}

/// How far the controller lowered the clock, and how often it raised it again.
fn with_counts(finding: Finding, occ: &Occ) -> Finding {
    occ.counts().into_iter().fold(finding, |finding, (file, count)| match count {
        Ok(count) => finding.evidence(format!("{}/{file}", occ.folder), count),
        Err(_) => finding,
    })
}

fn finding(severity: Severity, when: When, name: &'static str) -> Finding {
    let message = match when {
        When::Logged(still_for) => {
            let when = "at some time since boot, or since the log was cleared";
            let message = format!("{name} held the clock down {when}");
            let finding = Finding::new(severity, Confidence::Medium, message);
            return finding.by_means_of(name).since_boot().still_for(still_for);
        }
        When::AtThisMoment => format!("{name} holds the clock down at this moment"),
        When::Watched(0, _, within) => {
            let within = within.unwrap_or_default();
            format!("{name} held the clock down {within}, by the log that was clear before")
        }
        When::Watched(n, of, within) => {
            let within = within.unwrap_or_default();
            format!("{name} held the clock down in {n} of {of} readings {within}")
        }
    };
    let finding = Finding::new(severity, Confidence::High, message).by_means_of(name);
    if name == CRITICAL.name || name == TOO_HOT.name {
        return finding
            .held_by(Party::Physics)
            .advising("fix the cooling")
            .command(&commands::BMC_SENSORS, "")
            .fix_lasting("fix the cooling; see thermal-throttling");
    }
    if severity == Severity::High || name == PROCHOT.name {
        return finding.command(&commands::BMC_EVENTS, "").fix_lasting(
            "fix what pulls the signal: a power supply that is missing, failed or too small, a hot voltage regulator, a power cap of chassis or BMC; a signal that stayed without a cause ended on some machines when they were off their power for a minute",
        );
    }
    finding.advising(
        "leave it where the limit is what the processor was made for; see low-power-limit",
    )
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
mod tests;
