//! The time of all tasks of one CPU together, which the kernel keeps in addition to each task's own, and what the kernel leaves out
//! of both.
//!
//! A sum over tasks lacks those that ended and puts those that moved on their last CPU; this one has neither fault.
//! Sources: cpuacct.usage_percpu of the root control group (Documentation/admin-guide/cgroup-v1/cpuacct.rst), which is
//! on the tasks' clock, and /proc/schedstat (Documentation/scheduler/sched-stats.rst), which is on the run queue's and
//! so only serves where the two clocks are the same.
//!
//! The task clock stands still in interrupts with CONFIG_IRQ_TIME_ACCOUNTING, unless `tsc=noirqtime` is on the boot line or
//! the TSC is unstable, and while the hypervisor runs something else with CONFIG_PARAVIRT_TIME_ACCOUNTING, unless
//! `no-steal-acc` is (update_rq_clock_task in kernel/sched/core.c). Traced time is wall time and leaves out neither.

use super::amount::part;
use super::evidence::Evidence;
use super::idle_time::idle_time;
use super::tasks::{Owner, Share, TaskIndex, TaskTimes};
use facts::counters::Family;
use facts::{Fact, HostView, Missing};

/// Tasks that the samples do not show, as a part of a line.
const UNSEEN: &str = "tasks that ended or moved";

/// Tasks of the chosen processes that the samples do not show, as a part of a line.
const ENDED: &str = "tasks that ended";

/// Tasks of users, where only threads of the kernel were sampled.
const NOT_SAMPLED: &str = "tasks of users, not recorded";
/// Tasks of which a trace lost sight, as a part of a line.
const UNTRACED: &str = "tasks that no trace shows";

/// How much of the time that no sample shows belongs to tasks of the chosen processes that have ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ended {
    ns: u64,
    /// The time that no sample shows, on all CPUs.
    unseen_ns: u64,
}

impl Ended {
    /// Of all CPUs together: on which of them the tasks ran is unknown.
    pub(crate) fn of(evidence: &Evidence<'_>, accounting: &Accounting, index: &TaskIndex) -> Ended {
        if evidence.ended_ns == 0 {
            return Ended::default();
        }
        let wall_ns = evidence.interval.elapsed_ns().unwrap_or(0);
        let unseen = |cpu| unseen_ns(evidence, accounting, cpu, index.on(cpu, wall_ns).ns());
        let unseen_ns = evidence.cpus.iter().map(unseen).fold(0, u64::saturating_add);
        Ended { ns: evidence.ended_ns.min(unseen_ns), unseen_ns }
    }
}

/// The time of `cpu` that was some task's, for all that is known, and none's of those that were sampled for `seen_ns`. Where
/// there is no sum over all tasks, it is what was not idle.
fn unseen_ns(evidence: &Evidence<'_>, accounting: &Accounting, cpu: u32, seen_ns: u64) -> u64 {
    let busy_ns = || {
        let wall_ns = evidence.interval.elapsed_ns().ok()?;
        let idle = idle_time(&evidence.interval, &evidence.traced_on(cpu), cpu, wall_ns).ok()?;
        Some(wall_ns.saturating_sub(idle.amount.ns))
    };
    let all_ns = total(evidence, accounting, cpu).or_else(busy_ns);
    all_ns.unwrap_or(0).saturating_sub(seen_ns)
}

/// `times` with what the sum over all tasks of `cpu` says: more is that of tasks which nobody has seen and which
/// `owner` answers for, but for those that `ended`; less takes from everybody alike, for some of their time was spent
/// elsewhere.
pub(crate) fn settle(
    mut times: TaskTimes,
    evidence: &Evidence<'_>,
    accounting: &Accounting,
    cpu: u32,
    owner: Owner,
    ended: Ended,
) -> TaskTimes {
    let seen_ns = times.ns();
    let Some(total_ns) = total(evidence, accounting, cpu) else {
        let unseen_ns = unseen_ns(evidence, accounting, cpu, seen_ns);
        let own_ns = part(unseen_ns, ended.ns, ended.unseen_ns);
        times.shares.extend((own_ns > 0).then(|| unattributed(Owner::Asked, ENDED, own_ns)));
        return times;
    };
    let apart = total_ns.abs_diff(seen_ns);
    if seen_ns > total_ns {
        times = times.without(apart);
    } else if apart > 0 {
        let name = if times.without_users.is_some() { NOT_SAMPLED } else { UNSEEN };
        let own_ns = part(apart, ended.ns, ended.unseen_ns);
        let shares = [(Owner::Asked, ENDED, own_ns), (owner, name, apart.saturating_sub(own_ns))];
        let shares = shares.into_iter().filter(|it| it.2 > 0);
        times.shares.extend(shares.map(|(owner, name, ns)| unattributed(owner, name, ns)));
    }
    // The sum is sure, and whose it is, is not; unless all of the kernel's threads were sampled, and no others.
    if times.without_users.is_none() {
        times.uncertainty_ns = times.uncertainty_ns.max(apart);
    }
    if owner == Owner::Asked {
        times.without_users = None;
    }
    times
}

/// `times` of a trace that lost sight of who ran for `unknown_ns`, with what the sum over all tasks of `cpu` says of
/// them: tasks of some machines switch without being traced.
///
/// `interrupted_ns` came in tasks, and is in the sum; so is stolen time, unless the tasks' clock leaves it out.
pub(crate) fn settle_traced(
    mut times: TaskTimes,
    evidence: &Evidence<'_>,
    accounting: &Accounting,
    cpu: u32,
    (unknown_ns, interrupted_ns, stolen_ns): (u64, u64, u64),
    owner: Owner,
) -> TaskTimes {
    let Some(total_ns) = total(evidence, accounting, cpu) else { return times };
    let is_left_out = |left_out: &Fact<bool>| matches!(left_out, Ok(true));
    let stolen_ns = if is_left_out(&accounting.leaves_out_steal) { stolen_ns } else { 0 };
    let interrupted_ns =
        if is_left_out(&accounting.leaves_out_interrupts) { 0 } else { interrupted_ns };
    let expected_ns = total_ns.saturating_add(stolen_ns);
    let seen_ns = times.ns().saturating_add(interrupted_ns);
    let ns = expected_ns.saturating_sub(seen_ns).min(unknown_ns);
    if ns > 0 {
        times.shares.push(unattributed(owner, UNTRACED, ns));
    }
    times
}

/// Time of tasks of which nothing else is known.
fn unattributed(owner: Owner, name: &str, ns: u64) -> Share {
    Share { owner, name: name.to_owned(), ns, interrupted: None }
}

/// Whether the sum over all tasks of `cpu` is known.
pub(crate) fn is_known(evidence: &Evidence<'_>, accounting: &Accounting, cpu: u32) -> bool {
    total(evidence, accounting, cpu).is_some()
}

fn total(evidence: &Evidence<'_>, accounting: &Accounting, cpu: u32) -> Option<u64> {
    let interval = &evidence.interval;
    let table = interval.after.table(Family::RunTime).ok()?;
    let same = |left_out: &Fact<bool>| matches!(left_out, Ok(false));
    let same_clock = same(&accounting.leaves_out_interrupts) && same(&accounting.leaves_out_steal);
    if table.source().is_none() && !same_clock {
        return None;
    }
    let rise = interval.rise(Family::RunTime, cpu, "run").ok()?;
    let wall_ns = interval.elapsed_ns().ok()?;
    Some((rise.by as f64 * wall_ns as f64 / rise.over_ns as f64) as u64)
}

/// What a task's run time leaves out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Accounting {
    /// Whether interrupts and softirqs are left out.
    pub(crate) leaves_out_interrupts: Fact<bool>,
    /// Whether stolen time is left out.
    pub(crate) leaves_out_steal: Fact<bool>,
}

impl Accounting {
    /// By the configuration of the host's kernel and its boot line.
    pub(crate) fn of(host: &HostView) -> Accounting {
        let says = |option, off: fn(&HostView) -> bool| -> Fact<bool> {
            let config = host.kernel.config.as_ref().map_err(Missing::clone)?;
            Ok(config.has(option) && !off(host))
        };
        Accounting {
            leaves_out_interrupts: says("IRQ_TIME_ACCOUNTING", |it| {
                boots_with(it, |line| line.value("tsc") == Some("noirqtime"))
            }),
            leaves_out_steal: says("PARAVIRT_TIME_ACCOUNTING", |it| {
                boots_with(it, |line| line.has("no-steal-acc"))
            }),
        }
    }
}

fn boots_with(
    host: &HostView,
    wanted: impl Fn(&facts::system::boot_line::BootLine) -> bool,
) -> bool {
    host.kernel.boot_line.as_ref().is_ok_and(wanted)
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, loss, replaced, unexplained, untraced};

    /// The text with the run time of all tasks at both ends, on a host whose two clocks are the same.
    fn with_sum(text: &str, ns: &str) -> String {
        replaced(
            text,
            &[
                ("groups\n//- after", "RunTime run\n0 0\n1 0\ngroups\n//- after"),
                ("groups\n//- seen", &format!("RunTime run\n0 {ns}\n1 0\ngroups\n//- seen")),
                ("CONFIG_HZ=250", "CONFIG_HZ=250\n# CONFIG_PARAVIRT_TIME_ACCOUNTING is not set"),
            ],
        )
    }

    #[test]
    fn what_no_task_accounts_for_is_that_of_tasks_that_ended_or_moved() {
        let useful = loss("useful", &with_sum(&untraced(), "700000000"));
        assert!(useful.contains("tasks that ended or moved"), "{useful}");
        assert!(!loss("useful", &untraced()).contains("tasks that ended or moved"));
    }

    #[test]
    fn what_ended_tasks_of_the_chosen_ran_is_theirs_and_no_more_of_it() {
        let with_ended = |ns: &str| {
            let ended = format!("observer 20\nchosen 10\nended {ns}");
            replaced(&with_sum(&untraced(), "700000000"), &[("observer 20", &ended)])
        };
        let unseen = "tasks that ended or moved";
        assert!(loss("other-tasks", &with_ended("0")).contains(unseen));
        let all = with_ended("999000000");
        assert!(!loss("other-tasks", &all).contains(unseen), "{}", loss("other-tasks", &all));
        assert!(loss("useful", &all).contains("tasks that ended"), "{}", loss("useful", &all));
        let some = with_ended("1000000");
        assert!(loss("other-tasks", &some).contains(unseen), "{}", loss("other-tasks", &some));
        assert!(loss("useful", &some).contains("tasks that ended"), "{}", loss("useful", &some));
    }

    #[test]
    fn more_than_all_tasks_ran_is_taken_from_everybody_alike() {
        // The tasks' own counts add up to 688 ms.
        let text = with_sum(&untraced(), "344000000");
        assert!(loss("kernel-threads", &text).starts_with("kipmi0 50.0 ms"));
    }

    #[test]
    fn without_a_sum_ended_tasks_of_the_chosen_fill_no_more_than_what_was_not_idle() {
        let ran = |ns: &str| {
            let ended = format!("observer 20\nchosen 10\nended {ns}");
            replaced(&untraced(), &[("observer 20", &ended)])
        };
        let nothing = loss("useful", &ran("0"));
        assert!(!nothing.contains("tasks that ended"), "{nothing}");
        let part = loss("useful", &ran("2000000"));
        // Of 2 ms, at the clock of this CPU.
        assert!(part.contains("tasks that ended 1.6 ms"), "{part}");
        assert_eq!(loss("useful", &ran("9000000000")), loss("useful", &ran("2000000000")));
        // In milliseconds.
        assert_eq!(unexplained(&ran("0")), "22.000");
        assert_eq!(unexplained(&ran("9000000000")), "0.000");
    }

    const LOST: &[(&str, &str)] =
        &[("task 10 postgres 560000000", "task 10 postgres 460000000\nlost 1 100000000")];

    #[test]
    fn a_trace_that_lost_sight_of_a_task_is_told_of_its_time_and_of_no_more() {
        // Tasks ended, so that their own counts lack more than the trace does.
        let ended = ("postgres user 0 578000000", "postgres user 0 78000000");
        let lost = replaced(SECOND, &[LOST, &[ended]].concat());
        let part = |ns: &str| loss("useful", &with_sum(&lost, ns));
        assert!(part("687000000").contains("tasks that no trace shows"), "{}", part("687000000"));
        assert!(!part("587000000").contains("tasks that no trace shows"));
    }

    #[test]
    fn the_tasks_own_counts_are_better_than_a_trace_that_lost_sight_of_more() {
        let useful = loss("useful", &with_sum(&replaced(SECOND, LOST), "688000000"));
        assert!(useful.contains("by counter"), "{useful}");
        let useful = loss("useful", &replaced(SECOND, LOST));
        assert!(!useful.contains("by counter"), "{useful}");
    }

    #[test]
    fn a_sum_on_another_clock_is_left_alone() {
        let text = replaced(
            &with_sum(&untraced(), "700000000"),
            &[("# CONFIG_IRQ_TIME_ACCOUNTING is not set", "CONFIG_IRQ_TIME_ACCOUNTING=y")],
        );
        assert!(!loss("useful", &text).contains("ended or moved"));
    }
}
