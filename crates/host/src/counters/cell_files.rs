//! Tables with fixed rows and columns, and files that hold one cell each.

use super::files::{File, Files};
use facts::Fact;
use facts::counters::Table;
use std::sync::Arc;

/// The files of a table: each holds the number of one or more cells.
#[derive(Debug)]
pub(super) struct CellFiles {
    layout: TableLayout,
    /// Sorted by the first of their rows.
    cells: Vec<Cell>,
}

/// A file, and the cells that get its number.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) file: File,
    pub(super) column: usize,
    /// Indexes of rows, ascending; never empty.
    pub(super) rows: Box<[usize]>,
}

impl CellFiles {
    /// The table of these rows (ascending) and columns, filled from `cells`.
    pub(super) fn new(
        rows: Arc<[u32]>,
        columns: Arc<[Box<str>]>,
        mut cells: Vec<Cell>,
    ) -> CellFiles {
        cells.retain(|cell| !cell.rows.is_empty());
        cells.sort_by_key(|cell| cell.rows.first().copied());
        CellFiles { layout: TableLayout { rows, columns }, cells }
    }

    /// Gives `into` the rows and columns of this table and starts a reading.
    pub(super) fn begin(&self, into: &mut Fact<Table>, read_at: u64) {
        self.layout.begin(into, read_at);
    }

    pub(super) fn read(&mut self, files: &mut Files, table: &mut Table) {
        for cell in &mut self.cells {
            cell.read(files, &self.layout.rows, table);
        }
    }

    /// Reads the files of one row; `now` is the time of the reading.
    pub(super) fn read_row(&mut self, files: &mut Files, table: &mut Table, row: usize, now: u64) {
        table.row_mut(row, now);
        let first = self.cells.partition_point(|cell| cell.rows.first() < Some(&row));
        let of_row = self.cells.iter_mut().skip(first);
        for cell in of_row.take_while(|cell| cell.rows.first() == Some(&row)) {
            cell.read(files, &self.layout.rows, table);
        }
    }

    pub(super) fn close(&mut self, files: &mut Files) {
        files.forget_all(self.cells.iter_mut().map(|cell| &mut cell.file));
    }
}

impl Cell {
    fn read(&mut self, files: &mut Files, rows: &[u32], table: &mut Table) {
        match files.number(&mut self.file) {
            Ok(count) => self.rows.iter().for_each(|row| table.set(*row, self.column, count)),
            Err(missing) => {
                for row in self.rows.iter().filter_map(|row| rows.get(*row)) {
                    if table.blank_rows().last().is_none_or(|(blank, _)| blank != row) {
                        table.blank_row(*row, missing.clone());
                    }
                }
            }
        }
    }
}

/// Rows and columns, shared with every table that has them.
#[derive(Clone, Debug)]
pub(super) struct TableLayout {
    pub(super) rows: Arc<[u32]>,
    pub(super) columns: Arc<[Box<str>]>,
}

impl TableLayout {
    /// `rows` ascend.
    pub(super) fn new<'a>(
        rows: impl IntoIterator<Item = u32>,
        columns: impl IntoIterator<Item = &'a str>,
    ) -> TableLayout {
        let columns = columns.into_iter().map(Into::into).collect();
        TableLayout { rows: rows.into_iter().collect(), columns }
    }

    /// Gives `into` this layout, if it has another one, and starts a reading.
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
