//! The clock guard of one end: where the time of its CPUs went, what they should run at, and what an audit of this machine finds
//! that slows them.

use super::placement::{Over, placement};
use crate::advised;
use crate::measure::costs;
use facts::{CpuSet, Fact, HostView, Missing};
use host::Live;
use lab::net::protocol::{Clocks, Judgement, Slowing};
use lab::net::{Accounts, Work};
use rules::audit::Audit;

/// The checks whose findings lower or stop the clock of a busy CPU.
const CHECKS: &[&str] = &[
    "slow-governor",
    "capped-frequency",
    "mixed-frequency-settings",
    "power-saving-bias",
    "turbo-off",
    "clock-modulation",
    "clock-below-minimum",
    "forced-idle",
    "prochot-asserted",
    "thermal-throttling",
];

/// This machine, before a test.
pub(super) fn before() -> HostView {
    host::view(&Live::this_machine())
}

/// The accounts of a test whose threads work on `cpus`, or anywhere. It takes some tenths of a second to find out what an interrupt
/// costs.
pub(super) fn accounts<'a>(host: &'a HostView, cpus: Option<&CpuSet>) -> Accounts<'a> {
    let costs = match cpus {
        Some(cpus) => costs::costs(host, cpus),
        None => host::probe::allowed().and_then(|it| costs::costs(host, &it)),
    };
    Accounts::of(host, costs)
}

/// What became of these CPUs of this machine, which was `host` before the test.
pub(super) fn judgement(
    accounts: &mut Accounts<'_>,
    host: &HostView,
    over: &Over<'_>,
    cpus: &CpuSet,
) -> Judgement {
    accounts.look_at_clocks(cpus);
    let after = before();
    let audit = advised::audit(&Live::this_machine(), &after);
    let ledger = accounts.close(cpus, &after, &audit.findings);
    let place = placement(over, host, &after, cpus);
    let clocks = Clocks { nominal_hz: nominal(&after).into(), slowing: slowing(audit, cpus) };
    Judgement { clocks, ledger, place }
}

/// The CPUs that threads were seen on.
pub(super) fn cpus_of<'a>(work: impl IntoIterator<Item = &'a Work>) -> CpuSet {
    let mut all = CpuSet::default();
    for it in work {
        all.extend(CpuSet::parse_list(&it.cpus).unwrap_or_default().iter());
    }
    all
}

fn nominal(host: &HostView) -> Fact<f64> {
    let unknown = || {
        let why = "neither the model's name nor cpufreq tells it";
        Missing::not_here("nominal clock", why)
    };
    host.nominal_clock().map(|(clock, _)| clock.0 as f64).ok_or_else(unknown)
}

fn slowing(audit: Audit, cpus: &CpuSet) -> Vec<Slowing> {
    let concerns = |scope: &rules::finding::Scope| !scope.cpus.and(cpus).is_empty();
    let found = audit.findings.into_iter().filter(|(check, finding)| {
        CHECKS.contains(&check.id) && finding.cpus.as_ref().is_none_or(concerns)
    });
    let slowing = |(check, finding): (&rules::check::Check, rules::finding::Finding)| Slowing {
        check: check.id.to_owned(),
        message: finding.message,
        fix: finding.fix.now,
    };
    found.map(slowing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Captured;

    #[test]
    fn every_check_that_is_named_exists() {
        for id in CHECKS {
            assert!(rules::checks::CHECKS.iter().any(|it| it.id == *id), "{id}");
        }
    }

    #[test]
    fn a_finding_counts_for_the_cpus_that_have_it_alone() {
        let captured = include_str!("../../../fullclock/tests/fixtures/two-governors.host");
        let source = Captured::parse(captured).unwrap();
        let host = host::view(&source);
        let audit = || advised::audit(&source, &host);
        let all: Vec<Slowing> = slowing(audit(), host.topology.online.as_ref().unwrap());
        let of = |cpu: u32| slowing(audit(), &[cpu].into_iter().collect());
        assert!(all.iter().any(|it| it.check == "slow-governor" && !it.fix.is_empty()), "{all:?}");
        let is_slow = |cpu: &u32| of(*cpu).iter().any(|it| it.check == "slow-governor");
        let n_slow = host.topology.online.as_ref().unwrap().iter().filter(is_slow).count();
        assert!(n_slow > 0 && n_slow < host.topology.online.as_ref().unwrap().len());
        assert!(nominal(&host).is_ok());
    }
}
