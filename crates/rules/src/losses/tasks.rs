//! Time of tasks that were not chosen: threads of the kernel, other users' tasks, and this program.
//!
//! Sources: sched:sched_switch, /proc/PID/schedstat.

use crate::ledger::books::Books;
use crate::ledger::owner::Owner;
use crate::loss::{Entry, Kind, Loss, Party};
use facts::Fact;

/// Threads of the kernel, by name. /proc/PID/stat says whether a task is one.
pub(super) const KERNEL_THREADS: Loss = Loss {
    id: "kernel-threads",
    title: "kernel threads",
    kind: Kind::Lost,
    help: "\
## What it is
The time of the kernel's own threads, by name: kipmi0 (the management controller's interface), kworker, kswapd0, migration.

## How it is measured
By traced switches, less interrupts and stolen time; else by the threads' run time in /proc/PID/schedstat, each on the
CPU it last ran on. The scheduler counts interrupts that come while a thread runs as the thread's; here they have lines
of their own, and what a thread took with them is shown beside the ledger. Work that the kernel does in a task's name (system calls, page faults) is that task's.

## What fixes it
kipmi0: `fullclock explain kipmid-busy`; others: `fullclock explain busy-kernel-threads`. They can often be kept off CPUs: `isolcpus=`, or their affinity.
",
    checks: &["kipmid-busy", "ipmi-without-interrupt", "vmstat-tick", "busy-kernel-threads"],
    of_parts: &[
        ("kipmid-busy", "kipmi"),
        ("ipmi-without-interrupt", "kipmi"),
        // vmstat_update runs in a kworker (mm/vmstat.c).
        ("vmstat-tick", "kworker/"),
    ],
    measure: kernel_threads,
};

fn kernel_threads(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let entries = books.tasks.as_ref()?.entries(Owner::Kernel).into_iter();
    Ok(entries.map(|it| Entry { party: party(&it.part), ..it }).collect())
}

/// Who is behind a thread, where its name tells: kipmi0 waits for the management controller's answers
/// (drivers/char/ipmi/ipmi_si_intf.c).
fn party(name: &str) -> Option<Party> {
    name.starts_with("kipmi").then_some(Party::ManagementController)
}

/// Tasks of users other than the chosen ones.
pub(super) const OTHER_TASKS: Loss = Loss {
    id: "other-tasks",
    title: "other tasks",
    kind: Kind::Lost,
    help: "\
## What it is
The time of users' tasks that were not requested, by name: what the CPUs gave to somebody else. Without `--pid`, `--server` or a
command every task of a user counts as useful, and nothing is entered here.

## How it is measured
By traced switches. Where all CPUs are traced, each name gets what the kernel counted of its tasks: a task that preempts another
one counts from the moment at which it is woken, and a trace shows the switch, microseconds later. Else by run times in
/proc/PID/task/TID/schedstat, each on the CPU that the task last ran on; where all CPUs are accounted for, what is more there
than all tasks ran goes to CPUs where they ran for longer than is known. What is
left is that of tasks that ended: of the chosen process or command as much as its own times say (wait4(2), /proc/PID/stat),
of other tasks the rest, without names.

## What fixes it
Other hours, other CPUs (cpusets, taskset), or a lower weight of their control group.
",
    checks: &[],
    of_parts: &[],
    measure: other_tasks,
};

fn other_tasks(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let tasks = books.tasks.as_ref()?;
    match &tasks.unnamed_users {
        Some(missing) => Err(missing.clone()),
        None => Ok(tasks.entries(Owner::Other)),
    }
}

/// What this program itself took. Interrupts that its reading causes on other CPUs cannot be separated from others.
pub(super) const MEASURING: Loss = Loss {
    id: "measuring",
    title: "measuring",
    kind: Kind::Lost,
    help: "\
## What it is
The time of this program's own threads, the clock probe included.

## How it is measured
As that of any task. What tracepoints cost is in whatever was traced.

## What fixes it
A longer interval, or fewer CPUs (`--cpus`).
",
    checks: &[],
    of_parts: &[],
    measure: measuring,
};

fn measuring(books: &Books<'_>) -> Fact<Vec<Entry>> {
    let entries = books.tasks.as_ref()?.entries(Owner::Observer).into_iter();
    Ok(entries.map(|it| Entry { part: String::new(), ..it }).collect())
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, ledger, loss, replaced, unexplained, untraced};

    /// What came while kipmi0 ran and has lines of its own.
    fn interrupted_ns(text: &str) -> Option<u64> {
        let ledger = ledger(text);
        let line = ledger.lines.iter().find(|it| it.part == "kipmi0");
        line.unwrap().interrupted_ns
    }

    #[test]
    fn what_came_while_a_thread_ran_is_known_besides() {
        let task = ("task 2 kipmi0 100000000", "task 2 kipmi0 100000000 interrupts 100 5000000");
        let traced = replaced(SECOND, &[task]);
        assert_eq!(interrupted_ns(&traced), Some(5_000_000));
        // What entry and exit took goes from one to the other: their sum is what the scheduler counts.
        let with_edge = replaced(&traced, &[("edge 0 0", "edge 4000 500")]);
        assert_eq!(interrupted_ns(&with_edge), Some(5_400_000));
        assert!(loss("kernel-threads", &with_edge).starts_with("kipmi0 99.6 ms"));
        let counted = replaced(&untraced(), &[("observer 20", "observer 20\ncost tick 40000")]);
        // 10 ms of ticks, of which 688/993 came in the tasks of CPU 0, and 100/688 of those in this one.
        assert_eq!(interrupted_ns(&counted).map(|ns| ns / 1000), Some(1007));
        assert!(loss("kernel-threads", &counted).starts_with("kipmi0 99.0 ms"));
    }

    #[test]
    fn a_finding_about_one_thread_stands_beside_no_other() {
        let since_boot = "//- /proc/uptime\n36000.10 70000.00\n\
                          //- /proc/412/stat\n412 (kipmi0) S 2 0 0 0 -1 2129984 \
                          0 0 0 0 0 0 0 0 39 19 1 0 10 0 0\n\
                          //- /proc/412/schedstat\n15480000000000 0 1\n";
        let text = replaced(
            &format!("{SECOND}{since_boot}"),
            &[("task 2 kipmi0 100000000", "task 2 kipmi0 60000000\ntask 77 kworker/0:9 40000000")],
        );
        assert_eq!(
            loss("kernel-threads", &text),
            "kipmi0 60.0 ms by tracepoint, management controller <- kipmid-busy  <- ipmi-without-interrupt\n\
             kworker/0:9 40.0 ms by tracepoint"
        );
    }

    #[test]
    fn a_worker_that_came_and_went_is_the_kernels() {
        let text = replaced(SECOND, &[("task 2 kipmi0", "task 77 kworker/0:9")]);
        assert_eq!(loss("kernel-threads", &text), "kworker/0:9 100.0 ms by tracepoint");
    }

    #[test]
    fn run_times_of_zero_everywhere_are_none() {
        let text = untraced()
            .replace("kernel 0 100000000", "kernel 0 0")
            .replace("user 0 578000000", "user 0 0")
            .replace("user 0 10000000", "user 0 0");
        assert_eq!(
            loss("kernel-threads", &text),
            "unknown: /proc/PID/schedstat: found \"0 0 0 for every task\", expected the time a task has run"
        );
    }

    #[test]
    fn a_trace_of_another_pid_namespace_names_nobody() {
        let text = SECOND
            .replace("\ntask 10 postgres", "\ntask 4010 postgres")
            .replace("\ntask 2 kipmi0", "\ntask 4002 kipmi0")
            .replace("\ntask 20 fullclock 1", "\ntask 4020 fullclock 1");
        // By the threads' own run times then, less the traced interrupts.
        assert_eq!(
            loss("kernel-threads", &text),
            "kipmi0 97.5 ms ±0.6 by counter, management controller"
        );
    }

    #[test]
    fn a_cpu_on_which_only_ended_descendants_ran_is_known_by_its_trace() {
        let idle =
            ("trace 1 idle 990000000", "trace 1 idle 490000000\ntask 44 gzip 500000000\nkin 44 10");
        let text = replaced(SECOND, &[idle, ("observer 20", "observer 20\nchosen 10")]);
        assert!(loss("useful", &text).contains("gzip "), "{}", loss("useful", &text));
    }

    const CHOSEN: &[(&str, &str)] = &[
        ("observer 20", "observer 20\nchosen 10"),
        ("task 10 postgres 560000000", "task 10 postgres 360000000\ntask 99 backup 200000000"),
    ];

    #[test]
    fn who_was_not_asked_for_is_shown_by_name() {
        let text = replaced(SECOND, CHOSEN);
        assert_eq!(loss("other-tasks", &text), "backup 200.0 ms by tracepoint");
        assert_eq!(unexplained(&text), "0.000");
    }

    #[test]
    fn another_process_of_its_name_is_not() {
        let text = replaced(SECOND, &[("observer 20", "observer 21")]);
        assert_eq!(loss("measuring", &text), "0.0 ms by counter");
    }

    #[test]
    fn a_thread_of_its_own_that_came_and_went_is_its_cost_too() {
        let text = replaced(
            SECOND,
            &[(
                "task 20 fullclock 10000000",
                "task 20 fullclock 4000000\ntask 25 probe 6000000\nkin 25 20",
            )],
        );
        assert_eq!(loss("measuring", &text), "10.0 ms by tracepoint");
    }
}
