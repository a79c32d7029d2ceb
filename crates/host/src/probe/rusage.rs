//! What the kernel has counted of the calling thread, and of a child that has ended.
//!
//! getrusage(2), with RUSAGE_THREAD since Linux 2.6.26, and waitid(2). A system call of a fraction of a microsecond, where
//! /proc/PID/task/TID/schedstat costs several and needs CONFIG_SCHED_INFO.
#![expect(unsafe_code, reason = "rustix has no getrusage, and no waitid that tells usage")]

use facts::{Fact, Missing, Why};
use std::mem::MaybeUninit;

/// Voluntary and involuntary context switches of the calling thread so far.
pub(super) fn switches() -> Fact<u64> {
    let usage = usage(libc::RUSAGE_THREAD, "the thread's context switches")?;
    let count = |it: libc::c_long| u64::try_from(it).unwrap_or_default();
    Ok(count(usage.ru_nvcsw).saturating_add(count(usage.ru_nivcsw)))
}

/// Time on a CPU of a child that has ended and that nobody has waited for, with that of all whom it waited for, in
/// nanoseconds; the kernel tells whole microseconds. The child stays to be waited for.
pub fn ended_child_cpu_ns(pid: u32) -> Fact<u64> {
    let what = || format!("the time on a CPU of process {pid}");
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let options = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
    // waitid(2): the system call has an argument more than the C library's function, the child's resource usage.
    // SAFETY: the null pointer asks for no siginfo, and the other one is to a whole, writable rusage, which the kernel
    // fills or leaves alone.
    let status = unsafe {
        libc::syscall(
            libc::SYS_waitid,
            libc::P_PID,
            pid,
            std::ptr::null_mut::<libc::siginfo_t>(),
            options,
            usage.as_mut_ptr(),
        )
    };
    if status != 0 {
        let error = std::io::Error::last_os_error().to_string();
        return Err(Missing { what: what(), why: Why::Failed(error) });
    }
    // SAFETY: all of it was zeroed, and zeros are a valid rusage.
    match cpu_ns(&unsafe { usage.assume_init() }) {
        // Whoever ended has run; one that runs leaves the usage as it was.
        0 => Err(Missing::malformed(what(), "0", "the time of a child that has ended")),
        ns => Ok(ns),
    }
}

fn cpu_ns(usage: &libc::rusage) -> u64 {
    let ns = |it: libc::timeval| {
        let seconds = u64::try_from(it.tv_sec).unwrap_or_default();
        let microseconds = u64::try_from(it.tv_usec).unwrap_or_default();
        seconds.saturating_mul(1_000_000_000).saturating_add(microseconds.saturating_mul(1000))
    };
    ns(usage.ru_utime).saturating_add(ns(usage.ru_stime))
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
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    use std::process::Command;

    #[test]
    fn a_sleep_is_a_switch() {
        let before = switches().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(switches().unwrap() > before);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "starts a child to look at")]
    fn an_ended_child_is_counted_with_those_it_waited_for_and_stays() {
        let script = "(i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done); exit 7";
        let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        assert!(ended_child_cpu_ns(u32::MAX).is_err());
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&child)), options).unwrap();
        let own_ns = {
            let path = format!("/proc/{}/schedstat", child.id());
            let text = std::fs::read_to_string(path).unwrap();
            text.split(' ').next().unwrap().parse::<u64>().unwrap()
        };
        // The loop ran in a shell of its own.
        assert!(ended_child_cpu_ns(child.id()).unwrap() > own_ns);
        assert_eq!(child.wait().unwrap().code(), Some(7));
    }
}
