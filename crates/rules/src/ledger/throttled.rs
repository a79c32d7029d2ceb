//! For how long quotas stopped run queues, of all control groups together.
//!
//! A quota holds for a group with all groups below it, as a pod's and its containers' do, and each counts the stops by its
//! own quota alone (throttle_cfs_rq and unthrottle_cfs_rq in kernel/sched/fair.c). A queue may be stopped by its own quota
//! and by its parent's at the same time, and so may queues of groups side by side on one CPU: added up, one idle CPU would
//! count twice. Of a group and those below it the larger is taken. The kernel keeps no account of what was at one time:
//! all stops together took at least the time of the longest, and at most the sum.

use super::evidence::Evidence;
use facts::{Fact, Missing};
use std::cmp::Reverse;

/// The time for which queues were stopped, in nanoseconds of all CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Throttled {
    /// Without what stood still for a group and for one below it.
    pub(super) ns: u64,
    /// How far off that may be either way, because groups may have been stopped at the same time, or not.
    pub(super) uncertainty_ns: u64,
}

/// What `cpu.stat` of the groups of both ends counts; an error where one goes backwards.
pub(super) fn throttled(evidence: &Evidence<'_>) -> Fact<Throttled> {
    let before = evidence.interval.before.groups.as_ref()?;
    let after = evidence.interval.after.groups.as_ref()?;
    let mut stops = Vec::new();
    for group in &after.list {
        let Some(earlier) = before.list.iter().find(|it| it.path == group.path) else { continue };
        let backwards = || {
            let found = format!("{} after {}", group.throttled_ns, earlier.throttled_ns);
            Missing::malformed(&group.path, &found, "a counter that does not go backwards")
        };
        let rise = group.throttled_ns.checked_sub(earlier.throttled_ns).ok_or_else(backwards)?;
        stops.push((group.path.as_str(), rise));
    }
    Ok(together(stops))
}

/// The stops of groups, each a path and nanoseconds, as one time.
fn together(mut stops: Vec<(&str, u64)>) -> Throttled {
    // What is below a group is known before the group, and its parent is the first above it.
    stops.sort_unstable_by_key(|(path, _)| Reverse(path.len()));
    let mut below = vec![0u64; stops.len()];
    let (mut ns, mut most, mut least) = (0u64, 0u64, 0u64);
    for (at, &(path, own)) in stops.iter().enumerate() {
        let larger = below[at].max(own);
        let parent = (at + 1..stops.len()).find(|it| is_below(path, stops[*it].0));
        let sum = parent.map_or(&mut ns, |it| &mut below[it]);
        *sum = sum.saturating_add(larger);
        most = most.saturating_add(own);
        least = least.max(own);
    }
    let uncertainty_ns = most.saturating_sub(ns).max(ns.saturating_sub(least));
    Throttled { ns, uncertainty_ns }
}

fn is_below(path: &str, group: &str) -> bool {
    let rest = path.strip_prefix(group.trim_end_matches('/'));
    rest.is_some_and(|it| it.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stops: &[(&str, u64)]) -> (u64, u64) {
        let Throttled { ns, uncertainty_ns } = together(stops.to_vec());
        (ns, uncertainty_ns)
    }

    #[test]
    fn one_group_is_what_it_says() {
        assert_eq!(of(&[("/db", 7)]), (7, 0));
        assert_eq!(of(&[]), (0, 0));
    }

    #[test]
    fn of_a_pod_and_its_container_the_larger_is_taken_and_the_sum_is_possible() {
        assert_eq!(of(&[("/pod", 50), ("/pod/db", 30)]), (50, 30));
        assert_eq!(of(&[("/pod/slice/db", 50), ("/pod", 30), ("/pod/slice", 0)]), (50, 30));
        assert_eq!(of(&[("/", 50), ("/db", 50)]), (50, 50));
    }

    #[test]
    fn groups_side_by_side_are_added_up_and_the_longest_alone_is_possible() {
        assert_eq!(of(&[("/db", 50), ("/db2", 30)]), (80, 30));
    }

    #[test]
    fn containers_that_stood_longer_than_their_pod_speak_for_it() {
        let stops = [("/pod", 50), ("/pod/a", 30), ("/pod/b", 40), ("/other", 10)];
        assert_eq!(of(&stops), (80, 50));
    }

    #[test]
    fn nonsense_does_not_overflow() {
        assert_eq!(of(&[("/a", u64::MAX), ("/b", u64::MAX)]), (u64::MAX, 0));
    }
}
