//! Where two samples in a row make no interval.
//!
//! Only counters of time are compared: before Linux 6.8 a CPU that goes offline and comes back between two samples
//! starts its idle time again (tick_cancel_sched_timer, kernel/time/tick-sched.c), and books that rest on it would not
//! close. Any other counter that goes backwards is missing in its own line. `idle` and `iowait` of /proc/stat go
//! backwards by themselves, as the running sleep is counted in one or the other (get_cpu_idle_time_us there); their
//! sum does not.

use facts::counters::{Counters, Family, Table};
use facts::{Missing, Why};
use std::fmt;

/// The end of one segment and the beginning of the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// When, in nanoseconds since the recording began.
    after_ns: u64,
    why: String,
}

const TIMES: &[Family] =
    &[Family::CpuTimes, Family::IdleTime, Family::IdleSleep, Family::RunTime, Family::Clocks];

/// Each part of a sum is rounded to a tick.
const ROUNDING: u64 = 2;

impl Gap {
    /// What parts two samples of a recording that began at `begins_ns`; `None` where nothing does.
    pub(crate) fn between(before: &Counters, after: &Counters, begins_ns: u64) -> Option<Gap> {
        let why = clock(before, after)
            .or_else(|| cpus(before, after))
            .or_else(|| idle(before, after))
            .or_else(|| TIMES.iter().find_map(|family| counter(before, after, *family)))?;
        Some(Gap { after_ns: after.at.raw_ns.saturating_sub(begins_ns), why })
    }

    /// Why there is no ledger of the interval between the two samples.
    pub(crate) fn missing(self) -> Missing {
        Missing { what: "the ledger of this interval".to_owned(), why: Why::Failed(self.why) }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} after its beginning {}", length(self.after_ns), self.why)
    }
}

/// A time as people say it.
pub(super) fn length(ns: u64) -> String {
    match ns / 1_000_000_000 {
        0..60 => format!("{:.1} s", ns as f64 / 1e9),
        seconds if seconds < 3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

fn clock(before: &Counters, after: &Counters) -> Option<String> {
    let is_later = after.at.raw_ns > before.at.raw_ns;
    (!is_later).then(|| "the monotonic clock did not go on: another boot?".to_owned())
}

fn cpus(before: &Counters, after: &Counters) -> Option<String> {
    let gone = before.online.minus(&after.online);
    let come = after.online.minus(&before.online);
    match (gone.is_empty(), come.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("{} went offline", gone.named())),
        (true, false) => Some(format!("{} came online", come.named())),
        (false, false) => {
            Some(format!("{} went offline and {} came online", gone.named(), come.named()))
        }
    }
}

fn idle(before: &Counters, after: &Counters) -> Option<String> {
    let idle_of = |counters: &Counters, row: u32| {
        let table = counters.table(Family::CpuTimes).ok()?;
        let cell = |column| Some(table.cell(table.row(row).ok()?, table.column(column).ok()?));
        Some(cell("idle")?.saturating_add(cell("iowait").unwrap_or_default()))
    };
    let pairs = before.online.iter();
    let mut pairs =
        pairs.filter_map(|cpu| Some((cpu, idle_of(before, cpu)?, idle_of(after, cpu)?)));
    let (cpu, was, is) = pairs.find(|(_, was, is)| is.saturating_add(ROUNDING) < *was)?;
    Some(format!("/proc/stat (idle and iowait) of CPU {cpu} went back from {was} to {is}"))
}

fn counter(before: &Counters, after: &Counters, family: Family) -> Option<String> {
    let (was, is) = (before.table(family).ok()?, after.table(family).ok()?);
    let wanders = |column: &str| family == Family::CpuTimes && matches!(column, "idle" | "iowait");
    let mut columns = was.columns().iter().filter(|column| !wanders(column));
    columns.find_map(|column| backwards(was, is, column)).map(|(row, column, from, to)| {
        format!("{} ({column}) of CPU {row} went back from {from} to {to}", family.source())
    })
}

/// The first row of a column that is lower than it was.
fn backwards<'a>(was: &Table, is: &Table, column: &'a str) -> Option<(u32, &'a str, u64, u64)> {
    let (first, last) = (was.column(column).ok()?, is.column(column).ok()?);
    let pairs = was.rows().iter().filter_map(|&row| {
        let (from, to) = (was.row(row).ok()?, is.row(row).ok()?);
        Some((row, was.cell(from, first), is.cell(to, last)))
    });
    let mut lower = pairs.filter(|(_, was, is)| is < was);
    lower.next().map(|(row, was, is)| (row, column, was, is))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::counters;

    fn gap(before: &str, after: &str) -> Option<String> {
        Gap::between(&counters(before), &counters(after), 0).map(|it| it.why)
    }

    #[test]
    fn time_that_went_back_parts_two_samples() {
        assert_eq!(
            gap("at 0\nIdleTime C1\n0 5\n1 100\n", "at 9\nIdleTime C1\n0 6\n1 3\n").unwrap(),
            "/sys/devices/system/cpu/cpuN/cpuidle (C1) of CPU 1 went back from 100 to 3"
        );
        assert!(gap("at 9\n", "at 9\n").unwrap().ends_with("another boot?"));
    }

    #[test]
    fn what_goes_back_by_itself_or_wraps_parts_nothing() {
        let before = "at 0\nCpuTimes user idle iowait\n0 5 900 100\nInterrupts LOC\n0 4294967295\n";
        let after = "at 9\nCpuTimes user idle iowait\n0 5 850 149\nInterrupts LOC\n0 3\n";
        assert_eq!(gap(before, after), None);
    }

    #[test]
    fn stolen_time_that_fell_parts_two_samples() {
        let before = "at 0\nCpuTimes idle steal\n0 5 900\n1 5 0\n";
        assert_eq!(
            gap(before, "at 9\nCpuTimes idle steal\n0 6 3\n1 6 88\n").unwrap(),
            "/proc/stat (steal) of CPU 0 went back from 900 to 3"
        );
    }

    #[test]
    fn idle_time_that_began_again_parts_two_samples() {
        let before = "at 0\nCpuTimes user idle iowait\n0 5 900 100\n";
        assert_eq!(
            gap(before, "at 9\nCpuTimes user idle iowait\n0 6 3 0\n").unwrap(),
            "/proc/stat (idle and iowait) of CPU 0 went back from 1000 to 3"
        );
    }

    #[test]
    fn lengths_are_as_people_say_them() {
        let of = |seconds: u64| length(seconds * 1_000_000_000);
        assert_eq!([of(5), of(75), of(3661)], ["5.0 s", "1 min 15 s", "1 h 1 min"]);
    }
}
