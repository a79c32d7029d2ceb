//! Looks at the platform's log of having delivered less than Linux requested, by CPPC.
//!
//! Source: ACPI 6.5, section 8.4.6.1.3.2, "Performance Limited Register"; drivers/cpufreq/cppc_cpufreq.c (`perf_limited`, Linux 7.0). Bits stay
//! set until somebody clears them by writing: it cannot know when it happened, for how long, nor how much was lost.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use facts::cpu::cpufreq::Policy;
use facts::cpu::delivered::Excursions;
use facts::watched::{Sight, Watched};
use facts::{CpuSet, HostView, Missing};
use std::collections::BTreeMap;

pub(crate) const CHECK: Check = Check {
    id: "clock-clipped-by-platform",
    title: "the platform has clipped the clock below what Linux requested",
    doc: "\
## What it looks at
`perf_limited` of each cpufreq policy, which the driver cppc_cpufreq shows on newer kernels (arm64 servers, mostly). Bit 0: the platform
delivered less than the desired performance. Bit 1: it delivered less than the minimum, which is `scaling_min_freq`. Both are a log: they stay set
until somebody writes them back, which this program never does. Bit 0 is a note, bit 1 is low. A bit that is set while
`fullclock audit --look 10s` watches was set by what happens at this moment.

## Why it matters
Firmware clips the clock for heat, power or electrical current, and Linux sees its own request only. A log says that
it happened since boot, or since somebody cleared the log: not when, for how long, nor how much was lost. With a finding of clock-not-delivered on the
same CPUs it says who holds the clock.

## When to leave it alone
Where nothing else tells of a low clock: a single moment of heat or of a peak in current sets a bit for good. To see whether it happens
under a load, clear it before (`echo 3 > perf_limited`) and look at it afterwards.
",
    references: &[
        Reference {
            title: "ACPI 6.5, 8.4.6.1: Collaborative Processor Performance Control, Performance Limited Register",
            url: "https://uefi.org/specs/ACPI/6.5/08_Processor_Configuration_and_Control.html",
        },
        Reference {
            title: "Linux: perf_limited in Documentation/ABI/testing/sysfs-devices-system-cpu",
            url: "https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/Documentation/ABI/testing/sysfs-devices-system-cpu",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    host.platform.hides("the platform's log of a clipped clock")?;
    let policies = host.cpufreq.policies.as_ref()?;
    let mut set: BTreeMap<(bool, IsLive), Vec<(&Policy, Excursions)>> = BTreeMap::new();
    let mut missing: Option<&Missing> = None;
    let mut is_clear = false;
    for policy in policies {
        match &policy.perf_limited {
            Ok(log) if log.below_desired() || log.below_minimum() => {
                set.entry(new_in_look(host, policy, *log)).or_default().push((policy, *log));
            }
            Ok(_) => is_clear = true,
            Err(it) if missing.is_none_or(Missing::is_absence) => missing = Some(it),
            Err(_) => {}
        }
    }
    match missing {
        _ if !set.is_empty() => {
            Ok(set.iter().rev().map(|(kind, it)| finding(host, *kind, it)).collect())
        }
        Some(missing) if !is_clear || !missing.is_absence() => Err(missing.into()),
        _ => Ok(Vec::new()),
    }
}

type IsLive = bool;

/// Whether a log says that even the minimum was not delivered, and whether that was in a look, when the log had been clear.
fn new_in_look(host: &HostView, policy: &Policy, log: Excursions) -> (bool, IsLive) {
    let watched = host.watched.as_ref().filter(|it| it.has(Sight::Logs));
    let first = watched.and_then(|it| it.excursions.get(policy.cpus.first()?)?.as_ref().ok());
    let Some(first) = first else { return (log.below_minimum(), false) };
    match (log.below_minimum() && !first.below_minimum(), log.below_desired()) {
        (true, _) => (true, true),
        (false, true) if !first.below_desired() => (false, true),
        _ => (log.below_minimum(), false),
    }
}

fn finding(
    host: &HostView,
    (below_minimum, is_live): (bool, IsLive),
    clipped: &[(&Policy, Excursions)],
) -> Finding {
    let within = host.watched.as_ref().filter(|_| is_live).map(Watched::within);
    let when = within.as_deref().unwrap_or("at some time since boot, or since the log was cleared");
    let (severity, below) = match below_minimum {
        true => (Severity::Low, "the lowest performance that Linux allows"),
        false => (Severity::Info, "the performance that Linux requested"),
    };
    let message = format!("the platform delivered less than {below} {when} (CPPC)");
    let cpus: CpuSet = clipped.iter().flat_map(|(it, _)| it.cpus.iter()).collect();
    let finding =
        Finding::new(severity, Confidence::Medium, message).on(cpus, host.topology.n_online());
    let finding = if is_live { finding } else { finding.since_boot() };
    let first = clipped.first().map(|(policy, log)| (policy.path("perf_limited"), log.bits()));
    let finding = first.into_iter().fold(finding, |it, (path, bits)| it.evidence(path, bits));
    if severity == Severity::Info {
        return finding;
    }
    finding.command(&commands::BMC_EVENTS, "").fix_lasting(
        "see whether it lasts: clock-not-delivered shows the clock of this moment; possible causes: heat, a power limit or cap, a power supply",
    )
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    const CPU: &str = "/sys/devices/system/cpu";

    /// Two CPUs with these logs.
    fn host(driver: &str, logs: [&str; 2]) -> String {
        let policy = |cpu: usize| {
            let folder = format!("//- {CPU}/cpufreq/policy{cpu}");
            format!(
                "{folder}/affected_cpus\n{cpu}\n{folder}/scaling_driver\n{driver}\n{folder}/perf_limited\n{}\n",
                logs[cpu]
            )
        };
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nCPU part : 0xd4f\n//- {CPU}/online\n0-1\n{}{}",
            policy(0),
            policy(1)
        )
    }

    fn of(logs: [&str; 2]) -> String {
        verdict(&CHECK, &host("cppc_cpufreq", logs))
    }

    #[test]
    fn a_log_is_a_note_and_low_where_even_the_minimum_was_not_delivered() {
        assert_eq!(
            of(["1", "0"]),
            "info: the platform delivered less than the performance that Linux requested at some time since boot, \
             or since the log was cleared (CPPC) [CPU 0 (1 of 2)]"
        );
        assert_eq!(
            of(["3", "2"]),
            "low: the platform delivered less than the lowest performance that Linux allows at some time since boot, \
             or since the log was cleared (CPPC) [all 2 CPUs]"
        );
        assert_eq!(of(["1", "2"]).lines().count(), 2);
        let finding = findings(&CHECK, &host("cppc_cpufreq", ["3", "0"])).remove(0);
        assert_eq!((finding.evidence[0].value.as_str(), finding.cost), ("3", None));
    }

    #[test]
    fn zeros_are_clean_and_reserved_bits_say_nothing() {
        assert_eq!(of(["0", "0"]), "clean");
        assert_eq!(of(["4", "0"]), "clean");
    }

    #[test]
    fn a_log_that_cannot_be_read_is_unknown_and_one_that_no_firmware_keeps_is_none() {
        let failed = "!failed Input/output error (os error 5)";
        for logs in [["0", failed], [failed, "0"]] {
            assert!(of(logs).starts_with("unknown: "), "{}", of(logs));
        }
        assert!(of(["1", failed]).starts_with("info: "));
        assert!(of(["<unsupported>", "<unsupported>"]).starts_with("not applicable: "));
        assert!(of(["!absent", "!absent"]).starts_with("not applicable: "));
        let amd = verdict(&CHECK, &host("amd-pstate-epp", ["3", "3"]));
        assert!(amd.starts_with("not applicable: "), "{amd}");
        assert!(of(["maybe", "0"]).starts_with("unknown: "));
    }
}
