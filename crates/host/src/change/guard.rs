//! The process that reverts a change unless it is confirmed, whatever becomes of the one that made it: of its terminal, its
//! connection, its session.
//!
//! It waits until its starter closes the pipe to it, by ending at the latest, and then does what the journal says: a change
//! that was interrupted it reverts at once; one that waits to be confirmed, at its deadline; any other it leaves.
//!
//! Changes that are taken back by the one that makes them, one after the other, share a guard: starting and ending one beside
//! each trial of a study would disturb what is measured, most of all under systemd, which makes a unit for each.

use super::journal::{Access, Journal, State};
use super::machine::Companion;
use super::{ChangeError, Force, Machine, Trouble, Undone, recover, revert};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::thread::{NanosleepRelativeResult, clock_nanosleep_relative};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

/// The first argument of the guard.
pub const COMMAND: &str = "guard-change";

/// A guard that is running. It begins its work when this is dropped.
#[derive(Debug)]
pub(super) struct Guard {
    process: Companion,
}

impl Guard {
    /// Starts the guard of a change that is about to begin, or of all that are going to be open; it is running when this
    /// returns.
    ///
    /// Error: it does not start, or would be ended with the session or service that this runs in.
    pub(super) fn start(
        machine: &Machine,
        folder: &Path,
        id: Option<&str>,
    ) -> Result<Guard, Trouble> {
        let folder = folder.to_string_lossy();
        let mut words = vec![COMMAND, &folder];
        words.extend(id);
        let process = Companion::start(machine, &words)?;
        match &process.note {
            None => Ok(Guard { process }),
            // Dropped, it finds no change to guard, and ends.
            Some(within_reach) => {
                let or = if id.is_some() { ", or leave out --confirm-within" } else { "" };
                let next = format!("see what `systemd-run --scope true` says{or}");
                Err(Trouble::new("the guard", format!("{within_reach}: {next}")))
            }
        }
    }

    /// Whether it is still there, and answers.
    pub(super) fn answers(&mut self) -> bool {
        self.process.asked(ASKED, HERE).is_ok()
    }
}

/// What a guard is asked, one byte that says nothing else, and what it answers.
const ASKED: &[u8] = b"\n";
const HERE: &str = "here";

/// What `PROGRAM guard-change FOLDER [ID]` does: a session of its own, says on stdout that it is ready, waits until its starter
/// closes its stdin (by ending, at the latest), then until the deadline, and reverts the change unless it is confirmed. Without
/// an id it reverts whatever was interrupted by then.
pub fn run(machine: &Machine, folder: &Path, id: Option<&str>) -> Result<Vec<Undone>, ChangeError> {
    detach();
    let gone = Trouble::new("the guard".to_owned(), "its starter has ended".to_owned());
    say("ready").map_err(|_| gone)?;
    let mut asked = [0; ASKED.len()];
    // An error is an end as well.
    while std::io::stdin().read_exact(&mut asked).is_ok() && say(HERE).is_ok() {}
    leave_pipes();
    loop {
        // Looking takes no lock: nobody is kept waiting, and a guard that is not needed any more ends soon.
        let seen = Journal::open(folder, Access::Read).map_err(ChangeError::from);
        match seen.and_then(|journal| wait_for(machine, &journal, id)) {
            Ok(None) => return Ok(Vec::new()),
            Ok(Some(left)) if left > Duration::ZERO => {
                sleep(left.min(BETWEEN_LOOKS));
                continue;
            }
            // What could not be seen is looked at with the lock.
            Ok(Some(_)) | Err(_) => {}
        }
        let mut journal = Journal::open(folder, Access::WriteWhenFree)?;
        match wait_for(machine, &journal, id)? {
            None => return Ok(Vec::new()),
            Some(Duration::ZERO) => {
                return match id {
                    Some(id) => revert(machine, &mut journal, id, Force::No),
                    None => recover(machine, &mut journal, Force::No),
                };
            }
            Some(_) => {}
        }
    }
}

fn say(word: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{word}").and_then(|()| stdout.flush())
}

/// How often a guard looks whether its change is confirmed.
const BETWEEN_LOOKS: Duration = Duration::from_secs(2);

/// Sleeps on the clock of the deadline, which goes on while the machine is asleep.
fn sleep(left: Duration) {
    let time = Timespec {
        tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    };
    if let NanosleepRelativeResult::Err(_) = clock_nanosleep_relative(ClockId::Boottime, &time) {
        std::thread::sleep(left);
    }
}

/// How long until there is something to be reverted; `None` where there is nothing.
fn wait_for(
    machine: &Machine,
    journal: &Journal,
    id: Option<&str>,
) -> Result<Option<Duration>, ChangeError> {
    let Some(id) = id else {
        let is_open = journal.changes().iter().any(|it| it.state == State::Open);
        return Ok(is_open.then_some(Duration::ZERO));
    };
    // Its starter was killed before anything was done.
    let Ok(change) = journal.change(id) else { return Ok(None) };
    Ok(match &change.state {
        State::Open => Some(Duration::ZERO),
        State::Awaiting { .. } => Some(time_left(machine, change)?),
        State::Kept | State::Reverted | State::PartlyReverted { .. } => None,
    })
}

/// How long a change may still be confirmed; nothing in another boot.
pub(super) fn time_left(machine: &Machine, change: &super::Recorded) -> Result<Duration, Trouble> {
    match &change.state {
        State::Awaiting { deadline, .. } if machine.boot()? == change.boot => {
            Ok(deadline.saturating_sub(since_boot()))
        }
        _ => Ok(Duration::ZERO),
    }
}

/// The time since boot, the time asleep included.
pub(super) fn since_boot() -> Duration {
    time(ClockId::Boottime)
}

/// The time since the epoch.
pub(super) fn since_epoch() -> Duration {
    time(ClockId::Realtime)
}

fn time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Leaves the session of the starter: neither its terminal nor the end of its connection reaches this process any more.
#[expect(unsafe_code, reason = "neither std nor rustix sets how a signal is handled")]
pub(super) fn detach() {
    // SAFETY: no handler is installed, and no thread relies on the signal.
    unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
    // Refused only where it leads a process group already, which its starter did not make it.
    let _leads = rustix::process::setsid();
    let _stays = rustix::process::chdir("/");
}

/// Puts /dev/null into the place of the pipes to the starter, which may want to see them end.
pub(super) fn leave_pipes() {
    let null = rustix::fs::openat(CWD, "/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    if let Ok(null) = null {
        // Whoever reads or writes them sees the starter end instead, which harms nobody.
        let _stays = rustix::stdio::dup2_stdin(&null);
        let _stays = rustix::stdio::dup2_stdout(&null);
    }
}
