//! Statistics of trials: one method a file, its reference at the top; pure, and about numbers only.
//!
//! Every method takes a [`Sample`]: at least one number, all of them finite, in the order in which they were taken; those
//! of a race take [`Counts`]. Speeds are compared as logarithms, so that a difference is a ratio, and noise that grows with the
//! figure is the same everywhere. What may be claimed by them is in [`verdict`](crate::verdict).

mod batches;
mod blocks;
mod changes;
mod counts;
mod distributions;
mod estimate;
mod location;
mod mean;
mod moves;
mod one_sample;
mod planning;
mod sample;
mod series;
mod signed_rank;
mod tails;
mod welch;
mod winsorised;

pub use batches::{AcrossMark, LEAST_BATCHES, LEAST_EFFECTIVE, Steady, across_mark, steady_ratio};
pub use blocks::{LEAST_BLOCKS, of_blocks};
pub use changes::{Moved, changes, moved, shift};
#[cfg(test)]
pub(crate) use counts::fixture::race;
pub use counts::{Counts, Standing, log_ratio, standing, totals};
pub use estimate::Estimate;
pub use location::{median, median_deviation, trimmed_mean};
pub use mean::{Mean, mean};
pub use moves::largest_move;
pub use one_sample::one_sample;
pub use planning::{blocks_to_show, trials_needed};
pub use sample::{Interval, Sample, Unfit};
pub use series::lag_one;
pub use signed_rank::{hodges_lehmann, signed_rank, walsh_interval};
pub use tails::{SlowTrials, slow_trials};
pub use welch::{LEAST_RUNS, limit_of_two_runs, means_of_runs, two_samples};
pub use winsorised::{winsorised, winsorised_contrasts};
