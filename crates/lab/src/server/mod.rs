//! The server under test: which one a user means, which processes it consists of, and what they did during a trial.

mod find;
mod means;
mod meter;
mod selection;
mod work;

pub use find::{FoundServer, find};
pub use means::ServerMeans;
pub(crate) use meter::Meter;
pub use selection::ServerSelection;
pub use work::ServerWork;
