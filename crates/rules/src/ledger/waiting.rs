//! How long the chosen processes waited for a CPU: demand, not capacity.
//!
//! The kernel counts it of every task (/proc/PID/task/TID/schedstat), and forgets it when the task ends. Of one that ended a
//! trace tells it: from each wake-up, and from being put off a CPU, until it runs. Where nothing tells it, the sum is unknown:
//! without the threads of a load generator, which end before it does, it would read as if nothing had waited.

use super::books::Shared;
use super::evidence::Evidence;
use super::owner::Owner;
use super::settlement::Settlement;
use super::tasks::{is_asked, owner_of_process};
use facts::trace::waits::Wait;
use facts::{Fact, Missing, Why};
use std::collections::BTreeSet;

/// How long the chosen processes waited for a CPU, all their threads together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Runnable, and not running, in nanoseconds.
    pub ns: u64,
    /// Stopped by a signal or a debugger, in nanoseconds, where that was traced.
    pub stopped_ns: Option<u64>,
}

/// The waits of the chosen processes; `None` where none was chosen.
pub(super) fn waiting(evidence: &Evidence<'_>, shared: &Shared<'_>) -> Option<Fact<Waiting>> {
    if !evidence.has_chosen() {
        return None;
    }
    let stopped_ns = traced(evidence).map(|(_, wait)| wait.stopped_ns).reduce(u64::saturating_add);
    Some(waited(evidence, shared).map(|ns| Waiting { ns, stopped_ns }))
}

fn waited(evidence: &Evidence<'_>, shared: &Shared<'_>) -> Fact<u64> {
    let (deltas, _) = evidence.interval.task_deltas()?;
    let there = deltas.iter().filter(|it| is_asked(evidence, it.task));
    let counted = there.clone().map(|it| it.wait_ns).reduce(u64::saturating_add);
    let there: BTreeSet<u32> = there.map(|it| it.task.tid).collect();
    let gone = traced(evidence).filter(|(tid, _)| !there.contains(tid));
    let gone = gone.map(|(_, wait)| wait.runnable_ns).reduce(u64::saturating_add);
    unseen(evidence, shared, &there)?;
    let all = [counted, gone].into_iter().flatten().reduce(u64::saturating_add);
    all.ok_or_else(|| Missing::absent("a thread of the chosen processes"))
}

/// What was traced of threads of the chosen processes.
fn traced<'a>(evidence: &'a Evidence<'_>) -> impl Iterator<Item = (u32, Wait)> + 'a {
    let is_of_chosen = |tid: u32| {
        let ends = [&evidence.interval.before.tasks, &evidence.interval.after.tasks];
        let found = ends.into_iter().flatten().find_map(|it| it.get(tid));
        found.map_or_else(|| passed(evidence, tid), |it| is_asked(evidence, it))
    };
    let waits = evidence.kept_off.iter().filter(move |(tid, _)| is_of_chosen(**tid));
    waits.map(|(tid, wait)| (*tid, *wait))
}

/// Whether a task that is in no sample is a thread of the chosen processes.
fn passed(evidence: &Evidence<'_>, tid: u32) -> bool {
    let kin = evidence.kin.get(&tid);
    evidence.passing.contains(&tid)
        || kin.is_some_and(|pid| owner_of_process(evidence, *pid) == Owner::Asked)
}

/// Errors: threads of the chosen processes have ended, and nothing tells how long they waited. `there` are those that have not.
fn unseen(evidence: &Evidence<'_>, shared: &Shared<'_>, there: &BTreeSet<u32>) -> Fact<()> {
    let unknown =
        |text| Err(Missing { what: "the wait of its threads".to_owned(), why: Why::Failed(text) });
    let before = evidence.interval.before.tasks.as_ref()?;
    let before = before.list.iter().filter(|it| is_asked(evidence, it)).map(|it| it.tid);
    let passing = evidence.passing.iter().copied();
    let kin = evidence.kin.keys().copied().filter(|tid| passed(evidence, *tid));
    let ended: BTreeSet<u32> = before.chain(passing).chain(kin).collect();
    let is_unknown = |tid: &&u32| !there.contains(tid) && !evidence.kept_off.contains_key(tid);
    let n_unknown = ended.iter().filter(is_unknown).count();
    let ended = evidence.ended.as_ref().ok().filter(|it| it.ns > it.uncertainty_ns);
    if evidence.kept_off.is_empty() {
        return match (n_unknown, ended) {
            (0, None) => Ok(()),
            (0, Some(ended)) => {
                let seconds = ended.ns as f64 / 1e9;
                unknown(format!("some ended untraced that ran {seconds:.3} s"))
            }
            (n, _) => unknown(format!("{n} of them ended untraced")),
        };
    }
    // Tasks of some machines run without being traced. What is a tenth of their time hides no wait that matters.
    let (untraced_ns, ran_ns) =
        shared.settled.as_ref().map_or((0, 0), Settlement::untraced_of_chosen);
    if untraced_ns > ran_ns / 10 {
        let seconds = untraced_ns as f64 / 1e9;
        return unknown(format!("no trace shows {seconds:.3} s of the time that they ran"));
    }
    Ok(())
}
