//! Threads that may not be had: a control group, a user or the kernel may have as many as it is allowed.

use facts::{Fact, Missing, Why};
use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Starts a thread that finds out `what`. Error: no thread can be had, and what to do about it.
pub fn scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    what: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Fact<ScopedJoinHandle<'scope, T>> {
    let started = Builder::new().name(name.to_owned()).spawn_scoped(scope, work);
    started.map_err(|error| Missing { what: what.into(), why: Why::Failed(refusal(&error)) })
}

/// Why no thread could be started, and what to do about it (pthread_create(3), EAGAIN).
pub fn refusal(error: &io::Error) -> String {
    let text = format!("no thread can be started: {error}");
    if error.kind() != io::ErrorKind::WouldBlock {
        return text;
    }
    format!("{text}; raise pids.max of the control group, `ulimit -u` or kernel.threads-max")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_thread_says_which_limits_there_are() {
        let refused =
            refusal(&io::Error::from_raw_os_error(rustix::io::Errno::AGAIN.raw_os_error()));
        assert!(refused.contains("pids.max"), "{refused}");
        let other = refusal(&io::Error::other("out of memory"));
        assert_eq!(other, "no thread can be started: out of memory");
    }
}
