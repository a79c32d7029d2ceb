//! Which children that came and went a launcher had started: a worker of autovacuum has the name and the parent of a backend.

use super::process::RoleIds;
use facts::system::roles::Launcher;
use std::collections::BTreeMap;

/// What launchers and children of databases did since the sample before.
#[derive(Debug, Default)]
pub(super) struct Launches {
    /// By the process whose children a launcher and what it starts are.
    by_parent: BTreeMap<u32, Launched>,
    /// Tasks of databases that were seen to come or go, by the parent of their process.
    seen: Vec<(u32, RoleIds)>,
}

#[derive(Debug)]
struct Launched {
    launcher: &'static Launcher,
    n_runs: u64,
    /// Children of any role that came and went unseen.
    n_passed: u64,
}

impl Launches {
    /// Begins an interval.
    pub(super) fn begin(&mut self) {
        self.by_parent.clear();
        self.seen.clear();
    }

    /// The launcher among the children of `parent` ran so often.
    pub(super) fn ran(&mut self, parent: u32, launcher: &'static Launcher, n_runs: u64) {
        let new = Launched { launcher, n_runs: 0, n_passed: 0 };
        let launched = self.by_parent.entry(parent).or_insert(new);
        launched.n_runs = launched.n_runs.saturating_add(n_runs);
    }

    /// A task of a database was seen to come or to go.
    pub(super) fn see(&mut self, parent: u32, role: RoleIds) {
        self.seen.push((parent, role));
    }

    /// A child of `parent` came and went unseen.
    pub(super) fn pass(&mut self, parent: u32) {
        if let Some(launched) = self.by_parent.get_mut(&parent) {
            launched.n_passed = launched.n_passed.saturating_add(1);
        }
    }

    /// The role of all children of `parent` that came and went unseen: what the launcher starts, where that can be as many. Else some
    /// are others, and it is unknown which.
    pub(super) fn role_of_passed(&self, parent: u32) -> Option<RoleIds> {
        let Launched { launcher, n_runs, n_passed } = self.by_parent.get(&parent)?;
        let role = (launcher.product, launcher.child);
        // It ran for these, too.
        let n_seen = self.seen.iter().filter(|it| **it == (parent, role)).count() as u64;
        let is_all = n_passed.saturating_add(n_seen) <= launcher.most_started(*n_runs);
        is_all.then_some(role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::system::roles::LAUNCHERS;

    const WORKER: RoleIds = ("postgresql", "autovacuum-worker");

    fn launches(n_runs: u64, n_passed: u64) -> Launches {
        let mut launches = Launches::default();
        launches.ran(10, &LAUNCHERS[0], n_runs);
        (0..n_passed).for_each(|_| launches.pass(10));
        launches
    }

    #[test]
    fn children_that_came_and_went_are_workers_as_far_as_the_launcher_ran_for_them() {
        assert_eq!(launches(3, 1).role_of_passed(10), Some(WORKER));
        assert_eq!(launches(9, 3).role_of_passed(10), Some(WORKER));
        assert_eq!(launches(3, 2).role_of_passed(10), None);
        assert_eq!(launches(0, 1).role_of_passed(10), None);
        assert_eq!(launches(3, 1).role_of_passed(11), None);
    }

    #[test]
    fn a_worker_that_was_seen_is_one_that_the_launcher_ran_for() {
        let mut launches = launches(3, 1);
        launches.see(10, ("postgresql", "backend"));
        assert_eq!(launches.role_of_passed(10), Some(WORKER));
        launches.see(10, WORKER);
        assert_eq!(launches.role_of_passed(10), None);
        launches.begin();
        assert_eq!(launches.role_of_passed(10), None);
    }
}
