//! Whether the CPUs that were set aside are really left alone: the tick, interrupts, the kernel's own work.

pub(super) mod irqs_on_isolated;
pub(super) mod isolated_without_nohz_full;
pub(super) mod nmi_watchdog_tick;
pub(super) mod nohz_full_ineffective;
pub(super) mod nohz_full_unsupported;
pub(super) mod nonexistent_cpus_listed;
pub(super) mod rcu_callbacks_on_isolated;
pub(super) mod vmstat_tick;

use facts::{CpuSet, HostView};

/// The CPUs that take the work which the isolated ones are spared; empty where that is not known.
fn housekeeping(host: &HostView, isolated: &CpuSet) -> CpuSet {
    host.topology.online.as_ref().map(|online| online.minus(isolated)).unwrap_or_default()
}
