//! Counts of one family: rows by number, columns by name.

use crate::{Fact, Missing};
use std::borrow::Cow;
use std::sync::Arc;

/// Counts by row (a CPU, or what its family says) and column, each row with the moment it was read at.
///
/// Rows and columns are shared between samples, and cells are written in place: a sample of a table whose
/// shape is unchanged allocates nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    rows: Arc<[u32]>,
    columns: Arc<[Box<str>]>,
    /// Where the counts come from, if not from the family's first choice.
    source: Option<Cow<'static, str>>,
    /// `CLOCK_MONOTONIC_RAW` in nanoseconds, by row.
    read_at: Vec<u64>,
    /// Row by row.
    cells: Vec<u64>,
    /// Rows of which nothing is known.
    blank_rows: Vec<(u32, Missing)>,
    /// Columns that were asked for and are not there, with the reason.
    blank_columns: Vec<(Box<str>, Missing)>,
}

impl Table {
    /// A table of zeros. `rows` ascend.
    pub fn new(rows: Arc<[u32]>, columns: Arc<[Box<str>]>) -> Table {
        debug_assert!(rows.is_sorted(), "rows ascend");
        Table {
            read_at: vec![0; rows.len()],
            cells: vec![0; rows.len() * columns.len()],
            rows,
            columns,
            source: None,
            blank_rows: Vec::new(),
            blank_columns: Vec::new(),
        }
    }

    /// The numbers of the rows, ascending.
    pub fn rows(&self) -> &Arc<[u32]> {
        &self.rows
    }

    /// The names of the columns.
    pub fn columns(&self) -> &Arc<[Box<str>]> {
        &self.columns
    }

    /// Where the counts come from; `None` where it is what the family's own
    /// [`source`](super::Family::source) says.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Says where the counts come from.
    pub fn set_source(&mut self, source: impl Into<Cow<'static, str>>) {
        self.source = Some(source.into());
    }

    /// Starts a new reading, of all rows at one moment: nothing is blank.
    pub fn begin(&mut self, read_at: u64) {
        self.clear_blanks();
        self.read_at.fill(read_at);
    }

    /// Writes one cell; outside of the table there is none.
    pub fn set(&mut self, row: usize, column: usize, count: u64) {
        let n_columns = self.columns.len();
        if column < n_columns
            && let Some(cell) =
                self.cells.get_mut(row.saturating_mul(n_columns).saturating_add(column))
        {
            *cell = count;
        }
    }

    /// Starts a new reading: nothing is blank.
    pub fn clear_blanks(&mut self) {
        self.blank_rows.clear();
        self.blank_columns.clear();
    }

    /// The cells of the row at `index`, to be written, with the moment they are read at.
    pub fn row_mut(&mut self, index: usize, read_at: u64) -> &mut [u64] {
        let n_columns = self.columns.len();
        if let Some(at) = self.read_at.get_mut(index) {
            *at = read_at;
        }
        let start = index.saturating_mul(n_columns);
        self.cells.get_mut(start..start.saturating_add(n_columns)).unwrap_or_default()
    }

    /// Says that nothing is known of a row.
    pub fn blank_row(&mut self, row: u32, why: Missing) {
        self.blank_rows.push((row, why));
    }

    /// Says why a column is not there.
    pub fn blank_column(&mut self, column: &str, why: Missing) {
        self.blank_columns.push((column.into(), why));
    }

    /// Rows of which nothing is known, with the reason.
    pub fn blank_rows(&self) -> &[(u32, Missing)] {
        &self.blank_rows
    }

    /// Columns that were asked for and are not there, with the reason.
    pub fn blank_columns(&self) -> &[(Box<str>, Missing)] {
        &self.blank_columns
    }

    /// Where a column stands, or why it is not there.
    pub fn column(&self, name: &str) -> Fact<usize> {
        if let Some(at) = self.columns.iter().position(|it| &**it == name) {
            return Ok(at);
        }
        let blank = self.blank_columns.iter().find(|(column, _)| &**column == name);
        let what = || match &self.source {
            Some(source) => format!("{name} of {source}"),
            None => name.to_owned(),
        };
        Err(blank.map_or_else(|| Missing::absent(what()), |(_, why)| why.clone()))
    }

    /// Where a row stands, or why it is not there.
    pub fn row(&self, row: u32) -> Fact<usize> {
        if let Some((_, why)) = self.blank_rows.iter().find(|(blank, _)| *blank == row) {
            return Err(why.clone());
        }
        self.rows.binary_search(&row).map_err(|_| Missing::absent(format!("a count of {row}")))
    }

    /// The cell at a row's and a column's place; 0 outside of the table.
    pub fn cell(&self, row: usize, column: usize) -> u64 {
        self.row_cells(row).get(column).copied().unwrap_or_default()
    }

    /// The cells of the row at a place.
    pub fn row_cells(&self, row: usize) -> &[u64] {
        let n_columns = self.columns.len();
        let start = row.saturating_mul(n_columns);
        self.cells.get(start..start.saturating_add(n_columns)).unwrap_or_default()
    }

    /// When the row at a place was read: `CLOCK_MONOTONIC_RAW` in nanoseconds.
    pub fn read_at(&self, row: usize) -> u64 {
        self.read_at.get(row).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([0, 2].into(), ["a".into(), "b".into()].into());
        table.row_mut(0, 10).copy_from_slice(&[1, 2]);
        table.row_mut(1, 11).copy_from_slice(&[3, 4]);
        table
    }

    #[test]
    fn a_cell_is_found_by_number_and_name() {
        let table = table();
        let (row, column) = (table.row(2).unwrap(), table.column("b").unwrap());
        assert_eq!((table.cell(row, column), table.read_at(row)), (4, 11));
    }

    #[test]
    fn what_is_not_there_has_a_reason() {
        let mut table = table();
        table.blank_row(0, Missing::denied("/dev/cpu/0/msr"));
        table.blank_column("c", Missing::denied("c"));
        assert_eq!(table.row(0), Err(Missing::denied("/dev/cpu/0/msr")));
        assert_eq!(table.column("c"), Err(Missing::denied("c")));
        assert!(table.row(1).unwrap_err().is_absence());
        assert!(table.column("d").unwrap_err().is_absence());
    }
}
