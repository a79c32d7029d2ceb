//! How often each CPU ticks, and why one ticks that should not.
//!
//! Sources: kernel/time/tick-sched.c (can_stop_full_tick, check_tick_dependency), include/trace/events/timer.h. Interrupts of
//! the CPU's own timer are the tick and the timers of programs: no count separates them. The tracepoint names
//! the first reason that the kernel finds for keeping the tick, and is read after the counting, because a kernel
//! with commit 56534673cea7 and without 82b915051d32 stops the tick only while it is traced. What ends in between
//! is not seen.
//!
//! Without counting, the rate since boot is that of /proc/interrupts, of which every count is 32 bits wide
//! (arch/x86/include/asm/hardirq.h), and of /proc/stat.

mod dependency;
pub(crate) mod since_boot;
#[cfg(test)]
mod tests;
mod verdict;

pub use dependency::{DEPENDENCIES, Dependency};
pub use verdict::{Kept, Verdict};

use crate::interval::{Delta, Interval};
use crate::metrics;
use facts::counters::{Family, Table};
use facts::system::kernel_config::KernelConfig;
use facts::{CpuSet, Fact, HostView, Missing, PerCpu};
use std::collections::BTreeMap;

/// What was counted of the ticks of a host.
pub struct Samples<'a> {
    /// Over the requested time: /proc/interrupts, /proc/stat, tasks, and the tracepoint of the timer's
    /// interrupt where it may be opened.
    pub counted: Interval<'a>,
    /// Over a time of its own, after that: the attempts to stop the tick, with /proc/interrupts again. Not collected
    /// where no tick was kept that should not be.
    pub traced: Fact<Interval<'a>>,
}

/// The ticks of one CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuTicks {
    /// Which CPU.
    pub cpu: u32,
    /// What its boot line wants of its tick.
    pub role: Role,
    /// The interrupts of its own timer by /proc/interrupts.
    pub interrupts: Fact<Delta>,
    /// The same by the tracepoint, as `perf stat -e irq_vectors:local_timer_entry` counts them.
    pub entries: Fact<Delta>,
    /// When that count was read, first and last, in nanoseconds of CLOCK_MONOTONIC_RAW.
    pub entries_read_ns: Option<(u64, u64)>,
    /// The share of the time in which it was busy, in percent.
    pub busy: Fact<f64>,
    /// What to think of it; `None` of a CPU that may tick.
    pub verdict: Option<Verdict>,
}

/// What a CPU's tick should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// In `nohz_full=`: stop while the CPU runs one task.
    Tickless,
    /// Kept free of other tasks, and not of the tick.
    Isolated,
    /// An ordinary CPU, which ticks while it is busy.
    Ordinary,
}

impl Role {
    /// One word, as outputs show it.
    pub fn name(self) -> &'static str {
        match self {
            Role::Tickless => "nohz_full",
            Role::Isolated => "isolated",
            Role::Ordinary => "ordinary",
        }
    }
}

impl CpuTicks {
    /// The count to go by: the tracepoint's, which perf shows too, else that of /proc/interrupts.
    ///
    /// Of a CPU that was offline for a while it is missing: how long it could have ticked is not known.
    pub fn delta(&self) -> Fact<Delta> {
        if let Err(why) = &self.entries
            && why.tells_of_offline(self.cpu)
        {
            return Err(why.clone());
        }
        self.entries.clone().or_else(|_| self.interrupts.clone())
    }
}

/// The ticks of every CPU of `cpus` that was online all the time, with a verdict on those that should not tick.
///
/// Missing where the timer's interrupts cannot be read.
pub fn ticks(samples: &Samples, cpus: &CpuSet) -> Fact<Vec<CpuTicks>> {
    let counted = &samples.counted;
    let interrupts = timer_interrupts(counted)?;
    let entries = counted.deltas(Family::TimerEntries, "local_timer");
    let busy = metrics::busy_shares(counted).unwrap_or_default();
    let of = |deltas: &Fact<PerCpu<Delta>>, cpu: u32| match deltas {
        Ok(deltas) => deltas.get(cpu).cloned().unwrap_or_else(|| Err(no_count(cpu))),
        Err(missing) => Err(missing.clone()),
    };
    let interrupts = Ok(interrupts);
    let offline: BTreeMap<u32, Missing> = counted.offline().into_iter().collect();
    let judge = verdict::Judge::of(samples);
    let online = counted.cpus().and(cpus);
    let ticks = online.iter().map(|cpu| {
        let mut ticks = CpuTicks {
            cpu,
            role: role(counted, cpu),
            interrupts: of(&interrupts, cpu),
            entries: offline.get(&cpu).map_or_else(|| of(&entries, cpu), |why| Err(why.clone())),
            entries_read_ns: entries_read_ns(counted, cpu),
            busy: match offline.get(&cpu) {
                Some(why) => Err(why.clone()),
                None => busy.get(cpu).cloned().unwrap_or_else(|| Err(no_count(cpu))),
            },
            verdict: None,
        };
        ticks.verdict = judge.verdict(&ticks);
        ticks
    });
    Ok(ticks.collect())
}

/// The tickless CPUs of `cpus` that ticked in `counted` although they should not have: those to ask why of.
pub fn suspects(counted: &Interval, cpus: &CpuSet) -> CpuSet {
    let unasked = Err(Missing::not_collected(Family::TickStops.source()));
    let samples = Samples { counted: *counted, traced: unasked };
    let ticks = ticks(&samples, cpus).unwrap_or_default();
    let kept = ticks.iter().filter(|it| it.verdict.as_ref().is_some_and(Verdict::is_kept));
    kept.filter(|it| it.role == Role::Tickless).map(|it| it.cpu).collect()
}

/// Ticks a second of a CPU whose tick does not stop: CONFIG_HZ, or that of a busy CPU since boot.
pub fn full_rate(counted: &Interval) -> Fact<f64> {
    let host = counted.host;
    let tickless = host.isolation.tickless()?;
    Ok(Pace::of(host, &tickless)?.per_second)
}

fn entries_read_ns(interval: &Interval, cpu: u32) -> Option<(u64, u64)> {
    let (before, after) = interval.tables(Family::TimerEntries).ok()?;
    let read_at = |table: &Table| Some(table.read_at(table.row(cpu).ok()?));
    read_at(before).zip(read_at(after))
}

fn timer_interrupts(interval: &Interval) -> Fact<PerCpu<Delta>> {
    let rows = interval.rows(Family::Interrupts)?;
    Ok(rows.deltas(metrics::ticks::timer(&rows)?))
}

fn role(interval: &Interval, cpu: u32) -> Role {
    let isolation = &interval.host.isolation;
    let is_in = |cpus: Fact<CpuSet>| cpus.is_ok_and(|it| it.contains(cpu));
    if is_in(isolation.tickless()) {
        Role::Tickless
    } else if is_in(isolation.scheduler_isolated()) {
        Role::Isolated
    } else {
        Role::Ordinary
    }
}

fn no_count(cpu: u32) -> Missing {
    Missing::absent(format!("a count of CPU {cpu}"))
}

/// The timer interrupts of one CPU since boot.
pub(crate) struct TickRate {
    /// Which CPU.
    pub(crate) cpu: u32,
    /// How many it took.
    pub(crate) count: u64,
    /// As many a second.
    pub(crate) per_second: f64,
    /// The share of the time in which it had work, 1 being all.
    pub(crate) busy: f64,
}

/// The timer interrupts of the online ones of `cpus`.
pub(crate) fn tick_rates(host: &HostView, cpus: &CpuSet) -> Result<Vec<TickRate>, Missing> {
    let interrupts = host.interrupts.as_ref()?;
    let timer = interrupts.tick_timer().ok_or_else(|| {
        Missing::malformed("/proc/interrupts", "no line LOC", "a line of the timer that ticks")
    })?;
    let seconds = seconds(host)?;
    let times = host.cpu_times.as_ref()?;
    let rate = |cpu| {
        let busy = times.get(cpu)?.busy_share()?;
        let count = timer.on(cpu);
        Some(TickRate { cpu, count, per_second: count as f64 / seconds, busy })
    };
    Ok(cpus.iter().filter_map(rate).collect())
}

/// Time since boot, at least one second.
pub(crate) fn seconds(host: &HostView) -> Result<f64, Missing> {
    Ok(host.kernel.uptime.as_ref()?.as_secs_f64().max(1.0))
}

/// How fast a busy CPU of this host ticks, and what says so.
pub(crate) struct Pace {
    /// Ticks a second.
    pub(crate) per_second: f64,
    /// Where that was read.
    pub(crate) source: String,
    /// What was read there.
    pub(crate) value: String,
}

impl Pace {
    /// The rate that the kernel is built for, or that of the busiest CPU outside of `except`.
    pub(crate) fn of(host: &HostView, except: &CpuSet) -> Result<Pace, Missing> {
        let config = host.kernel.config.as_ref();
        if let Ok(config) = config
            && let Some(hz) = KernelConfig::ticks_per_second(config)
        {
            let value = format!("CONFIG_HZ={hz}");
            return Ok(Pace { per_second: hz as f64, source: config.path.clone(), value });
        }
        let others = host.topology.online.as_ref()?.minus(except);
        let busiest = tick_rates(host, &others)?
            .into_iter()
            .max_by(|a, b| a.busy.total_cmp(&b.busy))
            .map(|rate| (rate.per_second / rate.busy, rate));
        match busiest {
            // What an idle CPU takes comes from being woken; no kernel is built for less than 24 ticks.
            Some((per_second, rate)) if rate.busy >= 0.1 && per_second >= 24.0 => {
                let TickRate { cpu, count, busy, .. } = rate;
                let value = format!("{count} on CPU {cpu}, {:.0} % busy", 100.0 * busy);
                Ok(Pace { per_second, source: "/proc/interrupts".to_owned(), value })
            }
            _ => Err(config.err().cloned().unwrap_or_else(|| {
                Missing::malformed("the kernel's configuration", "no CONFIG_HZ", "a rate of ticks")
            })),
        }
    }

    /// `Err` where counts may have wrapped: at 1000 ticks a second 32 bits last for 49 days.
    pub(crate) fn fits_counts(&self, host: &HostView) -> Result<(), Missing> {
        let seconds = seconds(host)?;
        if seconds * self.per_second < f64::from(u32::MAX) {
            return Ok(());
        }
        let found = format!("32-bit counts after {:.0} days", seconds / 86_400.0);
        Err(Missing::malformed("/proc/interrupts", &found, "counts that cannot have wrapped"))
    }
}
