//! `stolen`: time in which a hypervisor did not run a CPU that had work.
//!
//! Source: Documentation/filesystems/proc.rst, /proc/stat `steal`; the hypervisor reports it.

use crate::ledger::books::Books;
use crate::loss::{Entry, Kind, Loss, Party};
use facts::Fact;

pub(super) const LOSS: Loss = Loss {
    id: "stolen",
    title: "stolen by the hypervisor",
    kind: Kind::Lost,
    help: "\
## What it is
Time in which this guest's CPU had work and the hypervisor ran somebody else on the processor.

## How it is measured
By `steal` of /proc/stat, in steps of 10 ms. The hypervisor reports it; VMware, Hyper-V, VirtualBox, Parallels and bhyve
report none unless told to, and a 0 there is no answer. It is taken out of the tasks' time, as far as the kernel has not
done so itself (CONFIG_PARAVIRT_TIME_ACCOUNTING), and what is more than their time out of idle.

## What fixes it
A dedicated or larger instance, pinned virtual CPUs, or fewer of them on that host.
",
    checks: &["stolen-time"],
    of_parts: &[],
    measure,
};

fn measure(books: &Books<'_>) -> Fact<Vec<Entry>> {
    Ok(vec![books.stolen.clone()?.entry("", Some(Party::Hypervisor))])
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, loss, replaced, unexplained, untraced};

    const GUEST: &str = "//- /sys/class/dmi/id/sys_vendor\nQEMU\n";
    const STOLEN: &[(&str, &str)] = &[("0 31 0 0 0 0", "0 31 0 0 0 12")];

    #[test]
    fn stolen_time_is_taken_out_of_the_tasks_that_a_trace_shows() {
        let text = replaced(SECOND, STOLEN);
        assert_eq!(loss("stolen", &text), "120.0 ms ±14.1 by counter, hypervisor");
        assert_eq!(unexplained(&text), "0.000");
    }

    #[test]
    fn run_times_that_leave_it_out_are_left_alone() {
        let text = replaced(&untraced(), STOLEN);
        let text = replaced(&text, &[("CONFIG_SMP=y", "CONFIG_PARAVIRT_TIME_ACCOUNTING=y")]);
        assert_eq!(unexplained(&text), "-98.000");
        let off = replaced(
            &text,
            &[(
                "//- /proc/sys/kernel/osrelease",
                "//- /proc/cmdline\nno-steal-acc\n//- /proc/sys/kernel/osrelease",
            )],
        );
        assert_eq!(unexplained(&off), "22.000");
    }

    #[test]
    fn what_is_more_than_the_tasks_ran_was_stolen_from_idle() {
        let text = replaced(SECOND, &[("0 31 0 0 0 0", "0 31 0 0 0 70")]);
        assert_eq!(loss("stolen", &text), "700.0 ms ±14.1 by counter, hypervisor");
        assert_eq!(loss("idle", &text), "1260.0 ms by counter");
        assert_eq!(unexplained(&text), "0.000");
    }

    #[test]
    fn a_zero_of_a_hypervisor_that_tells_nothing_is_unknown() {
        let text = format!(
            "{SECOND}//- /sys/class/dmi/id/sys_vendor\nVMware, Inc.\n//- /sys/class/dmi/id/product_name\nVMware7,1\n"
        );
        assert_eq!(
            loss("stolen", &text),
            "unknown: stolen time: not available in a guest of VMware"
        );
    }

    #[test]
    fn a_count_that_fell_on_one_cpu_makes_the_line_unknown() {
        let fell = [("0 0 0 0 0 0\n1 0", "0 0 0 0 0 9\n1 0"), ("1 99 0 0 0 0", "1 99 0 0 0 70")];
        assert_eq!(
            loss("stolen", &(replaced(SECOND, &fell) + GUEST)),
            "unknown: /proc/stat (steal): found \"0 after 9\", expected a counter that does not go backwards"
        );
    }

    #[test]
    fn more_than_has_passed_is_no_stolen_time() {
        let jumped = [("0 31 0 0 0 0", "0 31 0 0 0 900"), ("1 99 0 0 0 0", "1 99 0 0 0 900")];
        let found = loss("stolen", &replaced(SECOND, &jumped));
        assert!(found.starts_with("unknown: /proc/stat steal: found"), "{found}");
    }
}
