//! `fullclock fleet` against the engines that fleets have: the same machines in Prometheus and in VictoriaMetrics.

use anyhow::Result;
use testbench::packages::Package;

use crate::suites::{self, Suite};
use crate::tally::Tally;

/// Both engines, and what loads one of them.
pub(crate) const PACKAGES: &[Package] = &[
    Package {
        name: "prometheus",
        purpose: "has the machines of a fleet that does not exist",
        witness: "/usr/bin/promtool",
    },
    Package {
        name: "victoria-metrics",
        purpose: "has the same machines",
        witness: "/usr/bin/victoria-metrics",
    },
];

/// 2,000 machines.
pub(crate) fn ask(suites: &[Suite]) -> Result<Tally> {
    run(suites, "usual_fleet")
}

/// 20,000 machines, with the time and the memory that they take.
pub(crate) fn ask_for_many(suites: &[Suite]) -> Result<Tally> {
    run(suites, "large_fleet")
}

fn run(suites: &[Suite], name: &str) -> Result<Tally> {
    suites::run_named(suites, "engine engines", &["--ignored", "--nocapture", name], &[])
}
