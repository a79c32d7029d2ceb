//! Where the thief runs, and ahead of whom.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use rustix::process::{getpid, setpriority_process};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::taken::Policy;

/// Keeps the calling thread on one CPU.
///
/// Errors: there is no such CPU, it is offline, or the thread's cpuset lacks it.
pub(crate) fn pin(cpu: u32) -> Result<()> {
    let mut cpus = CpuSet::new();
    let index = usize::try_from(cpu).context("no CPU has that number")?;
    anyhow::ensure!(index < CpuSet::MAX_CPU, "CPU {cpu} is beyond {}", CpuSet::MAX_CPU - 1);
    cpus.set(index);
    sched_setaffinity(None, &cpus).with_context(|| format!("cannot run on CPU {cpu}"))
}

/// Puts this process ahead of every ordinary task, by SCHED_FIFO where that is allowed and by its nice value else.
///
/// A group scheduler of real-time tasks refuses SCHED_FIFO in every group that was given no time for it
/// (CONFIG_RT_GROUP_SCHED; Documentation/scheduler/sched-rt-group.rst). The program chrt asks, for nothing
/// else does so without unsafe code here; busybox has one too.
pub(crate) fn overtake() -> Policy {
    let pid = getpid().as_raw_nonzero().to_string();
    let chrt = Command::new("chrt")
        .args(["-f", "-p", "50", &pid])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if chrt.is_ok_and(|status| status.success()) {
        return Policy::Fifo;
    }
    match setpriority_process(None, -20) {
        Ok(()) => Policy::Nice,
        Err(_) => Policy::Other,
    }
}
