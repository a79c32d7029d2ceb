//! `interrupts`: every interrupt but the CPU's own timer.
//!
//! Sources: irq:irq_handler_entry and _exit, irq_vectors:*, /proc/interrupts; for what entry and exit of an interrupt take,
//! which no tracepoint sees, a thread that is interrupted (the gap probe).

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
By tracepoints on entry and exit of the handlers. What the kernel takes before and after those is added to each interrupt
that came to a task: the median of what a thread of fullclock lacked around traced interrupts, in 0.2 s before the
interval; such a line is 'derived'. Where no CPU could be occupied for that, it stays part of what was interrupted, and
the ledger says so. Else, on a kernel with CONFIG_IRQ_TIME_ACCOUNTING, by `irq` of
/proc/stat; on others that field is a sample of the tick and is not used. Else by their number in /proc/interrupts times
what one costs by the gap probe, softirqs included: those that other CPUs send (`CAL`, `RES`) by what one takes that is sent
for the purpose (membarrier(2)), others where enough came by themselves. With none of these, they stay part of what they
interrupt, and the ledger says how many.

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
    use crate::fixture::books::{SECOND, ledger, loss, replaced, unexplained, untraced};

    #[test]
    fn traced_interrupts_have_the_name_of_their_device() {
        assert_eq!(loss("interrupts", SECOND), "24 eth0 6.0 ms by tracepoint");
    }

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
}
