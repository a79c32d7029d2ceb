//! Who worked: the client, the database, and others.

use crate::ledger::amount::part;
use crate::ledger::name_of_kind;
use facts::counters::users::{Kind, Owner, UserTimes};
use facts::system::roles::by_id;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Which side of a test a task is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// The command that was recorded, and what descends from it.
    Client,
    /// A database, by its role.
    Server,
    /// Anybody else.
    Other,
}

impl Who {
    /// As JSON and CSV call it.
    pub fn name(self) -> &'static str {
        match self {
            Who::Client => "client",
            Who::Server => "server",
            Who::Other => "other",
        }
    }
}

/// What tasks of one name ran and waited, on all CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    /// On which side.
    pub who: Who,
    /// The database product; `None` for tasks of none that is known.
    pub product: Option<&'static str>,
    /// What they are called: `backend` of a database, `gzip`.
    pub name: String,
    /// Run time in nanoseconds.
    pub run_ns: u64,
    /// How long they were runnable and waited for a CPU, in nanoseconds. Of tasks that ended it lacks their last wait.
    pub wait_ns: u64,
}

impl Worker {
    /// Product and name: `PostgreSQL backend`, `gzip`.
    pub fn title(&self) -> String {
        let product = self.product.map(|it| format!("{it} ")).unwrap_or_default();
        product + &self.name
    }
}

/// What each name did in `elapsed_ns` nanoseconds, the one that ran longest first. The tasks are read after everything else, on a busy
/// machine many milliseconds later: what they did between two readings is taken in proportion.
pub fn workers(users: &UserTimes, elapsed_ns: u64) -> Vec<Worker> {
    let mut sums: BTreeMap<(Who, Option<&'static str>, String), (u64, u64)> = BTreeMap::new();
    for time in &users.list {
        let role = time.kind.role.and_then(|(product, role)| by_id(product, role));
        let name = role.map_or_else(|| name_of_kind(&time.kind), |it| it.1.title.to_owned());
        let product = role.map(|it| it.0.title);
        let sum = sums.entry((who(&time.kind), product, name)).or_default();
        sum.0 = sum.0.saturating_add(time.run_ns);
        sum.1 = sum.1.saturating_add(time.wait_ns);
    }
    let here = |ns| part(ns, elapsed_ns, users.over_ns);
    let worker = |((who, product, name), (run_ns, wait_ns))| Worker {
        who,
        product,
        name,
        run_ns: here(run_ns),
        wait_ns: here(wait_ns),
    };
    let mut workers: Vec<Worker> = sums.into_iter().map(worker).collect();
    workers.sort_by_key(|it| Reverse(it.run_ns));
    workers
}

/// A database that the command itself runs is a server, too.
fn who(kind: &Kind) -> Who {
    match (kind.role, kind.owner) {
        (Some(_), _) => Who::Server,
        (None, Owner::Command) => Who::Client,
        (None, Owner::Other) => Who::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::counters;

    #[test]
    fn each_name_is_added_up_over_its_cpus_and_stands_on_its_side() {
        let counters = counters(
            "at 0\nusers 1100\nuser command tclsh - 0 22 1\nuser command tclsh - 1 33 2\n\
             user command postgres postgresql/walwriter 0 44 0\nuser other gzip - 1 66 11\n",
        );
        let found = workers(&counters.users.unwrap(), 1_000_000_000);
        let shown: Vec<_> =
            found.iter().map(|it| (it.who, &*it.name, it.run_ns, it.wait_ns)).collect();
        assert_eq!(found.last().unwrap().product, Some("PostgreSQL"));
        assert_eq!(
            shown,
            [
                (Who::Other, "gzip", 60, 10),
                (Who::Client, "tclsh", 50, 2),
                (Who::Server, "WAL writer", 40, 0),
            ]
        );
    }
}
