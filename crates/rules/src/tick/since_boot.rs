//! Whether CPUs ticked since boot, by the counts of /proc/interrupts and, where it is known, by how busy they were.
//!
//! Source: kernel/time/tick-sched.c. An idle CPU takes no ticks (NO_HZ_IDLE), so only a busy one shows whether its tick stops. Without
//! /proc/stat and /proc/uptime the counts of other CPUs are all there is to compare with.

use super::{Pace, TickRate, tick_rates};
use facts::{CpuSet, HostView};

/// A nohz_full CPU that works keeps one tick a second before 4.17 and none since (d84b31313ef8: another CPU does that work);
/// a tenth of the rate of a ticking one is no accident.
const TOO_MUCH: f64 = 0.1;
/// At this many interrupts for each tick that the busy time would have had, the tick did not stop.
const PER_BUSY_TICK: f64 = 0.5;
/// A CPU less busy than this gets its timer interrupts from being woken.
const BUSY: f64 = 0.1;

/// What a CPU did while it ticked that should not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ticks {
    /// It was busy.
    WhileBusy,
    /// As much as a CPU ticks that polls in its idle time.
    WhileIdle,
}

/// Whether a CPU ticked; `polls` is whether it ticks in its idle time, too (idle=poll).
pub(crate) fn judge(rate: &TickRate, pace: &Pace, polls: bool) -> Option<Ticks> {
    let &TickRate { per_second, busy, .. } = rate;
    let needed = PER_BUSY_TICK * pace.per_second * busy;
    let idle = pace.per_second * (1.0 - busy);
    if per_second < TOO_MUCH * pace.per_second {
        None
    } else if polls {
        let while_busy = busy >= BUSY && per_second >= idle + needed;
        Some(if while_busy { Ticks::WhileBusy } else { Ticks::WhileIdle })
    } else {
        (busy >= BUSY && per_second >= needed).then_some(Ticks::WhileBusy)
    }
}

/// Whether a busy one of `cpus` took far fewer timer interrupts than a busy CPU that ticks: then the kernel can stop a tick.
/// `false` also where the counts are not known.
pub(crate) fn some_stopped(host: &HostView, cpus: &CpuSet) -> bool {
    let (Ok(pace), Ok(rates)) = (Pace::of(host, cpus), tick_rates(host, cpus)) else {
        return false;
    };
    let is_stopped =
        |it: &TickRate| it.busy >= BUSY && it.per_second < TOO_MUCH * pace.per_second * it.busy;
    pace.fits_counts(host).is_ok() && rates.iter().any(is_stopped)
}

/// CPUs that took as many timer interrupts as the one of the others that took the most.
pub(crate) struct LikeOthers {
    /// Which ones.
    pub(crate) cpus: CpuSet,
    /// The first of them, and its count.
    pub(crate) first: (u32, u64),
    /// The one of the others, and its count.
    pub(crate) most: (u32, u64),
}

/// Counts that come from being woken, and not from a steady tick, are not so close to each other.
const SAME: f64 = 0.05;
/// 17 minutes at 1000 ticks a second, 3 hours at 100.
const ENOUGH: u64 = 1_000_000;

/// Which of `cpus` took as many timer interrupts as the others, where nothing says how long or how busy they were. `None` of fewer
/// than two: one may be close by chance.
pub(crate) fn like_others(host: &HostView, cpus: &CpuSet) -> Option<LikeOthers> {
    let interrupts = host.interrupts.as_ref().ok()?;
    let timer = interrupts.tick_timer()?;
    let online = host.topology.online.as_ref().ok()?;
    let counts = |cpus: &CpuSet| -> Vec<(u32, u64)> {
        cpus.and(online).iter().map(|cpu| (cpu, timer.on(cpu))).collect()
    };
    let most = counts(&online.minus(cpus)).into_iter().max_by_key(|(_, count)| *count)?;
    let is_same = |count: u64| (count as f64 / most.1 as f64 - 1.0).abs() <= SAME;
    let mut same = counts(cpus);
    same.retain(|(_, count)| most.1 >= ENOUGH && is_same(*count));
    let first = *same.first()?;
    let cpus: CpuSet = same.into_iter().map(|(cpu, _)| cpu).collect();
    (cpus.len() >= 2).then_some(LikeOthers { cpus, first, most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::host_of;

    /// Two housekeeping CPUs and three others with these timer interrupts, and nothing else.
    fn like(counts: [u64; 3]) -> Option<String> {
        let [a, b, c] = counts;
        let host = host_of(&format!(
            "//- /sys/devices/system/cpu/online\n0-4\n\
             //- /proc/interrupts\nCPU0 CPU1 CPU2 CPU3 CPU4\nLOC: 5000000 4000000 {a} {b} {c} Local timer interrupts\n"
        ));
        like_others(&host, &CpuSet::parse_list("2-4").unwrap()).map(|it| it.cpus.to_string())
    }

    #[test]
    fn several_cpus_with_the_count_of_one_that_ticks_do_tick() {
        assert_eq!(like([5_010_000, 4_990_000, 700]).as_deref(), Some("2-3"));
        assert_eq!(like([700, 4_990_000, 900]), None);
        assert_eq!(like([3_000_000, 2_000_000, 6_000_000]), None);
    }
}
