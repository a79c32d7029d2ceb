//! How long chosen tasks were kept from running: runnable without a CPU, or stopped by a signal.
//!
//! A task leaves on one CPU and comes back on another, is woken on a third, and the events of two CPUs arrive one CPU after the
//! other. So events are kept until [`Waits::settle`] says that all before some moment have arrived. A task that a followed
//! task makes is followed too, from the moment it is made.

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
    /// Time off the CPU although runnable, since it was put off it or woken, in ns.
    pub runnable_ns: u64,
    /// Time from leaving the CPU stopped until it ran again, in ns.
    pub stopped_ns: u64,
}

/// The waits of chosen tasks, over all CPUs.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    tasks: BTreeMap<i32, Waiting>,
    /// Events that are not settled: when, who, and what happened to it.
    pending: Vec<(u64, i32, Step)>,
    settled_ns: u64,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// It got a CPU.
    Got,
    /// It left its CPU.
    Left(Left),
    /// It can run.
    Woken,
    /// It made this task.
    Made(i32),
}

#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    state: State,
    wait: Wait,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Unknown,
    Running,
    Off {
        since_ns: u64,
        left: Left,
    },
}

impl Waits {
    /// Follows one more task from the next event on.
    pub fn follow(&mut self, tid: i32) {
        self.tasks.entry(tid).or_default();
    }

    /// Takes in an event of any CPU; all but switches, wake-ups and forks are ignored.
    pub fn push(&mut self, event: &Event) {
        if self.tasks.is_empty() {
            return;
        }
        let mut keep = |tid, step| self.pending.push((event.at_ns, tid, step));
        match event.what {
            What::Switch { prev, prev_state, next } => {
                keep(prev.tid, Step::Left(Left::of(prev_state)));
                keep(next.tid, Step::Got);
            }
            What::Wake(tid) => keep(tid, Step::Woken),
            What::Fork { parent, child } => keep(parent, Step::Made(child)),
            _ => {}
        }
    }

    /// Says that every event up to `at_ns` has been pushed, and works off those.
    pub fn settle(&mut self, at_ns: u64) {
        // Stable, so that a switch away and back within one stamp stays in its order.
        self.pending.sort_by_key(|&(at, ..)| at);
        let n_settled = self.pending.partition_point(|&(at, ..)| at <= at_ns);
        for (at, tid, step) in self.pending.drain(..n_settled) {
            let Some(task) = self.tasks.get_mut(&tid) else { continue };
            match step {
                Step::Made(child) => {
                    self.tasks.entry(child).or_default();
                }
                step => task.step(at, step),
            }
        }
        self.settled_ns = self.settled_ns.max(at_ns);
    }

    /// The waits of every followed task up to the last settled moment, since the last call.
    pub fn take(&mut self) -> impl Iterator<Item = (i32, Wait)> + '_ {
        let until_ns = self.settled_ns;
        self.tasks.iter_mut().map(move |(&tid, task)| {
            task.charge(until_ns);
            (tid, std::mem::take(&mut task.wait))
        })
    }
}

impl Waiting {
    fn step(&mut self, at_ns: u64, step: Step) {
        match (step, self.state) {
            (Step::Got, _) => {
                self.charge(at_ns);
                self.state = State::Running;
            }
            // It had a CPU all the same: the switch to it was lost, and nothing tells since when.
            (Step::Left(left), _) => self.state = State::Off { since_ns: at_ns, left },
            (Step::Woken, State::Unknown) => self.wait_from(at_ns),
            (Step::Woken, State::Off { left: Left::Asleep | Left::Stopped, .. }) => {
                self.charge(at_ns);
                self.wait_from(at_ns);
            }
            // A wake-up of a task that has not left its CPU yet keeps it there.
            (Step::Woken | Step::Made(_), _) => {}
        }
    }

    fn wait_from(&mut self, since_ns: u64) {
        self.state = State::Off { since_ns, left: Left::Runnable };
    }

    fn charge(&mut self, until_ns: u64) {
        let State::Off { since_ns, left } = &mut self.state else { return };
        let waited_ns = until_ns.saturating_sub(*since_ns);
        *since_ns = until_ns.max(*since_ns);
        let account = match left {
            Left::Runnable => &mut self.wait.runnable_ns,
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
        waits.take().map(|(_, it)| (it.runnable_ns, it.stopped_ns)).next().unwrap()
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

    /// `(at, cpu, what)`
    fn of_events(events: &[(u64, u32, What)], settled_ns: u64) -> BTreeMap<i32, u64> {
        let mut waits = Waits::default();
        waits.follow(7);
        for &(at_ns, cpu, what) in events {
            waits.push(&Event { at_ns, cpu, running: None, what });
        }
        waits.settle(settled_ns);
        waits.take().map(|(tid, it)| (tid, it.runnable_ns)).collect()
    }

    fn switch(prev: i32, prev_state: u64, next: i32) -> What {
        let task = |tid| Task { tid, ..Task::default() };
        What::Switch { prev: task(prev), prev_state, next: task(next) }
    }

    #[test]
    fn a_task_that_slept_waits_from_its_wake_up_on() {
        let events =
            [(900, 1, switch(9, 0, 7)), (100, 0, switch(7, 1, 0)), (600, 0, What::Wake(7))];
        assert_eq!(of_events(&events, 1000), [(7, 300)].into());
    }

    #[test]
    fn a_task_that_is_woken_before_it_has_left_does_not_wait() {
        let events = [(100, 0, switch(9, 0, 7)), (200, 1, What::Wake(7))];
        assert_eq!(of_events(&events, 1000), [(7, 0)].into());
    }

    #[test]
    fn a_task_that_a_followed_one_makes_is_followed_whichever_cpu_tells_first() {
        let made = What::Fork { parent: 7, child: 8 };
        let again = What::Fork { parent: 8, child: 9 };
        let events = [
            (500, 0, switch(0, 0, 8)),
            (320, 1, What::Wake(8)),
            (310, 1, made),
            (700, 1, switch(0, 0, 9)),
            (620, 0, What::Wake(9)),
            (610, 0, again),
            (900, 0, switch(0, 0, 5)),
        ];
        assert_eq!(of_events(&events, 1000), [(7, 0), (8, 180), (9, 80)].into());
    }

    #[test]
    fn a_wait_whose_end_was_lost_is_none() {
        let events = [(100, 0, switch(7, 0, 9)), (800, 1, switch(7, 1, 0))];
        assert_eq!(of_events(&events, 1000), [(7, 0)].into());
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
