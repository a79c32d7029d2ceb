//! Readings as lines: a table as turbostat prints it, CSV and JSON.

pub(crate) mod csv;
pub(crate) mod json;
mod selection;
mod table;

pub(crate) use selection::Selection;
pub(crate) use table::Table;
