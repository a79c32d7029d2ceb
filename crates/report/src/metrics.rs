//! What a machine tells a monitoring system: one page for `serve` and for `fullclock metrics`.
//!
//! Counts only grow; gauges are states. Names and units are stable, units are base units: shares are ratios, clocks hertz, times
//! seconds. A series is there for good once it is: what an interval did not show keeps its count.

mod baseline;
mod findings;
mod host;
mod states;
#[cfg(test)]
mod tests;
mod totals;

pub use findings::{Findings, Taken};

use crate::openmetrics::{Exposition, Type};
use facts::CpuSet;
use facts::baseline::Standing;
use rules::totals::Totals;

/// What is known of a machine when somebody asks. Whatever is `None` has no series.
pub struct Told<'a> {
    /// The version of the program.
    pub version: &'a str,
    /// What the machine is, by the labels of [`rules::host_labels`], and which boot of it; what is unknown is empty.
    pub host: &'a [(&'static str, String)],
    /// When those counters began that the kernel does not keep, in seconds since 1970; `None` where there are none.
    pub began: Option<f64>,
    /// The CPUs that are online.
    pub online: &'a CpuSet,
    /// What was counted.
    pub totals: Option<&'a Totals>,
    /// Simple operations a second of an idle CPU, over those at the nominal clock.
    pub speed: Option<f64>,
    /// How fast the machine is compared with its earlier boots.
    pub baseline: Option<&'a Standing>,
    /// What an audit found.
    pub findings: Option<&'a Findings>,
    /// Whether CPUs have series of their own.
    pub by_cpu: bool,
}

/// The page: OpenMetrics, or the older text format.
pub fn page(told: &Told<'_>, is_open: bool) -> String {
    let mut page = Exposition::begin(is_open);
    let build = "fullclock_build_info";
    page.family_of(Type::Info, build, "The program that tells all this", "");
    page.sample(build, &[("version", told.version)], 1.0);
    host::tell(&mut page, told.host);
    states::tell(&mut page, told);
    if let Some(baseline) = told.baseline {
        baseline::tell(&mut page, baseline);
    }
    if let Some(totals) = told.totals {
        totals::ledger(&mut page, &totals.ledger);
        totals::counters(&mut page, totals, told.by_cpu);
    }
    if let Some(findings) = told.findings {
        findings::tell(&mut page, findings);
    }
    page.finish()
}
