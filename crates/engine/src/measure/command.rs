//! The command that is run to be measured.

use crate::interrupt::Interrupt;
use anyhow::{Context, Result};
use facts::secrets;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::Duration;

/// A command that runs while its cycles are counted.
pub struct Workload {
    name: String,
    child: Child,
}

impl Workload {
    /// Starts it. `beside_results` keeps its output out of ours: it goes to standard error.
    #[expect(clippy::disallowed_methods, reason = "runs what the user asked to be measured")]
    pub fn start(command: &[OsString], beside_results: bool) -> Result<Workload> {
        let (program, arguments) = command.split_first().context("there is no command to run")?;
        let mut command = Command::new(program);
        command.args(arguments);
        if beside_results {
            command.stdout(Stdio::from(std::io::stderr()));
        }
        Workload::spawn(command, program)
    }

    /// Starts it behind a screen: it reads nothing, and what it prints goes to `file`.
    #[expect(clippy::disallowed_methods, reason = "runs what the user asked to be measured")]
    pub fn start_unseen(command: &[OsString], file: &File) -> Result<Workload> {
        let (program, arguments) = command.split_first().context("there is no command to run")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null());
        command.stdout(file.try_clone()?).stderr(file.try_clone()?);
        Workload::spawn(command, program)
    }

    fn spawn(mut command: Command, program: &OsStr) -> Result<Workload> {
        let name = secrets::masked_command(&program.to_string_lossy()).into_owned();
        let spawned = host::counters::with_original_limit(|| command.spawn());
        let child = spawned.with_context(|| format!("cannot run {name}"))?;
        Ok(Workload { name, child })
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
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(Pid::from_child(&self.child)), options);
        Ok(status.with_context(|| format!("cannot wait for {}", self.name))?.is_some())
    }

    /// How it ended; waits for that.
    pub fn outcome(&mut self) -> Result<ExitStatus> {
        self.child.wait().with_context(|| format!("cannot wait for {}", self.name))
    }

    /// Asks it to end, where the measurement is over before it, and waits until it has: with the signal that Ctrl-C at a
    /// terminal sends it anyway, and with SIGTERM after a while. It may be a server that shuts down, so it is never
    /// killed; whoever does not want to wait presses Ctrl-C once more.
    pub fn stop(&mut self, interrupt: &Interrupt) -> Result<()> {
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

/// A command does not outlive a measurement that failed.
impl Drop for Workload {
    fn drop(&mut self) {
        self.signal(Signal::TERM).ok();
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
