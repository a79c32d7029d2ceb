//! Looks for a scheduler of sched_ext, loaded as a BPF program.
//!
//! Source: kernel/sched/ext.c, Documentation/scheduler/sched-ext.rst. Nothing here tells whether it is a good one: it is named because a
//! result with it does not compare with one without.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::HostView;
use facts::system::scheduler::{SCHED_EXT, SchedExt};

pub(crate) const CHECK: Check = Check {
    id: "foreign-scheduler",
    title: "a scheduler of sched_ext is in force instead of the kernel's own",
    doc: "\
## What it looks at
`/sys/kernel/sched_ext/state`, and, where it is not `disabled`, the name in `root/ops` (Linux 6.12 and later).

## Why it matters
A scheduler of sched_ext is a BPF program that decides what runs where and for how long, in place of the kernel's fair scheduler. It also
tells the governor schedutil which clock it wants, so that clocks differ, too. It ends, and the kernel's own takes over again, when its
program ends or when it lets a task wait for too long: an unattended change in the middle of a test. Nice values, CPU weights of control
groups and what is known of the fair scheduler's settings need not hold under it.

It is a note: many such schedulers are faster than the kernel's for what they are made for. Results of `bench` have its name in the
description of the machine, and two results with different schedulers are said to differ in it.

## When to leave it alone
Where somebody chose it for this load and measured. A database vendor's numbers were measured without one.
",
    references: &[Reference {
        title: "Linux: Extensible Scheduler Class",
        url: "https://docs.kernel.org/scheduler/sched-ext.html",
    }],
    run,
};

fn run(host: &HostView) -> Verdict {
    let SchedExt::On { state, name, is_for_all } = host.scheduler.ext.as_ref()? else {
        return Ok(Vec::new());
    };
    let subject = match name {
        Ok(name) => format!("the sched_ext scheduler {name}"),
        Err(_) => "a sched_ext scheduler".to_owned(),
    };
    let what = match is_for_all {
        Ok(false) => "tasks of the policy SCHED_EXT",
        _ => "normal tasks instead of the kernel's own",
    };
    let message = format!("{subject} schedules {what}");
    let mut finding = Finding::new(Severity::Info, Confidence::High, message)
        .evidence(format!("{SCHED_EXT}/state"), state);
    if let Ok(name) = name {
        finding = finding.evidence(format!("{SCHED_EXT}/root/ops"), name);
    }
    Ok(vec![finding.fix_lasting(
        "only if it was not chosen for this load: stop the program that loaded it, and disable its service",
    )])
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    const FOLDER: &str = "//- /sys/kernel/sched_ext";

    #[test]
    fn a_scheduler_in_force_is_a_note_with_its_name() {
        let host =
            format!("{FOLDER}/state\nenabled\n{FOLDER}/root/ops\nlavd\n{FOLDER}/switch_all\n1\n");
        assert_eq!(
            verdict(&CHECK, &host),
            "info: the sched_ext scheduler lavd schedules normal tasks instead of the kernel's own"
        );
        assert_eq!(
            verdict(&CHECK, &host.replace("\n1\n", "\n0\n")),
            "info: the sched_ext scheduler lavd schedules tasks of the policy SCHED_EXT"
        );
    }

    #[test]
    fn one_that_goes_at_this_moment_has_no_name() {
        assert_eq!(
            verdict(&CHECK, &format!("{FOLDER}/state\ndisabling\n")),
            "info: a sched_ext scheduler schedules normal tasks instead of the kernel's own"
        );
    }

    #[test]
    fn a_kernel_that_could_have_one_is_clean_and_one_that_could_not_has_nothing_to_judge() {
        assert_eq!(verdict(&CHECK, &format!("{FOLDER}/state\ndisabled\n")), "clean");
        assert_eq!(
            verdict(&CHECK, ""),
            "not applicable: /sys/kernel/sched_ext/state does not exist"
        );
    }

    #[test]
    fn a_state_that_cannot_be_read_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &format!("{FOLDER}/state\n!denied\n")),
            "unknown: /sys/kernel/sched_ext/state may not be read"
        );
    }
}
