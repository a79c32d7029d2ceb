//! Looks for the NMI watchdog on CPUs whose tick may stop.
//!
//! Sources: kernel/watchdog.c (the watchdogs leave `nohz_full` CPUs out unless told otherwise),
//! kernel/watchdog_perf.c (one pinned event of PERF_COUNT_HW_CPU_CYCLES for each CPU),
//! Documentation/admin-guide/lockup-watchdogs.rst. It cannot know which of the performance counters are in use.

use super::housekeeping;
use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use facts::{CpuSet, HostView};

pub(crate) const CHECK: Check = Check {
    id: "nmi-watchdog-tick",
    title: "the NMI watchdog interrupts CPUs",
    doc: "\
## What it looks at
On a host with `nohz_full` CPUs: `kernel.nmi_watchdog`, and whether `kernel.watchdog_cpumask` includes these CPUs. Where the
setting was not collected, the NMI counts of `/proc/interrupts`.

## Why it matters
Each watched CPU gets a timer of its own every 4 seconds and a non-maskable interrupt after every 10 seconds' worth
of cycles. The kernel leaves `nohz_full` CPUs out of `watchdog_cpumask` by itself; a tool or a sysctl file may have put
them back in. It does not keep the tick itself alive: the watchdog's event counts at a fixed period, and only events
with a target frequency do that.

## When to leave it alone
On every host that is not tuned for undisturbed CPUs, where this check says nothing: two interrupts in ten seconds cost
nothing that can be measured, and the watchdog is what turns a silent hang into a stack trace.

The watchdog also keeps a performance counter of each CPU for itself, which costs something only while somebody profiles. It
counts cycles: on Intel that takes the fixed counter of cycles, and `cycles` of `perf stat` then needs one of the general
counters; on AMD it takes a general one. Kernels since 6.5 that are built with the buddy detector take none.
",
    references: &[
        Reference {
            title: "Linux: Softlockup detector and hardlockup detector",
            url: "https://docs.kernel.org/admin-guide/lockup-watchdogs.html",
        },
        Reference {
            title: "Linux: /proc/sys/kernel, nmi_watchdog and watchdog_cpumask",
            url: "https://docs.kernel.org/admin-guide/sysctl/kernel.html#nmi-watchdog",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let tickless = host.isolation.some_tickless()?;
    match &host.sysctls.nmi_watchdog {
        Ok(false) => Ok(Vec::new()),
        Ok(true) => {
            let watched = host.sysctls.watchdog_cpumask.as_ref()?.and(&tickless);
            if watched.is_empty() { Ok(Vec::new()) } else { Ok(vec![on_tickless(host, &watched)]) }
        }
        Err(missing) => match counted(host, &tickless) {
            Some(finding) => Ok(vec![finding]),
            None => Err(missing.clone()),
        },
    }
}

fn on_tickless(host: &HostView, watched: &CpuSet) -> Finding {
    let elsewhere = housekeeping(host, watched);
    let mut finding = Finding::new(
        Severity::Low,
        Confidence::High,
        "the NMI watchdog watches nohz_full CPUs: kernel.watchdog_cpumask includes them",
    )
    .on(watched.clone(), host.topology.n_online())
    .evidence("/proc/sys/kernel/nmi_watchdog", 1);
    if let Ok(mask) = &host.sysctls.watchdog_cpumask {
        finding = finding.evidence("/proc/sys/kernel/watchdog_cpumask", mask);
    }
    if let Ok(cpus) = &host.isolation.nohz_full {
        finding = finding.evidence("/sys/devices/system/cpu/nohz_full", cpus);
    }
    if elsewhere.is_empty() {
        return finding.fix_by("nmi-watchdog", "off");
    }
    finding
        .command(&commands::WATCHDOG_CPUMASK, elsewhere.to_string())
        .fix_lasting("no kernel.watchdog_cpumask in /etc/sysctl.d: the kernel leaves nohz_full CPUs out by itself")
}

/// What the counts tell where the setting was not collected: every NMI of the tickless CPUs came from a performance counter.
fn counted(host: &HostView, tickless: &CpuSet) -> Option<Finding> {
    let interrupts = host.interrupts.as_ref().ok()?;
    let nmis = interrupts.named("NMI")?;
    let from_counters = interrupts.named("PMI")?;
    let interrupted = from_counters.cpus().and(tickless);
    // Where other sources of NMIs are at work too, no more can be said.
    if interrupted.is_empty() || nmis.total() != from_counters.total() {
        return None;
    }
    let message =
        "performance counters interrupt nohz_full CPUs: the NMI watchdog is on, or a profiler";
    Some(
        Finding::new(Severity::Info, Confidence::Medium, message)
            .on(interrupted, interrupts.cpus.len())
            .evidence("/proc/interrupts", format!("PMI: {} on all CPUs", from_counters.total())),
    )
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    fn host(watchdog: &str, cpumask: &str, nohz_full: &str) -> String {
        format!(
            "//- /sys/devices/system/cpu/online\n0-3\n//- /proc/cmdline\nquiet\n\
             //- /sys/devices/system/cpu/nohz_full\n{nohz_full}\n\
             //- /proc/sys/kernel/nmi_watchdog\n{watchdog}\n\
             //- /proc/sys/kernel/watchdog_cpumask\n{cpumask}\n"
        )
    }

    #[test]
    fn a_watched_tickless_cpu_is_low() {
        assert_eq!(
            verdict(&CHECK, &host("1", "0-3", "2-3")),
            "low: the NMI watchdog watches nohz_full CPUs: kernel.watchdog_cpumask includes them [CPUs 2-3 (2 of 4)]"
        );
    }

    #[test]
    fn a_mask_that_leaves_tickless_cpus_out_is_clean() {
        assert_eq!(verdict(&CHECK, &host("1", "0-1", "2-3")), "clean");
        assert_eq!(verdict(&CHECK, &host("0", "0-3", "2-3")), "clean");
    }

    #[test]
    fn without_tickless_cpus_the_watchdog_costs_nothing_worth_a_note() {
        let verdict = verdict(&CHECK, &host("1", "0-3", " (null)"));
        assert!(verdict.starts_with("not applicable: no nohz_full CPU here"), "{verdict}");
    }

    #[test]
    fn counts_on_tickless_cpus_tell_where_the_setting_was_not_collected() {
        let counts = "//- /proc/interrupts\nCPU0 CPU1\nNMI: 553 288 Non-maskable interrupts\n\
                      PMI: 553 288 Performance monitoring interrupts\n";
        let host = host("!absent", "0-1", "1") + counts;
        assert_eq!(
            verdict(&CHECK, &host),
            "info: performance counters interrupt nohz_full CPUs: the NMI watchdog is on, or a profiler [CPU 1 (1 of 2)]"
        );
    }

    #[test]
    fn a_mask_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("1", "!denied", "2-3")),
            "unknown: /proc/sys/kernel/watchdog_cpumask may not be read"
        );
    }
}
