//! This process: its control group, its memory and its threads; and which process a task is of.
//!
//! Source: Documentation/admin-guide/cgroup-v2.rst ("Processes") and cgroup-v1/cgroups.rst (1.2): a process number written to
//! `cgroup.procs` of a group moves that process with all its threads; what it starts later starts there. Threads may not be had:
//! a control group, a user or the kernel may have as many as it is allowed.
#![expect(clippy::disallowed_methods, reason = "moves this process, and nothing else of the host")]
#![expect(unsafe_code, reason = "no crate here offers malloc_trim(3) as a safe function")]

use crate::Source;
use facts::{Fact, Missing, Why};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Where the kernel shows groups, of either version.
const GROUPS: &str = "/sys/fs/cgroup";

/// Moves this process to the group of that folder, which stays where it is and as it is.
///
/// Errors: it is not the folder of a control group; the kernel or the owner of the folder refuses.
pub fn enter_control_group(folder: &Path) -> io::Result<()> {
    let real = folder.canonicalize()?;
    if !real.starts_with(GROUPS) || real == Path::new(GROUPS) {
        let text =
            format!("{} is no control group: those are folders in {GROUPS}", folder.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut members = OpenOptions::new().write(true).open(real.join("cgroup.procs"))?;
    members.write_all(std::process::id().to_string().as_bytes())
}

/// The process that a task belongs to, by its thread group (proc_pid_status(5), Tgid); `None` for a task that has ended.
pub fn process_of(source: &dyn Source, tid: u32) -> Option<u32> {
    let status = source.text(&format!("/proc/{tid}/status")).ok()?;
    status.lines().find_map(|it| it.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// Starts a thread that finds out `what`. Error: no thread can be had, and what to do about it.
pub fn scoped_thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    what: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Fact<ScopedJoinHandle<'scope, T>> {
    let started = Builder::new().name(name.to_owned()).spawn_scoped(scope, work);
    started.map_err(|error| Missing { what: what.into(), why: Why::Failed(thread_refusal(&error)) })
}

/// Why no thread could be started, and what to do about it (pthread_create(3), EAGAIN).
pub fn thread_refusal(error: &io::Error) -> String {
    let text = format!("no thread can be started: {error}");
    if error.kind() != io::ErrorKind::WouldBlock {
        return text;
    }
    format!("{text}; raise pids.max of the control group, `ulimit -u` or kernel.threads-max")
}

/// Gives free memory back to the host, where the C library keeps some for later: after work that takes much and is done once.
pub fn give_back_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes no pointer, and locks what it looks at (malloc_trim(3): MT-Safe).
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_control_groups_can_be_entered() {
        for folder in ["/tmp", "/sys/fs/cgroup/../../kernel", "/sys/fs/cgroup"] {
            let refused = enter_control_group(Path::new(folder)).unwrap_err();
            assert!(refused.to_string().contains("no control group"), "{folder}: {refused}");
        }
        assert!(enter_control_group(Path::new("/sys/fs/cgroup/no/such/group")).is_err());
    }

    #[test]
    fn a_refused_thread_says_which_limits_there_are() {
        let refused =
            thread_refusal(&io::Error::from_raw_os_error(rustix::io::Errno::AGAIN.raw_os_error()));
        assert!(refused.contains("pids.max"), "{refused}");
        let other = thread_refusal(&io::Error::other("out of memory"));
        assert_eq!(other, "no thread can be started: out of memory");
    }

    #[test]
    fn what_is_in_use_stays_as_it_is() {
        let used: Vec<String> = (0..1000_u32).map(|it| it.to_string()).collect();
        drop((0..100_000_u32).map(|it| it.to_string()).collect::<Vec<_>>());
        give_back_memory();
        assert!((0..1000_u32).zip(&used).all(|(number, it)| *it == number.to_string()));
    }
}
