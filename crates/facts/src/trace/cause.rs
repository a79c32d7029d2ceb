//! What interrupts a task or the idle loop.

use std::fmt;

/// A kind of interrupt, or one softirq.
///
/// The interrupts without a number are those of x86 that have a tracepoint (irq_vectors:*); elsewhere the
/// timer and the interrupts between CPUs come through irq:irq_handler_* and are [`Cause::Device`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The tick and other timers of the CPU's own clock (`LOC` in /proc/interrupts).
    LocalTimer,
    /// Another CPU woke a task here (`RES`).
    Reschedule,
    /// Another CPU had a function run here, call_function and call_function_single (`CAL`, `TLB`).
    CallFunction,
    /// Work that was put off from a place that could not do it (`IWI`). It can be counted, not traced.
    IrqWork,
    /// The platform's own interrupt (`PLT`).
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
    /// A handler of the device interrupt with this number; a shared line has one event for each of its
    /// handlers.
    Device(u32),
    /// The softirq with this number (include/linux/interrupt.h).
    Softirq(u8),
}

/// The kinds of x86, each with its tracepoints' names less `_entry` and `_exit`.
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
    /// The names in events/irq_vectors less `_entry` and `_exit`, each with its cause.
    pub fn vectors() -> impl Iterator<Item = (&'static str, Cause)> {
        VECTORS.iter().copied()
    }

    /// The cause behind a line of /proc/interrupts, by its first word (arch/x86/kernel/irq.c); `None` where it names
    /// none of these.
    ///
    /// `TLB` is none: those flushes arrive as function calls, which `CAL` counts too since Linux 4.8.
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

    /// The kernel's word: a vector's tracepoint, a softirq's name in /proc/softirqs, `irq` for devices.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Device(_) => "irq",
            Cause::Softirq(number) => {
                SOFTIRQS.get(usize::from(number)).copied().unwrap_or("softirq")
            }
            vector => VECTORS.iter().find(|(_, it)| *it == vector).map_or("irq", |(name, _)| name),
        }
    }

    /// Whether another CPU sends it, to have a function run or a task chosen here.
    pub fn is_call(self) -> bool {
        matches!(self, Cause::CallFunction | Cause::Reschedule)
    }

    /// Whether it is a softirq, which interrupts can interrupt and, on a real-time kernel, tasks preempt.
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
    fn causes_have_the_kernels_names() {
        let shown = |cause: Cause| format!("{} ({cause})", cause.name());
        assert_eq!(shown(Cause::LocalTimer), "local_timer (local_timer)");
        assert_eq!(shown(Cause::Device(29)), "irq (irq 29)");
        assert_eq!(shown(Cause::Softirq(9)), "RCU (softirq RCU)");
        assert_eq!(shown(Cause::Softirq(77)), "softirq (softirq 77)");
    }
}
