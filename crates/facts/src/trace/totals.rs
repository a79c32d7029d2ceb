//! What a CPU did in an interval, to the nanosecond, and what interrupted its tasks and its idle loop.

use super::Comm;
use std::collections::BTreeMap;
use std::fmt;

/// Where each nanosecond of a CPU's interval went. The time of interrupts and softirqs is subtracted from what they
/// interrupted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTotals {
    /// The length of the interval, in ns.
    pub wall_ns: u64,
    /// Time that the events assign to no task, in ns: around lost events, or all of it where there was no event.
    pub unknown_ns: u64,
    /// Time in the idle task, in ns.
    pub idle_ns: u64,
    /// The tasks that ran, by thread ID, without the idle task.
    pub tasks: BTreeMap<i32, TaskTime>,
    /// The interrupts and softirqs that began, ran or ended.
    pub causes: BTreeMap<Cause, CauseTime>,
    /// The time of softirqs by number and by the task that they ran on top of, 0 being the idle task, in ns. Empty where switches
    /// were not traced, and in recordings.
    pub softirq_tasks: BTreeMap<(u8, i32), u64>,
    /// The number of context switches, those to and from the idle task included.
    pub switches: u64,
    /// The number of attempts to stop the tick, by outcome.
    pub tick_stops: BTreeMap<TickStop, u64>,
    /// The number of lost events.
    pub lost: u64,
}

/// One task's time on one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskTime {
    /// Its name when it last left the CPU; empty where no switch has its name.
    pub comm: Comm,
    /// Time on the CPU without interrupts and softirqs, in ns.
    pub run_ns: u64,
    /// The number of interrupts during its run time; softirqs, which run at the end of interrupts, are not counted.
    pub interrupts: u64,
    /// The time of those interrupts and of their softirqs, in ns.
    pub interrupted_ns: u64,
}

/// The time of one kind of interrupt, or of one softirq, on one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CauseTime {
    /// How often it began.
    pub count: u64,
    /// How often it was an interrupt of a task: not of the idle task, a softirq or another interrupt.
    pub from_tasks: u64,
    /// Its time in the idle task, in ns.
    pub in_idle_ns: u64,
    /// Its time in other tasks, in ns.
    pub in_task_ns: u64,
}

/// One attempt to stop the tick (timer:tick_stop).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TickStop {
    /// The mask of what kept the tick: 0 none, 1 POSIX_TIMER, 2 PERF_EVENTS, 4 SCHED, 8 CLOCK_UNSTABLE, 16 RCU, 32
    /// RCU_EXP (include/linux/tick.h). The kernel reports the first that it finds, not all.
    pub dependency: u32,
    /// Whether the tick was stopped.
    pub success: bool,
}

impl CauseTime {
    /// Its time, in ns.
    pub fn ns(&self) -> u64 {
        self.in_idle_ns.saturating_add(self.in_task_ns)
    }
}

impl CpuTotals {
    /// Whether context switches were traced: without them the running task is unknown, even whether it was the idle
    /// task.
    pub fn shows_switches(&self) -> bool {
        !self.tasks.is_empty() || self.idle_ns > 0
    }

    /// Time in tasks other than the idle task, in ns.
    pub fn task_ns(&self) -> u64 {
        self.tasks.values().fold(0, |sum, task| sum.saturating_add(task.run_ns))
    }

    /// Time in interrupts and softirqs, in ns.
    pub fn interrupted_ns(&self) -> u64 {
        self.causes.values().fold(0, |sum, cause| sum.saturating_add(cause.ns()))
    }

    /// Adds the next interval.
    pub fn extend(&mut self, next: &CpuTotals) {
        let add = |to: &mut u64, by: u64| *to = to.saturating_add(by);
        add(&mut self.wall_ns, next.wall_ns);
        add(&mut self.unknown_ns, next.unknown_ns);
        add(&mut self.idle_ns, next.idle_ns);
        add(&mut self.switches, next.switches);
        add(&mut self.lost, next.lost);
        for (&tid, task) in &next.tasks {
            let sum = self.tasks.entry(tid).or_default();
            add(&mut sum.run_ns, task.run_ns);
            add(&mut sum.interrupts, task.interrupts);
            add(&mut sum.interrupted_ns, task.interrupted_ns);
            if !task.comm.is_empty() {
                sum.comm = task.comm;
            }
        }
        for (&cause, time) in &next.causes {
            let sum = self.causes.entry(cause).or_default();
            add(&mut sum.count, time.count);
            add(&mut sum.from_tasks, time.from_tasks);
            add(&mut sum.in_idle_ns, time.in_idle_ns);
            add(&mut sum.in_task_ns, time.in_task_ns);
        }
        for (&of, &ns) in &next.softirq_tasks {
            add(self.softirq_tasks.entry(of).or_default(), ns);
        }
        for (&stop, &count) in &next.tick_stops {
            add(self.tick_stops.entry(stop).or_default(), count);
        }
    }
}

/// A kind of interrupt, or one softirq. The interrupts without a number are those of x86 that have a tracepoint
/// (irq_vectors:*). On other architectures the timer and inter-processor interrupts are reported by irq:irq_handler_*
/// and are [`Cause::Device`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The tick and other timers of the CPU (`LOC` in /proc/interrupts).
    LocalTimer,
    /// Another CPU woke a task here (`RES`).
    Reschedule,
    /// Another CPU called a function here, call_function and call_function_single (`CAL`, `TLB`).
    CallFunction,
    /// Work that was deferred from a context that could not do it (`IWI`). It can be counted, not traced.
    IrqWork,
    /// The platform's interrupt (`PLT`).
    PlatformIpi,
    /// A thermal event (`TRM`).
    Thermal,
    /// A machine check counter reached its threshold (`THR`).
    Threshold,
    /// A deferred machine check error (`DFR`).
    DeferredError,
    /// An error of the interrupt controller (`ERR`).
    Error,
    /// An interrupt without a sender (`SPU`).
    Spurious,
    /// A handler of the device interrupt with this number; a shared line has one event per handler.
    Device(u32),
    /// The softirq with this number (include/linux/interrupt.h).
    Softirq(u8),
}

/// The vectors of x86, by the names of their tracepoints without `_entry` and `_exit`.
const VECTORS: &[(&str, Cause)] = &[
    ("local_timer", Cause::LocalTimer),
    ("reschedule", Cause::Reschedule),
    ("call_function", Cause::CallFunction),
    ("call_function_single", Cause::CallFunction),
    ("irq_work", Cause::IrqWork),
    ("x86_platform_ipi", Cause::PlatformIpi),
    ("thermal_apic", Cause::Thermal),
    ("threshold_apic", Cause::Threshold),
    ("deferred_error_apic", Cause::DeferredError),
    ("error_apic", Cause::Error),
    ("spurious_apic", Cause::Spurious),
];

/// The names in /proc/softirqs, by number (softirq_to_name, kernel/softirq.c).
const SOFTIRQS: &[&str] =
    &["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

impl Cause {
    /// The names in events/irq_vectors without `_entry` and `_exit`, each with its cause.
    pub fn vectors() -> impl Iterator<Item = (&'static str, Cause)> {
        VECTORS.iter().copied()
    }

    /// The cause of a line of /proc/interrupts, by its first word (arch/x86/kernel/irq.c); `None` for other lines.
    /// `TLB` has none: those flushes arrive as function calls, which `CAL` counts too since Linux 4.8.
    pub fn of_line(name: &str) -> Option<Cause> {
        Some(match name.split_whitespace().next()? {
            "LOC" => Cause::LocalTimer,
            "RES" => Cause::Reschedule,
            "CAL" => Cause::CallFunction,
            "IWI" => Cause::IrqWork,
            "PLT" => Cause::PlatformIpi,
            "TRM" => Cause::Thermal,
            "THR" => Cause::Threshold,
            "DFR" => Cause::DeferredError,
            "SPU" => Cause::Spurious,
            number => Cause::Device(number.parse().ok()?),
        })
    }

    /// The kernel's name: a vector's tracepoint, a softirq's name in /proc/softirqs, `irq` for devices.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Device(_) => "irq",
            Cause::Softirq(number) => {
                SOFTIRQS.get(usize::from(number)).copied().unwrap_or("softirq")
            }
            vector => VECTORS.iter().find(|(_, it)| *it == vector).map_or("irq", |(name, _)| name),
        }
    }

    /// Whether another CPU sends it, to call a function or to reschedule.
    pub fn is_call(self) -> bool {
        matches!(self, Cause::CallFunction | Cause::Reschedule)
    }

    /// Whether it is a softirq, which can be interrupted and, on a real-time kernel, preempted.
    pub fn is_softirq(self) -> bool {
        matches!(self, Cause::Softirq(_))
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Device(number) => write!(f, "irq {number}"),
            Cause::Softirq(number) if usize::from(*number) >= SOFTIRQS.len() => {
                write!(f, "softirq {number}")
            }
            Cause::Softirq(_) => write!(f, "softirq {}", self.name()),
            _ => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_intervals_in_a_row_are_one() {
        let of = |comm: &str, ns: u64| {
            let task =
                TaskTime { comm: Comm::new(comm), run_ns: ns, interrupts: 1, interrupted_ns: ns };
            let cause = CauseTime { count: 1, from_tasks: 1, in_idle_ns: 0, in_task_ns: ns };
            CpuTotals {
                wall_ns: 10 * ns,
                idle_ns: ns,
                tasks: [(7, task)].into(),
                causes: [(Cause::LocalTimer, cause)].into(),
                softirq_tasks: [((3, 7), ns)].into(),
                ..CpuTotals::default()
            }
        };
        let mut both = of("postgres", 2);
        both.extend(&of("", 3));
        assert_eq!(
            (both.wall_ns, both.idle_ns, both.task_ns(), both.interrupted_ns()),
            (50, 5, 5, 5)
        );
        assert_eq!(both.tasks[&7].comm, Comm::new("postgres"));
        assert_eq!((both.tasks[&7].interrupts, both.tasks[&7].interrupted_ns), (2, 5));
        assert_eq!(both.softirq_tasks, [((3, 7), 5)].into());
        let ticks = both.causes[&Cause::LocalTimer];
        assert_eq!((ticks.count, ticks.from_tasks), (2, 2));
    }

    #[test]
    fn causes_have_the_kernels_names() {
        let shown = |cause: Cause| format!("{} ({cause})", cause.name());
        assert_eq!(shown(Cause::LocalTimer), "local_timer (local_timer)");
        assert_eq!(shown(Cause::Device(29)), "irq (irq 29)");
        assert_eq!(shown(Cause::Softirq(9)), "RCU (softirq RCU)");
        assert_eq!(shown(Cause::Softirq(77)), "softirq (softirq 77)");
    }
}
