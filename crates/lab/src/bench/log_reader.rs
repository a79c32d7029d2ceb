//! Reads the log of a database server before each trial and after it.

use crate::database::Monitor;
use crate::failure::Failure;
use crate::known::Known;
use crate::server_log::{LogSnapshot, ServerLog};
use facts::database::{Count, LogCounters};
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

/// Reads the log of a user's server around trials.
pub(super) struct LogReader {
    monitor: Monitor,
}

/// The time before each read after a trial. Up to version 14, PostgreSQL answers with statistics that are up to 500 ms old
/// (PGSTAT_STAT_INTERVAL in its pgstat.c); with synchronous_commit = off, its WAL writer makes a commit durable up to three times
/// wal_writer_delay later, which is 600 ms by default.
const REST: Duration = Duration::from_millis(700);

/// The most reads after a trial: a server with other sessions never rests.
const MOST_READS: usize = 5;

impl LogReader {
    /// One for the server of this DSN.
    ///
    /// Errors: as [`Monitor::of`].
    pub(super) fn of(dsn: &str) -> Result<LogReader, Failure> {
        Ok(LogReader { monitor: Monitor::of(dsn)? })
    }

    /// The counts now, or why there are none.
    pub(super) fn read(&mut self, stop: &AtomicBool) -> Known<LogCounters> {
        let read = self.monitor.log(stop);
        read.map_or_else(|why| Known::missing(why.to_string()), Known::Value)
    }

    /// The counts since `before`, once two reads are the same: sessions of the trial report theirs as they end.
    pub(super) fn read_after(
        &mut self,
        before: Known<LogCounters>,
        stop: &AtomicBool,
    ) -> Known<ServerLog> {
        let before = match before {
            Known::Value(before) => LogSnapshot::from(&before),
            Known::Missing { missing } => return Known::missing(missing),
        };
        let mut latest = None;
        for _ in 0..MOST_READS {
            sleep(REST);
            let read = match self.read(stop) {
                Known::Value(read) => read,
                Known::Missing { missing } => return Known::missing(missing),
            };
            let rests = latest.as_ref().is_some_and(|it| is_same_log(it, &read));
            latest = Some(read);
            if rests {
                break;
            }
        }
        let after = latest.as_ref().map(LogSnapshot::from).unwrap_or_default();
        Known::Value(ServerLog { before, after })
    }
}

/// Without commits: those of other sessions never rest.
fn is_same_log(a: &LogCounters, b: &LogCounters) -> bool {
    let counts = [Count::Bytes, Count::Writes, Count::Syncs];
    counts.iter().all(|it| a.get(*it) == b.get(*it))
}
