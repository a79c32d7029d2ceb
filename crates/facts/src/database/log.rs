//! What a server counts of its log: PostgreSQL's write-ahead log, InnoDB's redo log.
//!
//! PostgreSQL has its counts in pg_stat_wal; 18 moved writes, syncs and their times to the rows of pg_stat_io whose object is wal
//! (release notes of PostgreSQL 18, section E.1.3.1.9). MariaDB and MySQL have theirs in SHOW GLOBAL STATUS. A server has some of
//! the counts; those that it has not are missing, never 0.

use crate::{Fact, Missing};

/// A count of a log, or of what it is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Count {
    /// Transactions that were committed, of all sessions. MariaDB counts COMMIT statements; its Handler_commit counts each read, too.
    Commits,
    /// Records that were added to the log.
    Records,
    /// Images of whole pages among them.
    PageImages,
    /// Bytes that were added to the log.
    Bytes,
    /// How often a session wrote the log because its buffers were full.
    BuffersFull,
    /// How often a session asked for the log to be written.
    WriteRequests,
    /// Calls that write the log.
    Writes,
    /// Calls that make it durable.
    Syncs,
    /// Time in the calls that write, in nanoseconds.
    WriteNs,
    /// Time in the calls that make durable, in nanoseconds.
    SyncNs,
    /// Time in both, where a server does not split it, in nanoseconds.
    WriteAndSyncNs,
}

/// Each count with its id and the names by which servers call it; times of PostgreSQL are microseconds, the timer of MariaDB's
/// performance schema counts picoseconds.
const COUNTS: [(Count, &str, &[&str]); 11] = [
    (Count::Commits, "commits", &["xact_commit", "com_commit"]),
    (Count::Records, "records", &["wal_records"]),
    (Count::PageImages, "page-images", &["wal_fpi"]),
    (Count::Bytes, "bytes", &["wal_bytes", "innodb_os_log_written"]),
    (Count::BuffersFull, "buffers-full", &["wal_buffers_full", "innodb_log_waits"]),
    (Count::WriteRequests, "write-requests", &["innodb_log_write_requests"]),
    (Count::Writes, "writes", &["wal_write", "innodb_log_writes"]),
    (Count::Syncs, "syncs", &["wal_sync", "innodb_os_log_fsyncs"]),
    (Count::WriteNs, "write-ns", &["wal_write_us"]),
    (Count::SyncNs, "sync-ns", &["wal_sync_us"]),
    (Count::WriteAndSyncNs, "write-and-sync-ns", &["innodb_log_file_ps"]),
];

impl Count {
    /// All of them; the place of each is its number on a tape.
    pub fn all() -> impl Iterator<Item = Count> {
        COUNTS.iter().map(|it| it.0)
    }

    /// How many there are.
    pub const N: usize = COUNTS.len();

    /// What results call it.
    pub fn id(self) -> &'static str {
        COUNTS.iter().find(|it| it.0 == self).map_or("", |it| it.1)
    }

    /// The one that results call so.
    pub fn of_id(id: &str) -> Option<Count> {
        COUNTS.iter().find(|it| it.1 == id).map(|it| it.0)
    }

    fn names(self) -> &'static [&'static str] {
        COUNTS.iter().find(|it| it.0 == self).map_or(&[], |it| it.2)
    }
}

/// The counts of a server at one moment, since each began to count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogCounters {
    values: [Option<u64>; Count::N],
    /// When the counts of the log were last reset, as the server writes it; empty where it does not say.
    pub log_reset: String,
    /// The same of commits.
    pub commits_reset: String,
    /// Whether the server times the calls (track_wal_io_timing); `None` where it has no such setting.
    pub is_timed: Option<bool>,
    /// How it makes its log durable; `None` where it does not say.
    pub syncing: Option<Syncing>,
}

/// How a server makes its log durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syncing {
    /// Not at all (fsync = off).
    Off,
    /// Each write is durable by itself, and is counted as a write only (wal_sync_method = open_datasync, open_sync).
    ByWrites,
    /// By calls that it counts.
    ByCalls,
}

impl Syncing {
    /// What PostgreSQL's settings say.
    fn of_settings(fsync: Option<&str>, method: Option<&str>) -> Option<Syncing> {
        match (fsync?, method?) {
            ("off", _) => Some(Syncing::Off),
            (_, "open_datasync" | "open_sync") => Some(Syncing::ByWrites),
            _ => Some(Syncing::ByCalls),
        }
    }
}

impl LogCounters {
    /// The counts in rows of a name and a number, separated by white space. Names that are unknown here are passed over.
    pub fn parse<R: AsRef<str>>(rows: &[R]) -> LogCounters {
        let text = |wanted: &str| {
            rows.iter().find_map(|row| {
                let (name, value) = row.as_ref().split_once([' ', '\t'])?;
                name.eq_ignore_ascii_case(wanted).then(|| value.trim())
            })
        };
        let number = |name: &&str| text(name)?.parse::<u64>().ok();
        let mut counters = LogCounters {
            values: [None; Count::N],
            log_reset: text("wal_reset").unwrap_or_default().to_owned(),
            commits_reset: text("xact_reset").unwrap_or_default().to_owned(),
            is_timed: text("track_wal_io_timing").map(|it| it == "on"),
            syncing: Syncing::of_settings(text("fsync"), text("wal_sync_method")),
        };
        for count in Count::all() {
            let value = count.names().iter().find_map(number);
            let value = match count {
                // Without timing they are 0, or what was timed before it was turned off.
                Count::WriteNs | Count::SyncNs if counters.is_timed != Some(true) => None,
                Count::WriteNs | Count::SyncNs => value.map(|us| us.saturating_mul(1000)),
                // An instrument that is off has counted nothing.
                Count::WriteAndSyncNs => value.filter(|ps| *ps > 0).map(|ps| ps / 1000),
                _ => value,
            };
            counters.set(count, value);
        }
        counters
    }

    /// A count; `None` where the server does not have it.
    pub fn get(&self, count: Count) -> Option<u64> {
        self.values.get(place(count)).copied().flatten()
    }

    /// Changes a count.
    pub fn set(&mut self, count: Count, value: Option<u64>) {
        if let Some(it) = self.values.get_mut(place(count)) {
            *it = value;
        }
    }

    /// How much a count rose since `before`.
    ///
    /// Errors: one of both does not have it; it was reset, or the server was started anew.
    pub fn rise(&self, before: &LogCounters, count: Count) -> Fact<u64> {
        let what = || format!("the server's count of {}", count.id());
        let (Some(was), Some(is)) = (before.get(count), self.get(count)) else {
            return Err(Missing::not_here(what(), self.why_missing(count)));
        };
        let is_reset = match count {
            Count::Commits => self.commits_reset != before.commits_reset,
            _ => self.log_reset != before.log_reset,
        };
        match is.checked_sub(was) {
            Some(0) if count == Count::Commits && self.counts_statements() => {
                Err(Missing::not_here(what(), "MariaDB counts no commits but COMMIT statements"))
            }
            Some(rise) if !is_reset => Ok(rise),
            _ => Err(Missing::not_here(what(), "it was reset, or the server was started anew")),
        }
    }

    /// Whether its commits are those that a statement asked for: of MariaDB, whose sessions may commit each statement by itself.
    fn counts_statements(&self) -> bool {
        self.get(Count::WriteRequests).is_some()
    }

    /// The same server when each of its counts began.
    #[must_use]
    pub fn zeroed(&self) -> LogCounters {
        LogCounters { values: self.values.map(|it| it.map(|_| 0)), ..self.clone() }
    }

    fn why_missing(&self, count: Count) -> &'static str {
        let is_time = matches!(count, Count::WriteNs | Count::SyncNs | Count::WriteAndSyncNs);
        match self.is_timed {
            Some(false) if is_time => "track_wal_io_timing is off",
            _ if is_time => "the server does not time its log writes",
            _ => "this version of the server does not have it",
        }
    }

    /// How the log is made durable: a server that does not say counts syncs where it ever counted one, and writes elsewhere.
    fn syncing(&self) -> Syncing {
        let concluded = match (self.get(Count::Syncs), self.get(Count::Writes)) {
            (None | Some(0), Some(_)) => Syncing::ByWrites,
            _ => Syncing::ByCalls,
        };
        self.syncing.unwrap_or(concluded)
    }

    /// What the log took since `before`.
    pub fn since(&self, before: &LogCounters) -> Taken {
        let rise = |count| self.rise(before, count);
        let time_ns = rise(Count::WriteAndSyncNs)
            .or_else(|_| Ok(rise(Count::WriteNs)?.saturating_add(rise(Count::SyncNs)?)));
        Taken {
            commits: rise(Count::Commits),
            bytes: rise(Count::Bytes),
            writes: rise(Count::Writes),
            syncs: rise(Count::Syncs),
            sync_ns: rise(Count::SyncNs),
            time_ns,
            syncing: self.syncing(),
        }
    }
}

/// What the log took between two moments.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// Transactions that were committed.
    pub commits: Fact<u64>,
    /// Bytes that were added to the log.
    pub bytes: Fact<u64>,
    /// Calls that wrote it.
    pub writes: Fact<u64>,
    /// Calls that made it durable.
    pub syncs: Fact<u64>,
    /// Time in these, in nanoseconds.
    pub sync_ns: Fact<u64>,
    /// Time in the calls that wrote it and in those that made it durable, in nanoseconds.
    pub time_ns: Fact<u64>,
    /// How it was made durable.
    pub syncing: Syncing,
}

impl Taken {
    /// Log writes that were made durable: syncs, or writes where these are durable by themselves or the server counts no syncs
    /// (MariaDB from 10.8 on).
    ///
    /// Errors: the server does not have the count, or makes nothing durable.
    pub fn durable(&self) -> Fact<u64> {
        match self.syncing {
            Syncing::Off => {
                Err(Missing::not_here("the number of durable log writes", "fsync is off"))
            }
            Syncing::ByWrites => self.writes.clone(),
            Syncing::ByCalls => self.syncs.clone(),
        }
    }

    /// The mean time of one of these, in nanoseconds. Missing where there was none.
    pub fn each_ns(&self) -> Fact<f64> {
        let (n, ns) = (self.durable()?, self.time_ns.clone()?);
        if n == 0 {
            return Err(Missing::not_here("the time of a log write", "there was none"));
        }
        Ok(ns as f64 / n as f64)
    }
}

fn place(count: Count) -> usize {
    COUNTS.iter().position(|it| it.0 == count).unwrap_or(Count::N)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> LogCounters {
        LogCounters::parse(&text.lines().collect::<Vec<_>>())
    }

    /// As `lab::database` asks PostgreSQL 15 and 17, which have all in pg_stat_wal.
    const POSTGRESQL_15: &str = "wal_records 900\nwal_fpi 7\nwal_bytes 123456\nwal_buffers_full 3\nwal_write 80\nwal_sync 70\n\
                                 wal_write_us 4000\nwal_sync_us 35000\nwal_reset 2026-11-01 10:00:00+00\nxact_commit 75\nxact_reset \n\
                                 track_wal_io_timing on";

    #[test]
    fn postgresql_15_to_17_have_all_counts() {
        let counters = parsed(POSTGRESQL_15);
        let all: Vec<_> = Count::all().map(|it| counters.get(it)).collect();
        let some = Some;
        assert_eq!(
            all,
            [
                some(75),
                some(900),
                some(7),
                some(123_456),
                some(3),
                None,
                some(80),
                some(70),
                some(4_000_000),
                some(35_000_000),
                None
            ]
        );
        assert_eq!(counters.log_reset, "2026-11-01 10:00:00+00");
    }

    #[test]
    fn a_server_without_timing_says_which_setting_is_off() {
        let off = parsed(&POSTGRESQL_15.replace("timing on", "timing off"));
        let taken = off.since(&off);
        assert_eq!(taken.syncs, Ok(0));
        assert!(taken.time_ns.unwrap_err().to_string().contains("track_wal_io_timing is off"));
    }

    #[test]
    fn mariadb_10_11_and_11_count_writes_where_they_count_no_syncs() {
        let mariadb = "Innodb_log_waits\t0\nInnodb_log_write_requests\t500\nInnodb_log_writes\t40\n\
                       Innodb_os_log_written\t20480\nCom_commit\t60\nHandler_commit\t900\ninnodb_log_file_ps 5000000";
        let after = parsed(mariadb);
        let before = parsed(
            "innodb_log_writes 10\ninnodb_os_log_written 480\ncom_commit 20\ninnodb_log_file_ps 2000000",
        );
        let taken = after.since(&before);
        assert_eq!(
            (taken.durable(), taken.commits.clone(), taken.bytes.clone()),
            (Ok(30), Ok(40), Ok(20_000))
        );
        assert_eq!((taken.time_ns.clone(), taken.each_ns()), (Ok(3000), Ok(100.0)));
        assert!(taken.syncs.is_err());
        // Sessions that commit each statement by itself say no COMMIT.
        let silent = after.since(&after).commits.unwrap_err().to_string();
        assert!(silent.contains("COMMIT statements"), "{silent}");
        let untimed = parsed("innodb_log_writes 10\ninnodb_log_file_ps 0");
        assert!(untimed.since(&untimed).time_ns.unwrap_err().to_string().contains("does not time"));
        let older = parsed("Innodb_os_log_fsyncs 30\nInnodb_log_writes 50");
        let zero = parsed("Innodb_os_log_fsyncs 0\nInnodb_log_writes 0");
        assert_eq!(older.since(&zero).durable(), Ok(30));
    }

    #[test]
    fn a_reset_is_no_difference_and_takes_only_its_own_counts_with_it() {
        let before = parsed(POSTGRESQL_15);
        let reset = parsed(&POSTGRESQL_15.replace("11-01 10", "11-02 11"));
        let taken = reset.since(&before);
        assert!(taken.syncs.clone().unwrap_err().to_string().contains("reset"));
        assert_eq!(taken.commits, Ok(0));
        let fallen = parsed(&POSTGRESQL_15.replace("xact_commit 75", "xact_commit 5"));
        assert!(fallen.since(&before).commits.is_err());
        assert_eq!(fallen.since(&before).syncs, Ok(0));
    }

    #[test]
    fn a_server_that_counts_no_syncs_has_its_writes_and_one_that_made_none_has_none() {
        let before = parsed("wal_write 5\nwal_sync 0");
        assert_eq!(parsed("wal_write 9\nwal_sync 0").since(&before).durable(), Ok(4));
        // Two reads between which nothing was made durable.
        let before = parsed("wal_write 5\nwal_sync 3");
        assert_eq!(parsed("wal_write 9\nwal_sync 3").since(&before).durable(), Ok(0));
    }

    #[test]
    fn settings_say_what_is_durable_whatever_was_counted_before() {
        let with =
            |settings: &str, n: u64| parsed(&format!("wal_write {n}\nwal_sync 3\n{settings}"));
        let durable = |settings: &str| with(settings, 9).since(&with(settings, 5)).durable();
        assert_eq!(durable("fsync on\nwal_sync_method open_datasync"), Ok(4));
        assert_eq!(durable("fsync on\nwal_sync_method fdatasync"), Ok(0));
        let off = durable("fsync off\nwal_sync_method fdatasync").unwrap_err();
        assert!(off.to_string().contains("fsync is off"), "{off}");
    }

    #[test]
    fn every_count_has_an_id_of_its_own() {
        for count in Count::all() {
            assert_eq!(Count::of_id(count.id()), Some(count));
        }
    }
}
