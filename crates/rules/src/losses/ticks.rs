//! `ticks`: interrupts of each CPU's own timer.
//!
//! Sources: irq_vectors:local_timer_entry and _exit, `LOC` of /proc/interrupts. The scheduler's tick and the timers of
//! programs are the same interrupt.

use crate::ledger::Books;
use crate::loss::{Entry, Kind, Loss};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "ticks",
    title: "timer ticks",
    kind: Kind::Lost,
    help: "\
## What it is
The time in handlers of the CPU's own timer interrupt: the scheduler's tick, and timers of programs, which use the same
interrupt.

## How it is measured
By tracepoints on entry and exit, and what the kernel takes before and after those, as for `interrupts`. Else by how many there were (`LOC` in /proc/interrupts) times what one costs by the gap probe, which is the whole
interruption, softirqs included. With neither, they stay part of what they interrupt.

## What mends it
`nohz_full=` for CPUs that run one task each, and `fullclock tick` to see what keeps the tick there. Elsewhere a lower
CONFIG_HZ.
",
    checks: &[
        "nmi-watchdog-tick",
        "vmstat-tick",
        "nohz-full-unsupported",
        "isolated-without-nohz-full",
        "nohz-full-ineffective",
    ],
    of_parts: &[],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let ticks = books.interruptions.ticks.clone()?;
    Ok(ticks.into_iter().map(|it| it.amount.entry("", None)).collect())
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, loss, replaced, unexplained, untraced};

    #[test]
    fn traced_ticks_are_their_time() {
        assert_eq!(loss("ticks", SECOND), "20.0 ms by tracepoint");
    }

    #[test]
    fn counted_ticks_are_their_number_times_the_cost_of_one() {
        let text = replaced(&untraced(), &[("observer 20", "observer 20\ncost tick 8000")]);
        assert_eq!(loss("ticks", &text), "4.0 ms by derived");
        assert_eq!(
            loss("interrupts", &text),
            "unknown: no cost of an event here: nothing was traced, and no event was timed"
        );
    }

    #[test]
    fn counted_ticks_are_taken_out_of_the_tasks_by_the_tasks_share_of_time() {
        let text = replaced(&untraced(), &[("observer 20", "observer 20\ncost tick 40000")]);
        // 10 ms on either CPU, of which 10 x 688/993 came in the tasks of CPU 0; no task ran on CPU 1.
        assert_eq!(unexplained(&text), "8.928");
    }

    #[test]
    fn with_neither_they_are_unknown() {
        assert_eq!(
            loss("ticks", &untraced()),
            "unknown: no cost of an event here: nothing was traced, and no event was timed"
        );
    }

    #[test]
    fn more_ticks_than_fit_the_time_are_none() {
        let text = replaced(&untraced(), &[("observer 20", "observer 20\ncost tick 8000000")]);
        assert_eq!(
            loss("ticks", &text),
            "unknown: /proc/interrupts x cost of one by the gap probe holds \"2000000000 ns in 1000000000 ns\", expected no more time than has passed"
        );
    }
}
