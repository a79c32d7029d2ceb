//! Reads every process's and kernel thread's line.

use crate::Source;
use facts::system::process::Process;
use facts::{Fact, Missing, Origin};

/// A process that ends while we look is no longer a fact of the host, so it is left out. No process at all is
/// what a copy of a host shows that was made without them.
pub(super) fn read(source: &dyn Source) -> Fact<Vec<Process>> {
    let pids = source.numbered("/proc", "")?;
    let stat = |pid| source.parsed(&format!("/proc/{pid}/stat"), Process::parse).ok();
    let processes: Vec<Process> = pids.into_iter().filter_map(stat).collect();
    match source.origin() {
        _ if !processes.is_empty() => Ok(processes),
        Origin::Tree => Err(Missing::not_collected("/proc/PID/stat")),
        Origin::Live | Origin::Capture => Err(Missing::absent("/proc/PID/stat")),
    }
}
