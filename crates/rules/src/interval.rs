//! Two instants of one host, and what happened between them.

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

/// How far a counter went, and in what time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rise {
    /// In the counter's own unit.
    pub by: u64,
    /// Between the two readings of this very counter, in nanoseconds; never 0.
    pub over_ns: u64,
}

impl Rise {
    /// In the counter's unit each second.
    pub fn per_second(self) -> f64 {
        self.by as f64 * 1e9 / self.over_ns as f64
    }
}

impl<'a> Interval<'a> {
    /// The time between the samples in nanoseconds, by the clock that nobody sets.
    pub fn elapsed_ns(&self) -> Fact<u64> {
        elapsed(self.before.at.raw_ns, self.after.at.raw_ns)
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
        rise_between(family, (before, before.column(column)?), (after, after.column(column)?), row)
    }

    /// The same for every CPU that was online at either end.
    pub fn rises(&self, family: Family, column: &str) -> Fact<PerCpu<Rise>> {
        let (before, after) = self.tables(family)?;
        let (first, last) = (before.column(column)?, after.column(column)?);
        let rows = after.rows().iter();
        Ok(rows
            .map(|&row| (row, rise_between(family, (before, first), (after, last), row)))
            .collect())
    }

    /// The tables of a family at both ends.
    pub fn tables(&self, family: Family) -> Result<(&'a Table, &'a Table), &'a Missing> {
        Ok((self.before.table(family)?, self.after.table(family)?))
    }
}

fn rise_between(
    family: Family,
    (before, first): (&Table, usize),
    (after, last): (&Table, usize),
    row: u32,
) -> Fact<Rise> {
    let (from, to) = (before.row(row)?, after.row(row)?);
    let over_ns = elapsed(before.read_at(from), after.read_at(to))?;
    let (was, is) = (before.cell(from, first), after.cell(to, last));
    let by = is.checked_sub(was).ok_or_else(|| {
        let what =
            format!("{} ({})", family.source(), after.columns().get(last).map_or("", |it| it));
        Missing::malformed(
            what,
            &format!("{is} after {was}"),
            "a counter that does not go backwards",
        )
    })?;
    Ok(Rise { by, over_ns })
}

fn elapsed(from: u64, to: u64) -> Fact<u64> {
    let backwards = || {
        let found = format!("{to} after {from}");
        Missing::malformed("CLOCK_MONOTONIC_RAW", &found, "a later time at the second reading")
    };
    to.checked_sub(from).filter(|it| *it > 0).ok_or_else(backwards)
}
