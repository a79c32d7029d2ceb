//! Statistics of trials: one method a file, its reference at the top; pure, and about numbers only.
//!
//! Every method takes a [`Sample`]: at least one number, all of them finite, in the order in which they were taken.
//! Speeds are compared as logarithms, so that a difference is a ratio, and noise that grows with the figure is the same
//! everywhere.

mod autocorrelation;
mod block_bootstrap;
mod change_point;
mod cliffs_delta;
mod detectable_effect;
mod holm;
mod interval;
mod mean;
mod median;
mod median_deviation;
pub(crate) mod normal;
mod outliers;
mod sample;
mod signed_rank;
mod student;
mod trials_needed;
mod trimmed_mean;
mod walsh_averages;
mod warm_up;
mod yuen;

pub use autocorrelation::{effective_size, lag_one};
pub use block_bootstrap::{Bootstrap, bootstrap};
pub use change_point::{Change, change_point};
pub use cliffs_delta::cliffs_delta;
pub use detectable_effect::detectable_effect;
pub use holm::{Claim, holm};
pub use interval::Interval;
pub use mean::{Mean, mean};
pub use median::median;
pub use median_deviation::median_deviation;
pub use outliers::outliers;
pub use sample::{Sample, Unfit};
pub use signed_rank::signed_rank;
pub use trials_needed::trials_needed;
pub use trimmed_mean::{standard_error, trimmed_mean};
pub use walsh_averages::{hodges_lehmann, walsh_interval};
pub use warm_up::warm_up;
pub use yuen::{Comparison, yuen};

/// The chance that a printed interval holds the truth.
pub const CONFIDENCE: f64 = 0.95;
