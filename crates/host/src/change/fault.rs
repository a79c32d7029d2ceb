//! Points at which a build with the feature `faults` can be killed, to see what a crash leaves.
//!
//! FULLCLOCK_FAULT=N kills the process as it passes the N-th point, counted from 1. Without the feature there are none.

/// A point that is passed before or after something that a crash may come between.
#[cfg(not(feature = "faults"))]
pub(super) const fn point() {}

/// A point that is passed before or after something that a crash may come between.
#[cfg(feature = "faults")]
#[expect(clippy::disallowed_methods, reason = "a build for tests, told by its environment")]
pub(super) fn point() {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static PASSED: AtomicU64 = AtomicU64::new(0);
    static FATAL: OnceLock<Option<u64>> = OnceLock::new();
    let fatal = *FATAL.get_or_init(|| std::env::var("FULLCLOCK_FAULT").ok()?.parse().ok());
    let passed = PASSED.fetch_add(1, Ordering::Relaxed) + 1;
    if fatal == Some(passed) {
        let this = rustix::process::getpid();
        let _cannot_fail = rustix::process::kill_process(this, rustix::process::Signal::KILL);
        // The signal is delivered on the way back from the system call.
        loop {
            std::thread::yield_now();
        }
    }
}
