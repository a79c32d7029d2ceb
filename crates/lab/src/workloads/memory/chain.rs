//! A buffer of cache lines that name each other in one random cycle.
//!
//! Each line also holds its position in the cycle, so that where a walk must end is known without walking. The cycle is
//! a random order of all lines, closed: as likely to be any cycle as one of Sattolo's algorithm (Information Processing
//! Letters 22, 1986), and its positions come with it.

use crate::failure::Failure;
use crate::threads::in_steps;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a cache line of x86-64 and of most Arm servers.
pub(super) const LINE: u64 = 64;

/// Lines between two checks of the stop flag: some milliseconds.
const STEP: usize = 1 << 16;

/// The first word is the next line, the second the position in the cycle; the others are the line's own number.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Line([u64; 8]);

/// A cycle through all of its lines.
pub(super) struct Chain {
    lines: Vec<Line>,
}

impl Chain {
    /// A cycle through that many lines, at most 2^32; every line has been written.
    pub(super) fn through(n_lines: u64, stop: &AtomicBool) -> Result<Chain, Failure> {
        let unready = |what: &str| Failure::Unready(format!("memory: no room for {what}"));
        let n = u32::try_from(n_lines).map_err(|_| unready("so many lines"))?;
        let mut order: Vec<u32> = (0..n).collect();
        // The same cycle in each run.
        fastrand::Rng::with_seed(1).shuffle(&mut order);
        let mut lines = Vec::new();
        lines.try_reserve_exact(order.len()).map_err(|_| unready("the buffer"))?;
        lines.resize(order.len(), Line::default());
        for (position, &line) in order.iter().enumerate() {
            if position % STEP == 0 && stop.load(Ordering::Relaxed) {
                return Err(Failure::Stopped);
            }
            let next = order[(position + 1) % order.len()];
            let own = u64::from(line);
            let words = [u64::from(next), position as u64, own, own, own, own, own, own];
            lines[line as usize] = Line(words);
        }
        Ok(Chain { lines })
    }

    /// How many lines there are.
    pub(super) fn n_lines(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Where the `rank`th of `n` walkers begins: as far from the others as can be, so that none finds in a shared cache
    /// what another has just read.
    pub(super) fn place(&self, rank: usize, n: usize) -> usize {
        self.lines.len() / n.max(1) * rank.min(n)
    }

    /// The line `accesses` steps after `start`.
    pub(super) fn follow(
        &self,
        start: usize,
        accesses: u64,
        stop: &AtomicBool,
    ) -> Result<usize, Failure> {
        let mut line = black_box(start);
        in_steps(accesses, STEP as u64, stop, |part| {
            line = (0..part).fold(line, |line, _| self.lines[line].0[0] as usize);
        })?;
        Ok(black_box(line))
    }

    /// The position of a line in the cycle.
    pub(super) fn position(&self, line: usize) -> u64 {
        self.lines[line].0[1]
    }

    /// The position `accesses` steps after the line `start`.
    pub(super) fn position_after(&self, start: usize, accesses: u64) -> u64 {
        let n = self.n_lines().max(1);
        (self.position(start) + accesses % n) % n
    }

    /// The sum of all words, read in order from the line `start` on and round to it.
    pub(super) fn sum(&self, start: usize, stop: &AtomicBool) -> Result<u64, Failure> {
        let (tail, head) = self.lines.split_at(start.min(self.lines.len()));
        let mut sum = 0u64;
        for part in head.chunks(STEP).chain(tail.chunks(STEP)) {
            if stop.load(Ordering::Relaxed) {
                return Err(Failure::Stopped);
            }
            sum = sum.wrapping_add(words(part));
        }
        Ok(sum)
    }

    /// What [`Chain::sum`] has to be: each of the eight words runs through all numbers of lines.
    pub(super) fn right_sum(&self) -> u64 {
        let n = self.n_lines();
        n.wrapping_mul(n.saturating_sub(1)).wrapping_mul(4)
    }
}

/// Adds up in eight lanes, which a compiler makes vectors of.
fn words(lines: &[Line]) -> u64 {
    let mut sums = [0u64; 8];
    for line in lines {
        for (sum, word) in sums.iter_mut().zip(line.0) {
            *sum = sum.wrapping_add(word);
        }
    }
    sums.iter().fold(0, |sum, it| sum.wrapping_add(*it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    #[test]
    fn the_cycle_visits_every_line_once_and_returns() {
        for n in [1, 2, 3, 1000] {
            let chain = Chain::through(n, &GO_ON).unwrap();
            let step = |line: usize| chain.follow(line, 1, &GO_ON).unwrap();
            let visited: BTreeSet<usize> =
                std::iter::successors(Some(0), |line| Some(step(*line))).take(n as usize).collect();
            assert_eq!(visited.len() as u64, n);
            assert_eq!(chain.follow(0, n, &GO_ON).unwrap(), 0);
        }
    }

    #[test]
    fn where_a_walk_ends_is_known_without_walking() {
        let chain = Chain::through(1000, &GO_ON).unwrap();
        for (start, accesses) in [(0, 0), (7, 1), (999, 999), (500, 123_456)] {
            let end = chain.follow(start, accesses, &GO_ON).unwrap();
            assert_eq!(chain.position(end), chain.position_after(start, accesses));
        }
    }

    #[test]
    fn the_sum_is_right_from_wherever_it_begins() {
        for n in [1, 2, 1000, 70_000] {
            let chain = Chain::through(n, &GO_ON).unwrap();
            for rank in 0..3 {
                let sum = chain.sum(chain.place(rank, 3), &GO_ON).unwrap();
                assert_eq!(sum, chain.right_sum(), "{n} lines, rank {rank}");
            }
        }
    }

    #[test]
    fn a_line_is_a_cache_line() {
        assert_eq!((size_of::<Line>(), align_of::<Line>()), (64, 64));
    }

    #[test]
    fn a_user_who_wants_to_stop_does_not_wait_for_the_buffer() {
        let stop = AtomicBool::new(true);
        assert!(matches!(Chain::through(1000, &stop), Err(Failure::Stopped)));
        assert!(Chain::through(u64::MAX, &stop).is_err());
    }
}
