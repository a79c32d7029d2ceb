//! Looks at how often the kernel folds its memory statistics on CPUs whose tick may stop.
//!
//! Source: mm/vmstat.c; Documentation/admin-guide/sysctl/vm.rst, stat_interval. It cannot know whether a
//! CPU has statistics to fold: one that neither allocates nor frees has none.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::{HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "vmstat-tick",
    title: "memory statistics interrupt tickless CPUs every second",
    doc: "\
## What it looks at
`vm.stat_interval` (1 second unless changed) on a host with `nohz_full` CPUs, with a kernel before 6.5.

## Why it matters
At this interval the kernel starts a timer and a kernel worker on every CPU that has per-CPU memory statistics
to fold. On a CPU without a tick that is a switch to the worker and back, and for its length two tasks are
runnable, so that the tick comes back too. A published count on a tickless, busy CPU shows 2 timer interrupts
a second with the interval at 1, and 1 with it at 60. Kernels before 4.17 keep one tick a second for the scheduler on
such a CPU; later ones have another CPU do that, and what causes the last one has to be traced.

## When to leave it alone
Where the once-a-second values of `/proc/vmstat` matter more than a microsecond a second. Kernels since 6.5 leave
isolated CPUs out of it, and this check says nothing there; RHEL 9 may have that change in its 5.14.
",
    references: &[
        Reference {
            title: "Linux: /proc/sys/vm, stat_interval",
            url: "https://docs.kernel.org/admin-guide/sysctl/vm.html#stat-interval",
        },
        Reference {
            title: "Linux commit be5e015d107d: vmstat: skip periodic vmstat update for isolated CPUs (6.5)",
            url: "https://git.kernel.org/linus/be5e015d107d",
        },
    ],
    run,
};

/// From this interval on, one interrupt in as many seconds is less than what timers of programs cause.
const RARELY: u64 = 10;

fn run(host: &HostView) -> Verdict {
    let tickless = host.isolation.some_tickless()?;
    let release = host.kernel.release.as_ref()?;
    if host.kernel.version()? >= (6, 5) {
        let because =
            format!("kernel {release} leaves isolated CPUs out of it, as all do since 6.5");
        return Err(Missing::not_here("folding of memory statistics on isolated CPUs", because));
    }
    let seconds = *host.sysctls.stat_interval.as_ref()?;
    if seconds >= RARELY {
        return Ok(Vec::new());
    }
    // Red Hat's kernels take such changes back without a trace in the version.
    let confidence = if release.contains(".el") { Confidence::Low } else { Confidence::Medium };
    let every = match seconds {
        // No delay is no end: mm/vmstat.c has no value that turns the folding off.
        0 => "second or more often".to_owned(),
        1 => "second".to_owned(),
        _ => format!("{seconds} seconds"),
    };
    let (source, value) = host.isolation.tickless_source();
    let message = format!("the kernel folds memory statistics on nohz_full CPUs every {every}");
    Ok(vec![
        Finding::new(Severity::Low, confidence, message)
            .on(tickless, host.topology.n_online())
            .evidence("/proc/sys/vm/stat_interval", seconds)
            .evidence(source, value)
            .cost(
                format!("one timer interrupt and one kernel worker every {every} on each of these CPUs"),
                "a count on a tickless busy CPU: 2 timer interrupts a second with the interval at 1, 1 with it at 60",
            )
            .fix_by("stat-interval", "60")
            .fix_lasting("`vm.stat_interval = 60` in a file in /etc/sysctl.d"),
    ])
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    fn host(release: &str, nohz_full: &str, interval: &str) -> String {
        format!(
            "//- /sys/devices/system/cpu/online\n0-1\n//- /proc/cmdline\nnohz_full=1\n\
             //- /proc/sys/kernel/osrelease\n{release}\n//- /proc/sys/vm/stat_interval\n{interval}\n\
             //- /sys/devices/system/cpu/isolated\n\n\
             //- /sys/devices/system/cpu/nohz_full\n{nohz_full}\n"
        )
    }

    #[test]
    fn the_default_interval_disturbs_a_tickless_cpu() {
        assert_eq!(
            verdict(&CHECK, &host("6.1.0-49-amd64", "1", "1")),
            "low: the kernel folds memory statistics on nohz_full CPUs every second [CPU 1 (1 of 2)]"
        );
    }

    #[test]
    fn a_long_interval_is_clean() {
        assert_eq!(verdict(&CHECK, &host("6.1.0-49-amd64", "1", "60")), "clean");
    }

    #[test]
    fn no_interval_is_no_pause_and_does_not_turn_the_folding_off() {
        assert_eq!(
            verdict(&CHECK, &host("6.1.0-49-amd64", "1", "0")),
            "low: the kernel folds memory statistics on nohz_full CPUs every second or more often [CPU 1 (1 of 2)]"
        );
    }

    #[test]
    fn a_kernel_that_spares_isolated_cpus_is_not_judged() {
        assert_eq!(
            verdict(&CHECK, &host("6.12.9", "1", "1")),
            "not applicable: no folding of memory statistics on isolated CPUs here: kernel 6.12.9 leaves isolated CPUs out of it, as all do since 6.5"
        );
    }

    #[test]
    fn without_tickless_cpus_the_interval_does_not_matter() {
        assert_eq!(
            verdict(&CHECK, &host("6.1.0", "", "1")),
            "not applicable: no nohz_full CPU here: the kernel put none of what the boot line asks for in force"
        );
    }

    #[test]
    fn an_interval_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("6.1.0", "1", "!denied")),
            "unknown: /proc/sys/vm/stat_interval may not be read"
        );
    }
}
