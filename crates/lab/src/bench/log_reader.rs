//! Reads the log of a database server before each trial and after it.

use crate::database::Monitor;
use crate::known::Known;
use crate::server_log::{LogSnapshot, ServerLog};
use facts::database::{Count, LogCounters};
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

/// Reads the log of a user's server around trials. A session that is lost, as at a restart of the server, is opened anew.
pub(super) struct LogReader {
    dsn: String,
    monitor: Option<Monitor>,
}

/// The time between two reads after a trial: longer than a session takes to end.
const REST: Duration = Duration::from_millis(100);

/// The most reads after a trial: a server with other sessions never rests.
const MOST_READS: usize = 5;

impl LogReader {
    /// One for the server of this DSN, which was checked.
    pub(super) fn of(dsn: &str) -> LogReader {
        LogReader { dsn: dsn.to_owned(), monitor: None }
    }

    /// The counts now, or why there are none.
    pub(super) fn read(&mut self, stop: &AtomicBool) -> Known<LogCounters> {
        let monitor = match self.monitor.take() {
            Some(monitor) => Ok(monitor),
            None => Monitor::open(&self.dsn, stop),
        };
        let read = monitor.and_then(|mut it| {
            let counters = it.log(stop)?;
            self.monitor = Some(it);
            Ok(counters)
        });
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
            let read = match self.read(stop) {
                Known::Value(read) => read,
                Known::Missing { missing } => return Known::missing(missing),
            };
            let rests = latest.as_ref().is_some_and(|it| is_same_log(it, &read));
            latest = Some(read);
            if rests {
                break;
            }
            sleep(REST);
        }
        let after = latest.as_ref().map(LogSnapshot::from).unwrap_or_default();
        Known::Value(ServerLog { before, after })
    }
}

/// Without commits, of which reading makes some.
fn is_same_log(a: &LogCounters, b: &LogCounters) -> bool {
    let counts = [Count::Bytes, Count::Writes, Count::Syncs];
    counts.iter().all(|it| a.get(*it) == b.get(*it))
}
