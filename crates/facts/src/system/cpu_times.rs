//! /proc/stat: what every CPU has spent its time on since boot.
//!
//! Source: proc_stat(5), fs/proc/stat.c. Times are in ticks of USER_HZ, which is 100 a second on every
//! architecture that Linux runs databases on. `idle` and `iowait` of a running CPU are exact with a
//! tickless kernel; the rest is sampled at the tick unless the kernel accounts precisely.

use crate::cpu::set::MOST_CPUS;
use crate::parse::Expected;
use std::collections::BTreeMap;

/// The time each online CPU has spent, by CPU number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes(BTreeMap<u32, CpuTime>);

/// The time one CPU has spent since boot, in ticks of USER_HZ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// In user space, niced or not, guests included.
    pub user: u64,
    /// In the kernel, for processes.
    pub system: u64,
    /// With nothing to do.
    pub idle: u64,
    /// With nothing to do but wait for a disk.
    pub iowait: u64,
    /// In interrupts and softirqs.
    pub interrupts: u64,
    /// Not run by the hypervisor although there was something to do.
    pub steal: u64,
}

impl CpuTimes {
    /// Parses the `cpuN` lines; the `cpu` line, their sum, is left out.
    pub fn parse(text: &str) -> Result<CpuTimes, Expected> {
        let lines = text.lines().filter_map(cpu_line).take(MOST_CPUS as usize + 1);
        let times: BTreeMap<u32, CpuTime> = lines.collect();
        if times.len() > MOST_CPUS as usize {
            return Err(Expected("at most 16384 CPUs"));
        }
        if times.is_empty() {
            Err(Expected("lines like `cpu0 1 2 3 4`"))
        } else {
            Ok(CpuTimes(times))
        }
    }

    /// The time of one CPU; `None` where it is offline.
    pub fn get(&self, cpu: u32) -> Option<CpuTime> {
        self.0.get(&cpu).copied()
    }

    /// The time of all online CPUs together.
    pub fn sum(&self) -> CpuTime {
        self.0.values().fold(CpuTime::default(), |sum, it| sum + *it)
    }

    /// Every online CPU with its time, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, CpuTime)> {
        self.0.iter().map(|(&cpu, &time)| (cpu, time))
    }
}

/// Time of several CPUs, or of one in several intervals.
impl std::ops::Add for CpuTime {
    type Output = CpuTime;

    fn add(self, other: CpuTime) -> CpuTime {
        CpuTime {
            user: self.user.saturating_add(other.user),
            system: self.system.saturating_add(other.system),
            idle: self.idle.saturating_add(other.idle),
            iowait: self.iowait.saturating_add(other.iowait),
            interrupts: self.interrupts.saturating_add(other.interrupts),
            steal: self.steal.saturating_add(other.steal),
        }
    }
}

impl CpuTime {
    /// The time of all states together.
    pub fn total(&self) -> u64 {
        let CpuTime { user, system, idle, iowait, interrupts, steal } = *self;
        [user, system, idle, iowait, interrupts, steal].into_iter().fold(0, u64::saturating_add)
    }

    /// The share that was spent on work, 1 being all of it; `None` where no time has passed.
    pub fn busy_share(&self) -> Option<f64> {
        let total = self.total();
        let free = self.idle.saturating_add(self.iowait);
        (total > 0).then(|| total.saturating_sub(free) as f64 / total as f64)
    }
}

/// user nice system idle iowait irq softirq steal; guest time is part of user time already. Old kernels
/// print fewer columns.
fn cpu_line(line: &str) -> Option<(u32, CpuTime)> {
    let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
    let cpu = words.next()?.parse().ok().filter(|_| !line.starts_with("cpu "))?;
    let mut next = || words.next().map_or(Some(0), |word| word.parse::<u64>().ok());
    let (user, nice, system, idle, iowait) = (next()?, next()?, next()?, next()?, next()?);
    let (irq, softirq, steal) = (next()?, next()?, next()?);
    let (user, interrupts) = (user.saturating_add(nice), irq.saturating_add(softirq));
    Some((cpu, CpuTime { user, system, idle, iowait, interrupts, steal }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_all_cpus_is_no_cpu() {
        let times =
            CpuTimes::parse("cpu  9 9 9 9\ncpu0 10 0 10 60 10 5 5 0 7 0\nintr 5\n").unwrap();
        assert_eq!(times.iter().count(), 1);
        assert_eq!(times.get(0).unwrap().total(), 100);
        assert_eq!(times.get(0).unwrap().busy_share(), Some(0.3));
    }

    #[test]
    fn columns_that_an_old_kernel_lacks_are_zero() {
        let times = CpuTimes::parse("cpu3 1 2 3 4\n").unwrap();
        assert_eq!(
            times.get(3),
            Some(CpuTime { user: 3, system: 3, idle: 4, ..CpuTime::default() })
        );
    }

    #[test]
    fn text_that_is_no_statistics_is_refused() {
        assert!(CpuTimes::parse("cpu 1 2 3 4\n").is_err());
        assert!(CpuTimes::parse("cpu0 x").is_err());
    }
}
