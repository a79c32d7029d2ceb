//! A session: it inserts a row into its table, builds the redo, commits; and again.

use super::log_buffer::LogBuffer;
use super::redo;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The counts of a session, on cache lines of their own: other sessions write theirs all the time.
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

    /// The number of commits that were confirmed to it.
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

    /// Inserts and commits until the log buffer is closed.
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

/// As PostgreSQL's and Oracle's.
const PAGE: usize = 8192;

const PAGES: usize = 32;

const LONGEST_ROW: usize = 128;

/// The table of one session.
///
/// Pages are used in turn, after the last one the first again: a table is too large for any processor's caches and small
/// enough for any machine's memory.
struct Table {
    session: u32,
    pages: Vec<u8>,
    page: usize,
    /// Where the page's next row begins.
    free: usize,
    /// The number of the next row, from 1 on.
    next: u64,
}

impl Table {
    /// An empty one.
    pub(super) fn new(session: u32) -> Table {
        Table { session, pages: vec![0; PAGE * PAGES], page: 0, free: 0, next: 1 }
    }

    /// Inserts the next row, and writes its redo into `redo`.
    pub(super) fn insert(&mut self, redo: &mut Vec<u8>) {
        let row = row(self.session, self.next);
        if self.free + row.len() > PAGE {
            (self.page, self.free) = ((self.page + 1) % PAGES, 0);
        }
        let at = self.page * PAGE + self.free;
        if let Some(slot) = self.pages.get_mut(at..at + row.len()) {
            slot.copy_from_slice(&row);
        }
        let place = u32::try_from(at).unwrap_or(u32::MAX);
        redo::record(redo, self.session, self.next, place, &row);
        self.free += row.len();
        self.next += 1;
    }
}

/// Numbers and a text, as a row of an account's movements has them.
fn row(session: u32, number: u64) -> Vec<u8> {
    let mut row = Vec::with_capacity(LONGEST_ROW);
    row.extend(number.to_le_bytes());
    row.extend((number.wrapping_mul(7919) % 999_983).to_le_bytes());
    row.extend(u64::from(session).to_le_bytes());
    row.extend(format!("movement {number:>12} of session {session:>6}: paid in").into_bytes());
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_page_is_followed_by_the_next_and_the_last_by_the_first() {
        let mut table = Table::new(7);
        let mut places = Vec::new();
        for _ in 0..10_000 {
            let mut redo = Vec::new();
            table.insert(&mut redo);
            places.push((table.page, table.free));
        }
        assert!(places.iter().all(|(page, free)| *page < PAGES && *free <= PAGE));
        assert!(places.windows(2).any(|it| it[0].0 == PAGES - 1 && it[1].0 == 0));
    }
}
