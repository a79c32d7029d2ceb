//! How long chosen tasks were kept from running: preempted while runnable, or stopped by a signal.
//!
//! A task leaves on one CPU and comes back on another, and the events of two CPUs arrive one CPU after the
//! other. So switches are kept until [`Waits::settle`] says that all events before some moment have
//! arrived. What is not known here: the wait of a task that slept, between being woken and running; a switch
//! does not tell when it was woken.

use super::{Event, What};
use std::collections::BTreeMap;

/// Why a task left the CPU, by the prev_state of sched:sched_switch (__trace_sched_switch_state,
/// include/trace/events/sched.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It could have gone on: another task was put in its place, or it yielded.
    Runnable,
    /// A signal or a debugger stopped it.
    Stopped,
    /// It waits for something, or it ended.
    Asleep,
}

impl Left {
    /// The meaning of a prev_state.
    pub fn of(prev_state: u64) -> Left {
        /// __TASK_STOPPED and __TASK_TRACED, include/linux/sched.h.
        const STOPPED: u64 = 0x4 | 0x8;
        // Preemption is marked above all states, with a bit that moves between kernels (TASK_REPORT_MAX).
        const STATES: u64 = 0xff;
        match prev_state & STATES {
            0 => Left::Runnable,
            state if state & STOPPED != 0 => Left::Stopped,
            _ => Left::Asleep,
        }
    }
}

/// How long one task was kept from running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// Time off the CPU although runnable, since it was put off it, in ns.
    pub preempted_ns: u64,
    /// Time from leaving the CPU stopped until it ran again, in ns.
    pub stopped_ns: u64,
}

/// The waits of chosen tasks, over all CPUs.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    tasks: BTreeMap<i32, Waiting>,
    /// Switches that are not settled: when, who, and how it left the CPU; `None` when it got it.
    pending: Vec<(u64, i32, Option<Left>)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    off: Option<(u64, Left)>,
    wait: Wait,
}

impl Waits {
    /// Follows one more task from the next event on.
    pub fn follow(&mut self, tid: i32) {
        self.tasks.entry(tid).or_default();
    }

    /// Takes in an event of any CPU; all but switches of followed tasks are ignored.
    pub fn push(&mut self, event: &Event) {
        let What::Switch { prev, prev_state, next } = event.what else { return };
        if self.tasks.contains_key(&prev.tid) {
            self.pending.push((event.at_ns, prev.tid, Some(Left::of(prev_state))));
        }
        if self.tasks.contains_key(&next.tid) {
            self.pending.push((event.at_ns, next.tid, None));
        }
    }

    /// Says that every event up to `at_ns` has been pushed, and works off those.
    pub fn settle(&mut self, at_ns: u64) {
        // Stable, so that a switch away and back within one stamp stays in its order.
        self.pending.sort_by_key(|&(at, ..)| at);
        let n_settled = self.pending.partition_point(|&(at, ..)| at <= at_ns);
        for (at, tid, left) in self.pending.drain(..n_settled) {
            let Some(task) = self.tasks.get_mut(&tid) else { continue };
            task.charge(at);
            task.off = left.map(|left| (at, left));
        }
        self.tasks.values_mut().for_each(|task| task.charge(at_ns));
    }

    /// The waits up to the last settled moment, since the last call.
    pub fn take(&mut self) -> impl Iterator<Item = (i32, Wait)> + '_ {
        self.tasks.iter_mut().map(|(&tid, task)| (tid, std::mem::take(&mut task.wait)))
    }
}

impl Waiting {
    fn charge(&mut self, until_ns: u64) {
        let Some((since_ns, left)) = &mut self.off else { return };
        let waited_ns = until_ns.saturating_sub(*since_ns);
        *since_ns = until_ns.max(*since_ns);
        let account = match left {
            Left::Runnable => &mut self.wait.preempted_ns,
            Left::Stopped => &mut self.wait.stopped_ns,
            Left::Asleep => return,
        };
        *account = account.saturating_add(waited_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Task;

    /// `(at, cpu, from, state, to)`
    fn waits(switches: &[(u64, u32, i32, u64, i32)], settled_ns: u64) -> Waits {
        let task = |tid| Task { tid, ..Task::default() };
        let mut waits = Waits::default();
        waits.follow(7);
        for &(at_ns, cpu, prev, prev_state, next) in switches {
            let what = What::Switch { prev: task(prev), prev_state, next: task(next) };
            waits.push(&Event { at_ns, cpu, running: Some(prev), what });
        }
        waits.settle(settled_ns);
        waits
    }

    fn ns(waits: &mut Waits) -> (u64, u64) {
        waits.take().map(|(_, it)| (it.preempted_ns, it.stopped_ns)).next().unwrap()
    }

    #[test]
    fn a_task_that_is_preempted_here_and_goes_on_there_waited_in_between() {
        // The other CPU's event arrives first.
        assert_eq!(ns(&mut waits(&[(400, 1, 0, 0, 7), (100, 0, 7, 0x100, 9)], 1000)), (300, 0));
    }

    #[test]
    fn a_stopped_task_is_stopped_until_it_runs_again() {
        assert_eq!(ns(&mut waits(&[(100, 0, 7, 4, 0), (900, 0, 0, 0, 7)], 1000)), (0, 800));
        assert_eq!(ns(&mut waits(&[(100, 0, 7, 8, 0)], 1000)), (0, 900));
    }

    #[test]
    fn sleep_is_no_wait() {
        assert_eq!(ns(&mut waits(&[(100, 0, 7, 1, 0), (900, 0, 0, 0, 7)], 1000)), (0, 0));
    }

    #[test]
    fn a_wait_that_lasts_is_counted_in_the_interval_in_which_it_passed() {
        let mut waits = waits(&[(100, 0, 7, 0, 9)], 1000);
        assert_eq!(ns(&mut waits), (900, 0));
        waits.settle(1500);
        assert_eq!(ns(&mut waits), (500, 0));
    }

    #[test]
    fn what_is_not_settled_waits_for_its_turn() {
        let mut waits = waits(&[(100, 0, 7, 0, 9), (2000, 0, 9, 0, 7)], 1000);
        assert_eq!(ns(&mut waits), (900, 0));
        waits.settle(3000);
        assert_eq!(ns(&mut waits), (1000, 0));
    }

    #[test]
    fn a_state_is_read_below_the_mark_of_preemption() {
        let left = [0, 0x100, 0x800, 1, 2, 4, 8, 0x40, 0x80].map(Left::of);
        assert_eq!(left[..3], [Left::Runnable; 3]);
        assert_eq!((left[5], left[6]), (Left::Stopped, Left::Stopped));
        assert!([3, 4, 7, 8].iter().all(|&at| left[at] == Left::Asleep));
    }
}
