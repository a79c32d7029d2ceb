//! What may be said of a difference: decisions that follow from numbers alone.
//!
//! ```text
//!   blocks        drawn order, one preparation or several       of_blocks
//!   two moments   one result of each                            of_moments
//!   runs          three results of each, or more                of_runs
//!   legs          a race that was begun anew several times      of_legs
//!   a race        counts of the same intervals                  of_race
//! ```
//!
//! One rule for all: a difference is claimed if and only if the printed interval leaves out "no difference"; of two moments,
//! if it also leaves out what moved within a run and what runs of the same usually differ by. The interval is of 99 %, or of
//! `1 - 0.01/k` where one output makes `k` comparisons (Bonferroni: any interval with the chance of 1 % of one that misses). Nothing
//! else claims, and nothing forbids. Whoever words a [`Verdict`] decides nothing any more.

mod allowance;
mod blocks;
mod closeness;
mod moments;
mod outcome;
mod race;
mod ratio;
mod repeats;

pub use allowance::{Allowance, BetweenRuns};
pub use blocks::of_blocks;
pub use closeness::Closeness;
pub use moments::{Moments, between_runs, of_moments};
pub use outcome::Verdict;
pub use race::{Cut, Part, Piece, Race, State, of_race};
pub use ratio::{LARGE, Ratio};
pub use repeats::{LEAST_LEGS, of_legs, of_runs};

/// The confidence of each interval where one output makes so many comparisons: together they hold with 99 %.
pub fn confidence(comparisons: usize) -> f64 {
    1.0 - 0.01 / comparisons.max(1) as f64
}
