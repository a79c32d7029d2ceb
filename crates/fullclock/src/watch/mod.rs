//! Intervals of this machine, or of a recording, one after the other.

mod live;
mod pace;
mod probe;
mod replay;
mod sampling;
mod taping;

pub(crate) use live::{Plan, Watched};
pub(crate) use replay::Replay;
pub(crate) use taping::Taping;
