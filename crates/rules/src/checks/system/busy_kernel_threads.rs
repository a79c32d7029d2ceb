//! Looks for threads of the kernel that have taken CPU time since they started, of any name.
//!
//! Sources: proc_pid_stat(5); kernel/sched/cputime.c, by which utime and stime add up to the run time that the scheduler accounts.
//! What is known by name is in `kernel_threads`. It sees an average since the thread's start: not a thread that slept for a month
//! and has been busy since yesterday.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding};
use crate::kernel_threads::{Kind, Named};
use crate::loss_scale::deviations::{UNKNOWN_THREAD, WANTED_WORK};
use crate::loss_scale::{self, Lost};
use facts::site::KERNEL_THREAD;
use facts::system::process::{Process, kernel_threads};
use facts::{HostView, Missing};
use std::time::Duration;

pub(crate) const CHECK: Check = Check {
    id: "busy-kernel-threads",
    title: "threads of the kernel take CPU time for long",
    doc: "\
## What it looks at
The CPU time of every kernel thread (utime and stime in `/proc/PID/stat`) over the time since it started. Reported is what has taken
5 % of a CPU or more and is at least ten minutes old: the five kinds that took most, each with what is known by its name, and the
others by name. `kipmi` threads have a check of their own, kipmid-busy.

A kworker shows the workqueue of its last work in its name (Linux 4.18 and later), and may have spent its time on other work.

## Why it matters
A thread of the kernel takes the CPU from whatever runs there, and its cache. Some of this time helps no program: cppc_fie of Linux 5.15 read
the firmware's counters for 30 % of a CPU on an Ampere server. Others are a sign: kswapd of a lack of memory, ksoftirqd of more packets than one
CPU takes, kacpi_notify of firmware that sends one event after the other.

The severity follows the share of a CPU that the worst thread of a kind took, or what several took at least of as many CPUs. What threads do
for programs (file systems, RAID, encryption, network files, guests) is at most low. A thread of which nothing is known, and a worker,
is at most medium.

## When to leave it alone
Where its work is wanted: a RAID that is being rebuilt, a host whose task is to serve files or to forward packets. What a thread
does now, `fullclock watch --metrics kernel-threads` shows.
",
    references: &[
        Reference {
            title: "Linux: Workqueue, Debugging",
            url: "https://docs.kernel.org/core-api/workqueue.html#debugging",
        },
        Reference {
            title: "Linux commit ae2df912d1a5: ACPI: CPPC: Disable FIE if registers in PCC regions",
            url: "https://git.kernel.org/torvalds/c/ae2df912d1a5",
        },
        Reference {
            title: "proc_pid_stat(5)",
            url: "https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html",
        },
    ],
    run,
};

/// From this share of a CPU on, an average over the life of a thread is worth a finding.
pub(crate) const LEAST: f64 = 0.05;

/// Younger threads do what a host does after its boot, or what a worker does once.
const YOUNG: Duration = Duration::from_secs(600);

/// Younger averages are mostly about the boot.
const SETTLED: Duration = Duration::from_secs(3600);

/// More run time than time is a counter that is broken; ticks are 10 ms.
const POSSIBLE: f64 = 1.05;

/// Kinds with a finding of their own, and threads of a kind in its evidence.
const MOST_KINDS: usize = 5;
const MOST_THREADS: usize = 3;

/// Names in the finding about the rest.
const MOST_NAMED: usize = 8;

fn run(host: &HostView) -> Verdict {
    let threads = kernel_threads(&host.processes)?;
    if threads.is_empty() {
        return Err(Missing::not_collected("/proc/PID/stat of kernel threads"));
    }
    let uptime = *host.kernel.uptime.as_ref()?;
    let (mut busy, mut unknown) = (Vec::new(), None);
    let least = host.thresholds.share_of(&KERNEL_THREAD);
    for thread in threads.into_iter().filter(|it| !it.name.starts_with("kipmi")) {
        match busy_one(thread, uptime) {
            Ok(found) => busy.extend(found.filter(|it| it.share >= least)),
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    match unknown {
        Some(missing) if busy.is_empty() => Err(missing),
        _ => Ok(findings(host, by_kind(host, busy))),
    }
}

/// A thread that took CPU time for long.
struct Busy<'a> {
    thread: &'a Process,
    named: Named<'a>,
    age: Duration,
    share: f64,
}

/// All of one kind, the one that took most first.
type OfKind<'a> = Vec<Busy<'a>>;

fn busy_one(thread: &Process, uptime: Duration) -> Result<Option<Busy<'_>>, Missing> {
    let (age, share) = thread.age_and_share(uptime)?;
    if share > POSSIBLE && age >= YOUNG {
        let what = format!("/proc/{}/stat: utime and stime", thread.pid);
        let found = format!("{:.0} s in {:.0} s", share * age.as_secs_f64(), age.as_secs_f64());
        return Err(Missing::malformed(what, &found, "at most the time since the thread started"));
    }
    let is_busy = age >= YOUNG && share >= LEAST;
    Ok(is_busy.then(|| Busy { thread, named: Named::of(&thread.name), age, share }))
}

/// Worst first: by severity, then by what the worst thread of a kind took.
fn by_kind<'a>(host: &HostView, busy: Vec<Busy<'a>>) -> Vec<OfKind<'a>> {
    let mut kinds: Vec<OfKind<'a>> = Vec::new();
    for one in busy {
        let is_same = |kind: &&mut OfKind<'a>| {
            let first = &kind[0].named;
            match (first.known, one.named.known) {
                (None, None) => first.family == one.named.family,
                (first, other) => first == other,
            }
        };
        match kinds.iter_mut().find(is_same) {
            Some(kind) => kind.push(one),
            None => kinds.push(vec![one]),
        }
    }
    for kind in &mut kinds {
        kind.sort_by(|one, other| other.share.total_cmp(&one.share));
    }
    kinds.sort_by(|one, other| {
        let by_severity = lost(host, other).severity().cmp(&lost(host, one).severity());
        by_severity.then(other[0].share.total_cmp(&one[0].share))
    });
    kinds
}

/// What a thread takes of a CPU, 0 to 1.
pub(crate) fn lost_to(named: &Named<'_>, share: f64, are_many: bool) -> Lost {
    let is_work = named.known.is_some_and(|it| it.kind == Kind::Work);
    // A worker does the work of many; its name tells of the last one only.
    let is_unknown = named.known.is_none() || named.is_worker;
    Lost::of(share.min(1.0), are_many)
        .but_if(is_work, &WANTED_WORK)
        .but_if(is_unknown, &UNKNOWN_THREAD)
}

/// What the worst thread of a kind takes of its CPU; or what the worst two take at least of two CPUs, and so on, where that is more severe.
fn lost(host: &HostView, kind: &OfKind<'_>) -> Lost {
    let worst = &kind[0];
    let of = |(n_before, busy): (usize, &Busy<'_>)| {
        lost_to(&worst.named, busy.share, loss_scale::is_many(host, n_before as f64 + 1.0))
    };
    let first = of((0, worst));
    let others = kind.iter().enumerate().skip(1).map(of);
    others.fold(first, |most, it| if it.severity() > most.severity() { it } else { most })
}

fn findings(host: &HostView, mut kinds: Vec<OfKind<'_>>) -> Vec<Finding> {
    let rest = kinds.split_off(kinds.len().min(MOST_KINDS));
    let mut findings: Vec<Finding> = kinds.iter().map(|kind| finding(host, kind)).collect();
    findings.extend(about_the_rest(host, &rest));
    findings
}

fn finding(host: &HostView, kind: &OfKind<'_>) -> Finding {
    let worst = &kind[0];
    let is_sure = worst.age >= SETTLED && !worst.named.is_worker;
    let confidence = if is_sure { Confidence::High } else { Confidence::Medium };
    let (message, times) = message(kind);
    let mut finding = Finding::of_lost(lost(host, kind), confidence, message);
    for busy in kind.iter().take(MOST_THREADS) {
        finding = with_evidence(finding, busy);
    }
    let sum: f64 = kind.iter().map(|it| it.share).sum();
    let of_host = match host.topology.n_online() {
        0 | 1 => String::new(),
        n => format!(", {:.1} % of the host's {n} CPUs", 100.0 * sum / n as f64),
    };
    let finding =
        finding.cost(format!("{:.0} % of one CPU on average{of_host}", 100.0 * sum), times);
    with_fix(host, finding, worst)
}

/// What the worst thread of a kind took, and its times by themselves.
fn message(kind: &OfKind<'_>) -> (String, String) {
    let Busy { thread, named, age, share } = &kind[0];
    let what = match (named.known, named.is_worker) {
        (Some(known), true) => format!(" (its last work {})", known.what),
        (Some(known), false) => format!(" ({})", known.what),
        (None, _) => String::new(),
    };
    let run_time = thread.cpu_time.as_ref().map(Duration::as_secs_f64).unwrap_or_default();
    let times = format!("{run_time:.0} s of run time in {:.0} s", age.as_secs_f64());
    let others = match kind.len() - 1 {
        0 => String::new(),
        n => {
            let sum: f64 = kind.iter().skip(1).map(|it| it.share).sum();
            let threads = if n == 1 { "other" } else { "others" };
            format!("; {n} {threads} of its kind {:.0} %", 100.0 * sum)
        }
    };
    let name = &thread.name;
    let share = 100.0 * share;
    let message =
        format!("{name}{what} has taken {share:.0} % of a CPU since it started: {times}{others}");
    (message, times)
}

fn with_evidence(finding: Finding, busy: &Busy<'_>) -> Finding {
    let run_time = busy.thread.cpu_time.as_ref().map(Duration::as_secs_f64).unwrap_or_default();
    let source = format!("/proc/{}/stat: utime and stime", busy.thread.pid);
    finding.evidence(source, format!("{run_time:.2} s ({})", busy.thread.name))
}

fn with_fix(host: &HostView, finding: Finding, worst: &Busy<'_>) -> Finding {
    let pid = worst.thread.pid.to_string();
    let finding = finding
        .command(&commands::THREAD_STACK, pid.as_str())
        .command(&commands::THREAD_PROFILE, pid.as_str());
    let finding = match worst.named.is_worker {
        true => finding.command(&commands::WORK_TRACE, ""),
        false => finding,
    };
    let Some(known) = worst.named.known else {
        return finding.fix_lasting(
            "nothing is known of its name: the stack and the profile show whose code it runs",
        );
    };
    let is_older = |since: (u32, u32)| host.kernel.version().is_ok_and(|it| it < since);
    match known.fixed.filter(|it| is_older(it.0)) {
        Some((_, change)) => finding.fix_lasting(format!("{change}; {}", known.fix)),
        None => finding.fix_lasting(known.fix),
    }
}

fn about_the_rest(host: &HostView, rest: &[OfKind<'_>]) -> Option<Finding> {
    // The worst comes first.
    let lost = lost(host, rest.first()?);
    let named = rest.iter().take(MOST_NAMED);
    let named: Vec<String> =
        named.map(|it| format!("{} {:.0} %", it[0].thread.name, 100.0 * it[0].share)).collect();
    let more = match rest.len() - named.len() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let n = rest.len();
    let kinds = if n == 1 { "kind" } else { "kinds" };
    let message = format!(
        "{n} other {kinds} of kernel threads have taken 5 % of a CPU or more: {}{more}",
        named.join(", ")
    );
    let finding = Finding::of_lost(lost, Confidence::Medium, message);
    Some(rest.iter().take(MOST_NAMED).fold(finding, |finding, it| with_evidence(finding, &it[0])))
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};
    use std::fmt::Write as _;

    /// A host of four CPUs that is up for ten days, with these threads: name, and thousandths of a CPU since their start at 10 s.
    fn host(release: &str, threads: &[(&str, u64)]) -> String {
        let mut text = format!(
            "//- /sys/devices/system/cpu/online\n0-3\n//- /proc/uptime\n864010.00 900000.00\n\
             //- /proc/sys/kernel/osrelease\n{release}\n"
        );
        for (pid, (name, thousandths)) in (2..).zip(threads) {
            let ticks = thousandths * 86_400;
            writeln!(
                text,
                "//- /proc/{pid}/stat\n{pid} ({name}) S 2 0 0 0 -1 2129984 0 0 0 0 0 {ticks} 0 0 20 0 1 0 1000 0 0"
            )
            .unwrap();
        }
        text
    }

    fn lasting(release: &str, name: &str) -> String {
        findings(&CHECK, &host(release, &[(name, 300)])).remove(0).fix.lasting.unwrap()
    }

    #[test]
    fn a_thread_that_takes_a_third_of_a_cpu_is_named_with_what_is_known() {
        let text = host("5.15.0-76-generic", &[("kthreadd", 0), ("cppc_fie", 300)]);
        assert_eq!(
            verdict(&CHECK, &text),
            "medium: cppc_fie (reads the CPPC counters of every busy CPU at each tick, for the scheduler) has taken 30 % of a CPU since it started: \
             259200 s of run time in 864000 s"
        );
        let finding = findings(&CHECK, &text).remove(0);
        assert_eq!(
            finding.cost.unwrap().estimate,
            "30 % of one CPU on average, 7.5 % of the host's 4 CPUs"
        );
        assert_eq!(finding.fix.look[0], "cat /proc/3/stack  # as root, several times");
    }

    #[test]
    fn a_fault_that_a_kernel_no_longer_has_is_not_named_there() {
        assert!(
            lasting("5.15.0-76-generic", "cppc_fie").starts_with("Linux 6.1 no longer starts it")
        );
        assert!(lasting("6.8.0", "cppc_fie").starts_with("`cppc_cpufreq.fie_disabled=1`"));
        assert!(lasting("3.10.0-1160.el7", "kswapd0").starts_with("before Linux 3.19"));
        assert!(!lasting("6.8.0", "kswapd0").contains("3.19"));
    }

    #[test]
    fn the_worst_kinds_come_first_and_the_rest_are_named() {
        let threads = [
            ("kworker/3:1-events", 580),
            ("ksoftirqd/0", 350),
            ("ksoftirqd/1", 60),
            ("kswapd0", 460),
            ("khugepaged", 230),
            ("migration/2", 110),
            ("kcompactd0", 118),
            ("jbd2/sda1-8", 104),
            ("vendor_thread/7", 700),
            ("kworker/u8:0", 40),
            ("kipmi0", 900),
        ];
        let found = verdict(&CHECK, &host("5.15.0", &threads));
        let begins: Vec<&str> = found.lines().map(|it| it.split(" (").next().unwrap()).collect();
        assert_eq!(
            begins,
            [
                "medium: vendor_thread/7 has taken 70 % of a CPU since it started: 604800 s of run time in 864000 s",
                "medium: kworker/3:1-events",
                "medium: kswapd0",
                "medium: ksoftirqd/0",
                "medium: khugepaged",
                "low: 3 other kinds of kernel threads have taken 5 % of a CPU or more: kcompactd0 12 %, migration/2 11 %, jbd2/sda1-8 10 %",
            ]
        );
        assert!(
            found.contains("(its last work runs what drivers hand to the system workqueue)"),
            "{found}"
        );
        assert!(found.contains("of run time in 864000 s; 1 other of its kind 6 %"), "{found}");
    }

    #[test]
    fn a_thread_on_each_of_many_cpus_is_worse_than_one() {
        let severity = |threads: &[(&str, u64)]| {
            findings(&CHECK, &host("6.1.0", threads)).remove(0).severity.name()
        };
        assert_eq!(severity(&[("ksoftirqd/0", 350), ("ksoftirqd/1", 60)]), "medium");
        assert_eq!(severity(&[("ksoftirqd/0", 350), ("ksoftirqd/1", 210)]), "high");
    }

    #[test]
    fn threads_of_red_hats_6_are_known_without_kworkers() {
        let threads =
            [("events/3", 120), ("kondemand/3", 55), ("kjournald", 60), ("flush-253:0", 700)];
        let found = verdict(&CHECK, &host("2.6.32-504.el6.x86_64", &threads));
        let severities: Vec<&str> =
            found.lines().map(|it| it.split(" (").next().unwrap()).collect();
        assert_eq!(
            severities,
            ["low: flush-253:0", "low: events/3", "low: kondemand/3", "info: kjournald"]
        );
    }

    #[test]
    fn little_time_a_young_thread_and_kipmi_are_clean() {
        assert_eq!(
            verdict(&CHECK, &host("6.1.0", &[("kthreadd", 0), ("kswapd0", 49), ("kipmi0", 900)])),
            "clean"
        );
        let young = host("6.1.0", &[("kswapd0", 0)])
            .replace(" 0 0 0 0 0 0 0 0 20 0 1 0 1000", " 0 0 0 0 0 9000 0 0 20 0 1 0 86389000");
        assert!(young.contains("86389000"), "{young}");
        assert_eq!(verdict(&CHECK, &young), "clean");
    }

    #[test]
    fn what_cannot_be_read_is_unknown() {
        let container = "//- /proc/1/stat\n1 (init) S 0 1 1 0 -1 4194560 0\n";
        assert!(
            verdict(&CHECK, container)
                .starts_with("unknown: the kernel's threads in /proc cannot be read")
        );
        let cut = "//- /proc/uptime\n864010.00 9.0\n//- /proc/2/stat\n2 (kthreadd) S 0 0 0 0 -1 2129984 0\n";
        assert!(
            verdict(&CHECK, cut).starts_with("unknown: /proc/2/stat: found"),
            "{}",
            verdict(&CHECK, cut)
        );
        assert!(
            verdict(&CHECK, &host("6.1.0", &[("kswapd0", 1200)]))
                .starts_with("unknown: /proc/2/stat: utime")
        );
        let alone =
            "//- /proc/uptime\n864010.00 9.0\n//- /proc/7/stat\n7 (java) S 1 1 1 0 -1 4194560 0\n";
        assert!(
            verdict(&CHECK, alone).starts_with("unknown: /proc/PID/stat of kernel threads is not")
        );
        let without_uptime =
            host("6.1.0", &[("kswapd0", 300)]).replace("864010.00 900000.00", "!denied");
        assert_eq!(verdict(&CHECK, &without_uptime), "unknown: /proc/uptime may not be read");
    }
}
