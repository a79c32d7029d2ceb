//! The limits that no other one beats, by how long answers take: what waiting for them takes of a CPU falls from line to line.

use super::{milliseconds, named};
use crate::lengths::bar;
use crate::page::{BOLD, Page};
use lab::experiment::Tuning;

pub(super) fn put(page: &mut Page, tuning: &Tuning) {
    let costs = |at: &usize| {
        let tuned = tuning.limits.get(*at)?;
        tuned.costs().map(|costs| (*at, tuned, costs))
    };
    let front: Vec<_> = tuning.front.iter().filter_map(costs).collect();
    if front.len() < 2 {
        return;
    }
    page.line("");
    let heading = format!("{:<18}{:>10}{:>10}", "Time for CPU time", "both", "CPU time");
    page.line(&page.paint(BOLD, &heading));
    let nanoseconds = |ms: f64| (ms * 1e6) as u64;
    let most = front.iter().map(|(.., (_, polled))| nanoseconds(*polled)).max().unwrap_or_default();
    for (at, tuned, (both, polled)) in front {
        let knee = if tuning.knee == Some(at) { "  <- knee" } else { "" };
        page.line(&format!(
            "    {:<14}{:>10}{:>10}  {}{knee}",
            named(tuned),
            milliseconds(both),
            milliseconds(polled),
            bar(nanoseconds(polled), most)
        ));
    }
}
