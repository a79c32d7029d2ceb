//! The time of users' tasks between two samples, added up by who they are.
//!
//! A machine has thousands of tasks, and most of them come and go: what somebody asks of a recording is how much time
//! the database's backends, its client and an intruder took, not what task 4711 did.

use super::Name;
use crate::Missing;

/// What users' tasks ran and waited since the sample before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserTimes {
    /// The time between the two readings of the tasks, in nanoseconds.
    pub over_ns: u64,
    /// Their times, each kind and CPU once, ascending.
    pub list: Vec<UserTime>,
    /// How many tasks were not read this time, because there are too many: their time is in none of [`UserTimes::list`].
    pub unread: u32,
    /// How many of the tasks ended since the sample before of which the kernel did not tell: what they waited at last is in no count.
    pub ended: u32,
}

/// What the tasks of one kind ran and waited on one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserTime {
    /// Who they are.
    pub kind: Kind,
    /// The CPU that they ran on last.
    pub cpu: u32,
    /// Run time in nanoseconds.
    pub run_ns: u64,
    /// How long they were runnable and waited for a CPU, in nanoseconds.
    pub wait_ns: u64,
}

/// What tasks have in common whose times are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// Whose they are.
    pub owner: Owner,
    /// The database product and the role in it, by id; `None` for tasks of no database that is known.
    pub role: Option<(&'static str, &'static str)>,
    /// The name of the threads, without what numbers them; that of the process where it is a role's.
    pub name: Name,
    /// Whether it is the time of tasks that ended between two samples: `name` is then that of the process whose threads they
    /// were, of the child that had run longest, or of the process that waited for children that no sample shows.
    pub is_ended: bool,
}

/// Whose a user's task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The command that is recorded, or a descendant of it.
    Command,
    /// Any other user's.
    Other,
}

impl Kind {
    /// All tasks that are not named: the least busy ones of a machine with very many names.
    pub fn unnamed(owner: Owner) -> Kind {
        Kind { owner, role: None, name: Name::new(b""), is_ended: false }
    }
}

/// The kinds that a sample names; what the others did is added up as unnamed.
pub const MOST_KINDS: usize = 256;

impl UserTimes {
    /// Why there are none where nothing added them up: at a first sample, in a recording from before they were kept.
    pub fn uncollected() -> Missing {
        Missing::not_collected("run times of users' tasks")
    }

    /// Whether a command is recorded, and ran.
    pub fn has_command(&self) -> bool {
        self.list.iter().any(|it| it.kind.owner == Owner::Command)
    }

    /// Times in any order, the same kind and CPU more than once, as a list that is sorted and has each once. Names only the
    /// [`MOST_KINDS`] busiest kinds.
    pub fn add_up(&mut self) {
        self.merge();
        let mut kinds: Vec<(u64, Kind)> = Vec::new();
        for time in &self.list {
            let ns = time.run_ns.saturating_add(time.wait_ns);
            match kinds.last_mut().filter(|it| it.1 == time.kind) {
                Some((sum, _)) => *sum = sum.saturating_add(ns),
                None => kinds.push((ns, time.kind)),
            }
        }
        if kinds.len() <= MOST_KINDS {
            return;
        }
        kinds.sort_unstable_by_key(|(ns, kind)| (std::cmp::Reverse(*ns), *kind));
        let mut named: Vec<Kind> = kinds.into_iter().take(MOST_KINDS).map(|it| it.1).collect();
        named.sort_unstable();
        for time in &mut self.list {
            if named.binary_search(&time.kind).is_err() {
                time.kind = Kind::unnamed(time.kind.owner);
            }
        }
        self.merge();
    }

    /// What has to be said of tasks that were not read, as a sentence without a full stop; `None` where all were.
    pub fn unread_note(&self) -> Option<String> {
        let (tasks, what) = match self.unread {
            0 => return None,
            1 => ("1 task of users was".to_owned(), "it ran then is in no line with its name"),
            n => {
                (format!("{n} tasks of users were"), "they ran then is in no line with their names")
            }
        };
        Some(format!("{tasks} not read in a sample, because there are too many: what {what}"))
    }

    /// What has to be said of tasks that ended, where their waits are shown.
    pub fn ended_note(&self) -> Option<String> {
        let (tasks, their) = match self.ended {
            0 => return None,
            1 => ("1 task of users".to_owned(), "its"),
            n => (format!("{n} tasks of users"), "their"),
        };
        Some(format!(
            "{tasks} ended: how long they waited for a CPU after {their} last sample is unknown"
        ))
    }

    /// Goes on with what was counted from there on.
    pub fn extend(&mut self, next: &UserTimes) {
        self.over_ns = self.over_ns.saturating_add(next.over_ns);
        self.unread = self.unread.max(next.unread);
        self.ended = self.ended.saturating_add(next.ended);
        self.list.extend_from_slice(&next.list);
        self.add_up();
    }

    fn merge(&mut self) {
        self.list.sort_unstable_by_key(|it| (it.kind, it.cpu));
        self.list.dedup_by(|next, sum| {
            let is_same = (next.kind, next.cpu) == (sum.kind, sum.cpu);
            if is_same {
                sum.run_ns = sum.run_ns.saturating_add(next.run_ns);
                sum.wait_ns = sum.wait_ns.saturating_add(next.wait_ns);
            }
            is_same
        });
    }
}

/// A thread's name without the number that tells it from its siblings: `conn-17` and `conn-4` are one kind.
pub fn family(name: &Name) -> Name {
    let text = name.as_str();
    let stem = text.trim_end_matches(|it: char| it.is_ascii_digit());
    let stem = stem.trim_end_matches(['-', '_', '#', ':', '/', ' ']);
    // A number is all of some names, and part of others: `gcc-12` stays what it is where nothing would be left.
    if stem.is_empty() || stem.len() == text.len() { *name } else { Name::new(stem.as_bytes()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> Kind {
        Kind { name: Name::new(name.as_bytes()), ..Kind::unnamed(Owner::Other) }
    }

    fn time(name: &str, cpu: u32, run_ns: u64) -> UserTime {
        UserTime { kind: kind(name), cpu, run_ns, wait_ns: run_ns / 2 }
    }

    #[test]
    fn the_same_kind_on_the_same_cpu_is_one_sum() {
        let list = vec![time("b", 1, 4), time("a", 0, 2), time("b", 1, 6), time("b", 0, 8)];
        let mut times = UserTimes { list, ..UserTimes::default() };
        times.add_up();
        assert_eq!(times.list, [time("a", 0, 2), time("b", 0, 8), time("b", 1, 10)]);
    }

    #[test]
    fn the_least_busy_of_very_many_names_are_added_up_and_none_is_lost() {
        let n_kinds = MOST_KINDS as u64 + 10;
        let list = (1..=n_kinds).map(|it| time(&format!("task{it}x"), 0, 2 * it)).collect();
        let mut times = UserTimes { list, ..UserTimes::default() };
        times.add_up();
        assert_eq!(times.list.len(), MOST_KINDS + 1);
        assert_eq!(times.list.iter().map(|it| it.run_ns).sum::<u64>(), n_kinds * (n_kinds + 1));
        let unnamed = times.list.iter().find(|it| it.kind == Kind::unnamed(Owner::Other)).unwrap();
        assert_eq!(unnamed.run_ns, (1..=10).map(|it| 2 * it).sum::<u64>());
    }

    #[test]
    fn intervals_in_a_row_add_up() {
        let one = UserTimes { over_ns: 5, list: vec![time("a", 0, 2)], unread: 3, ended: 1 };
        let mut sum = one;
        sum.extend(&UserTimes { over_ns: 6, list: vec![time("a", 0, 4)], unread: 0, ended: 1 });
        assert_eq!(
            sum,
            UserTimes { over_ns: 11, list: vec![time("a", 0, 6)], unread: 3, ended: 2 }
        );
    }

    #[test]
    fn tasks_that_were_not_read_and_that_ended_are_noted_only_where_there_are_some() {
        let none = UserTimes::default();
        assert_eq!((none.unread_note(), none.ended_note()), (None, None));
        let some = UserTimes { unread: 9000, ended: 1, ..none };
        let unread = some.unread_note().unwrap();
        assert!(unread.starts_with("9000 tasks of users were not read in a sample"), "{unread}");
        let one = UserTimes { unread: 1, ..some.clone() }.unread_note().unwrap();
        assert!(one.starts_with("1 task of users was") && one.ends_with("its name"), "{one}");
        assert!(some.ended_note().unwrap().starts_with("1 task of users ended: "));
    }

    #[test]
    fn a_family_is_a_name_without_its_number() {
        let of = |text: &str| family(&Name::new(text.as_bytes())).to_string();
        let names = ["conn-17", "io_thd_3", "GC Thread#0", "42", "gzip", "x264", "worker 7"];
        assert_eq!(names.map(of), ["conn", "io_thd", "GC Thread", "42", "gzip", "x", "worker"]);
    }
}
