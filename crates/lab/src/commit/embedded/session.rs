//! A session: a row, its redo, a commit; and again.

use super::log_buffer::LogBuffer;
use super::table::Table;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What a session has done. On cache lines of its own: others are written all the time.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Tally {
    tid: AtomicU32,
    commits: AtomicU64,
    log_wait_ns: AtomicU64,
}

impl Tally {
    /// The thread; 0 before it runs.
    pub(super) fn tid(&self) -> u32 {
        self.tid.load(Ordering::Relaxed)
    }

    /// How many commits it was told of.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// How long its redo was posted and not durable, in nanoseconds.
    pub(super) fn log_wait_ns(&self) -> u64 {
        self.log_wait_ns.load(Ordering::Relaxed)
    }
}

/// A session and its table.
pub(super) struct Session {
    table: Table,
    redo: Vec<u8>,
}

impl Session {
    pub(super) fn new(number: u32) -> Session {
        Session { table: Table::new(number), redo: Vec::new() }
    }

    /// Inserts and commits until it is told to end.
    pub(super) fn run(mut self, log: &LogBuffer, tally: &Tally) {
        tally.tid.store(own_tid(), Ordering::Relaxed);
        while !log.is_over() {
            self.redo.clear();
            self.table.insert(&mut self.redo);
            // Before the post: the log writer may be done before it returns.
            let posted_ns = log.now_ns();
            let batch = log.post(&self.redo);
            let Some(durable_ns) = log.wait(batch) else { break };
            let waited_ns = durable_ns.saturating_sub(posted_ns);
            tally.log_wait_ns.fetch_add(waited_ns, Ordering::Relaxed);
            tally.commits.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The number of the calling thread.
pub(super) fn own_tid() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}
