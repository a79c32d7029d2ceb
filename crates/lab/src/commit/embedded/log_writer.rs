//! The thread that writes the log, and the scheduler's counts of it.
//!
//! The thread reads its own run-queue wait (Documentation/scheduler/sched-stats.rst, from one open file) right before and
//! right after each write: the difference is what this write waited for a CPU. Two readings cost about 2 us; a write takes
//! some hundred.
#![expect(
    clippy::disallowed_methods,
    reason = "times each write and reads the counts of the engine's own threads"
)]

use super::log_buffer::LogBuffer;
use super::log_file::LogFile;
use super::redo;
use super::session::own_tid;
use crate::commit::{Latency, LogCounts, Ran};
use crate::failure::Failure;
use crate::known::Known;
use facts::counters::task_stat::Scheduled;
use facts::{Fact, Missing};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The counts of log writes, for the thread that samples them.
#[derive(Default)]
pub(super) struct Written {
    tid: AtomicU32,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    writes: u64,
    bytes: u64,
    taken_ns: u64,
    waited_ns: u64,
    unread: Option<Missing>,
    latency: Latency,
}

impl Written {
    /// The thread that writes; 0 before it runs.
    pub(super) fn tid(&self) -> u32 {
        self.tid.load(Ordering::Relaxed)
    }

    /// The counts up to now.
    pub(super) fn counts(&self) -> LogCounts {
        let counts = self.lock();
        LogCounts {
            writes: Known::Value(counts.writes),
            bytes: Known::Value(counts.bytes),
            taken_ns: Known::Value(counts.taken_ns),
            waited_ns: match &counts.unread {
                None => Known::Value(counts.waited_ns),
                Some(why) => Known::missing(why.to_string()),
            },
            latency: Known::Value(counts.latency.clone()),
        }
    }

    fn add(&self, bytes: usize, taken_ns: u64, waited_ns: Fact<u64>) {
        let mut counts = self.lock();
        counts.writes += 1;
        counts.bytes = counts.bytes.saturating_add(bytes as u64);
        counts.taken_ns = counts.taken_ns.saturating_add(taken_ns);
        counts.latency.add(taken_ns);
        match waited_ns {
            // A wait right before or after the call is counted with it, and is no part of the time it took.
            Ok(ns) => counts.waited_ns = counts.waited_ns.saturating_add(ns.min(taken_ns)),
            Err(why) => counts.unread = Some(why),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct LogWriter<'a> {
    file: &'a LogFile,
    log: &'a LogBuffer,
    written: &'a Written,
    run: u32,
    own: Fact<Schedstat>,
    /// Where the next write begins in the file.
    at: u64,
}

impl<'a> LogWriter<'a> {
    /// A writer for this run.
    pub(super) fn new(
        file: &'a LogFile,
        log: &'a LogBuffer,
        written: &'a Written,
        run: u32,
    ) -> LogWriter<'a> {
        written.tid.store(own_tid(), Ordering::Relaxed);
        LogWriter { file, log, written, run, own: Schedstat::of(own_tid()), at: 0 }
    }

    /// Writes what is posted until there will be no more, or it cannot be written.
    pub(super) fn run(mut self) {
        let (mut redo, mut blocks) = (Vec::new(), Vec::new());
        while let Some(batch) = self.log.take(&mut redo) {
            redo::write(&mut blocks, self.run, batch, &redo);
            match self.write(&blocks) {
                Ok(()) => {
                    self.log.done(batch);
                    // Sessions that were woken and wait for this CPU post first: they are in the next write, not the one after.
                    std::thread::yield_now();
                }
                Err(failure) => return self.log.fail(failure),
            }
        }
    }

    fn write(&mut self, blocks: &[u8]) -> Result<(), Failure> {
        if self.at + blocks.len() as u64 > LogFile::SIZE {
            self.at = 0;
        }
        let waited_ns = || self.own.as_ref().map_err(Clone::clone)?.read().map(|it| it.wait_ns);
        let before_ns = waited_ns();
        let began = Instant::now();
        self.file.write(self.at, blocks)?;
        let taken = began.elapsed();
        let waited_ns = before_ns.and_then(|before| Ok(waited_ns()?.saturating_sub(before)));
        let taken_ns = u64::try_from(taken.as_nanos()).unwrap_or(u64::MAX);
        self.written.add(blocks.len(), taken_ns, waited_ns);
        self.at += blocks.len() as u64;
        Ok(())
    }
}

/// An open /proc/self/task/TID/schedstat.
pub(super) struct Schedstat {
    file: File,
    path: String,
}

impl Schedstat {
    /// That of a thread of this process.
    pub(super) fn of(tid: u32) -> Fact<Schedstat> {
        let path = format!("/proc/self/task/{tid}/schedstat");
        let file = File::open(&path).map_err(|_| Missing::absent(path.as_str()))?;
        Ok(Schedstat { file, path })
    }

    /// Its counts.
    pub(super) fn read(&self) -> Fact<Ran> {
        // Three numbers of at most twenty digits.
        let mut text = [0; 64];
        let n_bytes =
            self.file.read_at(&mut text, 0).map_err(|_| Missing::absent(self.path.as_str()))?;
        let text = text.get(..n_bytes).unwrap_or_default();
        let malformed = |expected| {
            Missing::malformed(self.path.as_str(), &String::from_utf8_lossy(text), expected)
        };
        let scheduled = Scheduled::parse(text).map_err(|it| malformed(it.0))?;
        // A thread has been given a CPU before anybody knows its number; its time there is counted at the next tick.
        if scheduled.slices == 0 {
            return Err(malformed("an accounted run time (CONFIG_SCHED_INFO)"));
        }
        Ok(scheduled.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calling_thread_has_run() {
        let own = u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
        let schedstat = Schedstat::of(own).unwrap();
        let (first, second) = (schedstat.read().unwrap(), schedstat.read().unwrap());
        assert!(second.since(first).is_some());
    }

    #[test]
    fn a_thread_that_is_not_there_is_missing() {
        let why = Schedstat::of(u32::MAX).err().unwrap().to_string();
        assert_eq!(why, "/proc/self/task/4294967295/schedstat does not exist");
    }
}
