//! Readings as lines: a table as turbostat prints it, CSV and JSON.

pub mod csv;
pub mod json;
mod selection;
mod table;

pub use selection::Selection;
pub use table::Table;
