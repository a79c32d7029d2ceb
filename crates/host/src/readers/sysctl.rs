//! Reads settings in /proc/sys.

use crate::Source;
use facts::system::sysctl::{Sysctls, not_zero};
use facts::{CpuSet, parse};

pub(super) fn read(source: &dyn Source) -> Sysctls {
    let switch = |name: &str| source.parsed(&format!("/proc/sys/{name}"), not_zero);
    Sysctls {
        nmi_watchdog: switch("kernel/nmi_watchdog"),
        watchdog_cpumask: source.parsed("/proc/sys/kernel/watchdog_cpumask", CpuSet::parse_list),
        timer_migration: switch("kernel/timer_migration"),
        split_lock_mitigate: switch("kernel/split_lock_mitigate"),
        stat_interval: source.parsed("/proc/sys/vm/stat_interval", parse::number),
    }
}
