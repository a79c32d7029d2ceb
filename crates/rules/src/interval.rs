//! Two instants of one host, and what happened between them.

mod away;
mod rise;
mod rows;
mod tasks;

pub use rise::Rise;
pub use rows::{Column, Rows};
pub use tasks::TaskRise;

use facts::counters::{Counters, Family, Table};
use facts::{CpuSet, Fact, HostView, Missing, PerCpu};

/// Two samples of the same host, the earlier first.
#[derive(Clone, Copy)]
pub struct Interval<'a> {
    /// What the host is.
    pub host: &'a HostView,
    /// Its counts at the beginning.
    pub before: &'a Counters,
    /// Its counts at the end.
    pub after: &'a Counters,
}

impl<'a> Interval<'a> {
    /// The time between the samples in nanoseconds, by the clock that nobody sets.
    pub fn elapsed_ns(&self) -> Fact<u64> {
        rise::elapsed(self.before.at.raw_ns, self.after.at.raw_ns)
    }

    /// For how long the machine was suspended in between, in nanoseconds.
    pub fn suspended_ns(&self) -> u64 {
        let boot = self.after.at.boot_ns.saturating_sub(self.before.at.boot_ns);
        let raw = self.after.at.raw_ns.saturating_sub(self.before.at.raw_ns);
        // The raw clock is not slewed and the boot clock is, by at most 500 parts in a million
        // (adjtimex(2)); what that explains is no suspension.
        boot.saturating_sub(raw).saturating_sub(raw / 1000)
    }

    /// The CPUs that were online at both ends.
    pub fn cpus(&self) -> CpuSet {
        self.before.online.and(&self.after.online)
    }

    /// How far one counter of one row went.
    ///
    /// A counter that is lower at the end (it wrapped, or its CPU was away and started again) is missing.
    pub fn rise(&self, family: Family, row: u32, column: &str) -> Fact<Rise> {
        let (before, after) = self.tables(family)?;
        let (first, last) = (before.column(column)?, after.column(column)?);
        let (from, to) = (before.row(row)?, after.row(row)?);
        let over_ns = rise::elapsed(before.read_at(from), after.read_at(to))?;
        let (was, is) = (before.cell(from, first), after.cell(to, last));
        let by = is.checked_sub(was).ok_or_else(|| rise::backwards(family, column, was, is))?;
        Ok(Rise { by, over_ns })
    }

    /// The same for every row that was read at either end.
    pub fn rises(&self, family: Family, column: &str) -> Fact<PerCpu<Rise>> {
        let rows = self.rows(family)?;
        Ok(rows.rises(rows.column(column)?))
    }

    /// The table of a family at both ends, row beside row.
    pub fn rows(&self, family: Family) -> Result<Rows<'a>, &'a Missing> {
        let (before, after) = self.tables(family)?;
        Ok(Rows::new(family, before, after))
    }

    /// The tables of a family at both ends.
    pub fn tables(&self, family: Family) -> Result<(&'a Table, &'a Table), &'a Missing> {
        Ok((self.before.table(family)?, self.after.table(family)?))
    }
}
