//! /proc/stat: what every CPU has spent its time on since boot.
//!
//! Source: proc_stat(5), fs/proc/stat.c. Times are in ticks of USER_HZ, which is 100 a second on every
//! architecture that Linux runs databases on. `idle` and `iowait` of a running CPU are exact with a
//! tickless kernel; the rest is sampled at the tick unless the kernel accounts precisely.

use crate::cpu::set::{CpuSet, MOST_CPUS};
use crate::parse::{Expected, trimmed};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

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

    /// What [`Worked::parse`] takes as one of its two lines: `CPU:BUSY:TOTAL` of each CPU, in ticks.
    pub fn line(&self) -> String {
        let mut line = String::new();
        for (cpu, time) in self.iter() {
            write!(line, " {cpu}:{}:{}", time.busy(), time.total()).ok();
        }
        line
    }
}

/// How much each CPU worked while it was looked at. A tick is 10 ms, so that a look of 50 ms tells no more than fifths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worked {
    /// How long it was looked at.
    pub time: Duration,
    /// The rise of the ticks in which a CPU worked, and of all of its ticks.
    ticks: Ticks,
}

impl Worked {
    /// A CPU that worked for this share of a look was busy: two of the five ticks of a short one.
    pub const BUSY: f64 = 0.4;

    /// Parses two readings, a line each: the time in nanoseconds, and [`CpuTimes::line`].
    ///
    /// A CPU whose counts stand still or go backwards, as after it was offline, is left out.
    pub fn parse(text: &str) -> Result<Worked, Expected> {
        const TWO: Expected =
            Expected("two readings, each a time and entries like `0:12:90`, the second later");
        let mut lines = trimmed(text).lines().map(reading);
        let (Some(Some(first)), Some(Some(second)), None) =
            (lines.next(), lines.next(), lines.next())
        else {
            return Err(TWO);
        };
        let elapsed_ns = second.0.checked_sub(first.0).filter(|it| *it > 0).ok_or(TWO)?;
        let rise = |(cpu, (busy, total)): (u32, (u64, u64))| {
            let before = first.1.get(&cpu)?;
            let total = total.checked_sub(before.1).filter(|it| *it > 0)?;
            Some((cpu, (busy.checked_sub(before.0)?.min(total), total)))
        };
        let ticks = second.1.into_iter().filter_map(rise).collect();
        Ok(Worked { time: Duration::from_nanos(elapsed_ns), ticks })
    }

    /// The share of the look in which a CPU worked, 1 being all of it; `None` where that is unknown.
    pub fn share(&self, cpu: u32) -> Option<f64> {
        self.ticks.get(&cpu).map(|(busy, total)| *busy as f64 / *total as f64)
    }

    /// Whether a CPU was busy for most of a look, as far as a short one tells.
    pub fn was_busy(&self, cpu: u32) -> bool {
        self.share(cpu).is_some_and(|it| it >= Worked::BUSY)
    }

    /// The CPUs that were busy.
    pub fn busy(&self) -> CpuSet {
        self.ticks.keys().copied().filter(|cpu| self.was_busy(*cpu)).collect()
    }
}

/// Of each CPU the ticks in which it worked, and all.
type Ticks = BTreeMap<u32, (u64, u64)>;

/// A time and the ticks of each CPU.
fn reading(line: &str) -> Option<(u64, Ticks)> {
    let mut words = line.split_ascii_whitespace();
    let time = words.next()?.parse().ok()?;
    let entry = |word: &str| {
        let mut numbers = word.split(':');
        let cpu: u32 = numbers.next()?.parse().ok()?;
        let (busy, total) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
        numbers.next().is_none().then_some((cpu, (busy, total)))
    };
    let ticks: Option<Ticks> = words.take(MOST_CPUS as usize + 1).map(entry).collect();
    Some((time, ticks.filter(|it| !it.is_empty() && it.len() <= MOST_CPUS as usize)?))
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

    /// The time that was spent on work.
    pub fn busy(&self) -> u64 {
        self.total().saturating_sub(self.idle.saturating_add(self.iowait))
    }

    /// The share that was spent on work, 1 being all of it; `None` where no time has passed.
    pub fn busy_share(&self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| self.busy() as f64 / total as f64)
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

    #[test]
    fn a_look_tells_which_cpus_worked_in_it() {
        let line = |text: &str| CpuTimes::parse(text).unwrap().line();
        let first = line("cpu0 100 0 0 900 0 0 0 0\ncpu1 100 0 0 900 0 0 0 0\ncpu2 5 0 0 5\n");
        let second = line("cpu0 104 0 0 901 0 0 0 0\ncpu1 101 0 0 904 0 0 0 0\ncpu3 5 0 0 5\n");
        let worked = Worked::parse(&format!("1000{first}\n50001000{second}\n")).unwrap();
        assert_eq!(worked.time, Duration::from_millis(50));
        assert_eq!((worked.share(0), worked.share(1)), (Some(0.8), Some(0.2)));
        // One that went offline, and one that came.
        assert_eq!((worked.share(2), worked.share(3)), (None, None));
        assert_eq!(worked.busy().to_string(), "0");
    }

    #[test]
    fn readings_that_are_none_are_refused() {
        for text in
            ["", "1 0:1:2", "1 0:1:2\n1 0:1:2", "2 0:1:2\n3 0:1", "1\n2", "1 0:1:2\n2 0:x:3"]
        {
            assert!(Worked::parse(text).is_err(), "{text}");
        }
        // Counts that stand still tell of no CPU.
        assert!(Worked::parse("1 0:1:2\n2 0:1:2").unwrap().busy().is_empty());
    }
}
