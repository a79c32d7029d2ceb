//! Whose a task is that came and went within an interval: the process's that made it, directly or not.

use host::{Live, Source};
use std::collections::{BTreeMap, BTreeSet};

/// One task made another, by thread id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The one that there was.
    pub parent: u32,
    /// The one that there is too.
    pub child: u32,
}

/// `ancestor` and every task that descends from it, in any order of `forks`: those of two CPUs arrive one CPU after
/// the other. Tasks in `without` and their descendants do not belong to it.
pub fn kin(forks: &[Fork], ancestor: u32, without: &[u32]) -> BTreeSet<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for fork in forks {
        children.entry(fork.parent).or_default().push(fork.child);
    }
    let (mut kin, mut open) = (BTreeSet::new(), vec![ancestor]);
    while let Some(task) = open.pop() {
        if !without.contains(&task) && kin.insert(task) {
            open.extend(children.get(&task).into_iter().flatten());
        }
    }
    kin
}

/// The threads that a process has.
pub(crate) fn threads(source: &Live, pid: u32) -> Vec<u32> {
    let folder = format!("/proc/{pid}/task");
    let names = source.list(&folder).unwrap_or_default();
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grandchild_is_kin_whatever_order_the_forks_come_in() {
        let forks = [(8, 9), (7, 8), (3, 4), (9, 7)].map(|(parent, child)| Fork { parent, child });
        assert_eq!(kin(&forks, 7, &[]), [7, 8, 9].into());
        assert_eq!(kin(&forks, 7, &[9]), [7, 8].into());
        assert_eq!(kin(&forks, 1, &[]), [1].into());
    }
}
