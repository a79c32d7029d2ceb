//! A child that spins on one CPU, to be throttled or stopped.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::taken::Taken;

/// What a spinner prints when it is ready to be signalled.
pub(crate) const READY: &str = "ready";

/// A spinning child. It dies with this process, however that ends.
#[derive(Debug)]
pub(crate) struct Spinner {
    child: Child,
    words: BufReader<ChildStdout>,
}

impl Spinner {
    /// Starts one, to be ended by [`Spinner::end`], waits until it spins, and tells its number on stderr for those
    /// who want to look at it.
    pub(crate) fn start(cpu: u32) -> Result<Spinner> {
        let program = std::env::current_exe().context("cannot find this program's file")?;
        let mut child = Command::new(program)
            .args(["spin", "--for", "86400s", "--cpu", &cpu.to_string()])
            .args(["--parent", &std::process::id().to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a spinner")?;
        let words = child.stdout.take().context("the spinner's output is not read")?;
        let mut spinner = Spinner { child, words: BufReader::new(words) };
        let mut word = String::new();
        spinner.words.read_line(&mut word).context("cannot read what the spinner says")?;
        ensure!(word.trim() == READY, "the spinner says '{word}' instead of '{READY}'");
        eprintln!("spinner {}", spinner.pid());
        Ok(spinner)
    }

    /// The child's process number.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends the child a signal. It cannot reach anybody else: the child keeps its number until it is waited for.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).with_context(|| format!("cannot signal the spinner {pid:?}"))
    }

    /// Ends the child, and returns what it ran by its own clock.
    pub(crate) fn end(mut self) -> Result<Duration> {
        self.signal(Signal::TERM)?;
        self.signal(Signal::CONT)?;
        let mut report = String::new();
        self.words.read_to_string(&mut report).context("cannot read what the spinner says")?;
        let taken: Taken = serde_json::from_str(&report)
            .with_context(|| format!("the spinner says '{report}' instead of what it took"))?;
        Ok(Duration::from_nanos(taken.cpu_ns))
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        // Both fail only for a child that has ended already.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}
