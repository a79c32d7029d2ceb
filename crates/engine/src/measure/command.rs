//! The command that is run to be measured, and what it leaves behind.
//!
//! The command stays in the process group of this program. In one of its own it would be in the background of the terminal:
//! Ctrl-C would not reach it, and reading from the terminal would stop it (SIGTTIN). So what a wrapper leaves running when it is
//! ended is found by its parents instead: this program is made the parent of every descendant whose parent ends, so that none gets
//! out of sight, by setsid(2) or by forking twice either, and each is sent its signal through a handle of that process
//! ([`host::descendants`]).

use super::hearing::{Ear, Hearing, Outputs};
use crate::interrupt::Interrupt;
use anyhow::{Context, Result};
use facts::counters::task_stat::ProcessTimes;
use facts::secrets;
use host::Live;
use host::descendants::{Signalled, adopt, descendants, ended_children};
use host::probe::ended_child_cpu_ns;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// A command that runs while its cycles are counted.
pub struct Workload {
    name: String,
    child: Child,
    /// Reads what it prints, where that is listened to.
    hearing: Option<Hearing>,
    /// How often it was asked whether it has ended.
    n_asked: AtomicU32,
    /// How long its descendants ran that lost their parent, and that were waited for here, in nanoseconds.
    adopted_ns: AtomicU64,
}

/// Where what a command prints goes.
#[derive(Clone, Copy)]
pub enum Output<'a> {
    /// To our standard output and error.
    Ours,
    /// To our standard error: standard output has results.
    BesideResults,
    /// To a file, because a screen is shown. It reads nothing then.
    Unseen(&'a File),
}

impl Output<'_> {
    fn give(self, command: &mut Command) -> io::Result<()> {
        match self {
            Output::Ours => {}
            Output::BesideResults => {
                command.stdout(Stdio::from(io::stderr()));
            }
            Output::Unseen(file) => {
                command.stdout(file.try_clone()?).stderr(file.try_clone()?);
            }
        }
        Ok(())
    }

    /// The same as files.
    fn files(self) -> io::Result<Outputs> {
        let file = |it: BorrowedFd<'_>| it.try_clone_to_owned().map(File::from);
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let [stdout, stderr] = match self {
            Output::Ours => [stdout.as_fd(), stderr.as_fd()],
            Output::BesideResults => [stderr.as_fd(); 2],
            Output::Unseen(file) => [file.as_fd(); 2],
        };
        Ok(Outputs { stdout: file(stdout)?, stderr: file(stderr)? })
    }
}

impl Workload {
    /// Starts it. With an `ear`, its outputs go through pipes that are listened to, and from there where they would have gone.
    ///
    /// Errors: it cannot be run; there is no pipe or thread to be had to listen to it.
    #[expect(clippy::disallowed_methods, reason = "runs what the user asked to be measured")]
    pub fn start(command: &[OsString], output: Output<'_>, ear: Option<&Ear>) -> Result<Workload> {
        let (program, arguments) = command.split_first().context("there is no command to run")?;
        let name = secrets::masked_command(&program.to_string_lossy()).into_owned();
        let mut command = Command::new(program);
        command.args(arguments);
        if matches!(output, Output::Unseen(_)) {
            command.stdin(Stdio::null());
        }
        let hearing = match ear {
            None => {
                output.give(&mut command)?;
                None
            }
            Some(ear) => {
                let heard = output.files().and_then(|it| Hearing::of_command(it, ear));
                let cannot = || format!("cannot listen to {name}");
                let (hearing, [stdout, stderr]) = heard.with_context(cannot)?;
                command.stdout(stdout).stderr(stderr);
                Some(hearing)
            }
        };
        adopt();
        let spawned = host::counters::with_original_limit(|| command.spawn());
        let child = spawned.with_context(|| format!("cannot run {name}"))?;
        let (n_asked, adopted_ns) = (AtomicU32::new(0), AtomicU64::new(0));
        Ok(Workload { name, child, hearing, n_asked, adopted_ns })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The command, without its arguments.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has ended. What it ran stays on record until [`Workload::outcome`] asks for its outcome.
    pub fn has_ended(&self) -> Result<bool> {
        if self.n_asked.fetch_add(1, Ordering::Relaxed) % ASKED_TO_WAIT == ASKED_TO_WAIT - 1 {
            self.wait_for_adopted();
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(Pid::from_child(&self.child)), options);
        Ok(status.with_context(|| format!("cannot wait for {}", self.name))?.is_some())
    }

    /// Reads and copies what it printed before it ended, where it is listened to. To be called when it has ended.
    pub fn hear_out(&mut self) {
        self.hearing.iter_mut().for_each(Hearing::finish);
    }

    /// How it ended; waits for that.
    pub fn outcome(&mut self) -> Result<ExitStatus> {
        let status = self.child.wait().with_context(|| format!("cannot wait for {}", self.name));
        self.hear_out();
        status
    }

    /// Its descendants, those that lost their parent too, without itself: while it is measured this program has no other.
    pub(crate) fn descendants(&self) -> Vec<ProcessTimes> {
        let mut all = descendants(&Live::this_machine(), std::process::id());
        all.retain(|it| it.pid != self.pid());
        all
    }

    /// How long its descendants ran that lost their parent and have been waited for here, in nanoseconds. No process has their
    /// time.
    pub(crate) fn adopted_ns(&self) -> u64 {
        self.adopted_ns.load(Ordering::Relaxed)
    }

    /// Waits for those that have lost their parent and ended: they would keep their numbers until this program ends.
    fn wait_for_adopted(&self) {
        let ended = ended_children(&Live::this_machine(), std::process::id());
        for number in ended.into_iter().filter(|it| *it != self.pid()) {
            let Some(pid) = i32::try_from(number).ok().and_then(Pid::from_raw) else { continue };
            let ran_ns = ended_child_cpu_ns(number).unwrap_or(0);
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
            if waitid(WaitId::Pid(pid), options).is_ok_and(|it| it.is_some()) {
                self.adopted_ns.fetch_add(ran_ns, Ordering::Relaxed);
            }
        }
    }

    /// Asks it to end, where the measurement is over before it, and waits until it has: with the signal that Ctrl-C at a
    /// terminal sends it anyway, and with SIGTERM after a while. It may be a server that shuts down, so it is never
    /// killed; a second Ctrl-C ends the wait. Then the descendants that it left running get SIGTERM. A command that ended by itself may
    /// leave descendants running.
    pub fn stop(&mut self, interrupt: &Interrupt) -> Result<()> {
        if self.has_ended()? {
            return Ok(());
        }
        self.end(interrupt)?;
        let mut signalled = Signalled::default();
        for _ in 0..N_POLLS {
            self.wait_for_adopted();
            let left = self.descendants();
            if left.iter().all(|it| it.is_zombie) {
                break;
            }
            signalled.send(&Live::this_machine(), &left, Signal::TERM);
            interrupt.wait(POLL);
        }
        Ok(())
    }

    fn end(&self, interrupt: &Interrupt) -> Result<()> {
        for signal in [Signal::INT, Signal::TERM] {
            self.signal(signal)?;
            for _ in 0..N_POLLS {
                if self.has_ended()? {
                    return Ok(());
                }
                interrupt.wait(POLL);
            }
        }
        while !self.has_ended()? {
            interrupt.wait(POLL);
        }
        Ok(())
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        if !self.has_ended()? {
            // It may end just then; no other process can have its number before it is waited for.
            kill_process(Pid::from_child(&self.child), signal).ok();
        }
        Ok(())
    }
}

/// How often an ending command is looked at, and for how long after each signal: five seconds.
const POLL: Duration = Duration::from_millis(10);
const N_POLLS: u32 = 500;

/// Descendants that lost their parent are waited for at every tenth poll of the command: each tenth of a second.
const ASKED_TO_WAIT: u32 = 10;

/// A command does not outlive a measurement that failed, nor do its children.
impl Drop for Workload {
    fn drop(&mut self) {
        if self.has_ended().is_ok_and(|it| !it) {
            let below = self.descendants();
            self.signal(Signal::TERM).ok();
            Signalled::default().send(&Live::this_machine(), &below, Signal::TERM);
        }
    }
}

/// What a measurement of a command exits with: what the command did, as `time` and `perf stat` do, so that a
/// script notices its failure.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    /// What shells add a signal's number to.
    const SIGNALLED: i32 = 128;
    let code = status.code().or_else(|| status.signal().map(|it| SIGNALLED + it));
    ExitCode::from(code.and_then(|it| u8::try_from(it).ok()).unwrap_or(u8::MAX))
}
