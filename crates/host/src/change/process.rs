//! Processes of our own that go on when their starter ends: how one leaves its starter, whether it runs, and how it is ended.

use super::Trouble;
use facts::counters::task_stat::TaskStat;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, waitpid,
};

/// How long one may take to end when it is told to.
const END_WITHIN: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// A process that keeps something as long as it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) started: u64,
}

/// When a process started, in ticks since boot; `None` where it has ended.
pub(super) fn started(pid: u32) -> Option<u64> {
    // A zombie has ended, and waits for its parent to look.
    stat(pid, |state, stat| (!matches!(state, b'Z' | b'X')).then_some(stat.started)).flatten()
}

/// Whether a process was stopped by a signal (Ctrl-Z in a terminal) or by a debugger.
pub(super) fn is_stopped(pid: u32) -> bool {
    stat(pid, |state, _| matches!(state, b'T' | b't')) == Some(true)
}

/// What a process's stat file says; `None` where there is no such process.
fn stat<T>(pid: u32, of: impl FnOnce(u8, TaskStat) -> T) -> Option<T> {
    let path = format!("/proc/{pid}/stat");
    let file =
        rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = [0; 1024];
    let n = rustix::io::read(&file, &mut text).ok()?;
    let text = text.get(..n)?;
    let state = text.iter().rposition(|it| *it == b')').and_then(|it| text.get(it + 2));
    Some(of(*state?, TaskStat::parse(text).ok()?))
}

/// Whether the process still runs, and is the one it was.
pub(super) fn is_running(holder: Process) -> bool {
    started(holder.pid) == Some(holder.started)
}

/// Ends this process and no other; whether it was running.
pub(super) fn end_process(holder: Process) -> Result<bool, Trouble> {
    let refused = |error: Errno| {
        Trouble::new(
            format!("process {}", holder.pid),
            format!("cannot be ended: {}", std::io::Error::from(error)),
        )
    };
    let pid = i32::try_from(holder.pid).ok().and_then(Pid::from_raw);
    let Some(pid) = pid.filter(|_| is_running(holder)) else { return Ok(false) };
    // The descriptor stays that process's, whoever gets the number afterwards.
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        Err(Errno::SRCH) => return Ok(false),
        // Before Linux 5.3 there are none.
        Err(Errno::NOSYS) => {
            rustix::process::kill_process(pid, Signal::TERM).map_err(refused)?;
            return Ok(true);
        }
        answer => answer.map_err(refused)?,
    };
    if !is_running(holder) {
        return Ok(false);
    }
    for signal in [Signal::TERM, Signal::KILL] {
        match pidfd_send_signal(&process, signal) {
            Ok(()) => {}
            Err(Errno::SRCH) => break,
            Err(error) => return Err(refused(error)),
        }
        let ended = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&END_WITHIN));
        if ended.is_ok_and(|it| it > 0) {
            break;
        }
    }
    // Only a child of ours can be waited for; any other has a parent that does.
    let _not_ours = waitpid(Some(pid), WaitOptions::NOHANG);
    Ok(true)
}

/// Leaves the session of the starter: neither its terminal nor the end of its connection reaches this process any more. Files that
/// the starter inherited are closed, since a lock of a script that called it (flock(1)) would be held until this process ends.
///
/// Called first: by then this process has opened none itself.
#[expect(
    unsafe_code,
    reason = "neither std nor rustix sets how a signal is handled or closes what others opened"
)]
pub(super) fn detach() {
    // SAFETY: no handler is installed, and no thread relies on the signal.
    unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
    let (first, last) = (libc::c_uint::from(3_u8), libc::c_uint::MAX);
    // SAFETY: nothing in this process owns a descriptor beyond stderr. Before Linux 5.9 it is refused, and they stay open.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, 0 as libc::c_uint) };
    // Refused only where it leads a process group already, which its starter did not make it.
    let _leads = rustix::process::setsid();
    let _stays = rustix::process::chdir("/");
}

/// Puts /dev/null into the place of the pipes to the starter, which may want to see them end.
pub(super) fn leave_pipes() {
    let null = rustix::fs::openat(CWD, "/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    if let Ok(null) = null {
        // Where that fails, they end with this process.
        let _stays = rustix::stdio::dup2_stdin(&null);
        let _stays = rustix::stdio::dup2_stdout(&null);
    }
}
