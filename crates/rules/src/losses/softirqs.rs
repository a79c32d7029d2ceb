//! `softirqs`: the work that interrupts leave for later.
//!
//! Sources: irq:softirq_entry and _exit, /proc/stat `softirq`. Softirqs that the thread ksoftirqd runs are among them.

use crate::ledger::Books;
use crate::loss::{Entry, Kind, Loss};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "softirqs",
    title: "softirqs",
    kind: Kind::Lost,
    help: "\
## What it is
The time in softirqs, by kind: network packets (NET_RX), timers, RCU, the scheduler's balancing.

## How it is measured
By tracepoints on entry and exit, in ksoftirqd too. Else, on a kernel with CONFIG_IRQ_TIME_ACCOUNTING, by `softirq` of
/proc/stat, which leaves out ksoftirqd. With neither, their time is in the cost of the interrupts that raised them, or
stays part of what they interrupt.

## What mends it
NET_RX: spread a network card's queues, or keep them off the CPUs of the database. RCU: `rcu_nocbs=`.
",
    checks: &["rcu-callbacks-on-isolated", "irqs-on-isolated"],
    of_parts: &[],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let softirqs = books.interruptions.softirqs.clone()?;
    Ok(softirqs.into_iter().map(|it| it.amount.entry(it.name, None)).collect())
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, loss, replaced, untraced};

    #[test]
    fn traced_softirqs_are_shown_by_kind() {
        assert_eq!(loss("softirqs", SECOND), "NET_RX 4.0 ms by tracepoint");
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
