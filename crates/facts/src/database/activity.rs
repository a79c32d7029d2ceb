//! What a server's sessions do at one moment: kinds of sessions, and how many there are of each.

use super::log::LogCounters;
use super::tag::tag;
use super::{LONGEST_STATEMENT, LONGEST_WORD, MOST_GROUPS};
use crate::secrets;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A look at a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// When it answered, by CLOCK_MONOTONIC_RAW in nanoseconds.
    pub at: u64,
    /// The kinds of its sessions and background processes; at most [`MOST_GROUPS`].
    pub sessions: Vec<SessionGroup>,
    /// The counters of its log.
    pub log: LogCounters,
}

/// Sessions that do the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionGroup {
    /// What kind of process: `client backend`, `checkpointer`.
    pub backend: String,
    /// `active`, `idle in transaction`; empty where the server does not say.
    pub state: String,
    /// The kind of event that they wait for: `LWLock`. Empty where there is none.
    pub wait_type: String,
    /// The event: `WALWrite`; of MariaDB the state of the statement. Empty where they do not wait.
    pub wait: String,
    /// The command: `COPY`. Empty where there is none.
    pub tag: String,
    /// The beginning of the statement, where the user wants it, without secrets.
    pub statement: String,
    /// How many they are.
    pub n: u32,
}

/// What a row of a session begins with.
const SESSION: &str = "session\t";

/// What PostgreSQL answers in the place of what a role may not see.
pub const HIDDEN: &str = "<insufficient privilege>";

impl Look {
    /// A look in the rows of an answer that came at `at`: rows of sessions begin with `session` and have their parts separated by
    /// tabs, the others are counters of the log. Statements are kept where `with_statements`.
    pub fn parse(rows: &[String], at: u64, with_statements: bool) -> Look {
        let sessions = rows.iter().filter_map(|it| it.strip_prefix(SESSION));
        let mut sessions = added_up(sessions.filter_map(|it| group(it, with_statements)));
        let log: Vec<&String> = rows.iter().filter(|it| !it.starts_with(SESSION)).collect();
        if sessions.len() > MOST_GROUPS {
            let plain = |it| SessionGroup { statement: String::new(), ..it };
            sessions = added_up(sessions.into_iter().map(plain));
        }
        if sessions.len() > MOST_GROUPS {
            // The smallest are left out; that something is hidden is never.
            sessions.sort_by_key(|it| Reverse((it.is_hidden(), it.n)));
            sessions.truncate(MOST_GROUPS);
        }
        Look { at, sessions, log: LogCounters::parse(&log) }
    }

    /// Sessions of clients that run a statement, and the workers that help them.
    pub fn active(&self) -> impl Iterator<Item = &SessionGroup> {
        self.sessions.iter().filter(|it| it.is_active())
    }

    /// Whether the server hides what other users' sessions do.
    pub fn is_hidden(&self) -> bool {
        self.sessions.iter().any(SessionGroup::is_hidden)
    }
}

impl SessionGroup {
    /// Whether they run a client's statement.
    pub fn is_active(&self) -> bool {
        self.state == "active" && matches!(&*self.backend, "client backend" | "parallel worker")
    }

    /// Whether the server hides what they do, also what kind of process they are.
    fn is_hidden(&self) -> bool {
        self.backend.is_empty()
    }
}

/// Each kind of session once, with how many there are of it.
fn added_up(groups: impl Iterator<Item = SessionGroup>) -> Vec<SessionGroup> {
    let mut sums: BTreeMap<SessionGroup, u32> = BTreeMap::new();
    for group in groups {
        let n = group.n;
        let sum = sums.entry(SessionGroup { n: 0, ..group }).or_default();
        *sum = sum.saturating_add(n);
    }
    sums.into_iter().map(|(group, n)| SessionGroup { n, ..group }).collect()
}

/// `N, backend, state, kind of event, event, statement`.
fn group(row: &str, with_statements: bool) -> Option<SessionGroup> {
    let mut parts = row.splitn(6, '\t');
    let n = parts.next()?.parse().ok()?;
    let [backend, state, wait_type, wait] =
        [(); 4].map(|()| word(parts.next().unwrap_or_default()));
    let statement = parts.next().unwrap_or_default();
    let tag = if statement == HIDDEN { String::new() } else { tag(statement) };
    let statement = if with_statements {
        secrets::masked_command(statement)
            .chars()
            .filter(|it| !it.is_control())
            .take(LONGEST_STATEMENT)
            .collect()
    } else {
        String::new()
    };
    Some(SessionGroup { backend, state, wait_type, wait, tag, statement, n })
}

/// A name of the server, without control characters and as long as one can be.
fn word(text: &str) -> String {
    let mut word = String::new();
    for it in text.trim().chars().filter(|it| !it.is_control()) {
        if word.len() + it.len_utf8() > LONGEST_WORD {
            break;
        }
        word.push(it);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &[&str]) -> Vec<String> {
        text.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn sessions_that_do_the_same_are_one_group_and_the_log_is_read_with_them() {
        let answer = rows(&[
            "session\t1\tclient backend\tactive\tLWLock\tWALWrite\tcopy a from stdin",
            "session\t2\tclient backend\tactive\tLWLock\tWALWrite\tCOPY b from stdin",
            "session\t1\tcheckpointer\t\tActivity\tCheckpointerMain\t",
            "session\tnonsense",
            "wal_sync 7",
        ]);
        let look = Look::parse(&answer, 5, false);
        let active: Vec<_> =
            look.active().map(|it| (it.n, &*it.tag, &*it.wait, &*it.statement)).collect();
        assert_eq!(active, [(3, "COPY", "WALWrite", "")]);
        assert_eq!((look.sessions.len(), look.log.get(super::super::Count::Syncs)), (2, Some(7)));
    }

    #[test]
    fn a_statement_is_kept_on_request_and_without_secrets() {
        let answer = rows(&[
            "session\t1\tclient backend\tactive\t\t\tSELECT dblink('postgres://me:S3KR1T77@db/x')",
        ]);
        let statement = |with| Look::parse(&answer, 0, with).sessions[0].statement.clone();
        assert_eq!(statement(false), "");
        assert!(
            statement(true).starts_with("SELECT dblink") && !statement(true).contains("S3KR1T77"),
            "{}",
            statement(true)
        );
    }

    #[test]
    fn what_a_role_may_not_see_is_no_command() {
        let answer = rows(&["session\t4\t\t\t\t\t<insufficient privilege>"]);
        let look = Look::parse(&answer, 0, true);
        assert!(look.is_hidden());
        assert_eq!(look.sessions[0].tag, "");
    }

    #[test]
    fn of_too_many_kinds_statements_go_first_and_then_the_smallest() {
        let row = |n: usize, wait: &str, statement: &str| {
            format!("session\t{n}\tclient backend\tactive\tLWLock\t{wait}\tSELECT {statement}")
        };
        let same: Vec<String> = (0..=MOST_GROUPS).map(|it| row(1, "w", &it.to_string())).collect();
        let merged = Look::parse(&same, 0, true).sessions;
        assert_eq!((merged.len(), merged[0].n as usize), (1, MOST_GROUPS + 1));
        let mut different: Vec<String> =
            (1..=MOST_GROUPS + 1).map(|it| row(it + 1, &format!("w{it}"), "1")).collect();
        different.push("session\t1\t\t\t\t\t<insufficient privilege>".to_owned());
        let look = Look::parse(&different, 0, true);
        assert_eq!(look.sessions.len(), MOST_GROUPS);
        assert!(look.is_hidden() && look.sessions.iter().all(|it| it.is_hidden() || it.n > 3));
    }
}
