//! What the calls by which tasks write a file were spent on: in the kernel and at the disk, or runnable without a CPU.
//!
//! A call that ends while a quota is used up may be held right on its way back to the program, after its tracepoint
//! (throttle_cfs_rq_work, kernel/sched/fair.c, Linux 6.18). So what is measured is the time of a call without any wait for a
//! CPU. The wait is what is left of the time that the program itself measured.

use super::waits::Left;
use super::{Event, What};
use std::collections::BTreeMap;

/// The calls of some tasks, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallTimes {
    /// How many calls ended.
    pub calls: u64,
    /// How many of them made their file durable.
    pub syncs: u64,
    /// Their time on a CPU and asleep, in ns.
    pub worked_ns: u64,
    /// Their time runnable and without a CPU, up to the end of each call in the kernel, in ns.
    pub waited_ns: u64,
    /// Events that were lost: with any, the times are too short.
    pub lost: u64,
}

/// Follows the calls of chosen tasks over all CPUs.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    tasks: BTreeMap<i32, Caller>,
    /// Events that are not settled.
    pending: Vec<(u64, i32, Step)>,
    times: CallTimes,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Got,
    Left(Left),
    Woken,
    Called,
    Returned { syncs: bool },
}

/// One task; of one in no call nothing is kept.
#[derive(Clone, Copy, Debug, Default)]
struct Caller {
    call: Option<Call>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Call {
    since_ns: u64,
    state: State,
    worked_ns: u64,
    waited_ns: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Running,
    Asleep,
    Waiting,
}

impl Calls {
    /// Follows these tasks, by thread ID, from the next event on.
    pub fn follow(tasks: impl IntoIterator<Item = i32>) -> Calls {
        let tasks = tasks.into_iter().map(|tid| (tid, Caller::default())).collect();
        Calls { tasks, ..Calls::default() }
    }

    /// Takes in an event of any CPU.
    pub fn push(&mut self, event: &Event) {
        let tasks = &self.tasks;
        let pending = &mut self.pending;
        let mut keep = |tid: i32, step| {
            if tasks.contains_key(&tid) {
                pending.push((event.at_ns, tid, step));
            }
        };
        match (event.what, event.running) {
            (What::Switch { prev, prev_state, next }, _) => {
                keep(prev.tid, Step::Left(Left::of(prev_state)));
                keep(next.tid, Step::Got);
            }
            (What::Wake(tid), _) => keep(tid, Step::Woken),
            (What::Called, Some(tid)) => keep(tid, Step::Called),
            (What::Returned { syncs }, Some(tid)) => keep(tid, Step::Returned { syncs }),
            // A ring that was found full says so, and how many it lost later.
            (What::Lost(n), _) => self.times.lost = self.times.lost.saturating_add(n.max(1)),
            _ => {}
        }
    }

    /// Says that every event up to `at_ns` has been pushed, and gives the calls that ended by then, since the beginning.
    pub fn settle(&mut self, at_ns: u64) -> CallTimes {
        // Stable, so that what happened within one stamp stays in its order.
        self.pending.sort_by_key(|&(at, ..)| at);
        let n_settled = self.pending.partition_point(|&(at, ..)| at <= at_ns);
        for (at, tid, step) in self.pending.drain(..n_settled) {
            let Some(task) = self.tasks.get_mut(&tid) else { continue };
            if let Some(ended) = task.step(at, step) {
                let times = &mut self.times;
                let syncs = matches!(step, Step::Returned { syncs: true });
                times.calls = times.calls.saturating_add(1);
                times.syncs = times.syncs.saturating_add(u64::from(syncs));
                times.worked_ns = times.worked_ns.saturating_add(ended.worked_ns);
                times.waited_ns = times.waited_ns.saturating_add(ended.waited_ns);
            }
        }
        self.times
    }
}

impl CallTimes {
    /// How long the calls of one write that was made durable worked: a write and its sync, or a write alone where no call syncs.
    pub fn worked_per_write_ns(self) -> Option<u64> {
        self.worked_ns.checked_div(if self.syncs > 0 { self.syncs } else { self.calls })
    }

    /// What was added since `earlier`; `None` where a count went backwards.
    pub fn since(self, earlier: CallTimes) -> Option<CallTimes> {
        Some(CallTimes {
            calls: self.calls.checked_sub(earlier.calls)?,
            syncs: self.syncs.checked_sub(earlier.syncs)?,
            worked_ns: self.worked_ns.checked_sub(earlier.worked_ns)?,
            waited_ns: self.waited_ns.checked_sub(earlier.waited_ns)?,
            lost: self.lost.checked_sub(earlier.lost)?,
        })
    }
}

impl Caller {
    /// The call that this step ended.
    fn step(&mut self, at_ns: u64, step: Step) -> Option<Call> {
        if let Some(call) = &mut self.call {
            call.charge(at_ns);
            call.state = match (step, call.state) {
                (Step::Got, _) => State::Running,
                (Step::Left(Left::Runnable), _) => State::Waiting,
                (Step::Left(_), _) => State::Asleep,
                // A wake-up of a task that has not left its CPU yet keeps it there.
                (Step::Woken, State::Asleep) => State::Waiting,
                (_, state) => state,
            };
        }
        match step {
            Step::Called => {
                self.call = Some(Call { since_ns: at_ns, ..Call::default() });
                None
            }
            Step::Returned { .. } => self.call.take(),
            _ => None,
        }
    }
}

impl Call {
    fn charge(&mut self, until_ns: u64) {
        let passed_ns = until_ns.saturating_sub(self.since_ns);
        self.since_ns = until_ns.max(self.since_ns);
        let account =
            if self.state == State::Waiting { &mut self.waited_ns } else { &mut self.worked_ns };
        *account = account.saturating_add(passed_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Task;

    const CALLED: What = What::Called;
    const WRITTEN: What = What::Returned { syncs: false };
    const SYNCED: What = What::Returned { syncs: true };

    fn switch(prev: i32, prev_state: u64, next: i32) -> What {
        let task = |tid| Task { tid, ..Task::default() };
        What::Switch { prev: task(prev), prev_state, next: task(next) }
    }

    /// `(at, cpu, running, what)`, of task 7.
    fn times(events: &[(u64, u32, i32, What)]) -> CallTimes {
        let mut calls = Calls::follow([7]);
        for &(at_ns, cpu, running, what) in events {
            calls.push(&Event { at_ns, cpu, running: Some(running), what });
        }
        calls.settle(10_000)
    }

    #[test]
    fn a_call_may_wait_for_a_cpu_several_times() {
        let events = [
            (100, 0, 7, CALLED),
            (110, 0, 7, WRITTEN),
            (200, 0, 7, CALLED),
            (220, 0, 7, switch(7, 2, 0)),
            (300, 1, 0, What::Wake(7)),
            // It waits, runs, is put off its CPU, waits again.
            (450, 1, 0, switch(0, 0, 7)),
            (460, 1, 7, switch(7, 0x100, 9)),
            (760, 0, 0, switch(0, 0, 7)),
            (770, 0, 7, SYNCED),
            // Outside of a call it waits, too.
            (780, 0, 7, switch(7, 0, 9)),
            (990, 0, 9, switch(9, 0, 7)),
        ];
        let found = times(&events);
        let expected =
            CallTimes { calls: 2, syncs: 1, worked_ns: 130, waited_ns: 150 + 300, lost: 0 };
        assert_eq!(found, expected);
        assert_eq!(found.worked_per_write_ns(), Some(130));
    }

    #[test]
    fn the_order_of_arrival_makes_no_difference() {
        let events = [
            (300, 1, 0, What::Wake(7)),
            (400, 1, 0, switch(0, 0, 7)),
            (500, 1, 7, SYNCED),
            (100, 0, 7, CALLED),
            (150, 0, 7, switch(7, 1, 0)),
        ];
        let found = times(&events);
        assert_eq!((found.worked_ns, found.waited_ns), (300, 100));
    }

    #[test]
    fn a_task_that_is_woken_before_it_leaves_its_cpu_does_not_wait() {
        let found = times(&[(100, 0, 7, CALLED), (200, 1, 0, What::Wake(7)), (300, 0, 7, SYNCED)]);
        assert_eq!((found.worked_ns, found.waited_ns), (200, 0));
    }

    #[test]
    fn calls_of_others_and_calls_that_did_not_end_are_not_counted() {
        let events = [
            // It began before anything was known.
            (50, 0, 7, SYNCED),
            (100, 0, 9, CALLED),
            (200, 0, 9, SYNCED),
            (300, 0, 7, CALLED),
            (20_000, 0, 7, SYNCED),
        ];
        assert_eq!(times(&events), CallTimes::default());
        assert_eq!(times(&events).worked_per_write_ns(), None);
    }

    #[test]
    fn a_method_that_needs_no_sync_counts_its_writes() {
        let found = times(&[
            (100, 0, 7, CALLED),
            (200, 0, 7, WRITTEN),
            (300, 0, 7, CALLED),
            (500, 0, 7, WRITTEN),
        ]);
        assert_eq!(found.worked_per_write_ns(), Some(150));
    }

    #[test]
    fn lost_events_are_told_even_where_their_number_is_not() {
        assert_eq!(times(&[(100, 0, 0, What::Lost(0)), (200, 0, 0, What::Lost(7))]).lost, 8);
    }
}
