//! A reading as the screen shows it: its columns and rows, and where the cursor is. Made once for each drawing.

use super::state::State;
use rules::watch::{Reading, Row, Shown};

/// What the table, and the lines under it, are drawn from.
pub(super) struct View<'a> {
    pub(super) state: &'a State,
    pub(super) reading: &'a Reading,
    pub(super) columns: Vec<Shown<'a>>,
    pub(super) rows: Vec<Row>,
    /// Where the cursor is, by place.
    pub(super) column_at: usize,
    pub(super) row_at: usize,
}

impl<'a> View<'a> {
    pub(super) fn of(state: &'a State, reading: &'a Reading) -> View<'a> {
        let columns = state.columns(reading);
        let rows = state.rows(reading, &columns);
        let (column_at, row_at) = (state.column_at(&columns), state.row_at(&rows));
        View { state, reading, columns, rows, column_at, row_at }
    }

    /// The column under the cursor; nothing where a filter leaves none.
    pub(super) fn column(&self) -> Option<&Shown<'a>> {
        self.columns.get(self.column_at)
    }

    pub(super) fn row(&self) -> Row {
        self.rows.get(self.row_at).copied().unwrap_or(Row::Host)
    }
}
