//! The last lines of something that never ends, each with a number to go on behind.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// As many bytes of lines are kept.
const LARGEST: usize = 4 << 20;

/// As many lines are kept, if they are short.
const MOST: usize = 6000;

/// Lines of one writer for any number of readers. A reader that is slow holds up nobody, and is told what it missed.
pub(super) struct Ring {
    lines: Mutex<Lines>,
    /// The number of the latest line; readers wait for it to change.
    latest: watch::Sender<u64>,
}

#[derive(Default)]
struct Lines {
    kept: VecDeque<Arc<str>>,
    n_bytes: usize,
    /// How many there were before the first one that is kept: lines are counted from 1.
    n_gone: u64,
}

/// What comes behind a line that a reader has.
#[derive(Debug, PartialEq)]
pub(super) struct Behind {
    /// How many lines are gone that the reader has not seen.
    pub(super) missed: u64,
    /// The lines with their numbers.
    pub(super) lines: Vec<(u64, Arc<str>)>,
}

impl Default for Ring {
    fn default() -> Ring {
        Ring { lines: Mutex::default(), latest: watch::Sender::new(0) }
    }
}

impl Ring {
    /// Adds a line, and forgets what is too old.
    pub(super) fn push(&self, line: String) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.n_bytes += line.len();
        lines.kept.push_back(line.into());
        while lines.kept.len() > MOST || (lines.n_bytes > LARGEST && lines.kept.len() > 1) {
            let gone = lines.kept.pop_front().map_or(0, |it| it.len());
            lines.n_bytes -= gone;
            lines.n_gone += 1;
        }
        let latest = lines.n_gone + lines.kept.len() as u64;
        drop(lines);
        self.latest.send_replace(latest);
    }

    /// The lines after the one with that number, the oldest there are after 0: as many as have this many bytes in all, and at
    /// least one.
    pub(super) fn behind(&self, number: u64, n_bytes: usize) -> Behind {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        // Who begins has missed nothing.
        let missed = if number == 0 { 0 } else { lines.n_gone.saturating_sub(number) };
        let skipped = usize::try_from(number.saturating_sub(lines.n_gone)).unwrap_or(usize::MAX);
        let numbered = (lines.n_gone + 1..).zip(&lines.kept).skip(skipped);
        let mut taken = 0;
        let fitting = numbered.take_while(|(_, it)| {
            let is_first = taken == 0;
            taken += it.len().max(1);
            is_first || taken <= n_bytes
        });
        Behind { missed, lines: fitting.map(|(n, it)| (n, Arc::clone(it))).collect() }
    }

    /// The number of the latest line, to be waited for.
    pub(super) fn latest(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(behind: &Behind) -> Vec<u64> {
        behind.lines.iter().map(|it| it.0).collect()
    }

    #[test]
    fn a_reader_goes_on_behind_what_it_has_and_misses_what_is_gone() {
        let ring = Ring::default();
        assert_eq!(ring.behind(0, 9), Behind { missed: 0, lines: vec![] });
        (1..=MOST + 2).for_each(|it| ring.push(it.to_string()));
        let first = ring.behind(0, 2);
        assert_eq!((first.missed, numbers(&first)), (0, vec![3, 4]));
        assert_eq!(&*first.lines[0].1, "3");
        let late = ring.behind(1, 1);
        assert_eq!((late.missed, numbers(&late)), (1, vec![3]));
        let latest = *ring.latest().borrow();
        assert_eq!(latest, MOST as u64 + 2);
        assert_eq!(numbers(&ring.behind(latest - 1, 9)), [latest]);
        assert!(ring.behind(latest, 9).lines.is_empty() && ring.behind(latest + 7, 9).missed == 0);
    }

    #[test]
    fn long_lines_are_forgotten_sooner_and_the_latest_never() {
        let ring = Ring::default();
        (0..3).for_each(|_| ring.push("x".repeat(LARGEST / 2)));
        assert_eq!(numbers(&ring.behind(0, usize::MAX)), [2, 3]);
        ring.push("x".repeat(LARGEST * 2));
        assert_eq!(numbers(&ring.behind(0, usize::MAX)), [4]);
    }

    #[test]
    fn a_piece_has_as_many_lines_as_fit_and_at_least_one() {
        let ring = Ring::default();
        ["long line", "b", "c", "d"].into_iter().for_each(|it| ring.push(it.to_owned()));
        for (after, n_bytes, expected) in
            [(0, 0, &[1][..]), (0, 9, &[1]), (0, 10, &[1, 2]), (1, 2, &[2, 3]), (1, 0, &[2])]
        {
            assert_eq!(numbers(&ring.behind(after, n_bytes)), expected, "{after}, {n_bytes}");
        }
    }
}
