//! Runs an emulator until its machine is off.
#![expect(
    clippy::disallowed_methods,
    reason = "the bench starts emulators and reads what their guests sent"
)]

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
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
    /// The compressed file system.
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

/// Runs an emulator in `folder` until it exits, or kills it after `timeout`. It does not outlive
/// the call either way.
pub(crate) fn run(mut command: Command, folder: &Path, timeout: Duration) -> Result<Ended> {
    let program = command.get_program().to_string_lossy().into_owned();
    let (mut reader, writer) = std::io::pipe().context("cannot make a pipe")?;
    let second_writer = writer.try_clone().context("cannot make a pipe")?;
    command.current_dir(folder).stdin(Stdio::null()).stdout(writer).stderr(second_writer);
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
    let printed = receiver.recv_timeout(timeout);
    if printed.is_err() {
        child.kill().with_context(|| format!("cannot kill {program}"))?;
    }
    let status = child.wait().with_context(|| format!("cannot wait for {program}"))?;
    let Ok(printed) = printed else {
        bail!("{program} was still running after {} s", timeout.as_secs());
    };
    let printed = printed.with_context(|| format!("cannot read what {program} printed"))?;
    Ok(Ended { status, printed: String::from_utf8_lossy(&printed).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_streams_and_the_status_are_returned() {
        let minute = Duration::from_secs(60);
        let ended = run(shell("echo one; echo two >&2; exit 3"), Path::new("/"), minute).unwrap();
        assert_eq!((ended.status.code(), &*ended.printed), (Some(3), "one\ntwo\n"));
    }

    #[test]
    fn an_emulator_that_never_ends_is_killed() {
        let error = run(shell("exec sleep 1000"), Path::new("/"), Duration::ZERO).unwrap_err();
        assert_eq!(error.to_string(), "sh was still running after 0 s");
    }
}
