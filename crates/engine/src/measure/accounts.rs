//! Traced events, folded into each CPU's totals of one interval.

use facts::CpuSet;
use facts::trace::timeline::Timeline;
use facts::trace::{CpuTotals, Event};
use std::collections::BTreeMap;

/// One timeline for each CPU.
///
/// Tracing begins before the interval, and the events until then tell what runs on each CPU at its beginning.
pub(super) struct Accounts {
    cpus: BTreeMap<u32, Account>,
    begins_ns: u64,
}

struct Account {
    timeline: Timeline,
    has_begun: bool,
}

impl Accounts {
    /// Accounts of an interval that begins at this moment of CLOCK_MONOTONIC_RAW, in nanoseconds.
    pub(super) fn beginning(cpus: &CpuSet, begins_ns: u64) -> Accounts {
        let account = |cpu| (cpu, Account { timeline: Timeline::new(), has_begun: false });
        Accounts { cpus: cpus.iter().map(account).collect(), begins_ns }
    }

    /// Takes in the next event of its CPU.
    pub(super) fn push(&mut self, event: &Event) {
        let Some(account) = self.cpus.get_mut(&event.cpu) else { return };
        if event.at_ns >= self.begins_ns {
            account.begin(self.begins_ns);
        }
        account.timeline.push(event);
    }

    /// Ends the interval, all events of which have been pushed. The totals of every CPU.
    pub(super) fn end(self, ends_ns: u64) -> impl Iterator<Item = (u32, CpuTotals)> {
        let begins_ns = self.begins_ns;
        self.cpus.into_iter().map(move |(cpu, mut account)| {
            // A CPU without an event, as a busy tickless one is, goes on with what it ran before.
            account.begin(begins_ns);
            (cpu, account.timeline.end(ends_ns))
        })
    }
}

impl Account {
    fn begin(&mut self, at_ns: u64) {
        if !self.has_begun {
            self.timeline.begin(at_ns);
            self.has_begun = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::trace::{Comm, Task, What};

    fn switch(at_ns: u64, prev: i32, next: i32) -> Event {
        let task = |tid| Task { tid, comm: Comm::new("x") };
        let what = What::Switch { prev: task(prev), prev_state: 0, next: task(next) };
        Event { at_ns, cpu: 0, running: Some(prev), what }
    }

    #[test]
    fn what_ran_before_the_interval_is_known_within_it() {
        let mut accounts = Accounts::beginning(&[0].into_iter().collect(), 100);
        accounts.push(&switch(50, 0, 7));
        accounts.push(&switch(150, 7, 0));
        let (_, totals) = accounts.end(200).next().unwrap();
        assert_eq!((totals.wall_ns, totals.idle_ns, totals.task_ns()), (100, 50, 50));
    }

    #[test]
    fn a_cpu_whose_one_task_never_stops_has_a_total_too() {
        let mut accounts = Accounts::beginning(&[0].into_iter().collect(), 100);
        accounts.push(&switch(50, 0, 7));
        let (_, totals) = accounts.end(200).next().unwrap();
        assert_eq!(totals.task_ns(), 100);
    }
}
