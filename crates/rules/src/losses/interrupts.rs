//! Interrupts, the CPU's own timer ticks apart from others, and softirqs.

use crate::ledger::books::Books;
use crate::loss::{Entry, Kind, Loss};
use facts::Fact;

/// Every interrupt except the CPU's own timer.
///
/// Sources: irq:irq_handler_entry and _exit, irq_vectors:*, /proc/interrupts; for entry and exit of an interrupt, which no
/// tracepoint sees, a thread that is interrupted (the gap probe).
pub(super) const INTERRUPTS: Loss = Loss {
    id: "interrupts",
    title: "other interrupts",
    kind: Kind::Lost,
    help: "\
## What it is
The time in handlers of interrupts from devices and other CPUs, by name.

## How it is measured
By tracepoints on entry and exit of the handlers. What the kernel takes before and after those is added to each interrupt
that came to a task: the median of what a thread of fullclock lacked around traced interrupts, in 0.2 s before the
interval; such a line is 'derived'. Where no CPU could be occupied for that, it stays part of what was interrupted, and
the ledger says so. Else, on a kernel with CONFIG_IRQ_TIME_ACCOUNTING, by `irq` of
/proc/stat; on others that field is a sample of the tick and is not used. Else by their number in /proc/interrupts times
what one costs by the gap probe, softirqs included: those that other CPUs send (`CAL`, `RES`) by what one takes that is sent
for the purpose (membarrier(2)), others where enough came by themselves. Both are medians, which the few that another task or
a hypervisor lengthened do not move; on a CPU that is too busy for that none is timed. With none of these, they stay part of
what they interrupt, and the ledger says how many.

## What fixes it
Interrupts of a device can be sent to other CPUs (/proc/irq/N/smp_affinity_list) and put together (ethtool -C).
",
    checks: &["irqs-on-isolated", "split-lock-penalty"],
    of_parts: &[],
    measure: interrupts,
};

fn interrupts(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let interrupts = books.interruptions.interrupts.clone()?;
    Ok(interrupts.into_iter().map(|it| it.amount.entry(it.name, None)).collect())
}

/// Interrupts of each CPU's own timer. The scheduler's tick and the timers of programs are the same interrupt.
///
/// Sources: irq_vectors:local_timer_entry and _exit, `LOC` of /proc/interrupts.
pub(super) const TICKS: Loss = Loss {
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

## What fixes it
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
    measure: ticks,
};

fn ticks(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let ticks = books.interruptions.ticks.clone()?;
    Ok(ticks.into_iter().map(|it| it.amount.entry("", None)).collect())
}

/// The work that interrupts leave for later. Softirqs that the thread ksoftirqd runs are among them.
///
/// Sources: irq:softirq_entry and _exit, /proc/stat `softirq`.
pub(super) const SOFTIRQS: Loss = Loss {
    id: "softirqs",
    title: "softirqs",
    kind: Kind::Lost,
    help: "\
## What it is
The time in softirqs, by kind: network packets (NET_RX), timers, RCU, the scheduler's balancing.

## How it is measured
By tracepoints on entry and exit, in ksoftirqd too. Else, on a kernel with CONFIG_IRQ_TIME_ACCOUNTING, by `softirq` of
/proc/stat, which leaves out ksoftirqd. With neither, their time is in the cost of the interrupts that raised them, or
stays part of what they interrupt. With a trace of context switches, the tasks are named that each kind ran on top of: the
NET_RX of the loopback interface runs in the send(2) of the task that sends, on its CPU. ksoftirqd and idle CPUs are named, too. A
softirq of an interrupt runs on top of any task.

## What fixes it
NET_RX: spread a network card's queues, or keep them off the CPUs of the database. RCU: `rcu_nocbs=`.
",
    checks: &["rcu-callbacks-on-isolated", "irqs-on-isolated"],
    of_parts: &[],
    measure: softirqs,
};

fn softirqs(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let softirqs = books.interruptions.softirqs.clone()?;
    Ok(softirqs.into_iter().map(|it| it.amount.entry(it.name, None)).collect())
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, ledger, loss, replaced, unexplained, untraced};

    /// Each interrupt of CPU 0 came to a task: 100 of them to kipmi0, 10 to this program, the rest to the database.
    const FROM_TASKS: &[(&str, &str)] = &[
        ("task 10 postgres 560000000", "task 10 postgres 560000000 interrupts 440 10000000"),
        ("task 2 kipmi0 100000000", "task 2 kipmi0 100000000 interrupts 100 5000000"),
        ("task 20 fullclock 10000000", "task 20 fullclock 10000000 interrupts 10 2000000"),
        ("idle 2000000 task 8000000", "idle 2000000 task 8000000 250"),
        ("idle 1000000 task 5000000", "idle 1000000 task 5000000 300"),
        ("edge 0 0", "edge 4000 500"),
    ];

    #[test]
    fn entry_and_exit_of_traced_interrupts_are_added_to_them_and_taken_out_of_the_tasks() {
        let text = replaced(SECOND, FROM_TASKS);
        assert_eq!(loss("interrupts", &text), "24 eth0 7.2 ms ±0.2 by derived");
        assert_eq!(loss("ticks", &text), "21.0 ms ±0.1 by derived");
        assert_eq!(loss("softirqs", &text), loss("softirqs", SECOND));
        assert_eq!(
            loss("kernel-threads", &text),
            "kipmi0 99.6 ms by tracepoint, management controller"
        );
        assert_eq!(unexplained(&text), "0.000");
    }

    #[test]
    fn entry_and_exit_that_nobody_measured_are_not_added_and_that_is_said() {
        let text = replaced(&replaced(SECOND, FROM_TASKS), &[("edge 4000 500\n", "")]);
        assert_eq!(loss("interrupts", &text), "24 eth0 6.0 ms by tracepoint");
        assert_eq!(unexplained(&text), "0.000");
        let note = "entry and exit of interrupts are part of what they interrupted: no time of entry and exit of an interrupt here: no interrupt was timed as a whole";
        assert!(ledger(&text).notes.contains(&note.to_owned()), "{:?}", ledger(&text).notes);
    }

    #[test]
    fn a_kernel_that_accounts_for_them_is_believed_less_the_ticks() {
        let text = replaced(
            &untraced(),
            &[
                ("# CONFIG_IRQ_TIME_ACCOUNTING is not set", "CONFIG_IRQ_TIME_ACCOUNTING=y"),
                ("0 31 0 0 0 0", "0 31 0 3 0 0"),
                ("observer 20", "observer 20\ncost tick 8000"),
            ],
        );
        assert_eq!(loss("interrupts", &text), "28.0 ms ±14.1 by counter");
    }

    #[test]
    fn elsewhere_the_field_is_a_sample_and_is_not_used() {
        let text = replaced(&untraced(), &[("0 31 0 0 0 0", "0 31 0 3 0 0")]);
        assert_eq!(
            loss("interrupts", &text),
            "unknown: no cost of an event here: nothing was traced, and no event was timed"
        );
    }

    #[test]
    fn counted_interrupts_are_their_number_times_the_cost_of_one() {
        let text = replaced(&untraced(), &[("observer 20", "observer 20\ncost interrupt 5000")]);
        assert_eq!(loss("interrupts", &text), "24 eth0 1.5 ms by derived");
    }

    #[test]
    fn an_interrupt_of_a_kind_that_was_never_timed_stays_with_what_it_interrupted() {
        let text = replaced(&untraced(), &[("observer 20", "observer 20\ncost call 900")]);
        assert_eq!(
            loss("interrupts", &text),
            "unknown: no cost of an event here: nothing was traced, and no event was timed"
        );
        let called = text.replace("LOC 24+eth0", "LOC CAL");
        assert_eq!(loss("interrupts", &called), "CAL 0.3 ms by derived");
        let note = "interrupts that are part of what they interrupted, 300 of them: no cost of an event here: nothing was traced, and no event was timed";
        assert!(ledger(&text).notes.contains(&note.to_owned()), "{:?}", ledger(&text).notes);
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
    fn more_ticks_than_fit_the_time_are_none() {
        let text = replaced(&untraced(), &[("observer 20", "observer 20\ncost tick 8000000")]);
        assert_eq!(
            loss("ticks", &text),
            "unknown: /proc/interrupts x cost of one by the gap probe: found \"2000000000 ns in 1000000000 ns\", expected no more time than has passed"
        );
    }

    #[test]
    fn a_kernel_that_accounts_for_them_is_believed() {
        let text = replaced(
            &untraced(),
            &[
                ("# CONFIG_IRQ_TIME_ACCOUNTING is not set", "CONFIG_IRQ_TIME_ACCOUNTING=y"),
                ("0 31 0 0 0 0", "0 31 0 0 2 0"),
            ],
        );
        assert_eq!(loss("softirqs", &text), "20.0 ms ±14.1 by counter");
    }

    #[test]
    fn they_are_not_counted_twice_where_the_cost_of_ticks_holds_them() {
        let text = replaced(&untraced(), &[("observer 20", "observer 20\ncost tick 8000")]);
        assert_eq!(
            loss("softirqs", &text),
            "unknown: no time of softirqs here: it is in the cost of the interrupts that raised them"
        );
    }
}
