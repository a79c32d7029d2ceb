//! Opening a journal: who may write it, and for how long.

use super::folder::{self, Folder, io};
use super::lock::{self, LOOK, Lock, PATIENCE, Wait};
use super::log_file::{self, LogFile};
use super::{Journal, NAME};
use crate::change::JournalError;
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;
use std::path::Path;
use std::time::Duration;

/// What a journal is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Looking. Takes no lock; a change that is being made shows as far as it is.
    Read,
    /// Changing the host, if no other process does and no study has reserved it.
    Write,
    /// Changing the host, as soon as no other process does and no study has reserved it.
    WriteWhenFree,
    /// Changing the host again and again. It is reserved as long as the journal is open; the lock is held during each change
    /// only, so that others can revert and confirm in between.
    Study,
    /// Reverting and confirming, if no other process changes the host within seconds. A journal that cannot be written is
    /// opened for reading: undoing takes no more.
    Revert,
    /// The same, as soon as no other process changes the host.
    RevertWhenFree,
}

impl Access {
    fn creates(self) -> bool {
        matches!(self, Access::Write | Access::WriteWhenFree | Access::Study)
    }
}

/// How long a study waits for its next change: others revert in between, and a service may take two minutes to start.
const STUDY_WAITS: Duration = Duration::from_secs(150);
/// How long a study leaves the lock alone between two changes, so that a process that waits for it gets it.
const STUDY_PAUSES: Duration = Duration::from_millis(1);

impl Journal {
    /// Opens the journal of a state folder; both are created where they are absent and a change is to be made. Reading or
    /// reverting what is absent is an empty journal.
    ///
    /// Errors: another process is changing the host, or a study has reserved it; others than root and the caller could have
    /// written it; it is damaged, or of a later version.
    pub fn open(folder: &Path, access: Access) -> Result<Journal, JournalError> {
        match folder::open(folder, access.creates())? {
            Some(opened) => Journal::open_in(opened, access),
            None => Ok(Journal::empty(folder)),
        }
    }

    /// Opens the journal of a folder that is open already, wherever that was moved to.
    pub(in crate::change) fn open_in(
        folder: Folder,
        access: Access,
    ) -> Result<Journal, JournalError> {
        folder.is_still_ours()?;
        let reservation = match access {
            Access::Study => Some(lock::reserve(&folder)?),
            _ => None,
        };
        let lock = match access {
            Access::Read => None,
            Access::Write => {
                let lock = lock::writer(&folder, Wait::For(LOOK))?;
                lock::refuse_reserved(&folder, Wait::NO)?;
                lock
            }
            Access::WriteWhenFree => lock_when_free(&folder)?,
            Access::Study => lock::writer(&folder, Wait::For(PATIENCE)).map_err(not_in_trial)?,
            Access::Revert => lock::writer(&folder, Wait::For(PATIENCE))?,
            Access::RevertWhenFree => lock::writer(&folder, Wait::Forever)?,
        };
        let mut journal = Journal::read(&folder, access)?;
        (journal.lock, journal.reservation) = (lock, reservation);
        journal.opened = Some(folder);
        Ok(journal)
    }

    /// Reads what the folder holds; it is the caller who holds the lock.
    fn read(folder: &Folder, access: Access) -> Result<Journal, JournalError> {
        let Some((file, is_written)) = open_file(folder, access)? else {
            return Ok(Journal::empty(&folder.path));
        };
        let path = folder.path.join(NAME);
        let text = log_file::read_all(&file).map_err(|error| io(&path, "read", error))?;
        let length = text.len();
        let mut journal = Journal::parse(&folder.path, text)?;
        if access == Access::Read {
            // Without the lock, a line that was cut and one that is being written look the same.
            journal.notes.clear();
        }
        journal.log_file = is_written.then(|| LogFile::new(file, path, length));
        Ok(journal)
    }

    /// Takes the lock of a study that has released it, and reads what others have done to the journal since.
    pub(in crate::change) fn wake(&mut self) -> Result<(), JournalError> {
        if self.reservation.is_none() || self.lock.is_some() {
            return Ok(());
        }
        self.lock_again()
    }

    /// Releases the lock of a study until its next change.
    pub(in crate::change) fn rest(&mut self) {
        if self.reservation.is_some() {
            self.lock = None;
        }
    }

    /// Releases the lock, takes it again after whoever waits for it, and reads what others have done to the journal since.
    pub(in crate::change) fn lock_again(&mut self) -> Result<(), JournalError> {
        let Some(folder) = &self.opened else { return Ok(()) };
        self.lock = None;
        std::thread::sleep(STUDY_PAUSES);
        let locked = lock::writer(folder, Wait::For(STUDY_WAITS));
        self.lock = if self.reservation.is_some() { locked.map_err(not_in_trial) } else { locked }?;
        folder.is_still_ours()?;
        if self.log_file.as_ref().is_some_and(|it| it.is_still(folder, NAME, self.text.len())) {
            return Ok(());
        }
        let fresh = Journal::read(folder, Access::Study)?;
        (self.text, self.sequence, self.history) = (fresh.text, fresh.sequence, fresh.history);
        self.log_file = fresh.log_file;
        Ok(())
    }

    /// Whether this process may write to the host: it holds the lock, and no guard has gone ahead without it.
    pub(in crate::change) fn permits_writes(&self) -> Result<(), JournalError> {
        self.lock.as_ref().ok_or_else(|| self.not_locked())?.permits_writes()
    }

    pub(super) fn not_locked(&self) -> JournalError {
        JournalError::Io {
            path: self.folder().to_owned(),
            doing: "relied on",
            why: "this process does not hold its lock".to_owned(),
        }
    }
}

/// What a study is told that cannot get the lock: the reservation it meets is its own.
fn not_in_trial(error: JournalError) -> JournalError {
    match error {
        JournalError::InTrial { folder, holder } => JournalError::Locked { folder, holder },
        error => error,
    }
}

/// A unit that applies a change at boot waits for others, and for a study.
fn lock_when_free(folder: &Folder) -> Result<Option<Lock>, JournalError> {
    loop {
        // Waiting with the lock would keep a study from its next change.
        lock::refuse_reserved(folder, Wait::Forever)?;
        let lock = lock::writer(folder, Wait::Forever)?;
        match lock::refuse_reserved(folder, Wait::NO) {
            Err(JournalError::Reserved { .. }) => drop(lock),
            answer => return answer.map(|()| lock),
        }
    }
}

/// The journal's file, and whether it is open for writing.
fn open_file(folder: &Folder, access: Access) -> Result<Option<(OwnedFd, bool)>, JournalError> {
    if access.creates() {
        let file = folder.open_file(NAME, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE)?;
        // Its name has to be on disk, too; it may have been created by a process that was killed before this.
        rustix::fs::fsync(&folder.file)
            .map_err(|error| io(&folder.path, "written to disk", error))?;
        return Ok(Some((file, true)));
    }
    if !folder.has(NAME) {
        return Ok(None);
    }
    if access != Access::Read
        && let Ok(file) = folder.open_file(NAME, OFlags::RDWR | OFlags::APPEND)
    {
        return Ok(Some((file, true)));
    }
    folder.open_file(NAME, OFlags::RDONLY).map(|it| Some((it, false)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::journal::{Folder, override_holder};
    use crate::change::tree::{STAT_INTERVAL, Tree, governors, stat_interval};
    use crate::change::{Cause, Changer, Force, Intent};
    use facts::change::{ChangeState, RevertOutcome};

    fn open(tree: &Tree, access: Access) -> Result<Changer, JournalError> {
        Changer::open(tree.machine(), &tree.state(), access)
    }

    /// A change that is made and undone, as around a trial; `during` is done while it is in force.
    fn trial(study: &mut Changer, during: impl FnOnce()) {
        let mut change = study.begin(Intent::default()).unwrap();
        change.apply(&governors()).unwrap();
        during();
        change.undo().unwrap();
    }

    #[test]
    fn a_study_reserves_the_host_and_others_revert_between_its_trials_only() {
        let tree = Tree::new();
        let mut first = tree.changer();
        let mut change = first.begin(Intent::default()).unwrap();
        change.apply(&stat_interval()).unwrap();
        change.keep().unwrap();
        drop(first);
        let mut study = open(&tree, Access::Study).unwrap();
        study.recover(Force::No).unwrap();
        let error = open(&tree, Access::Write).unwrap_err();
        assert!(matches!(error, JournalError::Reserved { .. }), "{error}");
        trial(&mut study, || {
            let error = open(&tree, Access::Revert).unwrap_err();
            assert!(matches!(error, JournalError::InTrial { .. }), "{error}");
        });
        open(&tree, Access::Revert).unwrap().revert("1", Force::No).unwrap();
        assert_eq!(tree.get(STAT_INTERVAL), "1\n");
        // The study continues after what the other process has recorded.
        trial(&mut study, || ());
        drop(study);
        let states: Vec<ChangeState> =
            tree.journal().changes().iter().map(|it| it.state.clone()).collect();
        assert_eq!(states, [ChangeState::Reverted, ChangeState::Reverted, ChangeState::Reverted]);
        assert!(open(&tree, Access::Write).is_ok());
    }

    #[test]
    fn a_study_that_cannot_get_the_lock_is_not_told_of_its_own_reservation() {
        let tree = Tree::new();
        let holder = tree.journal();
        let error = open(&tree, Access::Study).unwrap_err();
        assert!(matches!(error, JournalError::Locked { .. }), "{error}");
        drop(holder);
    }

    #[test]
    fn a_trial_that_changes_nothing_holds_the_lock_of_its_study() {
        let tree = Tree::new();
        let mut study = open(&tree, Access::Study).unwrap();
        study.journal.rest();
        let during = study.locked(|| open(&tree, Access::Revert).unwrap_err()).unwrap();
        assert!(matches!(during, JournalError::InTrial { .. }), "{during}");
        assert!(open(&tree, Access::Revert).is_ok());
    }

    #[test]
    fn two_studies_cannot_reserve_a_host() {
        let tree = Tree::new();
        let study = open(&tree, Access::Study).unwrap();
        let error = open(&tree, Access::Study).unwrap_err().to_string();
        assert!(error.contains("runs a study on this host"), "{error}");
        drop(study);
        assert!(open(&tree, Access::Study).is_ok());
    }

    #[test]
    fn a_process_that_a_guard_has_overridden_writes_nothing_more_and_takes_back_what_it_wrote() {
        let tree = Tree::new();
        let before = tree.all();
        let mut changer = tree.changer();
        let mut change = changer.begin(Intent::default()).unwrap();
        change.apply(&governors()).unwrap();
        override_holder(&Folder::existing(&tree.state()).unwrap()).unwrap();
        let failure = change.apply(&stat_interval()).unwrap_err();
        assert!(matches!(&failure.cause, Cause::NotJournaled(JournalError::Overridden { .. })));
        assert!(failure.journal.is_none(), "{failure}");
        drop(change);
        assert_eq!(tree.all(), before);
        assert_eq!(changer.journal.changes()[0].state, ChangeState::Reverted);
    }

    #[test]
    fn within_a_group_the_writes_after_the_override_are_not_made() {
        let tree = Tree::new();
        let before = tree.all();
        let mut machine = tree.machine();
        machine.meddler = Some(|machine, _| {
            let state = machine.root_of_tests().with_file_name("state");
            override_holder(&Folder::existing(&state).unwrap()).unwrap();
        });
        let mut changer = tree.changer_of(machine);
        let mut change = changer.begin(Intent::default()).unwrap();
        let failure = change.apply(&governors()).unwrap_err();
        assert!(matches!(&failure.cause, Cause::Stopped(JournalError::Overridden { .. })));
        let written = failure.undone.iter().filter(|it| it.fate == RevertOutcome::WrittenBack);
        assert_eq!(written.count(), 1, "{failure:?}");
        assert_eq!(tree.all(), before);
    }

    #[test]
    fn a_lock_file_that_can_no_longer_be_written_stops_every_write() {
        let tree = Tree::new();
        let mut changer = tree.changer();
        let mut change = changer.begin(Intent::default()).unwrap();
        change.apply(&governors()).unwrap();
        let full = rustix::fs::open("/dev/full", OFlags::RDWR, rustix::fs::Mode::empty()).unwrap();
        change.changer.journal.lock.as_mut().unwrap().replace_file(full);
        let failure = change.apply(&stat_interval()).unwrap_err();
        assert!(matches!(&failure.cause, Cause::Stopped(JournalError::Io { .. })), "{failure}");
        assert_eq!(tree.get(STAT_INTERVAL), "1\n");
    }
}
