//! How often the kernel gave the calling thread's CPU to another task.
//!
//! getrusage(2) with RUSAGE_THREAD, since Linux 2.6.26. A system call of a fraction of a microsecond, where
//! /proc/PID/task/TID/schedstat costs several and needs CONFIG_SCHED_INFO.
#![expect(unsafe_code, reason = "rustix has no getrusage")]

use facts::{Fact, Missing, Why};
use std::mem::MaybeUninit;

/// Voluntary and involuntary context switches of the calling thread so far.
pub(super) fn switches() -> Fact<u64> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole, writable rusage, which the kernel fills or leaves alone.
    let status = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    if status != 0 {
        let error = std::io::Error::last_os_error().to_string();
        return Err(Missing {
            what: "the thread's context switches".into(),
            why: Why::Failed(error),
        });
    }
    // SAFETY: all of it was zeroed, and zeros are a valid rusage.
    let usage = unsafe { usage.assume_init() };
    let count = |it: libc::c_long| u64::try_from(it).unwrap_or_default();
    Ok(count(usage.ru_nvcsw).saturating_add(count(usage.ru_nivcsw)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_a_switch() {
        let before = switches().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(switches().unwrap() > before);
    }
}
