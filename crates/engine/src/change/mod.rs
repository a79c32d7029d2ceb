//! Changes of the machine: planned from what is requested, carried out for good, for one trial or for the next boot, and taken
//! back.

pub mod apply;
pub mod drift;
mod executor;
pub mod next_boot;
pub mod opened;
pub mod persist;
mod profile;
pub mod prove;
pub mod requested;
pub mod revert;
pub mod reverted;
pub mod trial;

pub use executor::{Change, Executor, Stop, with_unrecorded};
