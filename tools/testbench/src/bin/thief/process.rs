//! This process: where it runs, ahead of whom, and when it is to stop.

use crate::taken::Policy;
use anyhow::{Context as _, Result};
use rustix::process::{getpid, setpriority_process};
use rustix::thread::{CpuSet, sched_setaffinity};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Whether the thief has been told to stop.
#[derive(Debug)]
pub(crate) struct Orders {
    stop: Arc<AtomicBool>,
}

impl Orders {
    /// Listens from here on: a signal ends the theft, not the process, so that what was taken is told and what
    /// was made is removed.
    pub(crate) fn listen() -> Result<Orders> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&stop))
                .context("cannot listen to signals")?;
        }
        Ok(Orders { stop })
    }

    /// The thief has been told to stop.
    pub(crate) fn to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
