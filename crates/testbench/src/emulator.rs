//! Runs an emulator until its machine is off.
#![expect(
    clippy::disallowed_methods,
    reason = "the bench starts emulators and reads what their guests sent"
)]

use std::fmt;
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

/// Lines of a guest's console that an error shows: a kernel's dying words fit.
const N_CONSOLE_LINES: usize = 60;

/// What an emulator boots, and the files its guest writes to.
#[derive(Debug)]
pub(crate) struct Guest {
    /// A folder of this boot's own.
    pub(crate) folder: PathBuf,
    /// The kernel's image.
    pub(crate) kernel: PathBuf,
    /// The file system.
    pub(crate) initramfs: PathBuf,
    /// The boot line.
    pub(crate) command_line: String,
}

impl Guest {
    /// Where the first serial port leads: the kernel's messages.
    pub(crate) fn console(&self) -> PathBuf {
        self.folder.join("console")
    }

    /// Where the second serial port leads: the transcript.
    pub(crate) fn results(&self) -> PathBuf {
        self.folder.join("results")
    }

    /// Whether its programs have begun.
    fn has_sent(&self) -> bool {
        fs::metadata(self.results()).is_ok_and(|it| it.len() > 0)
    }

    /// The end of what the guest's kernel printed, for an error to show.
    pub(crate) fn last_words(&self) -> String {
        let console = fs::read(self.console()).unwrap_or_default();
        let console = String::from_utf8_lossy(&console);
        let lines: Vec<&str> = console.lines().collect();
        lines[lines.len().saturating_sub(N_CONSOLE_LINES)..].join("\n")
    }
}

/// How an emulator ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit status.
    pub(crate) status: ExitStatus,
    /// What it printed itself, on either stream.
    pub(crate) printed: String,
}

/// How long an emulator may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Until its guest sends the first byte of its transcript; `None` asks for none.
    pub(crate) to_boot: Option<Duration>,
    /// Until it is off.
    pub(crate) in_all: Duration,
}

/// The guest of an emulator sent nothing.
#[derive(Debug)]
pub(crate) struct NotBooted {
    program: String,
    within: Duration,
}

impl std::error::Error for NotBooted {}

impl fmt::Display for NotBooted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the guest of {} did not boot in {} s", self.program, self.within.as_secs())
    }
}

/// Runs an emulator of `guest` until it exits, or kills it when `patience` is over: with [`NotBooted`] where that with its
/// boot is. It does not outlive the call either way.
pub(crate) fn run(mut command: Command, guest: &Guest, patience: Patience) -> Result<Ended> {
    let program = command.get_program().to_string_lossy().into_owned();
    let (mut reader, writer) = std::io::pipe().context("cannot make a pipe")?;
    let second_writer = writer.try_clone().context("cannot make a pipe")?;
    command.current_dir(&guest.folder).stdin(Stdio::null()).stdout(writer).stderr(second_writer);
    let mut child = command.spawn().with_context(|| format!("cannot run {program}"))?;
    // The command holds the pipe's writing ends, and reading ends only when all of them are gone.
    drop(command);

    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut printed = Vec::new();
        let result = reader.read_to_end(&mut printed).map(|_| printed);
        // Nobody listens once the time is up.
        drop(sender.send(result));
    });
    let to_boot = patience.to_boot.unwrap_or_default().min(patience.in_all);
    let mut printed = receiver.recv_timeout(to_boot);
    let has_booted = printed.is_ok() || patience.to_boot.is_none() || guest.has_sent();
    if has_booted && printed.is_err() {
        printed = receiver.recv_timeout(patience.in_all - to_boot);
    }
    if printed.is_err() {
        child.kill().with_context(|| format!("cannot kill {program}"))?;
    }
    let status = child.wait().with_context(|| format!("cannot wait for {program}"))?;
    if !has_booted {
        bail!(NotBooted { program, within: to_boot });
    }
    let Ok(printed) = printed else {
        bail!("{program} was still running after {} s", patience.in_all.as_secs());
    };
    let printed = printed.with_context(|| format!("cannot read what {program} printed"))?;
    Ok(Ended { status, printed: String::from_utf8_lossy(&printed).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    const MINUTE: Duration = Duration::from_secs(60);

    /// What a machine whose transcript goes to `folder` boots.
    fn guest(folder: &Path) -> Guest {
        Guest {
            folder: folder.to_owned(),
            kernel: PathBuf::new(),
            initramfs: PathBuf::new(),
            command_line: String::new(),
        }
    }

    #[test]
    fn both_streams_and_the_status_are_returned() {
        let patience = Patience { to_boot: None, in_all: MINUTE };
        let ended = run(shell("echo one; echo two >&2; exit 3"), &guest(Path::new("/")), patience);
        let ended = ended.unwrap();
        assert_eq!((ended.status.code(), &*ended.printed), (Some(3), "one\ntwo\n"));
    }

    #[test]
    fn an_emulator_that_never_ends_is_killed() {
        let patience = Patience { to_boot: None, in_all: Duration::ZERO };
        let error = run(shell("exec sleep 1000"), &guest(Path::new("/")), patience).unwrap_err();
        assert_eq!(error.to_string(), "sh was still running after 0 s");
    }

    #[test]
    fn a_guest_that_sends_nothing_has_not_booted_and_one_that_did_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let patience = Patience { to_boot: Some(Duration::ZERO), in_all: MINUTE };
        let error = run(shell("exec sleep 1000"), &guest(folder.path()), patience).unwrap_err();
        assert_eq!(error.to_string(), "the guest of sh did not boot in 0 s");
        assert!(error.is::<NotBooted>());
        fs::write(guest(folder.path()).results(), "step").unwrap();
        let ended = run(shell("sleep 0.1; exit 4"), &guest(folder.path()), patience).unwrap();
        assert_eq!(ended.status.code(), Some(4));
    }
}
