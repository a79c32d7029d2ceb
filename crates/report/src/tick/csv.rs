//! The ticks of each CPU as CSV: a row for each. Unknown values are empty, and `missing` says why.

use super::Report;
use crate::harmless::{csv_cell, csv_line};
use rules::interval::Delta;
use rules::tick::{CpuTicks, Verdict};

const HEADING: &str = "cpu,role,ticks_per_s,perf,interrupts,busy_percent,verdict,missing\n";

/// In the order of the CPUs. `perf` and `interrupts` are the two counts.
pub fn csv(report: &Report<'_>) -> String {
    let rows: String = report.ticks.iter().map(row).collect();
    HEADING.to_owned() + &rows
}

fn row(ticks: &CpuTicks) -> String {
    let count = |delta: &Delta| delta.by;
    let missing = [
        ticks.entries.as_ref().err().map(|it| format!("perf: {it}")),
        ticks.interrupts.as_ref().err().map(|it| format!("interrupts: {it}")),
        ticks.busy.as_ref().err().map(|it| format!("busy: {it}")),
    ];
    csv_line(&[
        ticks.cpu.to_string(),
        ticks.role.name().to_owned(),
        csv_cell(ticks.delta().ok().map(Delta::per_second)),
        csv_cell(ticks.entries.as_ref().ok().map(count)),
        csv_cell(ticks.interrupts.as_ref().ok().map(count)),
        csv_cell(ticks.busy.as_ref().ok()),
        csv_cell(ticks.verdict.as_ref().map(Verdict::text)),
        missing.into_iter().flatten().collect::<Vec<_>>().join("; "),
    ])
}
