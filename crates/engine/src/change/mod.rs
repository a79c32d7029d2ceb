//! Plans are carried out: for good, for one trial, or for the next boot.

mod executor;
pub mod next_boot;
pub mod trial;

pub use executor::{Change, Executor, Stop, with_unrecorded};
