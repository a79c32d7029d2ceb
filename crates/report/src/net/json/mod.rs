//! Ceilings and curves as JSON.

mod ceilings;
mod curve;

pub(crate) use ceilings::CeilingsDocument;
pub use ceilings::ceilings;
pub(super) use curve::Clocks;
pub(crate) use curve::CurveDocument;
pub use curve::curve;
