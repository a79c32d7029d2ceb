//! Verdicts as text and as JSON.

pub(crate) mod json;
mod page;
pub(crate) mod text;
mod unknowns;
