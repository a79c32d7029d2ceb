//! Reads every process's and kernel thread's line.

use crate::Source;
use facts::Fact;
use facts::system::process::Process;

/// A process that ends while we look is no longer a fact of the host, so it is left out.
pub(super) fn read(source: &dyn Source) -> Fact<Vec<Process>> {
    let pids = source.numbered("/proc", "")?;
    let stat = |pid| source.parsed(&format!("/proc/{pid}/stat"), Process::parse).ok();
    Ok(pids.into_iter().filter_map(stat).collect())
}
