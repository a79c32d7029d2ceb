//! What the program does, without a terminal: it prints nothing, and knows neither a command nor its arguments.

pub(crate) mod around;
mod executor;
pub(crate) mod next_boot;

pub(crate) use executor::{Change, Executor, Stop, with_unrecorded};
