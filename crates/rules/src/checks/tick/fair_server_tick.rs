//! Looks for the deadline server of the fair class on CPUs whose tick may stop, where these took more timer interrupts than nothing explains.
//!
//! Sources: kernel/sched/deadline.c (`dl_server_timer`), kernel/sched/core.c (`sched_can_stop_tick`: a runnable deadline entity keeps the
//! tick), kernel/sched/debug.c (`fair_server_runtime_fops`; a runtime of 0 turns it off; EBUSY is `__dl_overflow` in
//! dl_server_apply_params), Linux 6.12 and later. Timers of programs make the
//! same interrupts, and no count of a snapshot separates them: it is a note.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use crate::tick::since_boot::judge;
use crate::tick::{Pace, TickRate, tick_rates};
use facts::system::scheduler::{FAIR_SERVERS, FairServer};
use facts::{CpuSet, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "fair-server-tick",
    title: "the deadline server may restart the tick of nohz_full CPUs",
    doc: "\
## What it looks at
`runtime` and `period` in `/sys/kernel/debug/sched/fair_server/cpuN` (Linux 6.12 and later, root) of `nohz_full` CPUs that were busy and took
several timer interrupts a second since boot, but fewer than a CPU that ticks (that is `nohz-full-ineffective`).

## Why it matters
The server gives normal tasks 50 ms of each second on a CPU that real-time tasks would keep to themselves. For that it has a timer on every
CPU with a normal task, and while the server is runnable the kernel keeps the tick of that CPU, although a single task runs there. Kernels
before 6.12 had RT throttling in its place, which needs no timer where no real-time task runs.

A runtime of 0 is taken by every kernel with the file, and still the write may fail with EBUSY (\"Device or resource busy\"): the kernel takes
the server's share out of the sum that it keeps for the scheduling domain, and refuses where that sum has lost it. It loses it of CPUs that were
isolated or partitioned when the domains were built again, as the cpuset controller does at boot (repaired in several steps since Linux 6.15). Then
`sysctl kernel.sched_rt_runtime_us=-1` switches that arithmetic off, and the write is taken. It also lets deadline tasks claim more than there
is, and the old value may be refused until the next boot.

A few interrupts a second may as well come from timers of the program itself: it is a note. The trace says which.

## When to leave it alone
Where a few microseconds a second do not matter. Without the server, a real-time task that never sleeps starves every other task on its CPU,
the kernel's own threads included: systems have been locked up so.
",
    references: &[
        Reference {
            title: "Linux commit 557a6bfc662c: sched/fair: Add trivial fair server (6.12)",
            url: "https://git.kernel.org/linus/557a6bfc662c",
        },
        Reference {
            title: "Linux commit d741f297bcea: sched/fair: Fair server interface (6.12)",
            url: "https://git.kernel.org/linus/d741f297bcea",
        },
        Reference {
            title: "Linux commit 2ff899e35164: sched/deadline: Rebuild root domain accounting after every update (6.15)",
            url: "https://git.kernel.org/linus/2ff899e35164",
        },
    ],
    run,
};

/// The first release with the server. Others who took it back are known by its files.
const SINCE: (u32, u32) = (6, 12);

/// A tickless CPU takes at most one or two a second by the kernel's own.
const SOME: f64 = 5.0;
/// A CPU less busy than this gets its timer interrupts from being woken.
const BUSY: f64 = 0.5;

fn run(host: &HostView) -> Verdict {
    let tickless = host.isolation.some_tickless()?;
    let servers = &host.scheduler.fair_servers;
    let is_on = |it: &FairServer| !it.runtime.is_zero();
    let with_server: CpuSet = servers.cpus_where(is_on).and(&tickless);
    if with_server.is_empty() {
        if host.kernel.version().is_ok_and(|it| it < SINCE) {
            return Err(Missing::not_here(
                "server of the fair class",
                "the kernel is older than 6.12",
            ));
        }
        let of_tickless = tickless.iter().filter_map(|cpu| servers.get(cpu));
        return match of_tickless.filter_map(|it| it.as_ref().err()).next() {
            Some(missing) if missing.is_absence() => Err(Missing::not_here(
                "server of the fair class",
                "the kernel has none in /sys/kernel/debug/sched",
            )),
            Some(missing) => Err(missing.clone()),
            None => Ok(Vec::new()),
        };
    }
    let rates = tick_rates(host, &with_server)?;
    let pace = Pace::of(host, &tickless)?;
    let is_odd = |it: &TickRate| {
        it.busy >= BUSY && it.per_second >= SOME && judge(it, &pace, false).is_none()
    };
    let odd: Vec<TickRate> = rates.into_iter().filter(is_odd).collect();
    let Some(worst) = odd.iter().max_by_key(|it| it.count) else {
        return pace.fits_counts(host).map(|()| Vec::new());
    };
    Ok(finding(host, &odd, worst).into_iter().collect())
}

fn finding(host: &HostView, odd: &[TickRate], worst: &TickRate) -> Option<Finding> {
    let server = host.scheduler.fair_servers.get(worst.cpu)?.as_ref().ok()?;
    let cpus: CpuSet = odd.iter().map(|it| it.cpu).collect();
    let (runtime, period) = (server.runtime.as_millis(), server.period.as_millis());
    let message = format!(
        "nohz_full CPUs took {:.0} timer interrupts a second, which the fair server ({runtime} ms of each {period} ms) may cause",
        worst.per_second
    );
    let folder = format!("{FAIR_SERVERS}/cpu{}", worst.cpu);
    Some(
        Finding::new(Severity::Info, Confidence::Low, message)
            .on(cpus.clone(), host.topology.n_online())
            .evidence("/proc/interrupts", format!("{} on CPU {} since boot", worst.count, worst.cpu))
            .evidence("/proc/stat", format!("CPU {} {:.0} % busy", worst.cpu, 100.0 * worst.busy))
            .evidence(format!("{folder}/runtime"), server.runtime.as_nanos())
            .evidence(format!("{folder}/period"), server.period.as_nanos())
            .command(&commands::TICK_TRACE, cpus.to_string())
            .command(&commands::FAIR_SERVER_OFF, format!("{folder}/runtime"))
            .fix_lasting("only if the trace names the scheduler (`dependency=SCHED`): the same in a boot script, on each of these CPUs; where the kernel answers EBUSY, `sysctl kernel.sched_rt_runtime_us=-1` first"),
    )
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    /// CPU 1 of two is nohz_full and was busy for `busy` of 1000 s, with `count` timer interrupts.
    fn host(count: u64, busy: u64, runtime: &str) -> String {
        let cpus = "/sys/devices/system/cpu";
        let server = "//- /sys/kernel/debug/sched/fair_server/cpu1";
        format!(
            "//- {cpus}/online\n0-1\n//- {cpus}/isolated\n1\n//- {cpus}/nohz_full\n1\n\
             //- /proc/cmdline\nisolcpus=1 nohz_full=1\n//- /proc/uptime\n1000.00 900.00\n\
             //- /proc/sys/kernel/osrelease\n6.12.0\n//- /boot/config-6.12.0\nCONFIG_HZ=250\n\
             //- /proc/interrupts\nCPU0 CPU1\nLOC: 250000 {count} Local timer interrupts\n\
             //- /proc/stat\ncpu0 100000 0 0 0 0 0 0 0\ncpu1 {busy}00 0 0 {}00 0 0 0 0\n\
             {server}/runtime\n{runtime}\n{server}/period\n1000000000\n",
            1000 - busy
        )
    }

    #[test]
    fn a_busy_tickless_cpu_with_ticks_and_a_server_is_a_note() {
        let host = host(13_000, 1000, "50000000");
        assert_eq!(
            verdict(&CHECK, &host),
            "info: nohz_full CPUs took 13 timer interrupts a second, which the fair server (50 ms of each 1000 ms) may cause [CPU 1 (1 of 2)]"
        );
        let fix = findings(&CHECK, &host).remove(0).fix;
        assert_eq!(
            fix.by_hand[0].command,
            "echo 0 > /sys/kernel/debug/sched/fair_server/cpu1/runtime"
        );
        assert!(fix.by_hand[0].risk.contains("EBUSY"), "the kernel may refuse it");
        assert!(fix.lasting.unwrap().contains("kernel.sched_rt_runtime_us=-1"));
    }

    #[test]
    fn a_server_that_is_off_a_quiet_cpu_and_an_idle_one_are_clean() {
        assert_eq!(verdict(&CHECK, &host(13_000, 1000, "0")), "clean");
        assert_eq!(verdict(&CHECK, &host(1000, 1000, "50000000")), "clean");
        assert_eq!(verdict(&CHECK, &host(13_000, 100, "50000000")), "clean");
    }

    #[test]
    fn a_cpu_that_ticks_all_the_time_is_another_checks_matter() {
        assert_eq!(verdict(&CHECK, &host(240_000, 1000, "50000000")), "clean");
    }

    #[test]
    fn a_kernel_without_a_server_has_nothing_to_judge_and_a_locked_one_is_unknown() {
        let server = "//- /sys/kernel/debug/sched/fair_server/cpu1/runtime\n";
        let without = |it: &str| host(13_000, 1000, it).replace("\n1000000000\n", "\n!absent\n");
        assert_eq!(
            verdict(&CHECK, &without("!absent")),
            "not applicable: no server of the fair class here: the kernel has none in /sys/kernel/debug/sched"
        );
        assert!(without("!denied").contains(server));
        assert_eq!(
            verdict(&CHECK, &without("!denied")),
            "unknown: /sys/kernel/debug/sched/fair_server/cpu1/runtime may not be read"
        );
        assert_eq!(
            verdict(&CHECK, &without("!denied").replace("6.12.0", "6.1.0")),
            "not applicable: no server of the fair class here: the kernel is older than 6.12"
        );
    }
}
