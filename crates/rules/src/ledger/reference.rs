//! The clock that counts as the whole.
//!
//! The most that the hardware promises for the cores that are active: turbo ratio limits (facts::msr::turbo_ratios), which
//! hold for scalar and SSE code, else `cpuinfo_max_freq`, which amd-pstate and acpi-cpufreq make of CPPC's highest
//! performance. CPPC's own figure is not used: with preferred cores it ranks cores and is no clock
//! (Documentation/admin-guide/pm/amd-pstate.rst). Where nothing promises a clock, it is the highest that a probe saw.
//! A promise that a measured clock beats was none: the measured one counts then.

use super::activity::{Activity, by_package};
use super::books::Books;
use super::clock::{Clock, highest_seen};
use super::evidence::Evidence;
use facts::msr::intel::{TURBO_RATIO_LIMIT, TURBO_RATIO_LIMIT1};
use facts::msr::turbo_ratios::Layout;
use facts::{Hertz, HostView};

/// The clock that counts as the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The clock.
    pub clock: Hertz,
    /// Who promises it, or that it is the highest one seen.
    pub source: String,
    /// Whether it is a turbo ratio limit, which holds for scalar and SSE code.
    pub is_turbo_ratio: bool,
}

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
    /// The reference of one CPU, of whose package so many cores are active; `measured` is its clock, `highest` the
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
                let source = "the highest measured: nothing here promises a clock".to_owned();
                Some(Reference { clock: seen?, source, is_turbo_ratio: false })
            }
        }
    }
}

/// The clock that the turbo ratio limits allow for so many active cores.
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
