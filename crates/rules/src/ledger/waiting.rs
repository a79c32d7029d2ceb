//! How long the tasks that were asked for could have run and did not: demand, not capacity.

use super::evidence::Evidence;
use super::tasks::is_asked;
use facts::{Fact, Missing};

/// How long the chosen processes waited for a CPU, all their threads together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Runnable, and not running, in nanoseconds.
    pub ns: u64,
    /// Stopped by a signal or a debugger, in nanoseconds, where that was traced.
    pub stopped_ns: Option<u64>,
}

/// The waits of the chosen processes; `None` where none was chosen.
pub(crate) fn waiting(evidence: &Evidence<'_>) -> Option<Fact<Waiting>> {
    if evidence.chosen.is_empty() {
        return None;
    }
    let stopped_ns = evidence.kept_off.map(|it| it.stopped_ns);
    Some(waited(evidence).map(|ns| Waiting { ns, stopped_ns }))
}

fn waited(evidence: &Evidence<'_>) -> Fact<u64> {
    let (rises, _) = evidence.interval.task_rises()?;
    let asked = rises.iter().filter(|it| is_asked(evidence, it.task)).map(|it| it.wait_ns);
    let gone = || Missing::absent("a thread of the chosen processes");
    asked.reduce(u64::saturating_add).ok_or_else(gone)
}
