//! Processes of our own that go on when we end: those that keep requests, and the guard.
//!
//! Each is started with pipes to and from it, says that it is ready, and is told to go on by closing its end or by a word; so
//! that none is left where we are killed before the journal knows of it. Where systemd runs the session or service it would
//! end them with it (KillUserProcesses, logind.conf(5); KillMode=, systemd.kill(5)): `systemd-run --scope` puts them into a unit
//! of their own and becomes the program.

use super::Machine;
use crate::change::process::{Process, started};
use crate::change::{Trouble, fault};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};

/// How long a process may take until it says that it is ready.
const READY_WITHIN: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// A process that has been started and waits for its word.
#[derive(Debug)]
pub(in crate::change) struct Helper {
    child: Child,
    /// When it started, in ticks since boot.
    pub(in crate::change) started: u64,
    /// What users should know of how it runs.
    pub(in crate::change) note: Option<String>,
}

impl Helper {
    /// Starts the program with these arguments; it is ready for its word.
    pub(in crate::change) fn start(
        machine: &Machine,
        arguments: &[&str],
    ) -> Result<Helper, Trouble> {
        let alone = machine.program().as_os_str();
        if !machine.is_copy && rustix::fs::stat("/run/systemd/system").is_ok() {
            let mut words = vec!["--scope", "--quiet", "--collect", "--"];
            let program = machine.program().to_string_lossy();
            words.push(&program);
            words.extend(arguments);
            match Helper::try_start("/usr/bin/systemd-run".as_ref(), &words) {
                Ok(started) => return Ok(started),
                Err(error) => {
                    let mut started = Helper::try_start(alone, arguments)?;
                    started.note = Some(format!(
                        "{error}; without a unit of its own it ends with the service that this runs in, and with this \
                         session where logind.conf has KillUserProcesses=yes"
                    ));
                    return Ok(started);
                }
            }
        }
        Helper::try_start(alone, arguments)
    }

    #[expect(clippy::disallowed_methods, reason = "starts our own program")]
    fn try_start(program: &std::ffi::OsStr, arguments: &[&str]) -> Result<Helper, Trouble> {
        let place = || format!("{} {}", program.display(), arguments.join(" "));
        let refused = |why: String| Trouble::new(place(), why);
        let mut command = Command::new(program);
        command.args(arguments).current_dir("/").stderr(Stdio::null());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // One process is killed at a fault point, and not its helpers as well.
        #[cfg(feature = "faults")]
        command.env_remove("FULLCLOCK_FAULT");
        let child =
            command.spawn().map_err(|error| refused(format!("cannot be started: {error}")))?;
        let mut start = Helper { child, started: 0, note: None };
        start.expect_line("ready").map_err(refused)?;
        let started = started(start.pid());
        start.started = started.ok_or_else(|| refused("it ended at once".to_owned()))?;
        Ok(start)
    }

    pub(in crate::change) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells it to go on, and waits until it says that it has what it was started for.
    pub(in crate::change) fn go(mut self) -> Result<Process, Trouble> {
        let holder = Process { pid: self.pid(), started: self.started };
        let refused = |why: String| Trouble::new(format!("process {}", holder.pid), why);
        fault::point();
        self.asked(b"go\n", "holds").map_err(refused)?;
        fault::point();
        Ok(holder)
    }

    /// Sends it something, and waits for a line that begins with `answer`. Error: what it said instead.
    pub(in crate::change) fn asked(&mut self, words: &[u8], answer: &str) -> Result<(), String> {
        // One that has ended cannot be told anything. It answers nothing either, and is reaped.
        let _told = self.child.stdin.as_mut().map(|it| it.write_all(words));
        self.expect_line(answer)
    }

    /// Waits for a line that begins with `word`. Error: what it said instead.
    fn expect_line(&mut self, word: &str) -> Result<(), String> {
        let Some(stdout) = self.child.stdout.as_mut() else {
            return Err("it has no stdout".into());
        };
        let mut line = Vec::new();
        while !line.ends_with(b"\n") && line.len() < 4096 {
            match poll(&mut [PollFd::new(&*stdout, PollFlags::IN)], Some(&READY_WITHIN)) {
                Ok(0) => {
                    let _ended = self.child.kill().and_then(|()| self.child.wait());
                    return Err(format!("it has not answered within {} s", READY_WITHIN.tv_sec));
                }
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.to_string()),
            }
            let mut byte = [0];
            match stdout.read(&mut byte) {
                Ok(0) => break,
                Ok(_) => line.extend_from_slice(&byte),
                Err(error) => return Err(error.to_string()),
            }
        }
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        if line.starts_with(word) {
            return Ok(());
        }
        // It has said what it has to say, and ends; reaped, so that its number does not stay taken.
        let _status = self.child.wait();
        Err(if line.is_empty() { "it ended at once".to_owned() } else { line })
    }
}
