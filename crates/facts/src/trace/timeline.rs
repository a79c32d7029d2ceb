//! Folds the events of one CPU into where its time went.
//!
//! The state of a CPU is the task it runs and the interrupts and softirqs on top of it. Time between two
//! events belongs to the top of that state. The first event shows who ran until then, for a task cannot
//! have come or gone without a switch: so events have to be collected since before the interval began.
//! Of a task whose softirq another task preempts (real-time kernels), the softirq goes on when it is back.

use super::{Cause, CpuTotals, Event, Task, What};
use std::collections::BTreeMap;

/// The task whose time is a CPU's idle time.
const IDLE: i32 = 0;

/// More nested causes than any kernel has: an x86 CPU has 16 priority classes and a softirq below them.
const DEEPEST: usize = 32;

/// The running account of one CPU.
#[derive(Clone, Debug)]
pub struct Timeline {
    sees_switches: bool,
    running: Option<Task>,
    /// What interrupts the running task, the innermost last.
    causes: Vec<Cause>,
    /// Softirqs of tasks that were preempted in them.
    parked: BTreeMap<i32, Vec<Cause>>,
    began_ns: u64,
    last_ns: u64,
    counting: bool,
    totals: CpuTotals,
}

impl Timeline {
    /// Of a CPU whose switches are traced. It counts from the first [`Timeline::begin`].
    pub fn new() -> Timeline {
        Timeline {
            sees_switches: true,
            running: None,
            causes: Vec::new(),
            parked: BTreeMap::new(),
            began_ns: 0,
            last_ns: 0,
            counting: false,
            totals: CpuTotals::default(),
        }
    }

    /// Of a CPU of which only interrupts are traced: what is not in an interrupt is unknown.
    pub fn without_switches() -> Timeline {
        Timeline { sees_switches: false, ..Timeline::new() }
    }

    /// Begins an interval. Events that follow count in it, even those with an earlier stamp, as of its
    /// beginning.
    pub fn begin(&mut self, at_ns: u64) {
        (self.began_ns, self.last_ns) = (at_ns, at_ns);
        self.counting = true;
        self.totals = CpuTotals::default();
    }

    /// Ends the interval, and says where its time went. Time since the last event belongs to whoever ran
    /// then; a stamp before the last event's is taken for it.
    pub fn end(&mut self, at_ns: u64) -> CpuTotals {
        self.charge_until(at_ns);
        self.counting = false;
        self.totals.wall_ns = self.last_ns.saturating_sub(self.began_ns);
        std::mem::take(&mut self.totals)
    }

    /// Takes in the next event of this CPU. A stamp before the previous one's is taken for that one.
    pub fn push(&mut self, event: &Event) {
        let at_ns = event.at_ns;
        match event.what {
            What::Lost(n_events) => {
                self.lose_track(at_ns);
                if self.counting {
                    self.totals.lost = self.totals.lost.saturating_add(n_events);
                }
            }
            What::Switch { prev, next, .. } => self.switch(at_ns, prev, next),
            What::Enter(cause) => {
                self.observe(at_ns, event.running);
                self.charge_until(at_ns);
                self.enter(cause);
            }
            What::Exit(cause) => self.exit(event, cause),
            What::Fork { .. } | What::Wake(_) | What::Called | What::Returned { .. } => {
                self.observe(at_ns, event.running);
            }
            What::TickStop(stop) => {
                self.observe(at_ns, event.running);
                if self.counting {
                    *self.totals.tick_stops.entry(stop).or_default() += 1;
                }
            }
        }
    }

    fn switch(&mut self, at_ns: u64, prev: Task, next: Task) {
        self.observe(at_ns, Some(prev.tid));
        // An interrupt that a switch ends has lost its exit: only softirqs can be preempted.
        let left: Vec<Cause> = self.causes.iter().copied().filter(|it| it.is_softirq()).collect();
        self.charge_until(at_ns);
        if let Some(time) = self.totals.tasks.get_mut(&prev.tid) {
            time.comm = prev.comm;
        }
        if !left.is_empty() && prev.tid != IDLE {
            self.parked.insert(prev.tid, left);
        }
        self.causes = self.parked.remove(&next.tid).unwrap_or_default();
        self.running = Some(next);
        if self.counting {
            self.totals.switches = self.totals.switches.saturating_add(1);
        }
    }

    fn enter(&mut self, cause: Cause) {
        let left = if self.causes.is_empty() && !cause.is_softirq() { self.task() } else { None };
        if self.causes.len() < DEEPEST {
            self.causes.push(cause);
        }
        if !self.counting {
            return;
        }
        let time = self.totals.causes.entry(cause).or_default();
        time.count = time.count.saturating_add(1);
        if let Some(task) = left {
            time.from_tasks = time.from_tasks.saturating_add(1);
            let time = self.totals.tasks.entry(task.tid).or_default();
            time.interrupts = time.interrupts.saturating_add(1);
        }
    }

    /// The task that has the CPU, where switches tell and it is not the idle task.
    fn task(&self) -> Option<Task> {
        self.running.filter(|it| self.sees_switches && it.tid != IDLE)
    }

    /// Ends `cause` and whatever is on top of it, whose exit was not seen. An exit without its entry began
    /// before anything was known.
    fn exit(&mut self, event: &Event, cause: Cause) {
        let knew_nothing = self.running.is_none();
        self.observe(event.at_ns, event.running);
        if knew_nothing && self.running.is_some() {
            self.causes.push(cause);
        }
        self.charge_until(event.at_ns);
        if let Some(at) = self.causes.iter().rposition(|it| *it == cause) {
            self.causes.truncate(at);
        }
    }

    /// Takes over who runs from an event that says so. Who it was before is only contradicted where a switch
    /// went unseen: then nobody knows whose the time since the last event was.
    fn observe(&mut self, at_ns: u64, running: Option<i32>) {
        let Some(tid) = running else { return };
        let known = self.running.map(|task| task.tid);
        if known == Some(tid) {
            return;
        }
        if known.is_some() && self.sees_switches {
            self.lose_track(at_ns);
        } else if known.is_some() {
            self.charge_until(at_ns);
        }
        self.running = Some(Task { tid, ..Task::default() });
    }

    fn lose_track(&mut self, at_ns: u64) {
        self.running = None;
        self.causes.clear();
        self.parked.clear();
        self.charge_until(at_ns);
    }

    /// Enters the time since the last event under the state that lasted until now.
    fn charge_until(&mut self, at_ns: u64) {
        let elapsed_ns = at_ns.saturating_sub(self.last_ns);
        self.last_ns = self.last_ns.max(at_ns);
        if elapsed_ns == 0 || !self.counting {
            return;
        }
        let interrupted = self.task().filter(|_| !self.causes.is_empty());
        let totals = &mut self.totals;
        if let Some(task) = interrupted {
            let time = totals.tasks.entry(task.tid).or_default();
            time.interrupted_ns = time.interrupted_ns.saturating_add(elapsed_ns);
        }
        let account = match (self.running, self.causes.last()) {
            (None, _) => &mut totals.unknown_ns,
            (Some(task), Some(&cause)) => {
                let time = totals.causes.entry(cause).or_default();
                if task.tid == IDLE { &mut time.in_idle_ns } else { &mut time.in_task_ns }
            }
            (Some(_), None) if !self.sees_switches => &mut totals.unknown_ns,
            (Some(task), None) if task.tid == IDLE => &mut totals.idle_ns,
            (Some(task), None) => {
                let time = totals.tasks.entry(task.tid).or_default();
                if !task.comm.is_empty() {
                    time.comm = task.comm;
                }
                &mut time.run_ns
            }
        };
        *account = account.saturating_add(elapsed_ns);
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline::new()
    }
}

#[cfg(test)]
mod tests;
