//! What was seen of a database server, over any piece of time: what its active sessions waited for, and what its log took.

use facts::client::MarkText;
use facts::database::{Look, ServerSample, Taken};
use facts::{Fact, Missing};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// All looks at a server in a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerLooks {
    looks: Vec<Look>,
    phases: Vec<MarkText>,
    is_watched: bool,
}

/// What was seen of a server over a piece of time.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSeen {
    /// How many looks there were.
    pub looks: usize,
    /// The mean number of active sessions; missing where the server hides some.
    pub active: Fact<f64>,
    /// What they waited for, as shares of all active sessions that were seen: the largest first. None where the server hides some.
    pub waits: Vec<WaitShare>,
    /// What the log took between the first look and the last one.
    pub log: Taken,
    /// The time between these, in nanoseconds.
    pub elapsed_ns: u64,
}

/// A wait event and its share.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitShare {
    /// The kind of event: `LWLock`. Empty where the server has none.
    pub kind: String,
    /// The event: `WALWrite`. Empty for sessions that waited for nothing the server knows of: they ran, or were runnable.
    pub event: String,
    /// Of all active sessions that were seen.
    pub share: f64,
}

impl ServerLooks {
    /// What a sample saw.
    pub fn push(&mut self, sample: &ServerSample) {
        self.is_watched = true;
        self.looks.extend_from_slice(&sample.looks);
        self.phases.extend_from_slice(&sample.phases);
    }

    /// Whether a server was watched at all.
    pub fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// A note where a server was watched that never answered.
    pub fn silence(&self) -> Option<String> {
        let is_silent = self.is_watched && self.looks.is_empty();
        is_silent.then(|| "the database server never answered".to_owned())
    }

    /// The changes of its main activity from `from` to before `to`, by CLOCK_MONOTONIC_RAW in nanoseconds.
    pub fn phases(&self, from: u64, to: u64) -> Vec<MarkText> {
        self.phases.iter().filter(|it| (from..to).contains(&it.at)).cloned().collect()
    }

    /// What was seen from `from` to before `to`, by CLOCK_MONOTONIC_RAW in nanoseconds. What the log took is counted from the last
    /// look before, where there is one.
    ///
    /// Errors: no server was watched, or it did not answer.
    pub fn seen(&self, from: u64, to: u64) -> Fact<ServerSeen> {
        if !self.is_watched {
            return Err(Missing::not_collected("a database server"));
        }
        let within: Vec<&Look> =
            self.looks.iter().filter(|it| (from..to).contains(&it.at)).collect();
        let last = within.last().copied().ok_or_else(|| {
            Missing::not_here("an answer of the database server", "it gave none in this time")
        })?;
        let before = self.looks.iter().rev().find(|it| it.at < from);
        // A server that was silent for long, or another boot, is no beginning.
        let before = before.filter(|it| from.saturating_sub(it.at) <= LONGEST_PAUSE_NS);
        let first = before.or(within.first().copied()).unwrap_or(last);
        let n_active: u64 =
            within.iter().flat_map(|it| it.active()).map(|it| u64::from(it.n)).sum();
        let (active, waits) = if within.iter().any(|it| it.is_hidden()) {
            let why = "the server hides them; GRANT pg_monitor, or PROCESS in MariaDB";
            (Err(Missing::not_here("the sessions of other users", why)), Vec::new())
        } else {
            (Ok(n_active as f64 / within.len() as f64), waits(&within, n_active))
        };
        Ok(ServerSeen {
            looks: within.len(),
            active,
            waits,
            log: last.log.since(&first.log),
            elapsed_ns: last.at.saturating_sub(first.at),
        })
    }
}

/// Looks are a second apart.
const LONGEST_PAUSE_NS: u64 = 5_000_000_000;

fn waits(looks: &[&Look], n_active: u64) -> Vec<WaitShare> {
    let mut n_of: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for group in looks.iter().flat_map(|it| it.active()) {
        *n_of.entry((&group.wait_type, &group.wait)).or_default() += u64::from(group.n);
    }
    let share = |((kind, event), n): ((&str, &str), u64)| WaitShare {
        kind: kind.to_owned(),
        event: event.to_owned(),
        share: n as f64 / (n_active as f64).max(1.0),
    };
    let mut counted: Vec<_> = n_of.into_iter().collect();
    counted.sort_by_key(|(_, n)| Reverse(*n));
    counted.into_iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::database::{LogCounters, SessionGroup};

    const S: u64 = 1_000_000_000;

    fn look(second: u64, syncs: u64, sessions: &[(&str, u32)]) -> Look {
        let group = |(wait, n): &(&str, u32)| SessionGroup {
            backend: "client backend".to_owned(),
            state: "active".to_owned(),
            wait: (*wait).to_owned(),
            n: *n,
            ..SessionGroup::default()
        };
        let rows = [format!("wal_sync {syncs}"), format!("xact_commit {}", 2 * syncs)];
        let log = LogCounters::parse(&rows);
        Look { at: second * S, sessions: sessions.iter().map(group).collect(), log }
    }

    fn looks() -> ServerLooks {
        let looks = vec![
            look(1, 10, &[("WALWrite", 9)]),
            look(2, 20, &[("WALWrite", 4), ("", 1)]),
            look(3, 50, &[("", 5)]),
        ];
        let mut all = ServerLooks::default();
        all.push(&ServerSample { looks, phases: Vec::new() });
        all
    }

    #[test]
    fn shares_are_of_the_active_sessions_that_were_seen() {
        let seen = looks().seen(2 * S, 4 * S).unwrap();
        let waits: Vec<_> = seen.waits.iter().map(|it| (&*it.event, it.share)).collect();
        assert_eq!(waits, [("", 0.6), ("WALWrite", 0.4)]);
        assert_eq!((seen.looks, seen.active), (2, Ok(5.0)));
    }

    #[test]
    fn the_log_is_counted_from_the_look_before() {
        let seen = looks().seen(2 * S, 4 * S).unwrap();
        assert_eq!((seen.log.syncs, seen.log.commits, seen.elapsed_ns), (Ok(40), Ok(80), 2 * S));
    }

    #[test]
    fn sessions_that_are_hidden_are_not_none() {
        let mut all = looks();
        let hidden = SessionGroup { n: 7, ..SessionGroup::default() };
        let hiding = Look { sessions: vec![hidden], ..look(4, 60, &[]) };
        all.push(&ServerSample { looks: vec![hiding], phases: Vec::new() });
        let seen = all.seen(2 * S, 5 * S).unwrap();
        assert!(seen.active.unwrap_err().to_string().contains("pg_monitor"));
        assert_eq!((seen.waits, seen.log.syncs), (Vec::new(), Ok(50)));
        assert_eq!(all.seen(2 * S, 4 * S).unwrap().active, Ok(5.0));
    }

    #[test]
    fn a_server_that_never_answered_is_said() {
        let mut silent = ServerLooks::default();
        assert_eq!(silent.silence(), None);
        silent.push(&ServerSample::default());
        assert!(silent.silence().unwrap().contains("never answered"));
        assert_eq!(looks().silence(), None);
    }

    #[test]
    fn a_time_without_an_answer_has_nothing_and_a_recording_without_a_server_says_so() {
        assert!(looks().seen(7 * S, 9 * S).unwrap_err().to_string().contains("gave none"));
        assert_eq!(
            ServerLooks::default().seen(0, S),
            Err(Missing::not_collected("a database server"))
        );
    }
}
