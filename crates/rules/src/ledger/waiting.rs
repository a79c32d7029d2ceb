//! How long the tasks that were asked for could have run and did not: demand, not capacity.

use super::evidence::Evidence;
use super::tasks::is_asked;
use facts::counters::Task;
use facts::{Fact, Missing};

/// How long the chosen processes waited for a CPU, all their threads together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Runnable, and not running, in nanoseconds.
    pub ns: u64,
    /// Stopped by a signal or a debugger, in nanoseconds, where that was traced.
    pub stopped_ns: Option<u64>,
}

/// The waits of the chosen processes; `None` where none was chosen.
pub(crate) fn waiting(evidence: &Evidence<'_>) -> Option<Fact<Waiting>> {
    if evidence.chosen.is_empty() {
        return None;
    }
    let stopped_ns = evidence.kept_off.map(|it| it.stopped_ns);
    Some(waited(evidence).map(|ns| Waiting { ns, stopped_ns }))
}

fn waited(evidence: &Evidence<'_>) -> Fact<u64> {
    let before = evidence.interval.before.tasks.as_ref()?;
    let after = evidence.interval.after.tasks.as_ref()?;
    let mut sum: Option<u64> = None;
    for task in after.list.iter().filter(|it| is_asked(evidence, it)) {
        let earlier = before.get(task.tid).filter(|it| it.is_same(task)).map_or(0, |it| it.wait_ns);
        let waited = task.wait_ns.checked_sub(earlier).ok_or_else(|| backwards(task, earlier))?;
        sum = Some(sum.unwrap_or(0).saturating_add(waited));
    }
    sum.ok_or_else(|| Missing::absent("a thread of the chosen processes"))
}

fn backwards(task: &Task, earlier: u64) -> Missing {
    let what = format!("/proc/{}/task/{}/schedstat", task.pid, task.tid);
    let found = format!("{} after {earlier}", task.wait_ns);
    Missing::malformed(what, &found, "a counter that does not go backwards")
}
