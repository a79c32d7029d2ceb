//! Tables of which every cell is a small file.

use super::files::{File, Files};
use super::shape::Shape;
use facts::Fact;
use facts::counters::Table;
use std::sync::Arc;

/// The files of one family.
#[derive(Debug)]
pub(super) struct Grid {
    shape: Shape,
    /// By the first of their rows.
    cells: Vec<Cell>,
}

/// A file, and the cells that its number goes to.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) file: File,
    pub(super) column: usize,
    /// Places of rows, the first one foremost; never empty.
    pub(super) rows: Box<[usize]>,
}

impl Grid {
    /// A grid of these cells. `rows` ascend.
    pub(super) fn new(rows: Arc<[u32]>, columns: Arc<[Box<str>]>, mut cells: Vec<Cell>) -> Grid {
        cells.retain(|cell| !cell.rows.is_empty());
        cells.sort_by_key(|cell| cell.rows.first().copied());
        Grid { shape: Shape { rows, columns }, cells }
    }

    /// Makes `into` a table of the grid's rows and columns, where it is not one already, and starts a reading.
    pub(super) fn begin(&self, into: &mut Fact<Table>, read_at: u64) {
        self.shape.begin(into, read_at);
    }

    /// Reads every file.
    pub(super) fn read(&mut self, files: &mut Files, table: &mut Table) {
        for cell in &mut self.cells {
            cell.read(files, &self.shape.rows, table);
        }
    }

    /// Reads the files of one row, and says when.
    pub(super) fn read_row(&mut self, files: &mut Files, table: &mut Table, row: usize, now: u64) {
        table.row_mut(row, now);
        let first = self.cells.partition_point(|cell| cell.rows.first() < Some(&row));
        let of_row = self.cells.iter_mut().skip(first);
        for cell in of_row.take_while(|cell| cell.rows.first() == Some(&row)) {
            cell.read(files, &self.shape.rows, table);
        }
    }

    /// Closes every file.
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
