//! What the program does, without a terminal: it prints nothing, and knows neither a command nor its arguments.

mod executor;
pub(crate) mod next_boot;
pub(crate) mod trial;

pub(crate) use executor::{Change, Executor, Stop, with_unrecorded};
