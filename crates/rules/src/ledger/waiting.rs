//! How long the chosen processes waited for a CPU: demand, not capacity.
//!
//! The kernel counts it of every task (/proc/PID/task/TID/schedstat), and forgets it when the task ends. Of one that ended it
//! tells, at that moment, whoever listens; and a trace shows it, less well: from each wake-up, and from being put off a CPU, until
//! it runs. Where nothing tells it, the sum is unknown: without the threads of a load generator, which end before it does, it
//! would read as if nothing had waited.

use super::books::Shared;
use super::evidence::Evidence;
use super::owner::Owner;
use super::settlement::Settlement;
use super::tasks::{is_asked, owner_of_process};
use facts::trace::waits::Wait;
use facts::{Fact, Missing, Why};
use std::collections::{BTreeMap, BTreeSet};

/// How long the chosen processes waited for a CPU, all their threads together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Runnable, and not running, in nanoseconds.
    pub ns: u64,
    /// What of that is the server's, where a server was chosen and other processes besides.
    pub server_ns: Option<u64>,
    /// Stopped by a signal or a debugger, in nanoseconds, where that was traced.
    pub stopped_ns: Option<u64>,
}

/// The waits of the chosen processes; `None` where none was chosen.
pub(super) fn waiting(evidence: &Evidence<'_>, shared: &Shared<'_>) -> Option<Fact<Waiting>> {
    if !evidence.has_chosen() {
        return None;
    }
    let stopped_ns = traced(evidence).map(|(_, wait)| wait.stopped_ns).reduce(u64::saturating_add);
    Some(waits(evidence, shared).map(|waits| {
        let is_beside_others = evidence.server.is_some() && !evidence.chosen.is_empty();
        let of_server = waits.iter().filter(|(pid, _)| evidence.is_servers(*pid));
        let server_ns = is_beside_others.then(|| sum(of_server));
        Waiting { ns: sum(waits.iter()), server_ns, stopped_ns }
    }))
}

fn sum<'a>(waits: impl Iterator<Item = &'a (u32, u64)>) -> u64 {
    waits.fold(0, |sum, (_, ns)| sum.saturating_add(*ns))
}

/// How long each thread of the chosen processes waited, in nanoseconds, with its process.
fn waits(evidence: &Evidence<'_>, shared: &Shared<'_>) -> Fact<Vec<(u32, u64)>> {
    let (deltas, _) = evidence.interval.task_deltas()?;
    let there = deltas.iter().filter(|it| is_asked(evidence, it.task));
    let mut waits: Vec<(u32, u64)> = there.clone().map(|it| (it.task.pid, it.wait_ns)).collect();
    let there: BTreeSet<u32> = there.map(|it| it.task.tid).collect();
    let exited = exited(evidence, &there);
    unseen(evidence, shared, &there, &exited)?;
    waits.extend(exited.values().map(|it| (it.pid, it.wait_ns)));
    let is_told = |tid: u32| there.contains(&tid) || exited.contains_key(&tid);
    let gone = traced(evidence).filter(|(tid, _)| !is_told(*tid));
    let gone = gone.map(|(tid, wait)| (process_of(evidence, tid).unwrap_or(tid), wait.runnable_ns));
    waits.extend(gone);
    if waits.is_empty() {
        return Err(Missing::absent("a thread of the chosen processes"));
    }
    Ok(waits)
}

/// The process of a thread as a sample shows it, or the one that it descends from.
fn process_of(evidence: &Evidence<'_>, tid: u32) -> Option<u32> {
    let ends = [&evidence.interval.before.tasks, &evidence.interval.after.tasks];
    let sampled = ends.into_iter().flatten().find_map(|it| it.get(tid)).map(|it| it.pid);
    sampled.or_else(|| evidence.kin.get(&tid).copied())
}

/// What one thread ran and waited in the interval.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    pid: u32,
    run_ns: u64,
    wait_ns: u64,
}

/// The threads of the chosen processes that ended in the interval and are not `there` at its end, as the kernel told of them.
fn exited(evidence: &Evidence<'_>, there: &BTreeSet<u32>) -> BTreeMap<u32, Spent> {
    let before = &evidence.interval.before.tasks;
    let mut exited: BTreeMap<u32, Spent> = BTreeMap::new();
    for exit in evidence.exits.iter().flatten().filter(|it| !there.contains(&it.tid)) {
        // A number that was given anew is that of a task that has run for less.
        let before = before.iter().find_map(|it| it.get(exit.tid));
        let before = before.filter(|it| it.run_ns <= exit.run_ns && it.wait_ns <= exit.wait_ns);
        let is_of_chosen = |pid: u32| owner_of_process(evidence, pid) == Owner::Asked;
        let is_asked = match before {
            Some(task) => is_asked(evidence, task),
            None => passed(evidence, exit.tid) || exit.process.is_some_and(is_of_chosen),
        };
        if is_asked {
            let spent = exited.entry(exit.tid).or_default();
            spent.pid = process_of(evidence, exit.tid).or(exit.process).unwrap_or(exit.tid);
            let (run_ns, wait_ns) = before.map_or((0, 0), |it| (it.run_ns, it.wait_ns));
            spent.run_ns = spent.run_ns.saturating_add(exit.run_ns - run_ns);
            spent.wait_ns = spent.wait_ns.saturating_add(exit.wait_ns - wait_ns);
        }
    }
    exited
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

/// Errors: threads of the chosen processes have ended, and nothing tells how long they waited. `there` are those that have not,
/// `exited` those of which the kernel told.
fn unseen(
    evidence: &Evidence<'_>,
    shared: &Shared<'_>,
    there: &BTreeSet<u32>,
    exited: &BTreeMap<u32, Spent>,
) -> Fact<()> {
    if are_all_told(evidence, exited) {
        return Ok(());
    }
    let unknown =
        |text| Err(Missing { what: "the wait of its threads".to_owned(), why: Why::Failed(text) });
    let before = evidence.interval.before.tasks.as_ref()?;
    let before = before.list.iter().filter(|it| is_asked(evidence, it)).map(|it| it.tid);
    let passing = evidence.passing.iter().copied();
    let kin = evidence.kin.keys().copied().filter(|tid| passed(evidence, *tid));
    let ended: BTreeSet<u32> = before.chain(passing).chain(kin).collect();
    let is_told = |tid: u32| there.contains(&tid) || exited.contains_key(&tid);
    let is_unknown = |tid: &&u32| !is_told(**tid) && !evidence.kept_off.contains_key(tid);
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

/// Whether the threads that are known to have `exited` ran as long as all that ended did, by the count of whoever waited for them.
/// What is a tenth of their time hides no wait that matters.
fn are_all_told(evidence: &Evidence<'_>, exited: &BTreeMap<u32, Spent>) -> bool {
    let Ok(ended) = &evidence.ended else { return false };
    let ran_ns = exited.values().fold(0, |sum: u64, it| sum.saturating_add(it.run_ns));
    let told_ns = ran_ns.saturating_add(ran_ns / 10).saturating_add(ended.uncertainty_ns);
    evidence.exits.is_ok() && ended.ns <= told_ns
}
