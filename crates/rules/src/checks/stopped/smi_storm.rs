//! Looks at how often firmware stops every CPU with a system management interrupt.
//!
//! Source: Intel SDM vol. 4, MSR_SMI_COUNT (0x34): interrupts since the last reset, 32 bits. It cannot know how long
//! each one took; the count includes those before the kernel started.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use facts::cpu::cpuinfo::CpuInfo;
use facts::msr::intel::SMI_COUNT;
use facts::watched::Sight;
use facts::{Elsewhere, HostView, Missing};
use std::time::Duration;

pub(crate) const CHECK: Check = Check {
    id: "smi-storm",
    title: "firmware stops all CPUs too often",
    doc: "\
## What it looks at
MSR 0x34 of one CPU of each package, which counts system management interrupts since the last reset, against the
uptime. From one a minute on it is info, from one in ten seconds low, from one a second medium, from a hundred
a second high. In the first six hours after boot five thousand are taken for the firmware's own start, and the
rest is never more than low. In a look (`fullclock audit --look 10s`) five or more count by their rate, whenever the host was booted.

## Why it matters
A system management interrupt takes every CPU out of the kernel and into firmware, together, and none comes back
before the last is done. The kernel cannot see or stop it; its clocks only jump. One takes from ten to some
hundred microseconds: a commit that falls into it waits as long. Usual causes are emulated legacy USB keyboards, power
capping, memory error counting, and agents that ask the firmware for sensors. A program that reads UEFI variables causes one for each read where the
firmware keeps no copy of them outside of SMM; fwupd reads some whenever its daemon starts, as for a refresh twice a day, which is no
storm.

## When to leave it alone
A few an hour are normal. Turning off what the firmware does in them (error reporting, power capping) has a price of its
own; measure with the kernel's hwlat tracer first, out of production: it keeps interrupts off while it looks.
",
    references: &[
        Reference {
            title: "Linux: Hardware Latency Detector",
            url: "https://docs.kernel.org/trace/hwlat_detector.html",
        },
        Reference {
            title: "Linux Foundation, Real-Time Linux: SMI latency",
            url: "https://wiki.linuxfoundation.org/realtime/documentation/howto/debugging/smi-latency/detection",
        },
        Reference {
            title: "TianoCore: UEFI Variable Runtime Cache (each GetVariable is an SMI without it)",
            url: "https://github.com/tianocore/tianocore.github.io/wiki/UEFI-Variable-Runtime-Cache",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    const WHAT: &str = "system management interrupts";
    host.platform.hides(WHAT)?;
    if host.cpuinfo.as_ref().is_ok_and(CpuInfo::is_amd) {
        return Err(Missing::elsewhere(WHAT, Elsewhere::SmiCounter));
    }
    if let Some(live) = watched(host) {
        return Ok(vec![live]);
    }
    let counts = host.msrs.of(&SMI_COUNT)?;
    let uptime = *host.kernel.uptime.as_ref()?;
    // Every CPU takes every one; packages differ by those that came while one of them started.
    let highest = counts.known().map(|(cpu, &count)| (count & 0xffff_ffff, cpu)).max();
    let Some((count, cpu)) = highest else {
        return counts.all_known().map(|()| Vec::new()).map_err(Into::into);
    };
    match severity(count, uptime) {
        Some(severity) => Ok(vec![since_boot(severity, count, cpu, uptime)]),
        None => counts.all_known().map(|()| Vec::new()).map_err(Into::into),
    }
}

/// Microseconds of one interrupt beyond which the Linux Foundation's page calls it "generally bad".
const LONG_SMI: f64 = 100.0;

/// A firmware's start takes up to some thousand of them, which would be a storm in a short time.
const OF_THE_START: u64 = 5_000;
/// After this long, the start's are too few to matter.
const SETTLED: Duration = Duration::from_secs(6 * 3600);

fn severity(count: u64, uptime: Duration) -> Option<Severity> {
    let count = if uptime < SETTLED { count.saturating_sub(OF_THE_START) } else { count };
    let severity = of_rate(per_second(count, uptime))?;
    Some(if uptime < SETTLED { severity.min(Severity::Low) } else { severity })
}

/// Of so many a second.
fn of_rate(rate: f64) -> Option<Severity> {
    match rate {
        // 1 % of every CPU at 100 microseconds each.
        100.0.. => Some(Severity::High),
        1.0.. => Some(Severity::Medium),
        0.1.. => Some(Severity::Low),
        rate if rate * 60.0 >= 1.0 => Some(Severity::Info),
        _ => None,
    }
}

fn per_second(count: u64, uptime: Duration) -> f64 {
    count as f64 / uptime.as_secs_f64().max(1.0)
}

/// One of the look: as many as a storm has in it, however they are spread over the time since boot. A few in some seconds are no rate.
fn watched(host: &HostView) -> Option<Finding> {
    const LEAST: u64 = 5;
    let watched = host.watched.as_ref().filter(|it| it.has(Sight::Smis))?;
    let rise = |(&(address, cpu), readings): (&(u32, u32), &Vec<u64>)| {
        let (first, last) = (*readings.first()?, *readings.last()?);
        let count = u64::from((last as u32).wrapping_sub(first as u32));
        (address == SMI_COUNT.address && count >= LEAST).then_some((count, cpu, last))
    };
    let (count, cpu, last) = watched.registers.iter().filter_map(rise).max()?;
    let rate = count as f64 / watched.time.as_secs_f64().max(0.001);
    let severity = of_rate(rate).filter(|it| *it >= Severity::Medium)?;
    let within = watched.within();
    let message = format!("firmware stopped all CPUs {count} times {within} ({rate:.1} a second)");
    let finding = finding(severity, Confidence::High, message, rate, (cpu, last));
    Some(
        reader_of_variables(host).into_iter().fold(finding, |it, (at, name)| it.evidence(at, name)),
    )
}

/// fwupd's daemon, while it runs: it ends some hours after its last client. Which program asked firmware, no register tells.
fn reader_of_variables(host: &HostView) -> Option<(String, &str)> {
    let processes = host.processes.as_deref().unwrap_or_default();
    let daemon = processes.iter().find(|it| !it.is_kernel_thread && it.name == "fwupd")?;
    Some((format!("/proc/{}/stat (reads UEFI variables)", daemon.pid), daemon.name.as_str()))
}

fn since_boot(severity: Severity, count: u64, cpu: u32, uptime: Duration) -> Finding {
    let rate = per_second(count, uptime);
    let hours = uptime.as_secs_f64() / 3600.0;
    let shown = if rate >= 1.0 {
        format!("{rate:.1} a second")
    } else {
        format!("{:.1} a minute", 60.0 * rate)
    };
    let message = format!("firmware stopped all CPUs {count} times in {hours:.1} h ({shown})");
    let confidence = if uptime < SETTLED { Confidence::Low } else { Confidence::High };
    finding(severity, confidence, message, rate, (cpu, count))
}

fn finding(
    severity: Severity,
    confidence: Confidence,
    message: String,
    rate: f64,
    (cpu, count): (u32, u64),
) -> Finding {
    let finding = Finding::new(severity, confidence, message)
        .evidence(SMI_COUNT.path(cpu), format!("{count:#x}"));
    if severity <= Severity::Low {
        return finding;
    }
    finding
        .cost(
            format!("about {:.2} % of every CPU, if each takes {LONG_SMI} µs", rate * LONG_SMI / 1e4),
            format!("{rate:.1} a second times {LONG_SMI} µs; how long they really are, only the hwlat tracer can tell"),
        )
        .command(&commands::COUNT_SMIS, "")
        .fix_lasting(
            "in the firmware's setup: legacy USB emulation off, power profile of maximum performance, processor power and utilization monitoring off; then a firmware update",
        )
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{XEON, verdict};

    fn host(count: &str, uptime: &str) -> String {
        format!("{XEON}//- /dev/cpu/0/msr 0x34\n{count}\n//- /proc/uptime\n{uptime} 0.0\n")
    }

    #[test]
    fn three_a_second_are_medium() {
        assert_eq!(
            verdict(&CHECK, &host("0x2a300", "57600.00")),
            "medium: firmware stopped all CPUs 172800 times in 16.0 h (3.0 a second)"
        );
    }

    #[test]
    fn two_a_minute_are_a_note() {
        assert_eq!(
            verdict(&CHECK, &host("0x780", "57600.00")),
            "info: firmware stopped all CPUs 1920 times in 16.0 h (2.0 a minute)"
        );
    }

    #[test]
    fn those_of_the_start_are_no_storm() {
        assert_eq!(verdict(&CHECK, &host("0x1", "5.00")), "clean");
        assert_eq!(verdict(&CHECK, &host("0x800", "600.00")), "clean");
        assert!(verdict(&CHECK, &host("0x8000", "600.00")).starts_with("low: "));
        assert_eq!(verdict(&CHECK, &host("0x200", "1814400.00")), "clean");
    }

    #[test]
    fn without_the_register_it_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("!denied", "57600.00")),
            "unknown: /dev/cpu/0/msr 0x34 may not be read"
        );
    }

    #[test]
    fn a_zero_that_an_emulator_made_up_is_unknown() {
        let emulator = host("0x0", "57600.00").replace("0xa0080001800", "0x0");
        assert!(verdict(&CHECK, &emulator).starts_with("unknown: /dev/cpu/0/msr 0x34: found"));
    }

    #[test]
    fn an_amd_processor_takes_them_and_counts_them_elsewhere() {
        let amd = host("0x0", "57600.00").replace("GenuineIntel", "AuthenticAMD");
        assert_eq!(
            verdict(&CHECK, &amd),
            "unknown: system management interrupts cannot be read: AMD processors count them in a performance counter only"
        );
    }
}
