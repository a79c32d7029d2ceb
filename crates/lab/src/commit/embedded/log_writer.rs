//! The one thread that writes the log.
//!
//! Its own run-queue wait is read right before and right after each write, so that what a write waited for a CPU is that
//! write's. Two readings cost about 2 us, where a write takes some hundred.
#![expect(clippy::disallowed_methods, reason = "each write is timed")]

use super::log_buffer::LogBuffer;
use super::log_file::LogFile;
use super::redo;
use super::schedstat::Schedstat;
use super::session::own_tid;
use crate::commit::{Latency, LogCounts};
use crate::failure::Failure;
use crate::known::Known;
use facts::{Fact, Missing};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What was written, for whoever samples it.
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
                Some(why) => Known::Missing { missing: why.to_string() },
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

/// The log writer.
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
    /// One whose writes are those of this run.
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
                    // Those who were woken and wait for this CPU post first, and are in the next write instead of the one after.
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
