//! `idle`: time in which a CPU had nothing to do.
//!
//! See `ledger::idle_time` for the sources, and which is believed when.

use crate::ledger::Books;
use crate::loss::{Entry, Kind, Loss};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "idle",
    title: "idle",
    kind: Kind::Idle,
    help: "\
## What it is
Time in which no task wanted the CPU. Nothing is lost.

## How it is measured
By cpuidle's `time` of all states, POLL included; else by `idle_sleeptime` and `iowait_sleeptime` of
/proc/timer_list; else by the traced time of the idle task; else by `idle` and `iowait` of /proc/stat, in steps of
10 ms. The first two leave out a sleep that goes on while they are read, and are given up where /proc/stat, which
counts it, contradicts them. Interrupts that came in a sleep, idle time that a quota forced, and idle time that a thread
of the kernel forces to cool the machine are entered elsewhere.

## What mends it
Nothing: it is capacity to spare. Tasks that wait although CPUs are idle are shown beside the ledger, with `--pid`.
",
    checks: &[],
    of_parts: &[],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    Ok(vec![books.idle.clone()?.entry("", None)])
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, loss, replaced, unexplained, untraced, without};

    #[test]
    fn cpuidles_time_is_believed_where_the_kernels_own_count_agrees() {
        assert_eq!(loss("idle", SECOND), "1290.0 ms by counter");
    }

    #[test]
    fn a_sleep_that_was_not_written_shows_in_the_kernels_own_count() {
        let asleep = replaced(&untraced(), &[("1 0 0 985000", "1 0 0 100")]);
        assert_eq!(loss("idle", &asleep), "1295.0 ms ±20.0 by counter");
    }

    #[test]
    fn a_trace_is_finer_than_the_kernels_own_count() {
        let asleep = replaced(SECOND, &[("1 0 0 985000", "1 0 0 100")]);
        assert_eq!(loss("idle", &asleep), "1295.0 ms by tracepoint");
    }

    #[test]
    fn more_sleep_than_time_is_no_sleep() {
        let endless = without(&untraced(), "CpuTimes");
        let endless = replaced(&endless, &[("0 5000 100000 200000", "0 5000 100000 2000000")]);
        assert_eq!(loss("idle", &endless), "985.0 ms by counter");
        assert_eq!(unexplained(&endless), "327.000");
    }

    #[test]
    fn interrupts_that_came_in_a_halt_are_not_idle() {
        let halting = replaced(SECOND, &[("MWAIT 0x00", "ACPI HLT"), ("MWAIT 0x20", "ACPI HLT")]);
        assert_eq!(loss("idle", &halting), "1277.0 ms by counter");
        assert_eq!(unexplained(&halting), "0.000");
    }

    #[test]
    fn without_any_source_idle_is_unknown() {
        let blind = without(&without(&untraced(), "IdleTime"), "CpuTimes");
        assert_eq!(
            loss("idle", &blind),
            "unknown: /sys/devices/system/cpu/cpuN/cpuidle is not in this copy of the host"
        );
    }
}
