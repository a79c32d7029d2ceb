//! The board's power against the controller's limit, and what the processors say at the same moments.

mod json;
mod text;
mod words;

pub use json::json;
pub use text::text;

#[cfg(test)]
mod fixture;
