//! The clock guard of one end: what its CPUs should run at, and what an audit of this machine finds that slows them.

use facts::{CpuSet, Fact, HostView, Missing};
use host::Live;
use lab::wire::protocol::{Clocks, Slowing};
use rules::audit::audit;

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

/// Of these CPUs of this machine.
pub(super) fn clocks(cpus: &CpuSet) -> Clocks {
    let host = host::view(&Live::this_machine());
    Clocks { nominal_hz: nominal(&host).into(), slowing: slowing(&host, cpus) }
}

fn nominal(host: &HostView) -> Fact<f64> {
    let unknown = || {
        let why = "neither the model's name nor cpufreq tells it";
        Missing::not_here("nominal clock", why)
    };
    host.nominal_clock().map(|(clock, _)| clock.0 as f64).ok_or_else(unknown)
}

fn slowing(host: &HostView, cpus: &CpuSet) -> Vec<Slowing> {
    let concerns = |scope: &rules::finding::Scope| !scope.cpus.and(cpus).is_empty();
    let found = audit(host).findings.into_iter().filter(|(check, finding)| {
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
        let captured = include_str!("../../../tests/fixtures/two-governors.host");
        let host = host::view(&Captured::parse(captured).unwrap());
        let all: Vec<Slowing> = slowing(&host, host.topology.online.as_ref().unwrap());
        let of = |cpu: u32| slowing(&host, &[cpu].into_iter().collect());
        assert!(all.iter().any(|it| it.check == "slow-governor" && !it.fix.is_empty()), "{all:?}");
        let is_slow = |cpu: &u32| of(*cpu).iter().any(|it| it.check == "slow-governor");
        let n_slow = host.topology.online.as_ref().unwrap().iter().filter(is_slow).count();
        assert!(n_slow > 0 && n_slow < host.topology.online.as_ref().unwrap().len());
        assert!(nominal(&host).is_ok());
    }
}
