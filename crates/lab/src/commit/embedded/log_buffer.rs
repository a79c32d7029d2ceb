//! Where sessions post their redo and wait for it, and where the log writer finds it.
//!
//! Sessions of one log write sleep on one futex and are woken by one call. There are two of these: while one log write is
//! under way, the sessions that wait for the next one must not be woken by it.
#![expect(clippy::disallowed_methods, reason = "waits are timed where they happen")]

use crate::failure::Failure;
use rustix::thread::futex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How many log writes back the moment of one is remembered. A session that is woken later than that is told the moment of
/// a later one.
const MOMENTS: usize = 1024;

/// After the last number of a log write: no session waits any longer.
const OVER: u32 = u32::MAX;

/// What is posted, and what is durable.
pub(super) struct LogBuffer {
    began: Instant,
    filling: Mutex<Filling>,
    /// Changes with each post that finds the writer asleep, and at the end.
    posted: AtomicU32,
    /// The latest durable log write of even and of odd number.
    durable: [AtomicU32; 2],
    /// When each became durable, in nanoseconds since the start.
    moments: Vec<AtomicU64>,
    sessions_end: AtomicBool,
}

struct Filling {
    redo: Vec<u8>,
    /// The number of the log write that this becomes, from 1 on.
    batch: u32,
    writer_sleeps: bool,
    writer_ends: bool,
    failure: Option<Failure>,
    has_failed: bool,
}

impl LogBuffer {
    pub(super) fn new() -> LogBuffer {
        LogBuffer {
            began: Instant::now(),
            filling: Mutex::new(Filling {
                redo: Vec::new(),
                batch: 1,
                writer_sleeps: false,
                writer_ends: false,
                failure: None,
                has_failed: false,
            }),
            posted: AtomicU32::new(0),
            durable: [AtomicU32::new(0), AtomicU32::new(0)],
            moments: (0..MOMENTS).map(|_| AtomicU64::new(0)).collect(),
            sessions_end: AtomicBool::new(false),
        }
    }

    /// Nanoseconds since the start.
    pub(super) fn now_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Whether sessions are to end.
    pub(super) fn is_over(&self) -> bool {
        self.sessions_end.load(Ordering::Relaxed)
    }

    /// Adds redo to the next log write, and returns the number of that write.
    pub(super) fn post(&self, redo: &[u8]) -> u32 {
        let mut filling = self.filling();
        filling.redo.extend_from_slice(redo);
        let batch = filling.batch;
        let wakes = std::mem::take(&mut filling.writer_sleeps);
        drop(filling);
        if wakes {
            self.posted.fetch_add(1, Ordering::Release);
            wake(&self.posted, 1);
        }
        batch
    }

    /// Waits until that log write is durable; when that was, or `None` where it never will be.
    pub(super) fn wait(&self, batch: u32) -> Option<u64> {
        let word = &self.durable[(batch & 1) as usize];
        loop {
            let seen = word.load(Ordering::Acquire);
            if seen == OVER {
                return None;
            }
            if seen >= batch {
                return self.moment(batch).map(|it| it.load(Ordering::Relaxed));
            }
            sleep(word, seen);
        }
    }

    /// Exchanges `redo` for all that was posted, and gives the number of that log write; waits for a post. `None` at the end.
    pub(super) fn take(&self, redo: &mut Vec<u8>) -> Option<u32> {
        redo.clear();
        loop {
            let mut filling = self.filling();
            if !filling.redo.is_empty() {
                std::mem::swap(&mut filling.redo, redo);
                filling.batch += 1;
                return Some(filling.batch - 1);
            }
            if filling.writer_ends {
                return None;
            }
            filling.writer_sleeps = true;
            let seen = self.posted.load(Ordering::Acquire);
            drop(filling);
            sleep(&self.posted, seen);
        }
    }

    /// Wakes the sessions whose redo is durable.
    pub(super) fn done(&self, batch: u32) {
        if let Some(moment) = self.moment(batch) {
            moment.store(self.now_ns(), Ordering::Relaxed);
        }
        let word = &self.durable[(batch & 1) as usize];
        word.store(batch, Ordering::Release);
        wake(word, i32::MAX.unsigned_abs());
    }

    /// Sends everybody home: the log cannot be written.
    pub(super) fn fail(&self, failure: Failure) {
        let mut filling = self.filling();
        filling.has_failed = true;
        filling.failure = Some(failure);
        drop(filling);
        self.let_sessions_end();
        for word in &self.durable {
            word.store(OVER, Ordering::Release);
            wake(word, i32::MAX.unsigned_abs());
        }
    }

    /// Why the log could not be written; told once, and afterwards only that it could not.
    pub(super) fn failure(&self) -> Option<Failure> {
        let mut filling = self.filling();
        let again = filling.has_failed.then_some(Failure::Stopped);
        filling.failure.take().or(again)
    }

    /// Lets each session end after its commit.
    pub(super) fn let_sessions_end(&self) {
        self.sessions_end.store(true, Ordering::Relaxed);
    }

    /// Lets the writer end once all is written.
    pub(super) fn let_writer_end(&self) {
        self.filling().writer_ends = true;
        self.posted.fetch_add(1, Ordering::Release);
        wake(&self.posted, 1);
    }

    /// The number of the latest log write.
    pub(super) fn last_batch(&self) -> u32 {
        self.filling().batch - 1
    }

    fn moment(&self, batch: u32) -> Option<&AtomicU64> {
        self.moments.get(batch as usize % MOMENTS)
    }

    fn filling(&self) -> MutexGuard<'_, Filling> {
        self.filling.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sleeps until woken, unless the word has changed since it was `seen`.
fn sleep(word: &AtomicU32, seen: u32) {
    // A thread that wakes up for another reason checks again.
    let _woken = futex::wait(word, futex::Flags::PRIVATE, seen, None).is_err();
}

fn wake(word: &AtomicU32, count: u32) {
    // It fails for bad addresses only (futex(2)).
    let _refused = futex::wake(word, futex::Flags::PRIVATE, count).is_err();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_posted_while_a_write_is_under_way_is_the_next_one() {
        let log = LogBuffer::new();
        let mut redo = Vec::new();
        assert_eq!((log.post(b"a"), log.post(b"b")), (1, 1));
        assert_eq!((log.take(&mut redo), &*redo), (Some(1), &b"ab"[..]));
        assert_eq!(log.post(b"c"), 2);
        log.done(1);
        assert!(log.wait(1).is_some());
        assert_eq!((log.take(&mut redo), &*redo), (Some(2), &b"c"[..]));
        log.let_writer_end();
        assert_eq!((log.take(&mut redo), log.last_batch()), (None, 2));
    }

    #[test]
    fn nobody_waits_for_a_log_that_cannot_be_written() {
        let log = LogBuffer::new();
        let batch = log.post(b"a");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| log.wait(batch));
            log.fail(Failure::NoFigure("broken".to_owned()));
            assert_eq!(waiting.join().unwrap(), None);
        });
        assert!(log.is_over() && log.wait(batch + 1).is_none());
        assert_eq!(log.failure().unwrap().to_string(), "broken");
        assert_eq!(log.failure().unwrap().to_string(), "stopped");
    }
}
