//! `interrupts`: every interrupt but the CPU's own timer.
//!
//! Sources: irq:irq_handler_entry and _exit, irq_vectors:*, /proc/interrupts. A tracepoint does not see what entry and
//! exit of an interrupt take.

use crate::ledger::Books;
use crate::loss::{Entry, Kind, Loss};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "interrupts",
    title: "other interrupts",
    kind: Kind::Lost,
    help: "\
## What it is
The time in handlers of interrupts from devices and other CPUs, by name.

## How it is measured
By tracepoints on entry and exit of the handlers. Else, on a kernel with CONFIG_IRQ_TIME_ACCOUNTING, by `irq` of
/proc/stat; on others that field is a sample of the tick and is not used. Else by their number in /proc/interrupts times
what one costs by the gap probe, softirqs included. With none of these, they stay part of what they interrupt.

## What mends it
Interrupts of a device can be sent to other CPUs (/proc/irq/N/smp_affinity_list) and put together (ethtool -C).
",
    checks: &["irqs-on-isolated", "split-lock-penalty"],
    of_parts: &[],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let interrupts = books.interruptions.interrupts.clone()?;
    Ok(interrupts.into_iter().map(|it| it.amount.entry(it.name, None)).collect())
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, loss, replaced, untraced};

    #[test]
    fn traced_interrupts_have_the_name_of_their_device() {
        assert_eq!(loss("interrupts", SECOND), "24 eth0 6.0 ms by tracepoint");
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
}
