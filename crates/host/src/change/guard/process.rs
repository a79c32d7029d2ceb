//! What the guard does in its own process.

use super::{FORGET, FORGETS, HOLD, HOLDS, LOAD, LOADED, WATCH, WATCHES};
use crate::change::journal::{
    Access, Folder, Journal, Lock, mark_guard, override_holder, while_unlocked,
};
use crate::change::process::{detach, leave_pipes};
use crate::change::undo::UndoLog;
use crate::change::{ChangeError, Force, JournalError, Machine, Trouble};
use crate::clock::{since_boot, sleep};
use facts::change::{ChangeState, Recorded, RevertOutcome, Undone};
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;

/// How often a guard looks whether its change is confirmed.
const BETWEEN_LOOKS: Duration = Duration::from_secs(2);
/// A full disk or a read-only file system may be writable again later. A guard tries for this long to record what it did; after
/// that the next start records it.
const KEEPS_TRYING: Duration = Duration::from_secs(3600);
/// Pauses between attempts double from the first to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How often a place is written that could not be brought back: one that is busy for longer is reported.
const ATTEMPTS: u32 = 5;

/// What `PROGRAM guard-change FOLDER [ID]` does: a session of its own, says on stdout that it is ready, does what its starter tells
/// it until that closes its stdin (by ending, at the latest), then waits until the deadline, and reverts the change unless it is
/// confirmed.
///
/// Errors: it could not read what to undo; or it has undone the change and could not record that
/// ([`ChangeError::NotRecorded`]). By then it has tried for an hour.
pub fn run(machine: &Machine, folder: &Path, id: Option<&str>) -> Result<Vec<Undone>, ChangeError> {
    detach();
    let mut guarding = match Guarding::of(folder, id) {
        Ok(guarding) => guarding,
        Err(error) => {
            say(&error.to_string())?;
            return Err(error.into());
        }
    };
    say("ready")?;
    guarding.obey()?;
    leave_pipes();
    guarding.revert_when_due(machine)
}

fn say(word: &str) -> Result<(), Trouble> {
    let mut stdout = std::io::stdout();
    let said = writeln!(stdout, "{word}").and_then(|()| stdout.flush());
    said.map_err(|_| Trouble::new("the guard", "its starter has ended"))
}

/// What a guard knows.
struct Guarding {
    /// Stays the same folder where it is renamed.
    folder: Folder,
    id: Option<String>,
    loaded: Option<Loaded>,
}

/// A change in memory: one that awaits confirmation, or one that is made and undone by its starter.
struct Loaded {
    log: UndoLog,
    /// On CLOCK_BOOTTIME; 0 of a change that is undone as soon as its starter has ended.
    deadline: Duration,
    /// Tells others that this guard runs.
    _mark: Option<Lock>,
}

/// When a guard has something to do.
enum Due {
    Never,
    In(Duration),
    Now,
}

/// What a guard has to undo, and the journal where it has the lock.
struct Work {
    log: UndoLog,
    journal: Option<Journal>,
}

impl Guarding {
    fn of(path: &Path, id: Option<&str>) -> Result<Guarding, JournalError> {
        let folder = Folder::existing(path)?;
        Ok(Guarding { folder, id: id.map(str::to_owned), loaded: None })
    }

    /// Does what the starter says until it closes the pipe, or the pipe fails.
    ///
    /// Error: what was to be loaded cannot be, which the starter has been told.
    fn obey(&mut self) -> Result<(), ChangeError> {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let answer = match line.split_once(' ') {
                Some((WATCH, id)) => {
                    (self.id, self.loaded) = (Some(id.to_owned()), None);
                    WATCHES
                }
                Some((HOLD, log)) => self.hold(log),
                Some((FORGET, _)) => {
                    self.loaded = None;
                    FORGETS
                }
                Some((LOAD, id)) => match self.load_and_mark(id) {
                    Ok(()) => LOADED,
                    Err(error) => {
                        // Where the starter has ended, the change is this guard's to revert; it is loaded later.
                        if say(&error.to_string()).is_err() {
                            break;
                        }
                        return Err(error);
                    }
                },
                _ => "this is not an order",
            };
            if say(answer).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Keeps what undoing takes. Its starter may have been killed before the end of the line: then nothing of it was made.
    fn hold(&mut self, log: &str) -> &'static str {
        let Ok(log) = UndoLog::of_line(log) else { return "what it was given cannot be read" };
        self.loaded = Some(Loaded { log, deadline: Duration::ZERO, _mark: None });
        HOLDS
    }

    fn load_and_mark(&mut self, id: &str) -> Result<(), ChangeError> {
        let journal = self.journal(Access::Read)?;
        if !matches!(journal.change(id)?.state, ChangeState::Awaiting { .. }) {
            let why = "does not await confirmation".to_owned();
            return Err(ChangeError::NotNow { id: id.to_owned(), why });
        }
        let mark = mark_guard(&self.folder, id)?;
        Ok(self.load(&journal, id, Some(mark))?)
    }

    fn load(
        &mut self,
        journal: &Journal,
        id: &str,
        mark: Option<Lock>,
    ) -> Result<(), JournalError> {
        if let ChangeState::Awaiting { deadline, .. } = journal.change(id)?.state {
            let log = UndoLog::of(journal, id)?;
            self.loaded = Some(Loaded { log, deadline, _mark: mark });
        }
        Ok(())
    }

    /// The change that is guarded, in a journal that may have been put in place of the one it was loaded from.
    fn recorded<'a>(&self, journal: &'a Journal) -> Result<&'a Recorded, JournalError> {
        match &self.loaded {
            Some(loaded) => loaded.log.recorded(journal),
            None => journal.change(self.id.as_deref().unwrap_or_default()),
        }
    }

    fn journal(&self, access: Access) -> Result<Journal, JournalError> {
        Journal::open_in(self.folder.again()?, access)
    }

    fn revert_when_due(mut self, machine: &Machine) -> Result<Vec<Undone>, ChangeError> {
        let mut pauses = Pauses::new();
        loop {
            let tried = match self.due() {
                Ok(Due::Never) => return Ok(Vec::new()),
                Ok(Due::In(left)) => {
                    sleep(left.min(BETWEEN_LOOKS));
                    continue;
                }
                Ok(Due::Now) => self.work(),
                Err(error) => Err(error),
            };
            match tried {
                Ok(Some(work)) => return self.revert(machine, work),
                // Another process reverts or confirms it.
                Ok(None) => sleep(FIRST_PAUSE),
                Err(error) => pauses.pause(error)?,
            }
        }
    }

    /// Looks without the lock: no process is kept waiting.
    ///
    /// Error: neither the journal nor memory says what to do.
    fn due(&mut self) -> Result<Due, JournalError> {
        let Some(id) = self.id.clone() else { return Ok(Due::Never) };
        let seen = self.journal(Access::Read);
        if let (Ok(journal), None) = (&seen, &self.loaded)
            && journal.change(&id).is_ok_and(|it| matches!(it.state, ChangeState::Awaiting { .. }))
        {
            // Its starter was killed before it said so.
            let mark = mark_guard(&self.folder, &id).ok();
            self.load(journal, &id, mark)?;
        }
        let state = seen.and_then(|it| self.recorded(&it).map(|it| it.state.clone()));
        Ok(match (state, &self.loaded) {
            (Ok(ChangeState::Open), _) => Due::Now,
            (Ok(ChangeState::Kept), _) if !self.is_kept_for_good() => Due::In(BETWEEN_LOOKS),
            (
                Ok(ChangeState::Kept | ChangeState::Reverted | ChangeState::PartlyReverted { .. }),
                _,
            ) => Due::Never,
            (_, Some(loaded)) => match loaded.deadline.saturating_sub(since_boot()) {
                Duration::ZERO => Due::Now,
                left => Due::In(left),
            },
            // Its starter was killed before it began.
            (Err(JournalError::NoSuchChange { .. }), None) => Due::Never,
            (Err(error), None) => return Err(error),
            (Ok(ChangeState::Awaiting { .. }), None) => Due::In(BETWEEN_LOOKS),
        })
    }

    /// Whether a confirmation is on disk: a line can be read before it is there, and is cut again where the disk fails.
    fn is_kept_for_good(&self) -> bool {
        let is_kept = || {
            let journal = self.journal(Access::Read);
            let change = journal.as_ref().map(|it| self.recorded(it));
            matches!(change, Ok(Ok(Recorded { state: ChangeState::Kept, .. })))
        };
        while_unlocked(&self.folder, is_kept).is_ok_and(|it| it == Some(true))
    }

    /// What there is to undo, with the lock where it is released within seconds; `None` where there is nothing any more.
    fn work(&self) -> Result<Option<Work>, JournalError> {
        let is_busy = |it: &JournalError| {
            matches!(it, JournalError::Locked { .. } | JournalError::InTrial { .. })
        };
        let (journal, is_locked) = match self.journal(Access::Revert) {
            Err(error) if is_busy(&error) => {
                if !self.may_override() {
                    return Ok(None);
                }
                // Where the file cannot be written, the holder meets that before its next write to the host.
                let _told = override_holder(&self.folder);
                (self.journal(Access::Read), false)
            }
            answer => (answer, true),
        };
        let id = self.id.as_deref().unwrap_or_default();
        let is_over =
            |it: &Recorded| !matches!(it.state, ChangeState::Open | ChangeState::Awaiting { .. });
        match (journal, &self.loaded) {
            (Ok(journal), _) if self.recorded(&journal).is_ok_and(is_over) => Ok(None),
            (Ok(journal), loaded) => {
                let log = match loaded {
                    Some(loaded) => loaded.log.clone(),
                    None => UndoLog::of(&journal, id)?,
                };
                Ok(Some(Work { log, journal: is_locked.then_some(journal) }))
            }
            (Err(_), Some(loaded)) => {
                // Whether a process holds the lock of a folder that is not trusted is unknown.
                let _told = override_holder(&self.folder);
                Ok(Some(Work { log: loaded.log.clone(), journal: None }))
            }
            (Err(error), None) => Err(error),
        }
    }

    /// A change that another process is reverting before its deadline is that one's to finish. One that was interrupted by the end
    /// of its starter, and one that is overdue, no other process is at work on.
    fn may_override(&self) -> bool {
        self.loaded.as_ref().is_none_or(|it| it.deadline <= since_boot())
    }

    fn revert(&self, machine: &Machine, work: Work) -> Result<Vec<Undone>, ChangeError> {
        let Work { mut log, mut journal } = work;
        let mut undone = log.undo(machine, Force::No);
        let has_failed = |it: &Undone| matches!(it.fate, RevertOutcome::Failed { .. });
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            if !undone.iter().any(has_failed) {
                break;
            }
            // Another process may need the lock meanwhile, and may revert the change or confirm it.
            drop(journal.take());
            sleep(pause);
            pause *= 2;
            match self.work() {
                Ok(Some(again)) => journal = again.journal,
                Ok(None) => return Ok(undone),
                Err(_) => {}
            }
            undone.retain(|it| it.fate.is_clean());
            undone.extend(log.undo(machine, Force::No));
        }
        match self.record(journal, &log) {
            Ok(()) => Ok(undone),
            Err(error) => {
                let id = self.id.clone().unwrap_or_default();
                Err(ChangeError::NotRecorded { id, undone, error })
            }
        }
    }

    /// Records what was undone, as soon as the journal can be written.
    fn record(&self, journal: Option<Journal>, log: &UndoLog) -> Result<(), JournalError> {
        let mut pauses = Pauses::new();
        let mut journal = journal.map_or_else(|| self.journal(Access::Revert), Ok);
        loop {
            match journal.and_then(|mut it| log.record(&mut it)) {
                // In place of a journal that was moved away there is nothing to record.
                Ok(()) | Err(JournalError::NoSuchChange { .. }) => return Ok(()),
                Err(error) => pauses.pause(error)?,
            }
            journal = self.journal(Access::Revert);
        }
    }
}

/// Growing pauses between attempts.
struct Pauses {
    next: Duration,
    until: Duration,
}

impl Pauses {
    fn new() -> Pauses {
        Pauses { next: FIRST_PAUSE, until: since_boot() + KEEPS_TRYING }
    }

    /// Pauses after an attempt that failed. Error: what it failed with, where it is no use to go on.
    fn pause<E>(&mut self, error: E) -> Result<(), E> {
        if since_boot() + self.next > self.until {
            return Err(error);
        }
        sleep(self.next);
        self.next = (self.next * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out a folder that stands in for a machine"
)]
mod tests;
