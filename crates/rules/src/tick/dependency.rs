//! What can keep the tick of a CPU, by the kernel's names.
//!
//! Sources: enum tick_dep_bits in include/linux/tick.h; who sets each: kernel/time/posix-cpu-timers.c,
//! kernel/events/core.c (account_freq_event, perf_event_throttle), kernel/sched/core.c (sched_can_stop_tick),
//! kernel/sched/clock.c, kernel/rcu/tree.c, kernel/rcu/tree_exp.h.

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
        release: "whoever asks for it: module loading, CPU hotplug, or rcupdate.rcu_expedited",
    },
];

/// The dependency with this name.
pub(super) fn find(name: &str) -> Option<&'static Dependency> {
    DEPENDENCIES.iter().find(|it| it.name == name)
}
