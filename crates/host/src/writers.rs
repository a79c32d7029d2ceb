//! Who writes to files that are watched, as the kernel tells it (fanotify(7)).
//!
//! Needs CAP_SYS_ADMIN and CONFIG_FANOTIFY. It sees writes by programs, which is how every tuner changes a setting; what the
//! kernel or the firmware changes by itself comes without an event.
#![expect(
    unsafe_code,
    reason = "rustix has no fanotify; libc's calls are used as fanotify(7) shows"
)]

use facts::change::Written;
use facts::{Fact, Missing, Why, secrets};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsRawFd, FromRawFd, OwnedFd};
use rustix::io::Errno;
use std::ffi::CString;
use std::mem::size_of;
use std::time::Duration;

/// Watches files for writers.
#[derive(Debug)]
pub struct WriteWatch {
    group: OwnedFd,
}

/// Events that are read at a time.
const BATCH: usize = 64;

impl WriteWatch {
    /// Begins to watch.
    pub fn begin() -> Fact<WriteWatch> {
        let flags = libc::FAN_CLASS_NOTIF
            | libc::FAN_CLOEXEC
            | libc::FAN_NONBLOCK
            | libc::FAN_UNLIMITED_MARKS
            | libc::FAN_UNLIMITED_QUEUE;
        let event_flags = (libc::O_RDONLY | libc::O_CLOEXEC | libc::O_LARGEFILE) as u32;
        // SAFETY: takes two numbers and gives a descriptor or -1.
        let group = unsafe { libc::fanotify_init(flags, event_flags) };
        if group < 0 {
            return Err(missing("fanotify", last_error()));
        }
        // SAFETY: the descriptor was just made, and nobody else has it.
        Ok(WriteWatch { group: unsafe { OwnedFd::from_raw_fd(group) } })
    }

    /// Watches one more file; one that is watched already stays so.
    pub fn watch(&self, path: &str) -> Fact<()> {
        let name = CString::new(path).map_err(|_| Missing::absent(path))?;
        // SAFETY: `name` ends with NUL and outlives the call.
        let marked = unsafe {
            libc::fanotify_mark(
                self.group.as_raw_fd(),
                libc::FAN_MARK_ADD,
                libc::FAN_MODIFY,
                libc::AT_FDCWD,
                name.as_ptr(),
            )
        };
        if marked < 0 { Err(missing(path, last_error())) } else { Ok(()) }
    }

    /// Waits for a write, at most that long. Who writes and ends can only be named by whoever asks at once.
    pub fn wait(&self, time: Duration) {
        let mut fds = [PollFd::new(&self.group, PollFlags::IN)];
        let time = Timespec::try_from(time).ok();
        // Waking up early is no harm: there is nothing to see then.
        poll(&mut fds, time.as_ref()).ok();
    }

    /// The writes since it was asked last, the oldest first.
    pub fn written(&self) -> Vec<Written> {
        let own = std::process::id();
        let mut written = Vec::new();
        let mut events = [NO_EVENT; BATCH];
        while let Some(n) = self.read(&mut events) {
            for event in events.iter().take(n).filter(|it| it.fd >= 0) {
                // SAFETY: the kernel opened this descriptor for us with the event, and nobody else has it.
                let file = unsafe { OwnedFd::from_raw_fd(event.fd) };
                let pid = u32::try_from(event.pid).unwrap_or_default();
                let link = format!("/proc/self/fd/{}", file.as_raw_fd());
                if let (true, Ok(path)) = (pid != own, link_of(&link)) {
                    written.push(Written { path, pid, command: command_of(pid) });
                }
            }
        }
        written
    }

    fn read(&self, events: &mut [libc::fanotify_event_metadata; BATCH]) -> Option<usize> {
        let size = size_of::<libc::fanotify_event_metadata>();
        // SAFETY: the array is writable for that many bytes, and any bytes are a value of its integers. Events of a group
        // that reports no file handles have nothing behind the metadata.
        let n =
            unsafe { libc::read(self.group.as_raw_fd(), events.as_mut_ptr().cast(), size * BATCH) };
        usize::try_from(n).ok().filter(|it| *it > 0).map(|it| it / size)
    }
}

const NO_EVENT: libc::fanotify_event_metadata = libc::fanotify_event_metadata {
    event_len: 0,
    vers: 0,
    reserved: 0,
    metadata_len: 0,
    mask: 0,
    fd: -1,
    pid: 0,
};

fn link_of(link: &str) -> Result<String, Errno> {
    let target = rustix::fs::readlink(link, Vec::new())?;
    Ok(target.to_string_lossy().into_owned())
}

/// The words of a process's command line without passwords, or its name in brackets where it has none.
fn command_of(pid: u32) -> Option<String> {
    let source: &dyn crate::Source = &crate::Live::this_machine();
    let line = source.read(&format!("/proc/{pid}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&line);
    let words: Vec<&str> = line.split('\0').collect();
    match secrets::masked_words(&words).join(" ").trim() {
        "" => Some(format!("[{}]", source.text(&format!("/proc/{pid}/comm")).ok()?.trim())),
        words => Some(words.to_owned()),
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

fn missing(what: &str, error: Errno) -> Missing {
    let why = match error {
        Errno::PERM | Errno::ACCESS => Why::Denied,
        Errno::NOENT | Errno::NOSYS => Why::Absent,
        other => Why::Failed(other.to_string()),
    };
    Missing { what: what.to_owned(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_writes_to_a_watched_file_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let watch = match WriteWatch::begin().and_then(|it| it.watch(path).map(|()| it)) {
            Ok(watch) => watch,
            // Who may not, is told so.
            Err(missing) => return assert_eq!(missing.reason(), "denied"),
        };
        #[expect(clippy::disallowed_methods, reason = "another program has to write")]
        let mut other = std::process::Command::new("dd")
            .args(["if=/dev/zero", "bs=1", "count=1", "status=none", &format!("of={path}")])
            .spawn()
            .unwrap();
        let pid = other.id();
        other.wait().unwrap();
        watch.wait(Duration::from_secs(10));
        let written = watch.written();
        assert!(written.iter().any(|it| it.path == path && it.pid == pid), "{written:?}");
    }
}
