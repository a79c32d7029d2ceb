//! Whether the CPUs of a host worked while it was read, and since it booted.

use facts::{CpuSet, HostView};

/// This program's name in /proc/PID/stat: it is no load, its CPU has woken up for it.
pub(crate) const OWN_NAME: &str = "fullclock";

/// A host whose CPUs worked for less than this share of the time since boot is idle.
const BUSY: f64 = 0.05;

/// The CPUs on which programs other than this one were seen to run.
pub(crate) fn seen_on(host: &HostView) -> CpuSet {
    let processes = host.processes.as_deref().unwrap_or_default();
    processes.iter().filter(|it| it.name != OWN_NAME).filter_map(|it| it.running_on).collect()
}

/// The share of the time since boot for which the CPUs worked.
pub(crate) fn busy_share(host: &HostView) -> Option<f64> {
    host.cpu_times.as_ref().ok().and_then(|it| it.sum().busy_share())
}

/// Whether the host was not idle since boot, where that is known.
pub(crate) fn was_busy(host: &HostView) -> Option<bool> {
    busy_share(host).map(|it| it >= BUSY)
}
