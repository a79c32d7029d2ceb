//! The times of one sample, added up as they are read: thousands of tasks are of a few kinds.

use facts::counters::users::{Kind, MOST_KINDS, UserTime};
use std::collections::BTreeMap;

/// Names come and go; what has not run for long is forgotten with all others when there are so many.
const MOST_KEPT: usize = 16 * MOST_KINDS;

/// What each kind ran and waited on each CPU.
#[derive(Debug, Default)]
pub(super) struct Sums {
    list: Vec<UserTime>,
    places: BTreeMap<(Kind, u32), usize>,
}

/// Where a task's time was added last: most often it is added there again.
pub(in super::super) type Place = usize;

impl Sums {
    /// Begins at 0.
    pub(super) fn begin(&mut self) {
        if self.list.len() > MOST_KEPT {
            self.list.clear();
            self.places.clear();
        }
        for sum in &mut self.list {
            (sum.run_ns, sum.wait_ns) = (0, 0);
        }
    }

    /// Adds what a task ran and waited.
    pub(super) fn add(&mut self, time: UserTime, place: &mut Place) {
        let is_same = |it: &&mut UserTime| (it.cpu, it.kind) == (time.cpu, time.kind);
        if let Some(sum) = self.list.get_mut(*place).filter(is_same) {
            add(sum, &time);
            return;
        }
        let next = self.list.len();
        *place = *self.places.entry((time.kind, time.cpu)).or_insert(next);
        match self.list.get_mut(*place) {
            Some(sum) => add(sum, &time),
            None => self.list.push(time),
        }
    }

    /// The sums that are not 0, in any order.
    pub(super) fn put(&self, into: &mut Vec<UserTime>) {
        into.clear();
        into.extend(self.list.iter().filter(|it| it.run_ns > 0 || it.wait_ns > 0));
    }
}

fn add(sum: &mut UserTime, time: &UserTime) {
    sum.run_ns = sum.run_ns.saturating_add(time.run_ns);
    sum.wait_ns = sum.wait_ns.saturating_add(time.wait_ns);
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::counters::Name;
    use facts::counters::users::Owner;

    fn time(name: &str, cpu: u32, run_ns: u64) -> UserTime {
        let kind = Kind { name: Name::new(name.as_bytes()), ..Kind::unnamed(Owner::Other) };
        UserTime { kind, cpu, run_ns, wait_ns: 2 * run_ns }
    }

    #[test]
    fn a_task_that_became_another_or_moved_is_not_added_where_it_was() {
        let (mut sums, mut place, mut list) = (Sums::default(), 0, Vec::new());
        for next in [time("sh", 0, 1), time("sh", 0, 2), time("gzip", 0, 4), time("gzip", 1, 8)] {
            sums.add(next, &mut place);
        }
        sums.add(time("sh", 0, 16), &mut 0);
        sums.add(time("gzip", 0, 32), &mut 2);
        sums.put(&mut list);
        assert_eq!(list, [time("sh", 0, 19), time("gzip", 0, 36), time("gzip", 1, 8)]);
        sums.begin();
        sums.add(time("gzip", 1, 64), &mut place);
        sums.put(&mut list);
        assert_eq!(list, [time("gzip", 1, 64)]);
    }

    #[test]
    fn names_that_come_and_go_are_not_kept_for_ever() {
        let mut sums = Sums::default();
        for turn in 0..2 * MOST_KEPT {
            sums.begin();
            sums.add(time(&turn.to_string(), 0, 1), &mut 7);
            assert!(sums.list.len() <= MOST_KEPT + 1);
        }
        let mut list = Vec::new();
        sums.put(&mut list);
        assert_eq!(list.len(), 1);
    }
}
