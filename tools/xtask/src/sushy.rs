//! `fullclock bmc` beside sushy, OpenStack's library for Redfish: both read the same services, which tests make up.

use anyhow::Result;

use crate::suites::{self, Suite};
use crate::tally::Tally;
use crate::venv;

/// The version that the test was written against.
const SUSHY: &str = "sushy==5.14.0";

/// Compares what both read.
pub(crate) fn compare(suites: &[Suite]) -> Result<Tally> {
    let python = venv::program(SUSHY, "python3")?;
    let arguments = ["--ignored", "--nocapture", "sushy_reads_the_same"];
    suites::run_named(suites, "engine engine", &arguments, &[("SUSHY_PYTHON", python)])
}
