//! What is counted: the families of counters, each from a source of its own.

/// A kind of count that one source gives in one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(usize)]
pub enum Family {
    /// Rows: CPUs. Columns `user` `nice` `system` `idle` `iowait` `irq` `softirq` `steal` `guest`
    /// `guest_nice`, in ticks of USER_HZ, 100 a second.
    CpuTimes,
    /// One row, 0. Columns `ctxt` (context switches of all CPUs), `processes` (forks since boot).
    Totals,
    /// Rows: CPUs. A column for each line of /proc/interrupts that counts by CPU: `LOC`, `RES`, `24`; named
    /// `24 virtio0-input` where a device stands behind a number.
    Interrupts,
    /// Rows: CPUs. A column for each kind of softirq: `TIMER`, `NET_RX`.
    Softirqs,
    /// Rows: CPUs. A column for each idle state by its name (`POLL`, `C1`), in microseconds. Written by the
    /// kernel on *leaving* a state.
    IdleTime,
    /// Rows: CPUs. The same columns: how often each state was entered.
    IdleUsage,
    /// Rows: CPUs. Columns `idle_sleeptime` and `iowait_sleeptime` of the tickless idle loop, in
    /// nanoseconds; they leave out the sleep that goes on.
    IdleSleep,
    /// Rows: CPUs. Column `run`: the time that tasks have run on the CPU, in nanoseconds; `wait`, where
    /// known: the time that tasks have waited for it.
    RunTime,
    /// Rows: CPUs. Column `switches`.
    ContextSwitches,
    /// Rows: CPUs. Columns `core_throttle_count`, `core_throttle_total_time_ms`, `package_throttle_count`,
    /// `package_throttle_total_time_ms`: as sysfs names them.
    Throttling,
    /// Rows: CPUs. Columns `tsc` `aperf` `mperf` `pperf` `smi`, in cycles of their own clocks.
    Clocks,
    /// Rows: the CPU that was asked for its core. Columns `c1` `c3` `c6` `c7`, in TSC cycles.
    CoreResidency,
    /// Rows: the CPU that was asked for its package. Columns `c2` `c3` `c6` `c7` `c8` `c9` `c10`, in TSC
    /// cycles.
    PackageResidency,
    /// One row, 0. A column for each domain (`package-0`, `package-0/dram`), in microjoules.
    Energy,
    /// Rows: the CPU that was asked. Column `temperature`, in thousandths of a degree Celsius: a reading, not
    /// a count.
    Temperature,
    /// One row, 0. Columns `cpu.some`, `cpu.full`, `io.some`, `io.full`, `memory.some`, `memory.full`, `irq.full`, in
    /// microseconds.
    Pressure,
    /// Rows: CPUs. A column for each reason for which the tick was stopped or kept (timer:tick_stop):
    /// `none`, `posix_timer`, `perf_events`, `sched`, `clock_unstable`, `rcu`, `rcu_exp`.
    TickStops,
    /// Rows: CPUs. Column `local_timer`: interrupts of the CPU's own timer, by tracepoint.
    TimerEntries,
    /// Rows: the CPU that was asked for its core. Column `therm_status`: the register 0x19C as read, whose logs
    /// [`thermal_status`](crate::msr::limit_reasons) tells apart. A reading, not a count: what is of the time
    /// between two of them is a log that is set in the later one only.
    CoreLimits,
    /// Rows: the CPU that was asked for its package. Columns `therm_status` (0x1B1) and `limit_reasons` (0x64F or
    /// 0x690, see [`limit_reasons`](crate::msr::limit_reasons)), each where the processor has it: as read, as above.
    PackageLimits,
    /// Rows: the CPU that was asked for its package. Columns `package` and `dram`: for how long a power limit has held
    /// it back, in microseconds.
    PowerLimited,
}

impl Family {
    /// Every family, in the order of their numbers.
    pub const ALL: &[Family] = &[
        Family::CpuTimes,
        Family::Totals,
        Family::Interrupts,
        Family::Softirqs,
        Family::IdleTime,
        Family::IdleUsage,
        Family::IdleSleep,
        Family::RunTime,
        Family::ContextSwitches,
        Family::Throttling,
        Family::Clocks,
        Family::CoreResidency,
        Family::PackageResidency,
        Family::Energy,
        Family::Temperature,
        Family::Pressure,
        Family::TickStops,
        Family::TimerEntries,
        Family::CoreLimits,
        Family::PackageLimits,
        Family::PowerLimited,
    ];

    /// Whether its counts come from tracepoints, which are opened only when somebody asks.
    pub fn is_traced(self) -> bool {
        matches!(self, Family::TickStops | Family::TimerEntries)
    }

    /// Where its counts come from, as messages call it.
    pub fn source(self) -> &'static str {
        match self {
            Family::CpuTimes | Family::Totals => "/proc/stat",
            Family::Interrupts => "/proc/interrupts",
            Family::Softirqs => "/proc/softirqs",
            Family::IdleTime | Family::IdleUsage => "/sys/devices/system/cpu/cpuN/cpuidle",
            Family::IdleSleep => "/proc/timer_list",
            Family::RunTime => "/proc/schedstat",
            Family::ContextSwitches => "perf event context-switches",
            Family::Throttling => "/sys/devices/system/cpu/cpuN/thermal_throttle",
            Family::Clocks => "APERF, MPERF and TSC",
            Family::CoreResidency => "residency counters of core C-states",
            Family::PackageResidency => "residency counters of package C-states",
            Family::Energy => "RAPL energy counters",
            Family::Temperature => "temperature of the cores",
            Family::CoreLimits => "log of what limited a core",
            Family::PackageLimits => "log of what limited a package",
            Family::PowerLimited => "time below a power limit",
            Family::Pressure => "/proc/pressure",
            Family::TickStops => "tracepoint timer:tick_stop",
            Family::TimerEntries => "tracepoint irq_vectors:local_timer_entry",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_the_order_of_the_numbers() {
        for (number, &family) in Family::ALL.iter().enumerate() {
            assert_eq!(family as usize, number);
        }
    }
}
