//! A table of counters, and filling it again from the next text of its source.
//!
//! A source prints the same rows and columns for days: then only the cells are written. When a CPU goes offline or
//! a device appears, the table is built again.

use crate::{Fact, Missing};
use std::borrow::Cow;
use std::sync::Arc;

/// Counts by row (a CPU, or what the family says) and column. Each row has the time at which it was read. Samples
/// share rows and columns, and cells are written in place: a sample of a table with the same shape allocates nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    rows: Arc<[u32]>,
    columns: Arc<[Box<str>]>,
    /// The source of the counts, if it is not the family's first choice.
    source: Option<Cow<'static, str>>,
    /// `CLOCK_MONOTONIC_RAW` in nanoseconds, by row.
    read_at: Vec<u64>,
    /// The cells, row by row.
    cells: Vec<u64>,
    /// Rows that could not be read, with the reason.
    blank_rows: Vec<(u32, Missing)>,
    /// Requested columns that do not exist, with the reason.
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

    /// A table of the same shape in which everything is 0, read at 0.
    #[must_use]
    pub fn zeroed(&self) -> Table {
        let (rows, columns) = (Arc::clone(&self.rows), Arc::clone(&self.columns));
        let zeros = Table::new(rows, columns);
        Table { source: self.source.clone(), blank_rows: self.blank_rows.clone(), ..zeros }
    }

    /// The numbers of the rows, ascending.
    pub fn rows(&self) -> &Arc<[u32]> {
        &self.rows
    }

    /// The names of the columns.
    pub fn columns(&self) -> &Arc<[Box<str>]> {
        &self.columns
    }

    /// The source of the counts; `None` where it is the family's own [`source`](super::Family::source).
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Sets the source of the counts.
    pub fn set_source(&mut self, source: impl Into<Cow<'static, str>>) {
        self.source = Some(source.into());
    }

    /// Begins a new reading of all rows at one time: no row or column is blank.
    pub fn begin(&mut self, read_at: u64) {
        self.clear_blanks();
        self.read_at.fill(read_at);
    }

    /// Writes one cell; does nothing outside of the table.
    pub fn set(&mut self, row: usize, column: usize, count: u64) {
        let n_columns = self.columns.len();
        if column < n_columns
            && let Some(cell) =
                self.cells.get_mut(row.saturating_mul(n_columns).saturating_add(column))
        {
            *cell = count;
        }
    }

    /// Begins a new reading: no row or column is blank.
    pub fn clear_blanks(&mut self) {
        self.blank_rows.clear();
        self.blank_columns.clear();
    }

    /// The cells of the row at `index`, for writing; `read_at` is the time of the reading.
    pub fn row_mut(&mut self, index: usize, read_at: u64) -> &mut [u64] {
        let n_columns = self.columns.len();
        if let Some(at) = self.read_at.get_mut(index) {
            *at = read_at;
        }
        let start = index.saturating_mul(n_columns);
        self.cells.get_mut(start..start.saturating_add(n_columns)).unwrap_or_default()
    }

    /// Marks a row as not read.
    pub fn blank_row(&mut self, row: u32, why: Missing) {
        self.blank_rows.push((row, why));
    }

    /// Marks a column as missing.
    pub fn blank_column(&mut self, column: &str, why: Missing) {
        self.blank_columns.push((column.into(), why));
    }

    /// Rows that could not be read, with the reason.
    pub fn blank_rows(&self) -> &[(u32, Missing)] {
        &self.blank_rows
    }

    /// Requested columns that do not exist, with the reason.
    pub fn blank_columns(&self) -> &[(Box<str>, Missing)] {
        &self.blank_columns
    }

    /// The index of a column, or why it is missing.
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

    /// The index of a row, or why it is missing.
    pub fn row(&self, row: u32) -> Fact<usize> {
        if let Some((_, why)) = self.blank_rows.iter().find(|(blank, _)| *blank == row) {
            return Err(why.clone());
        }
        self.rows.binary_search(&row).map_err(|_| Missing::absent(format!("a count of {row}")))
    }

    /// The cell at a row index and a column index; 0 outside of the table.
    pub fn cell(&self, row: usize, column: usize) -> u64 {
        self.row_cells(row).get(column).copied().unwrap_or_default()
    }

    /// The cells of the row at an index.
    pub fn row_cells(&self, row: usize) -> &[u64] {
        let n_columns = self.columns.len();
        let start = row.saturating_mul(n_columns);
        self.cells.get(start..start.saturating_add(n_columns)).unwrap_or_default()
    }

    /// When the row at an index was read: `CLOCK_MONOTONIC_RAW` in nanoseconds.
    pub fn read_at(&self, row: usize) -> u64 {
        self.read_at.get(row).copied().unwrap_or_default()
    }
}

/// A text that cannot be parsed, and what was expected.
pub(super) struct Unfit<'t> {
    pub(super) found: &'t [u8],
    pub(super) expected: &'static str,
}

/// Whether a text has the rows and columns of the table that it was written into.
#[derive(PartialEq)]
pub(super) enum Shape {
    Same,
    Other,
}

/// One reading of a source.
pub(super) struct Source<'s> {
    /// Its path, for messages.
    pub(super) path: &'s str,
    pub(super) text: &'s [u8],
    /// `CLOCK_MONOTONIC_RAW` in nanoseconds.
    pub(super) read_at: u64,
}

impl<'s> Source<'s> {
    /// Calls `write` to write the text into the table, or, where the text has another shape, into the table that
    /// `make` builds for it. A text that cannot be parsed leaves a reason instead of a table.
    pub(super) fn refill(
        &self,
        into: &mut Fact<Table>,
        write: impl Fn(&'s [u8], &mut Table) -> Result<Shape, Unfit<'s>>,
        make: impl Fn(&'s [u8]) -> Result<Table, Unfit<'s>>,
    ) {
        let written = self.whole().and_then(|text| {
            if let Ok(table) = into {
                table.begin(self.read_at);
                if write(text, table)? == Shape::Same {
                    return Ok(());
                }
            }
            let mut table = make(text)?;
            table.begin(self.read_at);
            if write(text, &mut table)? == Shape::Other {
                let expected = "the same CPUs and columns in all of its lines";
                return Err(Unfit { found: text, expected });
            }
            *into = Ok(table);
            Ok(())
        });
        if let Err(Unfit { found, expected }) = written {
            *into = Err(malformed(self.path, found, expected));
        }
    }

    /// The text; an error where it is cut, so that its last line does not end.
    fn whole(&self) -> Result<&'s [u8], Unfit<'s>> {
        if self.text.ends_with(b"\n") {
            return Ok(self.text);
        }
        let last = self.text.rsplit(|it| *it == b'\n').next().unwrap_or_default();
        Err(Unfit { found: last, expected: "lines, the last one whole" })
    }
}

/// The reason for a text that cannot be parsed, of any length.
fn malformed(path: &str, found: &[u8], expected: &'static str) -> Missing {
    /// More than [`Missing::malformed`] shows.
    const LONGEST: usize = 400;
    let found = String::from_utf8_lossy(found.get(..LONGEST).unwrap_or(found));
    Missing::malformed(path, &found, expected)
}

/// Tables as text, for tests.
#[cfg(test)]
pub(super) mod shown {
    use super::Table;
    use crate::Fact;
    use std::fmt::Write as _;

    /// The table after `fill` has written `texts` into it, one after the other.
    pub(in crate::counters) fn after(
        texts: &[&str],
        fill: impl Fn(&[u8], u64, &mut Fact<Table>),
    ) -> String {
        let mut table = Err(crate::Missing::not_collected("the table"));
        for (text, read_at) in texts.iter().zip(1..) {
            fill(text.as_bytes(), read_at, &mut table);
            let stamped = |it: &Table| (0..it.rows().len()).all(|row| it.read_at(row) == read_at);
            assert!(table.as_ref().map_or(true, stamped), "every row says when it was read");
        }
        table.map_or_else(|missing| missing.to_string(), |it| of(&it))
    }

    fn of(table: &Table) -> String {
        let names: Vec<&str> = table.columns().iter().map(|it| &**it).collect();
        let mut text = names.join(if names.iter().any(|it| it.contains(' ')) { ", " } else { " " });
        text.push('\n');
        for (index, row) in table.rows().iter().enumerate() {
            let cells: Vec<String> = table.row_cells(index).iter().map(u64::to_string).collect();
            writeln!(text, "{row}: {}", cells.join(" ")).unwrap();
        }
        for (column, why) in table.blank_columns() {
            writeln!(text, "{column}: {why}").unwrap();
        }
        text
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
