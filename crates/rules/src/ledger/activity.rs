//! How many cores of a package were at work, and how many were awake.
//!
//! Turbo depends on the cores that are not in a deep idle state (Intel SDM vol. 3B, "Turbo Boost"): a core that idles in C1
//! counts as much as one that works. Both are means over the interval, rounded up.

use super::books::Books;
use super::idle_time::row_sum;
use facts::counters::Family;
use facts::cpu::cpuidle::IdleState;
use facts::{CpuSet, HostView};
use std::collections::BTreeMap;

/// The cores of one package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Activity {
    /// Cores that worked.
    pub(crate) n_busy: usize,
    /// Cores that worked or idled in a shallow state; `None` where idle times by state are not known.
    pub(crate) n_awake: Option<usize>,
}

/// The activity of each package, by its lowest CPU.
pub(super) fn by_package(host: &HostView, books: &[Books<'_>]) -> BTreeMap<u32, Activity> {
    let mut packages: BTreeMap<u32, Vec<(u32, f64, Option<f64>)>> = BTreeMap::new();
    for books in books {
        let of_cpu = (books.cpu, busy(books), awake(books));
        packages.entry(host.topology.package_leader(books.cpu)).or_default().push(of_cpu);
    }
    let activity = |cpus: Vec<(u32, f64, Option<f64>)>| {
        let awake: Option<Vec<(u32, f64)>> =
            cpus.iter().map(|(cpu, _, awake)| Some((*cpu, (*awake)?))).collect();
        let busy: Vec<(u32, f64)> = cpus.into_iter().map(|(cpu, busy, _)| (cpu, busy)).collect();
        Activity { n_busy: n_cores(host, &busy), n_awake: awake.map(|it| n_cores(host, &it)) }
    };
    packages.into_iter().map(|(leader, cpus)| (leader, activity(cpus))).collect()
}

/// The share of time that a CPU was not idle, whether it had nothing to do or a quota forbade it.
fn busy(books: &Books<'_>) -> f64 {
    let idle = [&books.idle, &books.quota].into_iter().flatten();
    let idle = idle.fold(0, |sum: u64, it| sum.saturating_add(it.ns));
    1.0 - idle as f64 / books.wall_ns.max(1) as f64
}

/// The share of time that a CPU was in no deep idle state.
fn awake(books: &Books<'_>) -> Option<f64> {
    let interval = &books.evidence.interval;
    let tables = interval.host.cpuidle.tables.as_deref().ok()?;
    let states = &tables.iter().find(|it| it.cpus.contains(books.cpu))?.states;
    let is_deep =
        |name: &str| states.iter().filter(|it| it.is_deep()).any(|it: &IdleState| it.name == name);
    if !states.iter().any(IdleState::is_deep) {
        return None;
    }
    let deep = row_sum(interval, Family::IdleTime, books.cpu, is_deep).ok()?;
    Some(1.0 - deep.by as f64 * 1000.0 / deep.over_ns as f64)
}

/// Cores by the shares of their threads: a core is as active as its busiest thread.
fn n_cores(host: &HostView, shares: &[(u32, f64)]) -> usize {
    let mut cores: BTreeMap<u32, f64> = BTreeMap::new();
    for &(cpu, share) in shares {
        let core: CpuSet = host.topology.core_of(cpu);
        let most = cores.entry(core.first().unwrap_or(cpu)).or_default();
        *most = most.max(share);
    }
    (cores.values().sum::<f64>().ceil() as usize).max(1)
}
