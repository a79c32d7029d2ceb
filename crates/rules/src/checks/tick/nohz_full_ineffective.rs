//! Compares the timer interrupts of `nohz_full` CPUs with what they would get without.
//!
//! Sources: kernel/time/tick-sched.c, kernel/sched/idle.c (idle=poll), kernel/sched/isolation.c (lists that
//! the kernel drops), arch/x86/include/asm/hardirq.h (counts are 32 bits wide). A snapshot has counts since
//! boot: it cannot know when the interrupts came, nor tell the tick from the timers of a program.

use crate::boot_line;
use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding, Severity};
use crate::tick::since_boot::{LikeOthers, Ticks, judge, like_others};
use crate::tick::{Pace, TickRate, seconds, tick_rates};
use facts::system::isolation::Purpose;
use facts::{CpuSet, HostView, Missing};

pub(crate) const CHECK: Check = Check {
    id: "nohz-full-ineffective",
    title: "CPUs tick although nohz_full should stop their tick",
    doc: "\
## What it looks at
Whether the CPUs of `nohz_full=` on the boot line are in force (`/sys/devices/system/cpu/nohz_full`), and whether they
took timer interrupts (`/proc/interrupts`) at the rate at which a CPU ticks while it is busy: CONFIG_HZ, or that of a
busy CPU beside them. How busy a CPU was comes from `/proc/stat`; one that was idle has nothing to show. A copy of a host without
that file still shows CPUs that took as many as the others. In the first ten minutes after boot it is never more than low.

## Why it matters
The tick only stops while nothing needs it. It stays with two runnable tasks on the CPU, with a CPU-time timer or
limit (setitimer, RLIMIT_CPU), with `perf record` at a frequency anywhere on the host, with a time-stamp counter that
became unstable after boot, with a task under a cgroup quota (since 6.6), with a real-time task that never lets
go (since 6.12), with `nohz=off`. Kernels 4.15 to 5.17 drop `nohz_full=` when `isolcpus=` names other CPUs. A 7.0 release
candidate has a bug that never stops it. `idle=poll` keeps it only while the CPU is idle. What needs it shows in the
trace event `timer:tick_stop`.

## When to leave it alone
Where the CPU runs many short tasks by design: then `nohz_full` is not for it, and costs time at every system
call. Programs that sleep for microseconds make timer interrupts of their own, which count here too.
",
    references: &[
        Reference {
            title: "Linux: NO_HZ, Known Issues",
            url: "https://docs.kernel.org/timers/no_hz.html#known-issues",
        },
        Reference {
            title: "Linux commit 82b915051d32, the fix of a tick that never stops in 7.0-rc",
            url: "https://git.kernel.org/linus/82b915051d32",
        },
    ],
    run,
};

/// In the first ten minutes the counts are mostly those of booting.
const SETTLED: f64 = 600.0;

fn run(host: &HostView) -> Verdict {
    if let Some(finding) = dropped(host) {
        return Ok(vec![finding]);
    }
    let tickless = host.isolation.some_tickless()?;
    if boots_with(host, "nohz", "off") {
        return Ok(vec![switched_off(host, &tickless)]);
    }
    ticking(host, &tickless)
}

/// The kernel knows nohz_full and put none of the list in force. A list of CPUs that do not exist is
/// nonexistent-cpus-listed's matter.
fn dropped(host: &HostView) -> Option<Finding> {
    let isolation = &host.isolation;
    let written = isolation.written_for(Purpose::Tick);
    if written.is_empty() || !isolation.nohz_full.as_ref().is_ok_and(CpuSet::is_empty) {
        return None;
    }
    let asked = isolation.asked_for(Purpose::Tick).ok();
    let possible = host.topology.possible.as_ref().ok();
    if asked.as_ref().zip(possible).is_some_and(|(asked, all)| !asked.minus(all).is_empty()) {
        return None;
    }
    // Since 5.18 (65e53f869e9f) each purpose has a list of its own; before 4.15 there was no comparison.
    let compares = host.kernel.version().is_ok_and(|it| ((4, 15)..(5, 18)).contains(&it));
    let isolcpus = isolation.asked_for(Purpose::Domain).ok().filter(|cpus| !cpus.is_empty());
    let differs = compares && isolcpus.is_some() && isolcpus != asked;
    let why = if differs { ": kernels before 5.18 want the same CPUs in isolcpus=" } else { "" };
    let message = format!("the kernel put none of {written} in force{why}");
    let finding = Finding::new(Severity::Medium, Confidence::High, message)
        .evidence("/proc/cmdline", host.kernel.boot_line.as_ref().map_or("", |line| line.text()))
        .evidence("/sys/devices/system/cpu/nohz_full", "(none)")
        .command(&commands::KERNEL_LOG, "-i housekeeping");
    Some(match asked.filter(|_| differs) {
        Some(asked) => {
            finding.fix_lasting(format!("`isolcpus={asked} nohz_full={asked}` on the boot line"))
        }
        None => finding
            .fix_lasting("correct the list as the kernel's log says, with one CPU left out of it"),
    })
}

fn switched_off(host: &HostView, tickless: &CpuSet) -> Finding {
    let (source, value) = host.isolation.tickless_source();
    Finding::new(Severity::Medium, Confidence::High, "nohz=off keeps the tick of nohz_full CPUs")
        .on(tickless.clone(), host.topology.n_online())
        .evidence("/proc/cmdline", "nohz=off")
        .evidence(source, value)
        .fix_lasting(boot_line::without(host, "nohz=off"))
}

fn ticking(host: &HostView, tickless: &CpuSet) -> Verdict {
    let measured = Pace::of(host, tickless)
        .and_then(|pace| tick_rates(host, tickless).map(|rates| (pace, rates)));
    let (pace, rates) = match measured {
        Ok(measured) => measured,
        Err(missing) => return by_other_cpus(host, tickless, missing),
    };
    let polls = boots_with(host, "idle", "poll");
    let (mut busy, mut idle) = (Vec::new(), Vec::new());
    for rate in rates {
        match judge(&rate, &pace, polls) {
            Some(Ticks::WhileBusy) => busy.push(rate),
            Some(Ticks::WhileIdle) => idle.push(rate),
            None => {}
        }
    }
    if busy.is_empty() && idle.is_empty() {
        return pace.fits_counts(host).map(|()| Vec::new());
    }
    let busy = finding(host, &busy, &pace).map(|(finding, cpus)| while_busy(host, finding, &cpus));
    let idle = finding(host, &idle, &pace).map(|(finding, _)| while_idle(finding));
    Ok(busy.into_iter().chain(idle).collect())
}

/// Without the time since boot, or how busy CPUs were: those that took as many timer interrupts as others did not stop their
/// tick. Of CPUs that took fewer nothing is known, as idle ones do.
fn by_other_cpus(host: &HostView, tickless: &CpuSet, missing: Missing) -> Verdict {
    let Some(LikeOthers { cpus, first, most }) = like_others(host, tickless) else {
        return Err(missing);
    };
    let message =
        "nohz_full CPUs took as many timer interrupts as the others: their tick does not stop";
    let (source, value) = host.isolation.tickless_source();
    let finding = Finding::new(Severity::Medium, Confidence::Low, message)
        .on(cpus.clone(), host.topology.n_online())
        .evidence("/proc/interrupts", format!("{} on CPU {} since boot", first.1, first.0))
        .evidence("/proc/interrupts", format!("{} on CPU {} since boot", most.1, most.0))
        .evidence(source, value);
    Ok(vec![while_busy(host, finding, &cpus)])
}

/// What is the same for all CPUs that tick, with the worst of them as evidence; and the CPUs.
fn finding(host: &HostView, rates: &[TickRate], pace: &Pace) -> Option<(Finding, CpuSet)> {
    let worst = rates.iter().max_by_key(|rate| rate.count)?;
    let cpus: CpuSet = rates.iter().map(|rate| rate.cpu).collect();
    let message = format!(
        "nohz_full CPUs took {:.0} timer interrupts a second, where one that ticks takes {:.0}",
        worst.per_second, pace.per_second
    );
    // What starts at boot runs where it likes: many short tasks, each with its ticks.
    let (severity, confidence) = match seconds(host) {
        Ok(seconds) if seconds < SETTLED => (Severity::Low, Confidence::Low),
        _ => (Severity::Medium, Confidence::Medium),
    };
    let finding = Finding::new(severity, confidence, message)
        .on(cpus.clone(), host.topology.n_online())
        .evidence("/proc/interrupts", format!("{} on CPU {} since boot", worst.count, worst.cpu))
        .evidence("/proc/stat", format!("CPU {} {:.0} % busy", worst.cpu, 100.0 * worst.busy))
        .evidence(pace.source.as_str(), &pace.value);
    Some((finding, cpus))
}

fn while_busy(host: &HostView, mut finding: Finding, cpus: &CpuSet) -> Finding {
    finding.message += &reasons(host, cpus);
    finding
        .command(&commands::TICK_TRACE, cpus.to_string())
        .fix_lasting("one task per CPU, and none of what the trace names")
}

fn while_idle(mut finding: Finding) -> Finding {
    finding.severity = Severity::Low;
    finding.message += ": idle=poll keeps the tick while they are idle";
    finding
        .evidence("/proc/cmdline", "idle=poll")
        .fix_lasting("take `idle=poll` off the boot line, if idle CPUs should not tick")
}

/// What is known to keep the tick and shows in a snapshot.
fn reasons(host: &HostView, ticking: &CpuSet) -> String {
    let mut reasons = Vec::new();
    let clock = &host.clocksource;
    let is_slow = clock.current.as_ref().is_ok_and(|it| it == "hpet" || it == "acpi_pm");
    // Only an instability found after boot keeps the tick (kernel/sched/clock.c): a maybe.
    if is_slow && clock.available.is_ok() && !clock.offers("tsc") {
        reasons.push("the time-stamp counter is unstable");
    }
    if host.kernel.release.as_ref().is_ok_and(|release| release.starts_with("7.0.0-rc")) {
        reasons.push("7.0 release candidates have a bug that keeps it");
    }
    let isolated = host.isolation.scheduler_isolated().unwrap_or_default();
    if !ticking.minus(&isolated).is_empty() {
        reasons.push("they are not in isolcpus=, so that several processes may share one");
    }
    match &*reasons {
        [] => ": what keeps the tick does not show in a snapshot".to_owned(),
        reasons => format!(": perhaps because {}", reasons.join(", or because ")),
    }
}

fn boots_with(host: &HostView, name: &str, value: &str) -> bool {
    host.kernel.boot_line.as_ref().is_ok_and(|line| line.value(name) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    /// CPU 1 of two is nohz_full. Both ran for 1000 s, CPU 1 busy for `busy` of them, with `count` timer
    /// interrupts; the kernel has 250 ticks a second.
    fn host(line: &str, count: u64, busy: u64) -> String {
        let cpus = "/sys/devices/system/cpu";
        format!(
            "//- {cpus}/online\n0-1\n//- {cpus}/isolated\n1\n//- {cpus}/nohz_full\n1\n\
             //- /proc/cmdline\n{line}\n//- /proc/uptime\n1000.00 900.00\n\
             //- /proc/sys/kernel/osrelease\n6.1.0\n//- /boot/config-6.1.0\nCONFIG_HZ=250\n\
             //- /proc/interrupts\nCPU0 CPU1\nLOC: 250000 {count} Local timer interrupts\n\
             //- /proc/stat\ncpu0 100000 0 0 0 0 0 0 0\ncpu1 {}00 0 0 {}00 0 0 0 0\n",
            busy,
            1000 - busy
        )
    }

    const LINE: &str = "isolcpus=1 nohz_full=1";

    #[test]
    fn a_busy_cpu_that_ticks_like_the_others_is_medium() {
        assert_eq!(
            verdict(&CHECK, &host(LINE, 240_000, 950)),
            "medium: nohz_full CPUs took 240 timer interrupts a second, where one that ticks takes 250: what keeps the tick does not show in a snapshot [CPU 1 (1 of 2)]"
        );
    }

    #[test]
    fn a_host_that_has_just_booted_shows_its_boot() {
        let young = host(LINE, 30_000, 120)
            .replace("1000.00 900.00", "130.00 100.00")
            .replace("cpu1 12000 0 0 88000", "cpu1 12000 0 0 1000");
        assert!(verdict(&CHECK, &young).starts_with("low: nohz_full CPUs took 231 timer"));
    }

    #[test]
    fn what_may_keep_the_tick_is_named() {
        let clock = "//- /sys/devices/system/clocksource/clocksource0/current_clocksource\nhpet\n\
                     //- /sys/devices/system/clocksource/clocksource0/available_clocksource\nhpet acpi_pm\n";
        let shared = host(LINE, 240_000, 950).replace("isolated\n1\n", "isolated\n\n");
        let line = verdict(&CHECK, &(shared + clock));
        assert!(line.contains(
            "because the time-stamp counter is unstable, or because they are not in isolcpus="
        ));
    }

    #[test]
    fn a_busy_cpu_without_ticks_is_clean() {
        assert_eq!(verdict(&CHECK, &host(LINE, 1500, 990)), "clean");
    }

    #[test]
    fn the_wake_ups_of_an_idle_cpu_are_no_ticks() {
        assert_eq!(verdict(&CHECK, &host(LINE, 60_000, 5)), "clean");
    }

    #[test]
    fn polling_in_idle_time_explains_the_ticks_of_an_idle_cpu() {
        assert_eq!(
            verdict(&CHECK, &host("isolcpus=1 nohz_full=1 idle=poll", 245_000, 10)),
            "low: nohz_full CPUs took 245 timer interrupts a second, where one that ticks takes 250: idle=poll keeps the tick while they are idle [CPU 1 (1 of 2)]"
        );
    }

    #[test]
    fn nohz_off_keeps_every_tick_whatever_was_counted() {
        assert_eq!(
            verdict(&CHECK, &host("isolcpus=1 nohz_full=1 nohz=off", 100, 5)),
            "medium: nohz=off keeps the tick of nohz_full CPUs [CPU 1 (1 of 2)]"
        );
    }

    #[test]
    fn a_list_that_the_kernel_dropped_is_medium() {
        let dropped = host("isolcpus=0,1 nohz_full=1", 0, 0)
            .replace("nohz_full\n1\n", "nohz_full\n(null)\n")
            .replace("6.1.0", "4.18.0");
        assert_eq!(
            verdict(&CHECK, &dropped),
            "medium: the kernel put none of nohz_full=1 in force: kernels before 5.18 want the same CPUs in isolcpus="
        );
    }

    #[test]
    fn a_list_of_cpus_that_do_not_exist_is_another_checks_matter() {
        let dropped = host("nohz_full=1-7", 0, 0).replace("nohz_full\n1\n", "nohz_full\n\n")
            + "//- /sys/devices/system/cpu/possible\n0-1\n";
        assert!(verdict(&CHECK, &dropped).starts_with("not applicable: "));
    }

    #[test]
    fn without_a_configuration_a_busy_neighbour_sets_the_pace() {
        let host = host(LINE, 240_000, 950).replace("CONFIG_HZ=250", "!absent");
        assert!(verdict(&CHECK, &host).contains("where one that ticks takes 250: "));
        let idle = host.replace("cpu0 100000 0 0 0", "cpu0 100 0 0 99900");
        assert_eq!(
            verdict(&CHECK, &idle),
            "unknown: the kernel's configuration cannot be read: there is no /proc/config.gz or /boot/config-6.1.0"
        );
    }

    #[test]
    fn without_times_cpus_that_took_as_many_as_the_others_tick() {
        let sysinfo = |counts: &str| {
            let text = format!(
                "fullclock capture 1 (imported)\n//- /proc/cmdline\nnohz_full=2-3\n\
                 //- /proc/cpuinfo\nprocessor : 0\nprocessor : 1\nprocessor : 2\nprocessor : 3\n\
                 //- /sys/devices/system/cpu/online\n0-3\n//- /proc/interrupts\nCPU0 CPU1 CPU2 CPU3\n\
                 LOC: 90000000 89000000 {counts} Local timer interrupts\n"
            );
            verdict(&CHECK, &text)
        };
        assert!(
            sysinfo("90100000 89900000")
                .starts_with("medium: nohz_full CPUs took as many timer interrupts as the others")
        );
        assert!(sysinfo("9000 7000").starts_with("unknown: "));
    }

    #[test]
    fn counts_that_may_have_wrapped_make_nothing_clean() {
        let host = host(LINE, 1500, 990).replace("1000.00 900.00", "20000000.00 1.00");
        assert_eq!(
            verdict(&CHECK, &host),
            "unknown: /proc/interrupts: found \"32-bit counts after 231 days\", expected counts that cannot have wrapped"
        );
    }
}
