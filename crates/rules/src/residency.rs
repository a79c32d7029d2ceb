//! Residency of C-states by the hardware's counters, which count TSC cycles.
//!
//! Sources: Intel SDM volume 4, MSR_CORE_C6_RESIDENCY and its like; arch/x86/events/intel/cstate.c.

use crate::cycles::cycles;
use crate::interval::{Interval, Rise};
use crate::metric::{Series, Values};
use facts::counters::Family;
use facts::{Fact, Missing, PerCpu};

/// Beyond the whole, what two counters may be apart that are read one after the other.
const MOST: f64 = 102.0;

/// A series for each state of `family`, in percent of the time.
pub(crate) fn residency(
    interval: &Interval,
    family: Family,
    values: fn(PerCpu<f64>) -> Values,
) -> Fact<Vec<Series>> {
    let rows = interval.rows(family)?;
    let tsc = cycles(interval, "tsc")?;
    let columns = rows.columns();
    if let Ok(Some(hypervisor)) = &interval.host.platform.hypervisor
        && columns.iter().all(|(_, column)| rows.total(*column) == 0)
    {
        return Err(Missing::hidden(family.source(), hypervisor));
    }
    let any = tsc.known().next().map(|(_, rise)| *rise);
    let any = any.ok_or_else(|| {
        tsc.missing().cloned().unwrap_or_else(|| Missing::absent(Family::Clocks.source()))
    })?;
    let series = columns.iter().map(|(name, column)| {
        let share = |(cpu, rise): (u32, &Fact<Rise>)| {
            let of_cpu = || {
                // The counters of one package run at one rate, and every package's at the same.
                let of_cpu = tsc.get(cpu).and_then(|it| it.as_ref().ok()).copied();
                let tsc = of_cpu.unwrap_or(any);
                let rise = rise.clone()?;
                let share = 100.0 * rise.per_second() / tsc.per_second();
                if share > MOST {
                    let found = format!("{share:.0} % of TSC");
                    return Err(rows.nonsense(name, &found, "no more than TSC counts"));
                }
                Ok(share.min(100.0))
            };
            (cpu, of_cpu())
        };
        Series::part(name, values(rows.rises(*column).iter().map(share).collect()))
    });
    Ok(series.collect())
}
