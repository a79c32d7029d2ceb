//! One family's table at both ends of an interval, row by row.
//!
//! Rows and columns are matched once for all that is made of them, because a machine of 1,024 CPUs has some
//! thousand of each.

use super::{Rise, backwards, elapsed};
use facts::counters::{Family, Table};
use facts::{CpuSet, Fact, Missing, PerCpu};
use std::collections::BTreeMap;

/// The table of one family at both ends.
pub struct Rows<'a> {
    family: Family,
    before: &'a Table,
    after: &'a Table,
    pairs: Vec<(u32, Fact<Pair>)>,
}

/// Where one row stands at both ends, and the time between its two readings.
#[derive(Clone, Copy)]
struct Pair {
    from: usize,
    to: usize,
    over_ns: u64,
}

/// Where one column stands at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    first: usize,
    last: usize,
}

impl Column {
    /// Its cell among those of a row at the beginning.
    pub fn before(self, cells: &[u64]) -> u64 {
        cells.get(self.first).copied().unwrap_or_default()
    }

    /// Its cell among those of a row at the end.
    pub fn after(self, cells: &[u64]) -> u64 {
        cells.get(self.last).copied().unwrap_or_default()
    }
}

impl<'a> Rows<'a> {
    pub(super) fn new(family: Family, before: &'a Table, after: &'a Table) -> Rows<'a> {
        let are_alike = before.rows() == after.rows()
            && before.blank_rows().is_empty()
            && after.blank_rows().is_empty();
        let pair = |from: usize, to: usize| {
            let over_ns = elapsed(before.read_at(from), after.read_at(to))?;
            Ok(Pair { from, to, over_ns })
        };
        let pairs = if are_alike {
            let rows = after.rows().iter().enumerate();
            rows.map(|(at, &row)| (row, pair(at, at))).collect()
        } else {
            let (mut was, is) = (places(before), places(after));
            let gone = was.keys().filter(|row| !is.contains_key(row)).copied();
            let gone: Vec<u32> = gone.collect();
            let gone = gone.into_iter().map(|row| (row, Err(absent(row))));
            let kept: Vec<_> = is
                .into_iter()
                .map(|(row, to)| {
                    let from = was.remove(&row).unwrap_or_else(|| Err(absent(row)));
                    (row, to.and_then(|to| pair(from?, to)))
                })
                .collect();
            let mut pairs: Vec<_> = gone.chain(kept).collect();
            pairs.sort_by_key(|(row, _)| *row);
            pairs
        };
        Rows { family, before, after, pairs }
    }

    /// Without the rows that are not in `rows`.
    #[must_use]
    pub fn only(mut self, rows: &CpuSet) -> Rows<'a> {
        self.pairs.retain(|(row, _)| rows.contains(*row));
        self
    }

    /// Where a column stands, or why it is not there.
    pub fn column(&self, name: &str) -> Fact<Column> {
        Ok(Column { first: self.before.column(name)?, last: self.after.column(name)? })
    }

    /// The columns that are there at both ends, with their names.
    pub fn columns(&self) -> Vec<(&'a str, Column)> {
        let (was, is) = (self.before.columns(), self.after.columns());
        let names = is.iter().enumerate();
        if was == is {
            return names.map(|(at, name)| (&**name, Column { first: at, last: at })).collect();
        }
        let places: BTreeMap<&str, usize> =
            was.iter().enumerate().map(|(at, name)| (&**name, at)).collect();
        names
            .filter_map(|(last, name)| {
                Some((&**name, Column { first: *places.get(&**name)?, last }))
            })
            .collect()
    }

    /// Those of [`Rows::columns`] whose count changed in any row.
    pub fn moved_columns(&self) -> Vec<(&'a str, Column)> {
        let mut columns = self.columns();
        let mut moved = vec![false; columns.len()];
        // Row by row, as the cells lie in memory.
        for pair in self.known() {
            let (was, is) = (self.before.row_cells(pair.from), self.after.row_cells(pair.to));
            for (moved, (_, column)) in moved.iter_mut().zip(&columns) {
                *moved |= was.get(column.first) != is.get(column.last);
            }
        }
        let mut moved = moved.into_iter();
        columns.retain(|_| moved.next() == Some(true));
        columns
    }

    /// How far one column went, by row.
    pub fn rises(&self, column: Column) -> PerCpu<Rise> {
        self.rises_by(|was, is| self.difference(column, was, is))
    }

    /// How far something went that `by` makes of a row's cells before and after.
    pub fn rises_by(&self, by: impl Fn(&[u64], &[u64]) -> Fact<u64>) -> PerCpu<Rise> {
        let rise = |pair: &Fact<Pair>| {
            let &Pair { from, to, over_ns } = pair.as_ref()?;
            let by = by(self.before.row_cells(from), self.after.row_cells(to))?;
            Ok(Rise { by, over_ns })
        };
        self.pairs.iter().map(|(row, pair)| (*row, rise(pair))).collect()
    }

    /// How far the first column went, by row, where there is one: for why rows say nothing at all.
    pub(super) fn any_rises(&self) -> Option<PerCpu<Rise>> {
        let (_, column) = self.columns().first().copied()?;
        Some(self.rises(column))
    }

    /// How far the sum of `columns` went, by row. One that is lower at the end makes the sum missing.
    pub fn sums(&self, columns: &[Column]) -> PerCpu<Rise> {
        self.rises_by(|was, is| {
            let add = |sum: u64, column: &Column| {
                Ok(sum.saturating_add(self.difference(*column, was, is)?))
            };
            columns.iter().try_fold(0, add)
        })
    }

    fn difference(&self, column: Column, was: &[u64], is: &[u64]) -> Fact<u64> {
        let (was, is) = (column.before(was), column.after(is));
        is.checked_sub(was).ok_or_else(|| {
            let name = self.after.columns().get(column.last).map_or("", |it| it);
            backwards(self.family, name, was, is)
        })
    }

    /// The last count of one column, all rows together.
    pub fn total(&self, column: Column) -> u64 {
        let cells = self.known().map(|pair| self.after.cell(pair.to, column.last));
        cells.fold(0, u64::saturating_add)
    }

    /// Why nothing can be said of some of this family.
    pub fn nonsense(&self, what: &str, found: &str, expected: &'static str) -> Missing {
        Missing::malformed(format!("{} ({what})", self.family.source()), found, expected)
    }

    fn known(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter_map(|(_, pair)| pair.as_ref().ok())
    }
}

/// Every row of a table, with its place or the reason that nothing is known of it.
fn places(table: &Table) -> BTreeMap<u32, Fact<usize>> {
    let rows = table.rows().iter().enumerate().map(|(at, &row)| (row, Ok(at)));
    let blank = table.blank_rows().iter().map(|(row, why)| (*row, Err(why.clone())));
    rows.chain(blank).collect()
}

fn absent(row: u32) -> Missing {
    Missing::absent(format!("a count of {row}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::counters;

    const BEFORE: &str = "at 0\nSoftirqs TIMER RCU SCHED\n0 1 5 7\n1 2 6 7\n3 3 7 7\n";
    const AFTER: &str =
        "at 1000\nSoftirqs NET_RX RCU TIMER SCHED\n0 9 5 11 7\n2 9 6 12 7\n3 9 4 13 7\n";

    fn shown(column: &str) -> Vec<String> {
        let (before, after) = (counters(BEFORE), counters(AFTER));
        let family = Family::Softirqs;
        let rows = Rows::new(family, before.table(family).unwrap(), after.table(family).unwrap());
        let rises = rows.rises(rows.column(column).unwrap());
        let text = |(row, rise): (u32, &Fact<Rise>)| match rise {
            Ok(rise) => format!("{row} +{}", rise.by),
            Err(missing) => format!("{row} {}", missing.reason()),
        };
        rises.iter().map(text).collect()
    }

    #[test]
    fn rows_and_columns_are_matched_by_number_and_name() {
        assert_eq!(shown("TIMER"), ["0 +10", "1 absent", "2 absent", "3 +10"]);
        assert_eq!(shown("RCU"), ["0 +0", "1 absent", "2 absent", "3 malformed"]);
    }

    #[test]
    fn what_did_not_change_has_not_moved() {
        let (before, after) = (counters(BEFORE), counters(AFTER));
        let family = Family::Softirqs;
        let rows = Rows::new(family, before.table(family).unwrap(), after.table(family).unwrap());
        let moved: Vec<&str> = rows.moved_columns().into_iter().map(|(name, _)| name).collect();
        assert_eq!(moved, ["RCU", "TIMER"]);
    }

    #[test]
    fn a_blank_row_keeps_its_reason() {
        let (before, mut after) = (counters(BEFORE), counters(BEFORE));
        let family = Family::Softirqs;
        if let Ok(table) = after.table_mut(family) {
            table.blank_row(3, Missing::denied("CPU 3"));
        }
        let rows = Rows::new(family, before.table(family).unwrap(), after.table(family).unwrap());
        let rises = rows.rises(rows.column("RCU").unwrap());
        assert_eq!(rises.get(3), Some(&Err(Missing::denied("CPU 3"))));
    }
}
