//! What the kernel has counted of the calling thread and of its process's children.
//!
//! getrusage(2); RUSAGE_THREAD since Linux 2.6.26. A system call of a fraction of a microsecond, where
//! /proc/PID/task/TID/schedstat costs several and needs CONFIG_SCHED_INFO.
#![expect(unsafe_code, reason = "rustix has no getrusage")]

use facts::{Fact, Missing, Why};
use std::mem::MaybeUninit;

/// Voluntary and involuntary context switches of the calling thread so far.
pub(super) fn switches() -> Fact<u64> {
    let usage = usage(libc::RUSAGE_THREAD, "the thread's context switches")?;
    let count = |it: libc::c_long| u64::try_from(it).unwrap_or_default();
    Ok(count(usage.ru_nvcsw).saturating_add(count(usage.ru_nivcsw)))
}

/// Time on a CPU of every child that this process has waited for, and of those children's own, in nanoseconds; the
/// kernel tells whole microseconds.
pub fn children_cpu_ns() -> Fact<u64> {
    let usage = usage(libc::RUSAGE_CHILDREN, "the children's time on a CPU")?;
    let ns = |it: libc::timeval| {
        let seconds = u64::try_from(it.tv_sec).unwrap_or_default();
        let microseconds = u64::try_from(it.tv_usec).unwrap_or_default();
        seconds.saturating_mul(1_000_000_000).saturating_add(microseconds.saturating_mul(1000))
    };
    Ok(ns(usage.ru_utime).saturating_add(ns(usage.ru_stime)))
}

fn usage(whose: libc::c_int, what: &str) -> Fact<libc::rusage> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole, writable rusage, which the kernel fills or leaves alone.
    let status = unsafe { libc::getrusage(whose, usage.as_mut_ptr()) };
    if status != 0 {
        let error = std::io::Error::last_os_error().to_string();
        return Err(Missing { what: what.to_owned(), why: Why::Failed(error) });
    }
    // SAFETY: all of it was zeroed, and zeros are a valid rusage.
    Ok(unsafe { usage.assume_init() })
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
