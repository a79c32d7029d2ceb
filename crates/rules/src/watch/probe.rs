//! The clock by a chain of instructions, of CPUs whose clock no counter shows.
//!
//! A probe takes a millisecond of the CPU it runs on, so only CPUs that are busy anyway are probed unless somebody
//! asks for all of them: an idle one would be woken, and shows the clock of waking up.

use super::Column;
use crate::interval::Interval;
use crate::metric::{Kind, Limits, Metric, Series, Tasks, Unit, Values};
use crate::metrics;
use facts::counters::Family;
use facts::probe::ClockReading;
use facts::{CpuSet, Fact, Missing, PerCpu};

/// Which CPUs are probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probing {
    /// Nobody needs it: counters show the clock.
    Needless,
    /// The user asked for none.
    Off,
    /// Those that were busy in the interval.
    Busy,
    /// Every CPU that is shown.
    All,
}

/// A CPU that was busy for this share of the interval, in percent, is probed as a busy one: it is awake, and
/// asks for a clock of its own.
pub(super) const BUSY: f64 = 5.0;

/// The probe's result beside what counters say.
pub static METRIC: Metric = Metric {
    id: "clock-probe",
    title: "clock by a timed chain of instructions",
    column: "Prb_MHz",
    unit: Unit::Megahertz,
    kind: Kind::Peak,
    limits: Limits::BelowTsc { notable: 0.9, severe: 0.5 },
    // Which CPUs are busy.
    families: &[Family::CpuTimes, Family::Clocks],
    tasks: Tasks::None,
    help: "The median of ten windows of 0.1 ms in which a chain of dependent one-cycle instructions ran on the CPU, at \
           the end of the interval; those that an interrupt hit are left out. It needs no counter and no privilege; a busy sibling thread makes it lower.",
    measure,
};

/// It is no counter's, so no interval has it.
fn measure(_: &Interval) -> Fact<Vec<Series>> {
    Err(Missing::not_collected("the clock probe"))
}

/// Those of `cpus` to probe at the end of `interval`.
pub fn due(probing: Probing, interval: &Interval, cpus: &CpuSet) -> CpuSet {
    match probing {
        Probing::Needless | Probing::Off => CpuSet::default(),
        Probing::All => cpus.clone(),
        Probing::Busy => busy(interval, BUSY).and(cpus),
    }
}

/// The CPUs that were busy for this share of an interval at least, in percent, as far as that is known.
pub(super) fn busy(interval: &Interval, least: f64) -> CpuSet {
    let shares = metrics::busy_shares(interval).unwrap_or_default();
    shares.cpus_where(|share| *share >= least)
}

/// What the probe saw, as a column.
pub(super) fn column(clocks: &PerCpu<ClockReading>, cpus: &CpuSet) -> Column {
    let unprobed = || Missing::not_here("probed clock", "the CPU was not busy in the interval");
    let clock = |cpu| match clocks.get(cpu) {
        Some(Ok(reading)) => Ok(reading.median.mhz()),
        Some(Err(missing)) => Err(missing.clone()),
        None => Err(unprobed()),
    };
    let values = cpus.iter().map(|cpu| (cpu, clock(cpu))).collect();
    Column {
        metric: &METRIC,
        series: Ok(Series { part: String::new(), values: Values::Cpus(values) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::counters::{Counters, Table};
    use host::Captured;

    /// A sample of two CPUs that have been idle for so many times 10 ms.
    fn idle(at_ms: u64, idle: [u64; 2]) -> Counters {
        let mut counters = Counters::unread();
        let columns = ["idle", "iowait"].map(Box::from);
        let mut table = Table::new([0, 1].into(), columns.into());
        let at = 1 + at_ms * 1_000_000;
        for (row, idle) in idle.into_iter().enumerate() {
            table.row_mut(row, at).copy_from_slice(&[idle, 0]);
        }
        *counters.table_mut(Family::CpuTimes) = Ok(table);
        counters.at.raw_ns = at;
        counters
    }

    #[test]
    fn who_was_busy_in_the_interval_is_probed_at_its_end_be_it_the_first() {
        let host = host::view(&Captured::excerpt("").unwrap());
        let (before, after) = (idle(0, [0, 0]), idle(1000, [40, 99]));
        let interval = Interval { host: &host, before: &before, after: &after };
        let due = |probing, shown: &str| {
            due(probing, &interval, &CpuSet::parse_list(shown).unwrap()).to_string()
        };
        assert_eq!(due(Probing::Busy, "0-1"), "0");
        assert_eq!(due(Probing::Busy, "1"), "");
        assert_eq!(due(Probing::All, "0-1"), "0-1");
        assert_eq!(due(Probing::Off, "0-1") + &due(Probing::Needless, "0-1"), "");
    }
}
