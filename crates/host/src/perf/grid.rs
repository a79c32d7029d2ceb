//! The same counters on every one of some CPUs, read into a table.

use super::Group;
use crate::probe::raw_ns;
use facts::counters::Table;
use facts::pmu::Counter;
use facts::{CpuSet, Fact, Missing};
use std::sync::Arc;

/// Counters of several CPUs: a row for each CPU, a column for each counter.
///
/// Everything is opened at once and stays open; a CPU that refuses is a row with a reason.
#[derive(Debug)]
pub struct Grid {
    rows: Arc<[u32]>,
    columns: Arc<[Box<str>]>,
    groups: Vec<Fact<Group>>,
}

impl Grid {
    /// Opens `counters` on every CPU of `cpus`; `columns` are their names in the table, in the same order.
    ///
    /// Fails where no CPU lets them be opened, with the reason of the first.
    pub fn open(cpus: &CpuSet, counters: &[Counter], columns: &[&str]) -> Fact<Grid> {
        let rows: Arc<[u32]> = cpus.iter().collect();
        let groups: Vec<_> = rows.iter().map(|&cpu| Group::open(cpu, counters)).collect();
        if groups.iter().all(Result::is_err) {
            let first = groups.into_iter().find_map(Result::err);
            return Err(first.unwrap_or_else(|| Missing::absent("a CPU to count on")));
        }
        let columns = columns.iter().map(|&name| name.into()).collect();
        Ok(Grid { rows, columns, groups })
    }

    /// The counts of this moment, each row with the time it was read at.
    pub fn read(&mut self) -> Table {
        let mut table = Table::new(self.rows.clone(), self.columns.clone());
        for (index, (&cpu, group)) in self.rows.iter().zip(&mut self.groups).enumerate() {
            let counts = table.row_mut(index, raw_ns());
            let answer = group.as_mut().map_err(|why| why.clone());
            if let Err(why) = answer.and_then(|group| group.read(counts)) {
                table.blank_row(cpu, why);
            }
        }
        table
    }
}
