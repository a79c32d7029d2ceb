//! What was noticed of the hosts: every node looks at its own, and what two of them notice there is one change.

use lab::race::{NOTICE, ns};
use lab::record::Record;
use lab::throttling::Throttling;
use lab::trial::Mark;
use std::time::Duration;

/// The changes of hosts that nodes have noticed lately.
pub(super) struct Noticed {
    /// The host of each node.
    places: Vec<String>,
    /// Which node noticed what, and when, in nanoseconds since the race began.
    marks: Vec<(usize, Mark, u64)>,
    /// How far apart two nodes notice the same.
    apart_ns: u64,
}

impl Noticed {
    /// By nodes on these hosts.
    pub(super) fn by(places: Vec<String>, interval: Duration) -> Noticed {
        let apart_ns = ns(NOTICE.saturating_add(interval));
        Noticed { places, marks: Vec::new(), apart_ns }
    }

    /// Whether no other node of its host has noticed this just before. What is about a node alone always is.
    pub(super) fn is_new(&mut self, node: usize, mark: &Mark, at_ns: u64) -> bool {
        if !mark.is_of_host() {
            return true;
        }
        self.marks.retain(|it| at_ns.saturating_sub(it.2) <= self.apart_ns);
        let is_same = |(by, seen, _): &(usize, Mark, u64)| {
            *by != node && seen == mark && self.places[*by] == self.places[node]
        };
        let is_known = self.marks.iter().any(is_same);
        if !is_known {
            self.marks.push((node, mark.clone(), at_ns));
        }
        !is_known
    }
}

/// Keeps what quotas took from each node with the node, too.
pub(super) fn note_throttling(record: &mut Record) {
    for arm in 0..record.arms.len() {
        let Some((throttling, share)) = record.throttling(arm) else { continue };
        let Throttling { periods, throttled_periods, .. } = throttling;
        let percent = share * 100.0;
        let text =
            format!("in {throttled_periods} of {periods} periods, {percent:.0} % of its time");
        record.arms[arm].about.push(("throttled".to_owned(), text));
        record.arms[arm].throttling = Some(throttling);
    }
}

/// What is to be known of a node that writes to this folder.
pub(super) fn in_memory(folder: &str) -> String {
    format!(
        "{folder} is in memory: nothing is durable, and a commit waits for no disk; folder= names another"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn a_change_of_a_host_is_kept_once_and_that_of_another_is_another() {
        let places = ["x", "x", "y"].map(str::to_owned).to_vec();
        let mut noticed = Noticed::by(places, Duration::from_secs(1));
        let setting = |to: &str| Mark::Setting {
            name: "governor".to_owned(),
            from: None,
            to: Some(to.to_owned()),
        };
        let mut is_new = |node, mark: &Mark, s| noticed.is_new(node, mark, s * SECOND_NS);
        assert!(is_new(0, &setting("powersave"), 10));
        assert!(!is_new(1, &setting("powersave"), 14));
        assert!(is_new(2, &setting("powersave"), 14));
        assert!(is_new(1, &setting("performance"), 15));
        // Long after, it is another change.
        assert!(is_new(1, &setting("powersave"), 30));
        let quota = Mark::Quota { group: "/b".to_owned(), from: None, to: Some(0.25) };
        assert!(is_new(0, &quota, 31) && is_new(1, &quota, 31));
    }
}
