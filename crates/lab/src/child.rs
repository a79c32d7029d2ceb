//! Programs that are run for the user, each in a process group that ends with this program.
#![expect(
    clippy::disallowed_methods,
    reason = "runs and times the user's command, and the keeper that ends it"
)]

use crate::failure::Failure;
use crate::known::Known;
use crate::threads::refused;
use facts::CpuSet;
use host::Live;
use host::counters::with_original_limit;
use host::descendants::{Signalled, descendants};
use host::probe::{ended_child_cpu_ns, pinned_to};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The last lines of a text, no longer than an error message should be.
pub(crate) fn tail(text: &str) -> String {
    const LINES: usize = 5;
    const CHARACTERS: usize = 500;
    let lines: Vec<&str> = text.trim().lines().rev().take(LINES).collect();
    let text = lines.into_iter().rev().collect::<Vec<_>>().join("\n");
    let n = text.chars().count();
    text.chars().skip(n.saturating_sub(CHARACTERS)).collect()
}

/// A process group that is empty but for its keeper. Dropping it kills everything in it.
///
/// A keeper leads the group: an sh(1) that waits until the other end of a pipe is closed, and then kills its own group. The
/// kernel closes that end when this program ends, also by SIGKILL, so no later start has to find out whose a process was.
/// Until the keeper has been waited for, the group's number is not reused (kill(2), credentials(7)). The keeper sleeps all
/// the time, and one keeper serves all trials.
///
/// A process that leaves the group is not ended by the keeper: a server that calls setsid(2) runs on when this program is killed,
/// and so does timeout(1), which makes its own group. Where a command is stopped, its descendants are ended by their numbers as
/// well ([`host::descendants`]), but for one whose parent had ended before.
pub(crate) struct Group {
    keeper: Child,
}

/// It outlives the signals by which its group is asked to end. `read` ends at the end of the pipe; all of this is built
/// in, so that nothing has to be started in the end.
const KEEP: &str = "trap '' HUP INT QUIT TERM; read -r line; kill -KILL 0";

impl Group {
    pub(crate) fn new() -> Result<Group, Failure> {
        let mut keeper = Command::new("/bin/sh");
        keeper.args(["-c", KEEP]).process_group(0);
        keeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let why = "cannot run /bin/sh, which ends the command where fullclock is killed";
        Ok(Group { keeper: keeper.spawn().map_err(Failure::system(why))? })
    }

    /// Its number, which stays its own until this is dropped.
    pub(crate) fn number(&self) -> Pid {
        Pid::from_child(&self.keeper)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The keeper has not been waited for, so that the group exists.
        let _refused = kill_process_group(self.number(), Signal::KILL).is_err();
        let _status = self.keeper.wait().is_ok();
    }
}

/// How long it has to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// How often it is looked whether it is still wanted.
const STEP: Duration = Duration::from_millis(50);
/// What is kept of what it prints: the end.
const MOST_PRINTED: i64 = 1 << 20;

/// A command that was started in a process group, which has to outlive this. It has not been waited for: its process number
/// is not reused until it is settled or dropped.
pub(crate) struct Run {
    program: String,
    child: Child,
    group: Pid,
    began: Instant,
    /// When it ended.
    ended: Receiver<Instant>,
    /// Files: a pipe would need a reader, and a child that stays could keep it open.
    stdout: File,
    stderr: File,
}

impl Run {
    /// Starts it in `group`, on these CPUs or where this thread may run.
    pub(crate) fn start(
        group: &Group,
        words: &[String],
        cpus: Option<&CpuSet>,
        temporary: &Path,
    ) -> Result<Run, Failure> {
        let (program, arguments) = words
            .split_first()
            .ok_or_else(|| Failure::Unready("there is no command".to_owned()))?;
        let file = || {
            let what = format!("cannot make a file in {}", temporary.display());
            tempfile::tempfile_in(temporary).map_err(Failure::system(what))
        };
        let (stdout, stderr) = (file()?, file()?);
        let cloned = |it: &File| it.try_clone().map_err(Failure::system("cannot share a file"));
        let mut command = Command::new(program);
        let group = group.number();
        command.args(arguments).process_group(group.as_raw_nonzero().get()).stdin(Stdio::null());
        command.stdout(cloned(&stdout)?).stderr(cloned(&stderr)?);
        let mut spawn = || {
            let began = Instant::now();
            with_original_limit(|| command.spawn()).map(|child| (child, began))
        };
        let spawned = match cpus {
            None => spawn(),
            Some(cpus) => {
                pinned_to(cpus, spawn).map_err(|why| Failure::Unready(why.to_string()))?
            }
        };
        let (child, began) = spawned.map_err(Failure::system(format!("cannot run {program}")))?;
        let ended = end_of(&child);
        let program = program.clone();
        let mut run =
            Run { program, child, group, began, ended: mpsc::channel().1, stdout, stderr };
        run.ended = ended.map_err(|it| refused(&it))?;
        Ok(run)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end; how long it took. Stops it where it takes longer than `limit`, or where `is_unwanted` says so.
    pub(crate) fn wait(
        &self,
        limit: Option<Duration>,
        is_unwanted: &dyn Fn() -> bool,
    ) -> Result<Duration, Failure> {
        loop {
            if let Some(ended) = self.end_within(STEP)? {
                return Ok(ended.saturating_duration_since(self.began));
            }
            if is_unwanted() {
                self.stop();
                return Err(Failure::Stopped);
            }
            if let Some(limit) = limit.filter(|it| self.began.elapsed() > *it) {
                self.stop();
                return Err(Failure::TimedOut { program: self.program.clone(), limit });
            }
        }
    }

    /// The end of what it printed, standard output first. Errors: it failed.
    pub(crate) fn printed(&mut self) -> Result<String, Failure> {
        let pid = Pid::from_child(&self.child);
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(pid), options).map_err(|it| self.unwaited(it.into()))?;
        let how = status.and_then(|it| match (it.exit_status(), it.terminating_signal()) {
            (Some(0), _) => None,
            (Some(code), _) => Some(format!("exit status {code}")),
            (None, Some(signal)) => Some(format!("killed by signal {signal}")),
            (None, None) => Some("for no reason that the kernel tells".to_owned()),
        });
        let said = end_of_file(&mut self.stderr)?;
        match how {
            None => Ok(end_of_file(&mut self.stdout)? + "\n" + &said),
            Some(how) => {
                let (program, said) = (self.program.clone(), tail(&said));
                Err(Failure::Program { program, how, said })
            }
        }
    }

    /// The time on a CPU of it and of those of its children that it waited for, once it has ended.
    pub(crate) fn cpu_ns(&self) -> Known<u64> {
        ended_child_cpu_ns(self.pid()).into()
    }

    /// Takes leave of it.
    pub(crate) fn settle(mut self) -> Result<(), Failure> {
        self.child.wait().map_err(|error| self.unwaited(error))?;
        Ok(())
    }

    fn end_within(&self, time: Duration) -> Result<Option<Instant>, Failure> {
        match self.ended.recv_timeout(time) {
            Ok(ended) => Ok(Some(ended)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(self.unwaited(std::io::Error::other("nobody waits for it")))
            }
        }
    }

    /// Stops it and everything of its group, the keeper too, of the group that it has made itself, and its descendants that
    /// have left both.
    fn stop(&self) {
        let source = Live::this_machine();
        // Once their parent has ended they are somebody else's children.
        let below = descendants(&source, self.pid());
        self.signal(Signal::TERM);
        Signalled::default().send(&source, &below, Signal::TERM);
        // SIGKILL in any case: for what ignores SIGTERM, and for its children that still run.
        let _ended = self.end_within(GRACE).is_ok();
        self.signal(Signal::KILL);
        Signalled::default().send(&source, &below, Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        // A command that makes its own group or session (timeout(1), setsid(1)) gives it its own process number, which is not
        // reused before it has been waited for. Only root can stop what another user runs (sudo(8)).
        for group in [self.group, Pid::from_child(&self.child)] {
            let _refused = kill_process_group(group, signal).is_err();
        }
    }

    fn unwaited(&self, error: std::io::Error) -> Failure {
        Failure::system(format!("cannot wait for {}", self.program))(error)
    }
}

/// A command does not outlive a trial that failed.
impl Drop for Run {
    fn drop(&mut self) {
        // Once it has been waited for, its number may be another's.
        if self.child.try_wait().is_ok_and(|it| it.is_none()) {
            self.stop();
            let _status = self.child.wait().is_ok();
        }
    }
}

/// Receives the moment at which the command ends. A thread waits for it: a poll would see the end late.
fn end_of(child: &Child) -> std::io::Result<Receiver<Instant>> {
    let (sender, receiver) = mpsc::channel();
    let pid = Pid::from_child(child);
    let wait = move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        if rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options)).is_ok() {
            // Who does not listen any more does not want to know.
            let _unheard = sender.send(Instant::now()).is_err();
        }
    };
    std::thread::Builder::new().name("wait".to_owned()).spawn(wait)?;
    Ok(receiver)
}

fn end_of_file(file: &mut File) -> Result<String, Failure> {
    let mut read = || {
        let end = file.seek(SeekFrom::End(0))?;
        let most = MOST_PRINTED.min(i64::try_from(end).unwrap_or(i64::MAX));
        file.seek(SeekFrom::End(-most))?;
        let mut bytes = Vec::new();
        // A child that stayed may go on printing.
        file.take(MOST_PRINTED.unsigned_abs()).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    read().map_err(Failure::system("cannot read what the command printed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_few() {
        assert_eq!(tail("1\n2\n3\n4\n5\n6\n"), "2\n3\n4\n5\n6");
        assert_eq!(tail(&"ä".repeat(2000)).chars().count(), 500);
    }
}
