//! Whether the CPUs that were set aside are really left alone: the tick, interrupts, the kernel's own work.

pub(super) mod isolated_without_nohz_full;
pub(super) mod nohz_full_unsupported;
pub(super) mod nonexistent_cpus_listed;
pub(super) mod vmstat_tick;
