//! A table of rows and columns that are known before it is read.

use facts::Fact;
use facts::counters::Table;
use std::sync::Arc;

/// Rows and columns, shared with every table that has them.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) rows: Arc<[u32]>,
    pub(super) columns: Arc<[Box<str>]>,
}

impl Shape {
    /// `rows` ascend.
    pub(super) fn new<'a>(
        rows: impl IntoIterator<Item = u32>,
        columns: impl IntoIterator<Item = &'a str>,
    ) -> Shape {
        let columns = columns.into_iter().map(Into::into).collect();
        Shape { rows: rows.into_iter().collect(), columns }
    }

    /// Makes `into` a table of this shape, where it is not one already, and starts a reading.
    pub(super) fn begin(&self, into: &mut Fact<Table>, read_at: u64) {
        let is_same = |it: &Table| {
            (Arc::ptr_eq(it.rows(), &self.rows) || *it.rows() == self.rows)
                && (Arc::ptr_eq(it.columns(), &self.columns) || *it.columns() == self.columns)
        };
        if !into.as_ref().is_ok_and(is_same) {
            *into = Ok(Table::new(self.rows.clone(), self.columns.clone()));
        }
        if let Ok(table) = into {
            table.begin(read_at);
        }
    }
}
