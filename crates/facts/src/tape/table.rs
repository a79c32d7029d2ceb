//! The table of a family as bytes: the changes since the sample before.

use super::wire::{
    Bytes, Reader, Writer, at_difference, difference, put_missing, put_number, put_text,
    take_missing,
};
use crate::counters::Table;
use crate::parse::Expected;
use crate::{Fact, Missing};
use std::sync::Arc;

/// The flags of a section; 0 means a reason why there is no table.
const TABLE: u64 = 1;
/// Rows and columns, if they changed; then cells are differences from zero.
const SHAPE: u64 = 2;
/// The blank rows and columns, if they changed.
const BLANKS: u64 = 4;
/// The source of the counts, if it changed, or, with a new shape, if it is not the family's first choice.
const SOURCE: u64 = 8;

/// Cells without a count take no bytes, but the names of their columns do: 8,192 CPUs that have counted nothing have
/// about 1,000 cells per byte. A section that claims more must not make us allocate for it.
const MOST_CELLS_A_BYTE: usize = 1 << 12;

/// Appends the changes of `table`, which was read in a sample that began at `at`; nothing if there are none.
pub(super) fn put(out: &mut Vec<u8>, at: u64, before: &Fact<Table>, table: &Fact<Table>) {
    let table = match table {
        Err(_) if before == table => return,
        Err(missing) => {
            put_number(out, 0);
            return put_missing(out, missing);
        }
        Ok(table) => table,
    };
    let same_shape =
        before.as_ref().ok().filter(|it| has_shape_of(it, table) && may_take_source_of(it, table));
    let empty = Table::new(Arc::clone(table.rows()), Arc::clone(table.columns()));
    let before = same_shape.unwrap_or(&empty);
    let has_new_blanks = !has_blanks_of(before, table);
    let new_source = table.source().filter(|_| before.source() != table.source());
    let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
    put_number(
        out,
        TABLE
            | flag(same_shape.is_none(), SHAPE)
            | flag(has_new_blanks, BLANKS)
            | flag(new_source.is_some(), SOURCE),
    );
    if same_shape.is_none() {
        put_shape(out, table);
    }
    if has_new_blanks {
        put_blanks(out, table);
    }
    if let Some(source) = new_source {
        put_text(out, source);
    }
    put_times(out, at, table);
    put_cells(out, before, table);
}

/// Parses a section: the table before with the changes applied. Its cells are subtracted from `room`.
pub(super) fn take(
    bytes: &mut Bytes,
    at: u64,
    before: &Fact<Table>,
    room: &mut usize,
) -> Result<Fact<Table>, Expected> {
    let flags = bytes.number()?;
    if flags == 0 {
        return Ok(Err(take_missing(bytes)?));
    }
    if flags & TABLE == 0 || flags > TABLE | SHAPE | BLANKS | SOURCE {
        return Err(Expected("a table or a reason"));
    }
    let mut table = if flags & SHAPE == 0 {
        before.as_ref().map_err(|_| Expected("a table before its changes"))?.clone()
    } else {
        take_shape(bytes, *room)?
    };
    let n_cells = table.rows().len().saturating_mul(table.columns().len());
    *room = room.checked_sub(n_cells).ok_or(TOO_MANY_CELLS)?;
    if flags & BLANKS != 0 {
        take_blanks(bytes, &mut table)?;
    }
    if flags & SOURCE != 0 {
        table.set_source(bytes.text()?.to_owned());
    }
    take_times(bytes, at, &mut table)?;
    take_cells(bytes, &mut table)?;
    Ok(Ok(table))
}

const TOO_MANY_CELLS: Expected = Expected("fewer cells");

fn has_shape_of(table: &Table, other: &Table) -> bool {
    table.rows() == other.rows() && table.columns() == other.columns()
}

/// The source of a table cannot be removed.
fn may_take_source_of(table: &Table, other: &Table) -> bool {
    table.source().is_none() || other.source().is_some()
}

fn has_blanks_of(table: &Table, other: &Table) -> bool {
    table.blank_rows() == other.blank_rows() && table.blank_columns() == other.blank_columns()
}

/// Rows as the gaps between them, most of which are zero.
fn put_shape(out: &mut Vec<u8>, table: &Table) {
    put_number(out, table.rows().len() as u64);
    put_number(out, table.columns().len() as u64);
    let mut gaps = Writer::new(out);
    let mut expected = 0;
    for &row in &**table.rows() {
        gaps.push(difference(expected, u64::from(row)));
        expected = u64::from(row) + 1;
    }
    gaps.finish();
    table.columns().iter().for_each(|column| put_text(out, column));
}

fn take_shape(bytes: &mut Bytes, room: usize) -> Result<Table, Expected> {
    let room = room.min(bytes.len().saturating_mul(MOST_CELLS_A_BYTE));
    let (n_rows, n_columns) = (bytes.number()?, bytes.count()?);
    let n_rows = usize::try_from(n_rows).ok().filter(|it| *it <= room).ok_or(TOO_MANY_CELLS)?;
    if n_rows.saturating_mul(n_columns) > room {
        return Err(TOO_MANY_CELLS);
    }
    let mut gaps = Reader::new(bytes);
    let mut rows = Vec::new();
    let mut expected = 0;
    for _ in 0..n_rows {
        let row = at_difference(expected, gaps.next()?);
        let is_next = row >= expected;
        rows.push(u32::try_from(row).ok().filter(|_| is_next).ok_or(Expected("rows that ascend"))?);
        expected = row + 1;
    }
    gaps.finish()?;
    let columns: Vec<Box<str>> =
        (0..n_columns).map(|_| bytes.text().map(Box::from)).collect::<Result<_, _>>()?;
    Ok(Table::new(rows.into(), columns.into()))
}

fn put_blanks(out: &mut Vec<u8>, table: &Table) {
    put_number(out, table.blank_rows().len() as u64);
    for (row, why) in table.blank_rows() {
        put_number(out, u64::from(*row));
        put_missing(out, why);
    }
    put_number(out, table.blank_columns().len() as u64);
    for (column, why) in table.blank_columns() {
        put_text(out, column);
        put_missing(out, why);
    }
}

fn take_blanks(bytes: &mut Bytes, table: &mut Table) -> Result<(), Expected> {
    table.clear_blanks();
    for _ in 0..bytes.count()? {
        let row = bytes.small()?;
        let why: Missing = take_missing(bytes)?;
        table.blank_row(row, why);
    }
    for _ in 0..bytes.count()? {
        let column = bytes.text()?;
        table.blank_column(column, take_missing(bytes)?);
    }
    Ok(())
}

/// Rows are read one after the other, in quick succession: each time is a difference from the row above, the first
/// one from the sample.
fn put_times(out: &mut Vec<u8>, at: u64, table: &Table) {
    let mut times = Writer::new(out);
    let mut above = at;
    for row in 0..table.rows().len() {
        times.push(difference(above, table.read_at(row)));
        above = table.read_at(row);
    }
    times.finish();
}

fn take_times(bytes: &mut Bytes, at: u64, table: &mut Table) -> Result<(), Expected> {
    let mut times = Reader::new(bytes);
    let mut above = at;
    for row in 0..table.rows().len() {
        above = at_difference(above, times.next()?);
        table.row_mut(row, above);
    }
    times.finish()
}

/// Column by column: a column of zeros is one run, whatever the number of CPUs.
fn put_cells(out: &mut Vec<u8>, before: &Table, table: &Table) {
    let mut cells = Writer::new(out);
    for column in 0..table.columns().len() {
        for row in 0..table.rows().len() {
            cells.push(difference(before.cell(row, column), table.cell(row, column)));
        }
    }
    cells.finish();
}

fn take_cells(bytes: &mut Bytes, table: &mut Table) -> Result<(), Expected> {
    let mut cells = Reader::new(bytes);
    for column in 0..table.columns().len() {
        for row in 0..table.rows().len() {
            let read_at = table.read_at(row);
            let difference = cells.next()?;
            if let Some(cell) = table.row_mut(row, read_at).get_mut(column) {
                *cell = at_difference(*cell, difference);
            }
        }
    }
    cells.finish()
}
