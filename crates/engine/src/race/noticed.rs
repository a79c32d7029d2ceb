//! What was noticed of the hosts: every node looks at its own, and what two of them notice there is one change.

use lab::race::{NOTICE, changed_settings, ns};
use lab::record::{Fingerprint, Record};
use lab::throttling::Throttling;
use lab::trial::Mark;
use std::time::Duration;

/// The changes of hosts that nodes have noticed lately.
pub(super) struct Noticed {
    /// The host of each node.
    places: Vec<String>,
    /// Its settings by what each node has told last.
    machines: Vec<Fingerprint>,
    /// Which node noticed what, and when, in nanoseconds since the race began.
    marks: Vec<(usize, Mark, u64)>,
    /// How far apart two nodes notice the same.
    apart_ns: u64,
}

impl Noticed {
    /// By the nodes of this result, on their hosts.
    pub(super) fn by(record: &Record, interval: Duration) -> Noticed {
        let arms = 0..record.arms.len();
        Noticed {
            places: record.arms.iter().map(|it| it.host.clone().unwrap_or_default()).collect(),
            machines: arms.map(|it| record.machine_of(it).clone()).collect(),
            marks: Vec::new(),
            apart_ns: ns(NOTICE.saturating_add(interval)),
        }
    }

    /// What is other on a node's host, now that it is ready for another leg, than when its last one ended.
    pub(super) fn between_legs(&mut self, node: usize, machine: &Fingerprint) -> Vec<Mark> {
        let changed = changed_settings(&self.machines[node], machine);
        self.machines[node] = machine.clone();
        changed
    }

    /// Whether no other node of its host has noticed this just before. What is about a node alone always is.
    pub(super) fn is_new(&mut self, node: usize, mark: &Mark, at_ns: u64) -> bool {
        self.tell(node, mark);
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

    /// Applies a setting that one node reports to all nodes of its host.
    fn tell(&mut self, node: usize, mark: &Mark) {
        let Mark::Setting { name, to, .. } = mark else { return };
        for other in 0..self.machines.len() {
            let is_there = mark.is_of_host() && self.places[other] == self.places[node];
            if other == node || is_there {
                self.machines[other].set(name, to.as_deref());
            }
        }
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
    use lab::record::Arm;

    const SECOND_NS: u64 = 1_000_000_000;

    /// Nodes on these hosts, which are alike.
    fn on(hosts: [&str; 3]) -> Record {
        let arm = |host: &str| Arm { host: Some(host.to_owned()), ..Arm::of(host, "commit") };
        let machine = with_governor("powersave");
        Record { machine, ..Record::of(hosts.iter().map(|it| arm(it)).collect()) }
    }

    fn with_governor(value: &str) -> Fingerprint {
        Fingerprint([("governor".to_owned(), value.to_owned())].into())
    }

    fn setting(to: &str) -> Mark {
        let from = if to == "powersave" { "performance" } else { "powersave" };
        let [from, to] = [from, to].map(|it| Some(it.to_owned()));
        Mark::Setting { name: "governor".to_owned(), from, to }
    }

    #[test]
    fn a_change_of_a_host_is_kept_once_and_that_of_another_is_another() {
        let mut noticed = Noticed::by(&on(["x", "x", "y"]), Duration::from_secs(1));
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

    #[test]
    fn what_changes_between_two_legs_is_told_and_what_a_leg_has_told_is_not_told_again() {
        let mut noticed = Noticed::by(&on(["x", "x", "y"]), Duration::from_secs(1));
        let [before, after] = ["powersave", "performance"].map(with_governor);
        assert_eq!(noticed.between_legs(0, &before), []);
        // In the first leg one of the two on x notices it.
        assert!(noticed.is_new(1, &setting("performance"), 10 * SECOND_NS));
        let mut at_next = |node, machine| noticed.between_legs(node, machine);
        assert_eq!([at_next(0, &after), at_next(1, &after)], [[], []]);
        assert_eq!(at_next(2, &after), [setting("performance")]);
        assert_eq!(at_next(2, &after), []);
        assert_eq!(at_next(0, &before), [setting("powersave")]);
    }
}
