//! What can keep the tick of a CPU, by the kernel's names, and the evidence on a host of who holds it. What is
//! not seen is not reported.
//!
//! Sources: enum tick_dep_bits in include/linux/tick.h; who sets each: kernel/time/posix-cpu-timers.c,
//! kernel/events/core.c (account_freq_event, perf_event_throttle), kernel/sched/core.c (sched_can_stop_tick),
//! kernel/sched/clock.c, kernel/rcu/tree.c, kernel/rcu/tree_exp.h.

use crate::interval::Interval;
use facts::HostView;

/// A reason for which the kernel keeps the tick.
#[derive(Debug, PartialEq, Eq)]
pub struct Dependency {
    /// As the tracepoint timer:tick_stop names it, in lower case.
    pub name: &'static str,
    /// Who holds it.
    pub holder: &'static str,
    /// What would let go.
    pub release: &'static str,
}

/// Every dependency, in the order in which the kernel looks for them.
pub const DEPENDENCIES: &[Dependency] = &[
    Dependency {
        name: "posix_timer",
        holder: "a CPU-time timer or limit of the task: ITIMER_PROF, ITIMER_VIRTUAL, a timer on a CPU-time clock, RLIMIT_CPU",
        release: "profile the task by other means, and let it have no CPU-time limit",
    },
    Dependency {
        name: "perf_events",
        holder: "a sampling perf event in frequency mode, or a throttled one",
        release: "end `perf record -F` and its like anywhere on the host, or sample every so many events (`-c`)",
    },
    Dependency {
        name: "sched",
        holder: "more than one runnable task, or one that the scheduler has to watch",
        release: "one task on the CPU, without SCHED_DEADLINE, and without a CPU quota since Linux 6.6",
    },
    Dependency {
        name: "clock_unstable",
        holder: "the time-stamp counter was found unstable after boot",
        release: "`dmesg | grep -i tsc` says why; no busy nohz_full CPU of the host stops its tick until then",
    },
    Dependency {
        name: "rcu",
        holder: "a grace period of RCU waits for this CPU, which has been in the kernel for long",
        release: "shorter system calls, and `rcu_nocbs=` for the CPU",
    },
    Dependency {
        name: "rcu_exp",
        holder: "an expedited grace period of RCU waits for this CPU",
        release: "what asks for it: module loading, CPU hotplug, or rcupdate.rcu_expedited",
    },
];

/// The dependency with this name.
pub(super) fn find(name: &str) -> Option<&'static Dependency> {
    DEPENDENCIES.iter().find(|it| it.name == name)
}

/// The most names that are listed.
const MOST_NAMED: usize = 4;

/// What is known of who holds the dependency `name` on `cpu`, in words; empty where nothing is.
pub(super) fn seen(name: &str, cpu: u32, counted: &Interval) -> Vec<String> {
    match name {
        "sched" => scheduler(cpu, counted),
        "perf_events" => running(counted.host, "perf").into_iter().collect(),
        "clock_unstable" => clock(counted.host).into_iter().collect(),
        "rcu" | "rcu_exp" => callbacks(counted.host, cpu).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn scheduler(cpu: u32, counted: &Interval) -> Vec<String> {
    let mut seen: Vec<String> = ran_on(cpu, counted).into_iter().collect();
    let host = counted.host;
    let isolated = host.isolation.scheduler_isolated();
    if isolated.is_ok_and(|it| !it.contains(cpu)) {
        seen.push("the CPU is not in isolcpus=, so that any task may share it".to_owned());
    }
    // Since 88c56cfeaec4, Linux 6.6.
    let watches_quotas = host.kernel.version().is_ok_and(|it| it >= (6, 6));
    if let (true, Ok([group, ..])) = (watches_quotas, host.limited_groups.as_deref()) {
        seen.push(format!("{} has a CPU quota", group.folder));
    }
    seen
}

/// The tasks that ran there last, if there were several.
fn ran_on(cpu: u32, counted: &Interval) -> Option<String> {
    let (mut tasks, _) = counted.task_deltas().ok()?;
    tasks.retain(|it| it.task.cpu == cpu && it.run_ns > 0);
    tasks.sort_by_key(|it| std::cmp::Reverse(it.run_ns));
    let named = tasks.iter().take(MOST_NAMED);
    let named: Vec<_> = named.map(|it| format!("{}[{}]", it.task.name, it.task.tid)).collect();
    let more = match tasks.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    (tasks.len() > 1).then(|| format!("{}{more} ran there", named.join(", ")))
}

/// The processes of that name.
fn running(host: &HostView, name: &str) -> Option<String> {
    let processes = host.processes.as_ref().ok()?;
    let mut named: Vec<_> = processes
        .iter()
        .filter(|it| it.name == name)
        .map(|it| format!("{name}[{}]", it.pid))
        .collect();
    named.truncate(MOST_NAMED);
    let verb = if named.len() == 1 { "is" } else { "are" };
    (!named.is_empty()).then(|| format!("{} {verb} running", named.join(", ")))
}

fn clock(host: &HostView) -> Option<String> {
    let current = host.clocksource.current.as_ref().ok()?;
    (current != "tsc").then(|| format!("the clocksource is {current}"))
}

fn callbacks(host: &HostView, cpu: u32) -> Option<String> {
    let asked = host.isolation.asked_for(facts::system::isolation::Purpose::Rcu).ok()?;
    // nohz_full= offloads callbacks by itself (rcu_init_nohz in kernel/rcu/tree_nocb.h).
    let tickless = host.isolation.tickless().unwrap_or_default();
    let offloaded = asked.contains(cpu) || tickless.contains(cpu);
    (!offloaded).then(|| "the CPU is not in rcu_nocbs=".to_owned())
}
