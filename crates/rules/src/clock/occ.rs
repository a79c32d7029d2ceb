//! Whether the on-chip controller (OCC) of a POWER processor holds the clock down.
//!
//! Source: drivers/cpufreq/powernv-cpufreq.c. The controller counts why it lowered the highest clock, and how often it raised it again; of a
//! reset it does not say that it is over. So the counts say that it may hold the clock, and the clocks of busy CPUs say that it does.

use crate::work;
use facts::{CpuSet, Hertz, HostView};

/// CPUs that stay at their lowest clock.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Held {
    pub(crate) cpus: CpuSet,
    /// What they have, at most.
    pub(crate) clock: Hertz,
    /// What they should have.
    pub(crate) full: Hertz,
    /// What was read of a clock, with its source.
    pub(crate) evidence: (String, String),
}

/// Steps of the clock are 17 MHz.
const AT_LOWEST: f64 = 1.02;

/// Where the lowest clock is nearly the full one, little is lost.
const NEARLY_FULL: f64 = 0.9;

/// The CPUs that the controller holds; `None` where its counts or their clocks do not say so.
pub(crate) fn holds(host: &HostView) -> Option<Held> {
    let mut cpus = CpuSet::default();
    for (cpu, _) in host.throttling.occ.known().filter(|(_, it)| it.may_hold()) {
        cpus.extend(host.topology.package_of(cpu).iter());
    }
    let first = cpus.first()?;
    if work::was_busy(host) != Some(true) {
        return None;
    }
    let info = host.cpuinfo.as_ref().ok()?;
    let policies = host.cpufreq.policies.as_deref().ok()?;
    let (mut clock, mut full) = (Hertz(0), Hertz(u64::MAX));
    for policy in policies.iter().filter(|it| it.cpus.iter().any(|cpu| cpus.contains(cpu))) {
        let lowest = *policy.cpuinfo_min.as_ref().ok()?;
        for cpu in policy.cpus.iter() {
            let own = *info.clocks.get(cpu)?.as_ref().ok()?;
            if own.share_of(lowest) > AT_LOWEST {
                return None;
            }
            clock = clock.max(own);
        }
        full = full.min(host.ceiling_of(policy)?);
    }
    let nominal = host.nominal_clock().filter(|(_, source)| *source != "bios_limit");
    let full = nominal.map_or(full, |(nominal, _)| nominal.min(full));
    let is_lost = clock.0 > 0 && clock.share_of(full) < NEARLY_FULL;
    is_lost.then(|| {
        let source = format!("/proc/cpuinfo: clock of CPU {first}");
        Held { cpus, clock, full, evidence: (source, format!("{:.3}", clock.mhz())) }
    })
}
