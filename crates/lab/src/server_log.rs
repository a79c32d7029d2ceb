//! What a database server counted of its log around a trial (`--server`), and what an arm's trials took of it per commit.
//!
//! The counts are of the whole server: other sessions, autovacuum and the queries that read them are among them. PostgreSQL's sessions
//! report theirs when they end, or a second apart (pgstat_report_stat in its pgstat.c), so a command whose sessions end with it is
//! counted whole.

use facts::database::{Count, LogCounters, Syncing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The counts of a server's log before a trial and after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerLog {
    /// Right before the trial.
    pub before: LogSnapshot,
    /// After it, once the counts rested.
    pub after: LogSnapshot,
}

/// The counts of a server's log at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogSnapshot {
    /// Since the server began to count, by name: `commits`, `bytes`, `writes`, `syncs`, `sync-ns`. What it does not count is absent.
    pub counts: BTreeMap<String, u64>,
    /// When the counts of the log were last reset, as the server writes it; empty where it does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub log_reset: String,
    /// The same of commits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub commits_reset: String,
    /// Whether the server times its log writes (track_wal_io_timing); absent where it has no such setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_timed: Option<bool>,
    /// How the server makes its log durable; absent where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syncing: Option<LogSyncing>,
}

/// How a server makes its log durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogSyncing {
    /// Not at all (fsync = off).
    Off,
    /// Each write is durable by itself (wal_sync_method = open_datasync, open_sync).
    ByWrites,
    /// By calls that it counts.
    ByCalls,
}

impl From<Syncing> for LogSyncing {
    fn from(it: Syncing) -> LogSyncing {
        match it {
            Syncing::Off => LogSyncing::Off,
            Syncing::ByWrites => LogSyncing::ByWrites,
            Syncing::ByCalls => LogSyncing::ByCalls,
        }
    }
}

impl From<LogSyncing> for Syncing {
    fn from(it: LogSyncing) -> Syncing {
        match it {
            LogSyncing::Off => Syncing::Off,
            LogSyncing::ByWrites => Syncing::ByWrites,
            LogSyncing::ByCalls => Syncing::ByCalls,
        }
    }
}

impl From<&LogCounters> for LogSnapshot {
    fn from(counters: &LogCounters) -> LogSnapshot {
        let count = |it: Count| Some((it.id().to_owned(), counters.get(it)?));
        LogSnapshot {
            counts: Count::all().filter_map(count).collect(),
            log_reset: counters.log_reset.clone(),
            commits_reset: counters.commits_reset.clone(),
            is_timed: counters.is_timed,
            syncing: counters.syncing.map(LogSyncing::from),
        }
    }
}

impl LogSnapshot {
    /// The counts that this version knows.
    pub fn counters(&self) -> LogCounters {
        let mut counters = LogCounters::default();
        counters.log_reset.clone_from(&self.log_reset);
        counters.commits_reset.clone_from(&self.commits_reset);
        counters.is_timed = self.is_timed;
        counters.syncing = self.syncing.map(Syncing::from);
        for (id, value) in &self.counts {
            if let Some(count) = Count::of_id(id) {
                counters.set(count, Some(*value));
            }
        }
        counters
    }
}

/// What trials took of a log, all together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogWork {
    /// Transactions that were committed.
    pub commits: u64,
    /// Log writes that were made durable.
    pub durable: u64,
    /// Bytes that were added to the log.
    pub bytes: u64,
    /// Time in log writes, in nanoseconds; `None` where the server does not time them.
    pub time_ns: Option<u64>,
    /// Whether the durable log writes are syncs, and not writes.
    pub are_syncs: bool,
    /// Whether the setting track_wal_io_timing is there, and off.
    pub is_timing_off: bool,
}

impl LogWork {
    /// What several trials took; `None` where none has the counts, or nothing was committed.
    pub fn of<'a>(trials: impl Iterator<Item = &'a ServerLog>) -> Option<LogWork> {
        let works = trials.filter_map(LogWork::of_trial);
        works.reduce(LogWork::plus).filter(|it| it.commits > 0)
    }

    fn of_trial(log: &ServerLog) -> Option<LogWork> {
        let taken = log.after.counters().since(&log.before.counters());
        Some(LogWork {
            commits: taken.commits.clone().ok()?,
            durable: taken.durable().ok()?,
            bytes: taken.bytes.clone().ok()?,
            time_ns: taken.time_ns.ok(),
            are_syncs: taken.syncing == Syncing::ByCalls,
            is_timing_off: log.after.is_timed == Some(false),
        })
    }

    fn plus(self, other: LogWork) -> LogWork {
        LogWork {
            commits: self.commits.saturating_add(other.commits),
            durable: self.durable.saturating_add(other.durable),
            bytes: self.bytes.saturating_add(other.bytes),
            time_ns: self.time_ns.and_then(|it| Some(it.saturating_add(other.time_ns?))),
            are_syncs: self.are_syncs && other.are_syncs,
            is_timing_off: self.is_timing_off || other.is_timing_off,
        }
    }

    /// Durable log writes for each commit.
    pub fn durable_per_commit(&self) -> f64 {
        self.durable as f64 / (self.commits as f64).max(1.0)
    }

    /// Bytes of log for each commit.
    pub fn bytes_per_commit(&self) -> f64 {
        self.bytes as f64 / (self.commits as f64).max(1.0)
    }

    /// The mean time of a durable log write, in nanoseconds; `None` where they are not timed, or there was none.
    pub fn each_ns(&self) -> Option<f64> {
        let ns = self.time_ns.filter(|_| self.durable > 0)?;
        Some(ns as f64 / self.durable as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn snapshot(commits: u64, syncs: u64) -> LogSnapshot {
        let rows = [
            format!("xact_commit {commits}"),
            format!("wal_sync {syncs}"),
            format!("wal_bytes {}", 100 * commits),
            format!("wal_sync_us {}", 500 * syncs),
            "wal_write_us 0".to_owned(),
            "track_wal_io_timing on".to_owned(),
        ];
        LogSnapshot::from(&LogCounters::parse(&rows))
    }

    #[test]
    fn trials_are_added_up_and_nothing_is_nothing() {
        let log = |before, after| ServerLog { before, after };
        let trials = [
            log(snapshot(1000, 50), snapshot(1100, 148)),
            log(snapshot(1100, 148), snapshot(1200, 246)),
        ];
        let work = LogWork::of(trials.iter()).unwrap();
        assert_eq!((work.commits, work.durable, work.bytes), (200, 196, 20_000));
        assert_eq!((work.durable_per_commit(), work.each_ns()), (0.98, Some(500_000.0)));
        assert_eq!(LogWork::of([].iter()), None);
    }

    #[test]
    fn a_snapshot_comes_back_and_a_count_that_is_unknown_here_is_left_out() {
        let mut snapshot = snapshot(7, 3);
        assert_eq!(LogSnapshot::from(&snapshot.counters()), snapshot);
        snapshot.counts.insert("of-a-later-version".to_owned(), 1);
        assert_eq!(snapshot.counters().get(Count::Syncs), Some(3));
    }
}
