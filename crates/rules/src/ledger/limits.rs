//! What limited a clock within the interval, in the processor's own words.
//!
//! A log bit that was clear at the beginning and is set at the end was set in between: something held the clock down,
//! once or all the time, nothing says. One that was set before says nothing, and nobody clears them for our sake. The time
//! below a power limit is a count: Intel SDM volume 3B, "RAPL Interfaces", MSR_PKG_PERF_STATUS.

use crate::interval::Interval;
use facts::HostView;
use facts::counters::Family;
use facts::msr::limit_reasons::{Kind, Layout};
use facts::msr::thermal_status::{
    CRITICAL, CROSS_DOMAIN, CURRENT_LIMIT, Cause, POWER_LIMIT, PROCHOT, TOO_HOT,
};

/// What the thermal status of a core and of its package tell, the surest first.
const CAUSES: [Cause; 6] = [PROCHOT, TOO_HOT, CRITICAL, POWER_LIMIT, CURRENT_LIMIT, CROSS_DOMAIN];

/// For how long a power limit held the package of `cpu` back, in nanoseconds; `None` where that was not counted, or not
/// at all.
pub(super) fn power_limited_ns(interval: &Interval, cpu: u32) -> Option<u64> {
    let leader = package_reader(interval, Family::PowerLimited, cpu)?;
    let rise = interval.rise(Family::PowerLimited, leader, "package").ok()?;
    Some(rise.by.saturating_mul(1000)).filter(|it| *it > 0)
}

/// What was logged within the interval for the first time, of the core and the package of `cpu`: each once, by name.
pub(super) fn began(interval: &Interval, cpu: u32) -> Vec<&'static str> {
    let Ok(info) = &interval.host.cpuinfo else { return Vec::new() };
    let logs = |family, reader: Option<u32>, column| {
        let (before, after) = interval.tables(family).ok()?;
        let reader = reader?;
        let was = before.cell(before.row(reader).ok()?, before.column(column).ok()?);
        let is = after.cell(after.row(reader).ok()?, after.column(column).ok()?);
        Some((was, is))
    };
    let core = interval.host.topology.core_of(cpu).first();
    let package = package_reader(interval, Family::PackageLimits, cpu);
    let mut names = Vec::new();
    if let (Some((was, is)), Some(layout)) =
        (logs(Family::PackageLimits, package, "limit_reasons"), Layout::of(info))
    {
        let reasons = layout.rose(was, is).filter(|it| it.kind != Kind::Normal);
        names.extend(reasons.map(|it| it.name));
    }
    let thermal = [
        logs(Family::CoreLimits, core, "therm_status"),
        logs(Family::PackageLimits, package, "therm_status"),
    ];
    for (was, is) in thermal.into_iter().flatten() {
        let causes = CAUSES.iter().filter(|it| it.exists(info) && it.rose(was, is));
        names.extend(causes.map(|it| it.name));
    }
    let mut seen = Vec::new();
    names.retain(|name| {
        !seen.contains(name) && {
            seen.push(*name);
            true
        }
    });
    names
}

/// The CPU that was asked for the package of `cpu`.
fn package_reader(interval: &Interval, family: Family, cpu: u32) -> Option<u32> {
    let package = |host: &HostView| host.topology.package_of(cpu);
    let package = package(interval.host);
    let table = interval.after.table(family).ok()?;
    table.rows().iter().copied().find(|row| package.contains(*row))
}
