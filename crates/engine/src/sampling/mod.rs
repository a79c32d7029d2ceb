//! Intervals of this machine, or of a recording, one after the other.

mod live;
mod pace;
mod probe;
mod replay;
mod schedule;
mod taping;

pub use live::{Plan, Watched};
pub use replay::Replay;
pub use taping::Taping;
