//! Whether the CPUs of a host worked while it was looked at, and since it booted.
//!
//! Which process was seen to run at one instant says little: of a host that is busy all day another CPU runs one at each reading.

use facts::system::cpu_times::Worked;
use facts::{CpuSet, HostView};

/// This program's name in /proc/PID/stat: it is no load, its CPU has woken up for it.
pub(crate) const OWN_NAME: &str = "fullclock";

/// A host whose CPUs worked for less than this share of the time since boot is idle.
const BUSY: f64 = 0.05;

/// How much the CPUs worked in a look; `None` where nobody looked.
pub(crate) fn in_look(host: &HostView) -> Option<&Worked> {
    host.delivered.worked.as_ref()
}

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

/// Whether so many CPUs may all have been idle at one instant, by how busy the host was since boot. One that is alone showed its own clock,
/// and worked for it.
pub(crate) fn may_all_have_been_idle(host: &HostView, n_cpus: usize) -> bool {
    const BY_CHANCE: f64 = 0.05;
    let idle = 1.0 - busy_share(host).unwrap_or(0.0);
    let all_idle = idle.powi(i32::try_from(n_cpus).unwrap_or(i32::MAX));
    n_cpus > 1 && all_idle > BY_CHANCE
}
