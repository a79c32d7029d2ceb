//! How fast CPUs tick: timer interrupts since boot, beside the rate of a CPU whose tick never stops.
//!
//! Source: /proc/interrupts, of which every count is 32 bits wide (arch/x86/include/asm/hardirq.h), and
//! /proc/stat. Timers of programs count too: nothing here tells them from the tick.

use facts::system::kernel_config::KernelConfig;
use facts::{CpuSet, HostView, Missing};

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
