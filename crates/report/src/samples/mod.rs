//! Readings as lines: a table as turbostat prints it, CSV and JSON.

pub mod csv;
pub mod json;
mod table;

pub use table::{Selection, Table};
