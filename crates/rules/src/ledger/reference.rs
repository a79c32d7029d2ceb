//! The clock that counts as the whole, and the cores whose activity it depends on.
//!
//! It is the most that the hardware promises for the cores that are active: turbo ratio limits (facts::msr::ratios), which
//! hold for scalar and SSE code, else `cpuinfo_max_freq`, which amd-pstate and acpi-cpufreq make of CPPC's highest
//! performance. CPPC's own value is not used: with preferred cores it ranks cores and is not a clock
//! (Documentation/admin-guide/pm/amd-pstate.rst). Where nothing promises a clock, it is the highest that a probe saw.
//! If a measured clock is higher than the promised one, the measured one counts.
//!
//! Turbo depends on the cores that are not in a deep idle state (Intel SDM vol. 3B, "Turbo Boost"): a core that idles in C1
//! counts as much as one that works. Both numbers are means over the interval, rounded up. All CPUs of the package count,
//! whether they are accounted for or not. A CPU whose idle time is unknown counts as one that works.

use super::books::Books;
use super::clock::{Activity, Clock, Reference, highest_seen};
use super::evidence::Evidence;
use super::idle_time::{idle_time, row_sum};
use facts::counters::Family;
use facts::cpu::cpuidle::IdleState;
use facts::msr::intel::{TURBO_RATIO_LIMIT, TURBO_RATIO_LIMIT1};
use facts::msr::ratios::Layout;
use facts::{CpuSet, Hertz, HostView};
use std::collections::BTreeMap;

/// What a measured clock may be above a promised one: rounding of ratios and spread spectrum.
const CLOSE: f64 = 1.005;

/// Enters the reference clock of each CPU.
pub(super) fn enter(evidence: &Evidence<'_>, books: &mut [Books<'_>]) {
    let host = evidence.interval.host;
    let packages = by_package(evidence, books);
    let seen = highest_seen(evidence);
    for books in books {
        books.activity = packages.get(&host.topology.package_leader(books.cpu)).copied();
        let n_active = books.activity.map_or(1, |Activity { n_busy, .. }| n_busy);
        let measured = books.clock.as_ref().ok().copied();
        books.reference = Reference::of(host, books.cpu, n_active, measured, seen);
    }
}

impl Reference {
    /// The reference of one CPU, of whose package `n_active` cores are active; `measured` is its clock, `highest` the
    /// highest that any probe has seen.
    pub(crate) fn of(
        host: &HostView,
        cpu: u32,
        n_active: usize,
        measured: Option<Clock>,
        highest: Option<Hertz>,
    ) -> Option<Reference> {
        let promised = turbo_ratio(host, cpu, n_active).or_else(|| cpufreq(host, cpu));
        let seen = measured.map(|it| it.running).into_iter().chain(highest).max();
        match (promised, seen) {
            (Some(promised), Some(seen)) if seen.share_of(promised.clock) > CLOSE => {
                let source = format!(
                    "the highest measured, above the {} of {}",
                    promised.clock, promised.source
                );
                Some(Reference { clock: seen, source, is_turbo_ratio: false })
            }
            (Some(promised), _) => Some(promised),
            (None, seen) => {
                let source = "the highest measured: nominal clock unknown".to_owned();
                Some(Reference { clock: seen?, source, is_turbo_ratio: false })
            }
        }
    }
}

/// The clock that the turbo ratio limits allow for `n_active` active cores.
pub(super) fn turbo_ratio(host: &HostView, cpu: u32, n_active: usize) -> Option<Reference> {
    if host.topology.is_hybrid() || host.runs_without_turbo() {
        return None;
    }
    let leader = host.topology.package_leader(cpu);
    let value = |register| host.msrs.value(register, leader).ok();
    let info = host.cpuinfo.as_ref().ok()?;
    let (limit, counts) = (value(&TURBO_RATIO_LIMIT)?, value(&TURBO_RATIO_LIMIT1));
    let clock = Layout::of(info)?.clock(info, n_active, limit, counts)?;
    let cores = if n_active == 1 { "core" } else { "cores" };
    let source = format!("{TURBO_RATIO_LIMIT} for {n_active} active {cores} of the package");
    Some(Reference { clock, source, is_turbo_ratio: true })
}

fn cpufreq(host: &HostView, cpu: u32) -> Option<Reference> {
    let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
    let policy = policies.iter().find(|it| it.cpus.contains(cpu))?;
    let clock = *policy.cpuinfo_max.as_ref().ok()?;
    let source = "cpuinfo_max_freq".to_owned();
    (clock.0 > 0).then_some(Reference { clock, source, is_turbo_ratio: false })
}

/// What a CPU may do of the other and still do one thing all the time, as a share of the time.
const NEXT_TO_NOTHING: f64 = 0.05;

/// What one CPU did, as shares of the time.
struct Shares {
    cpu: u32,
    busy: f64,
    awake: Option<f64>,
}

/// The activity of each package, by its lowest CPU; `books` are those of the CPUs that are accounted for.
pub(super) fn by_package(evidence: &Evidence<'_>, books: &[Books<'_>]) -> BTreeMap<u32, Activity> {
    let host = evidence.interval.host;
    let mut packages: BTreeMap<u32, Vec<Shares>> = BTreeMap::new();
    for cpu in evidence.interval.cpus().iter() {
        let of_books = books.iter().find(|it| it.cpu == cpu).map(busy);
        let busy = of_books.unwrap_or_else(|| busy_unbooked(evidence, cpu));
        let shares = Shares { cpu, busy, awake: awake(evidence, cpu) };
        packages.entry(host.topology.package_leader(cpu)).or_default().push(shares);
    }
    packages.into_iter().map(|(leader, cpus)| (leader, activity(host, &cpus))).collect()
}

fn activity(host: &HostView, cpus: &[Shares]) -> Activity {
    let busy: Vec<(u32, f64)> = cpus.iter().map(|it| (it.cpu, it.busy)).collect();
    let awake: Option<Vec<(u32, f64)>> = cpus.iter().map(|it| Some((it.cpu, it.awake?))).collect();
    let is_steady = |it: &Shares| it.busy.min(1.0 - it.busy) < NEXT_TO_NOTHING;
    Activity {
        n_busy: n_cores(host, &busy),
        n_awake: awake.map(|it| n_cores(host, &it)),
        is_steady: cpus.iter().all(is_steady),
    }
}

/// The share of time that a CPU was not idle, whether it had nothing to do or a quota forbade it.
fn busy(books: &Books<'_>) -> f64 {
    let idle = [&books.idle, &books.quota].into_iter().flatten();
    busy_beside(idle.fold(0, |sum: u64, it| sum.saturating_add(it.ns)), books.wall_ns)
}

/// The same of a CPU that is not accounted for.
fn busy_unbooked(evidence: &Evidence<'_>, cpu: u32) -> f64 {
    let wall_ns = evidence.interval.elapsed_ns().unwrap_or(0);
    let idle = idle_time(&evidence.interval, &evidence.traced_on(cpu), cpu, wall_ns);
    busy_beside(idle.map_or(0, |it| it.amount.ns), wall_ns)
}

fn busy_beside(idle_ns: u64, wall_ns: u64) -> f64 {
    (1.0 - idle_ns as f64 / wall_ns.max(1) as f64).clamp(0.0, 1.0)
}

/// The share of time that a CPU was in no deep idle state.
fn awake(evidence: &Evidence<'_>, cpu: u32) -> Option<f64> {
    let interval = &evidence.interval;
    let tables = interval.host.cpuidle.tables.as_deref().ok()?;
    let states = &tables.iter().find(|it| it.cpus.contains(cpu))?.states;
    let is_deep =
        |name: &str| states.iter().filter(|it| it.is_deep()).any(|it: &IdleState| it.name == name);
    if !states.iter().any(IdleState::is_deep) {
        return None;
    }
    let deep = row_sum(interval, Family::IdleTime, cpu, is_deep).ok()?;
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
