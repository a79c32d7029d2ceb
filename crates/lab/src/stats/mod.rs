//! Statistics of trials: one method a file, its reference at the top; pure, and about numbers only.
//!
//! Every method takes a [`Sample`]: at least one number, all of them finite, in the order in which they were taken.
//! Speeds are compared as logarithms, so that a difference is a ratio, and noise that grows with the figure is the same
//! everywhere.

mod block_bootstrap;
mod claims;
mod distributions;
mod location;
mod sample;
mod series;
mod signed_rank;
mod two_samples;

pub use block_bootstrap::{Bootstrap, bootstrap};
pub use claims::{Claim, detectable_effect, holm, trials_needed};
pub use distributions::{Mean, mean};
pub use location::{median, median_deviation, outliers, standard_error, trimmed_mean};
pub use sample::{Interval, Sample, Unfit};
pub use series::{Change, change_point, effective_size, lag_one, warm_up};
pub use signed_rank::{hodges_lehmann, signed_rank, walsh_interval};
pub use two_samples::{Comparison, cliffs_delta, yuen};

/// The chance that a printed interval holds the truth.
pub const CONFIDENCE: f64 = 0.95;
