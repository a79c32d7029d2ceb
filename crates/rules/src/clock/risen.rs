//! Counts of throttling that rose while the host was watched.
//!
//! Sources: drivers/thermal/intel/therm_throt.c; Intel SDM vol. 3B, "RAPL Interfaces", MSR_PKG_PERF_STATUS, whose lower 32 bits count the
//! time for which a power limit held the package back.

use facts::cpu::throttling::{Throttled, Throttling};
use facts::msr::intel::{PKG_PERF_STATUS, RAPL_POWER_UNIT};
use facts::msr::rapl::Units;
use facts::watched::Watched;
use facts::{CpuSet, HostView, PerCpu};
use std::time::Duration;

/// A counter that rose.
pub(crate) struct Risen {
    /// "a core" or "a package".
    pub(crate) level: &'static str,
    /// The CPUs that share it.
    pub(crate) cpus: CpuSet,
    /// Its file or register.
    pub(crate) path: String,
    /// What it held at both ends.
    pub(crate) values: [u64; 2],
    /// For how long it held the clock down, where that is counted.
    pub(crate) time: Option<Duration>,
}

impl Risen {
    /// What it held, as evidence.
    pub(crate) fn evidence(&self) -> String {
        let [first, last] = self.values;
        format!("{first}, then {last}")
    }

    /// By how much.
    pub(crate) fn events(&self) -> u64 {
        self.values[1].saturating_sub(self.values[0])
    }

    /// The share of the look for which it held the clock down, where that is counted.
    pub(crate) fn share(&self, watched: &Watched) -> Option<f64> {
        let time = self.time.filter(|it| !it.is_zero())?;
        Some((time.as_secs_f64() / watched.time.as_secs_f64().max(0.001)).min(1.0))
    }
}

/// The counters of one kind of events, of cores and packages.
pub(crate) type Counters = fn(&Throttling) -> (&PerCpu<Throttled>, &PerCpu<Throttled>);

/// The counters of a kind that rose in the look, those of packages last.
pub(crate) fn risen(host: &HostView, watched: &Watched, of: Counters) -> Vec<Risen> {
    let (was, is) = (of(&watched.throttling), of(&host.throttling));
    let core_of = |cpu| host.topology.core_of(cpu);
    let package_of = |cpu| host.topology.package_of(cpu);
    let mut risen = of_level("a core", (was.0, is.0), &core_of);
    risen.extend(of_level("a package", (was.1, is.1), &package_of));
    risen
}

fn of_level(
    level: &'static str,
    (was, is): (&PerCpu<Throttled>, &PerCpu<Throttled>),
    sharing: &dyn Fn(u32) -> CpuSet,
) -> Vec<Risen> {
    let rise = |(cpu, last): (u32, &Throttled)| {
        let first = was.get(cpu)?.as_ref().ok()?;
        let total = |it: &Throttled| it.total.as_ref().ok().copied();
        // The time is read where there were events.
        let before = if first.events == 0 { Some(Duration::ZERO) } else { total(first) };
        (last.events > first.events).then(|| Risen {
            level,
            cpus: sharing(cpu),
            path: last.path.clone(),
            values: [first.events, last.events],
            time: total(last).zip(before).map(|(last, first)| last.saturating_sub(first)),
        })
    };
    is.known().filter_map(rise).collect()
}

/// The packages that a power limit held back in the look.
pub(crate) fn held_by_power(host: &HostView, watched: &Watched) -> Vec<Risen> {
    let held = |(&(address, cpu), readings): (&(u32, u32), &Vec<u64>)| {
        let (first, last) = (*readings.first()?, *readings.last()?);
        let steps = (last as u32).wrapping_sub(first as u32);
        let units = host.msrs.of(&RAPL_POWER_UNIT).ok()?.known().next().map(|it| Units(*it.1))?;
        (address == PKG_PERF_STATUS.address && steps > 0).then(|| Risen {
            level: "a package",
            cpus: host.topology.package_of(cpu),
            path: PKG_PERF_STATUS.path(cpu),
            values: [first, last],
            time: Some(Duration::from_micros(units.microseconds(steps))),
        })
    };
    watched.registers.iter().filter_map(held).collect()
}
