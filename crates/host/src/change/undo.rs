//! Undoing a change from what the journal recorded: backwards, to what was recorded, and nothing that somebody else has changed since.

use super::failure::shown;
use super::journal::{Compact, Fates, Journal, Step, runs, unrolled};
use super::machine::{brings_fault_back, same};
use super::process::{Process, end_process, is_running};
use super::{JournalError, Machine, fault};
use facts::change::{Aim, Target, Write};
use facts::change::{ChangeState, Recorded, RecordedGroup};
use facts::change::{RevertOutcome, Undone, WriteOutcome};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::time::Duration;

/// Whether that is written back as well which is left alone otherwise: what somebody else has changed since, and registers
/// whose bits may only be cleared, which brings a fault back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Force {
    /// They are left as they are.
    #[default]
    No,
    /// They are written back.
    Yes,
}

/// Everything that undoing one change takes: with it the change can be undone without its journal.
#[derive(Clone, Debug)]
pub(super) struct UndoLog {
    id: String,
    /// When it began: in place of a journal that was moved away, another change has the same id.
    when: Duration,
    boot: String,
    brings_faults_back: bool,
    groups: Vec<RecordedGroup>,
    holders: Vec<Process>,
}

/// The same on one line, as a guard is told it.
#[derive(Serialize, Deserialize)]
struct Line {
    id: String,
    when: Duration,
    boot: String,
    brings_faults_back: bool,
    groups: Vec<(Compact, Vec<(u32, WriteOutcome)>)>,
    holders: Vec<(u32, u64)>,
}

impl UndoLog {
    pub(super) fn to_line(&self) -> serde_json::Result<String> {
        let compact = |it: &RecordedGroup| (Compact::of(&it.group), runs(&it.fates));
        serde_json::to_string(&Line {
            id: self.id.clone(),
            when: self.when,
            boot: self.boot.clone(),
            brings_faults_back: self.brings_faults_back,
            groups: self.groups.iter().map(compact).collect(),
            holders: self.holders.iter().map(|it| (it.pid, it.started)).collect(),
        })
    }

    pub(super) fn of_line(line: &str) -> serde_json::Result<UndoLog> {
        let line: Line = serde_json::from_str(line)?;
        let recorded = |(group, fates): (Compact, Vec<(u32, WriteOutcome)>)| {
            let group = group.unpack();
            RecordedGroup { fates: unrolled(fates, group.writes.len()), group }
        };
        Ok(UndoLog {
            id: line.id,
            when: line.when,
            boot: line.boot,
            brings_faults_back: line.brings_faults_back,
            groups: line.groups.into_iter().map(recorded).collect(),
            holders: line
                .holders
                .into_iter()
                .map(|(pid, started)| Process { pid, started })
                .collect(),
        })
    }

    /// Reads it from the journal.
    pub(super) fn of(journal: &Journal, id: &str) -> Result<UndoLog, JournalError> {
        let change = journal.change(id)?;
        Ok(UndoLog {
            id: change.id.clone(),
            when: change.when,
            boot: change.boot.clone(),
            brings_faults_back: change.brings_faults_back,
            groups: journal.groups(&change.id)?,
            holders: journal.holders(&change.id).to_vec(),
        })
    }

    /// The same change in a journal that was opened later. Error: it is not in it, whatever else has its id.
    pub(super) fn recorded<'a>(&self, journal: &'a Journal) -> Result<&'a Recorded, JournalError> {
        let change = journal.change(&self.id)?;
        if change.when == self.when && change.boot == self.boot {
            return Ok(change);
        }
        Err(JournalError::NoSuchChange { id: self.id.clone() })
    }

    /// Undoes every group, the latest first. What goes wrong with one place keeps no other from being undone. Undone again, only
    /// the places that were left are tried.
    pub(super) fn undo(&mut self, machine: &Machine, force: Force) -> Vec<Undone> {
        // Where the boot cannot be read, what is there is compared all the same.
        let is_this_boot = machine.boot().map_or(true, |boot| boot == self.boot);
        let mut undoing = Undoing {
            machine,
            id: &self.id,
            is_this_boot,
            force,
            brings_faults_back: force == Force::Yes || self.brings_faults_back,
            holders: &self.holders,
            undone: Vec::new(),
        };
        let mut earlier = Earlier::new();
        for write in self.groups.iter().flat_map(|it| &it.group.writes) {
            earlier.entry(write.target.clone()).or_default().push(write.from.clone());
        }
        for group in self.groups.iter_mut().rev() {
            undoing.group(group, &mut earlier);
        }
        undoing.undone
    }

    /// Appends to the journal what was undone, unless it says already that the change is over.
    pub(super) fn record(&self, journal: &mut Journal) -> Result<(), JournalError> {
        match self.append(journal) {
            Err(JournalError::Overridden { .. }) => {
                journal.lock_again()?;
                self.append(journal)
            }
            answer => answer,
        }
    }

    fn append(&self, journal: &mut Journal) -> Result<(), JournalError> {
        if self.recorded(journal)?.state == ChangeState::Reverted {
            return Ok(());
        }
        let is_left = |it: &&WriteOutcome| matches!(it, WriteOutcome::LeftAlone { .. });
        let left = self.groups.iter().flat_map(|it| &it.fates).filter(is_left).count();
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        let fates = (0..).zip(&self.groups).map(|(number, it)| (number, runs(&it.fates)));
        let step = Step::Reverted { change: self.id.clone(), left };
        journal.append(step, &fates.collect::<Fates>(), true)
    }
}

/// What was recorded of each place, by the writes that are not yet undone.
type Earlier = HashMap<Target, Vec<Option<String>>>;

struct Undoing<'a> {
    machine: &'a Machine,
    id: &'a str,
    is_this_boot: bool,
    force: Force,
    brings_faults_back: bool,
    holders: &'a [Process],
    undone: Vec<Undone>,
}

impl Undoing<'_> {
    /// Undoes a group, and takes what it recorded out of what is left to undo.
    fn group(&mut self, recorded: &mut RecordedGroup, earlier: &mut Earlier) {
        let RecordedGroup { group, fates } = recorded;
        // Backwards, what made the kernel forget comes before what it forgot.
        let mut is_taken_back = false;
        for (write, fate) in group.writes.iter().zip(fates).rev() {
            let before = earlier.entry(write.target.clone()).or_default();
            before.pop();
            // Nothing was done, or it is done with.
            if matches!(
                fate,
                WriteOutcome::NotMade
                    | WriteOutcome::Refused { .. }
                    | WriteOutcome::Undone
                    | WriteOutcome::Void
            ) {
                continue;
            }
            let came = self.write(write, fate, before, is_taken_back);
            // A control group that is gone has given back what it was given.
            is_taken_back |= match &came {
                RevertOutcome::WrittenBack | RevertOutcome::AlreadyThere => true,
                RevertOutcome::Void { .. } => is_of_control_group(&write.target),
                _ => false,
            };
            *fate = after(&came);
            self.undone.push(Undone {
                change: self.id.to_owned(),
                setting: group.setting.clone(),
                target: write.target.clone(),
                recorded: write.from.clone(),
                fate: came,
            });
        }
    }

    /// `before` is what earlier writes recorded of the place, `is_taken_back` whether a later one of the group is undone.
    fn write(
        &self,
        write: &Write,
        fate: &WriteOutcome,
        before: &[Option<String>],
        is_taken_back: bool,
    ) -> RevertOutcome {
        let (machine, target) = (self.machine, &write.target);
        if target.ends_with_boot() && !self.is_this_boot {
            return RevertOutcome::Void { why: "it ended with the boot it was made in".to_owned() };
        }
        if *target == Target::LatencyRequest {
            return self.request();
        }
        let found = match machine.read(target) {
            Ok(found) => found,
            Err(trouble) if trouble.is_gone && may_go(write) => {
                return RevertOutcome::Void { why: trouble.why };
            }
            Err(trouble) => return RevertOutcome::Failed { why: trouble.why },
        };
        let is = |value: Option<&str>| same(target, found.as_deref(), value);
        let recorded = write.from.as_deref();
        // Where it is written more than once, a crash may have come before this write, or after all of them were undone.
        let is_further = before.iter().any(|it| is(it.as_deref()));
        if is(recorded) || is_further {
            return match machine.tidy(target) {
                Ok(()) => RevertOutcome::AlreadyThere,
                Err(trouble) => RevertOutcome::Failed { why: trouble.why },
            };
        }
        let is_ours = (write.aim == Aim::Forgotten && is_taken_back)
            || (write.aim != Aim::Forgotten && is(write.to.as_deref()))
            || matches!(fate, WriteOutcome::DidNotStick { found } if is(found.as_deref()));
        if !is_ours && self.force == Force::No {
            return RevertOutcome::LeftAlone { found };
        }
        let brings_fault = matches!((&found, recorded), (Some(found), Some(recorded))
            if brings_fault_back(target, found, recorded));
        if brings_fault && !self.brings_faults_back {
            return RevertOutcome::WouldBringFaultBack;
        }
        fault::point();
        let written = machine.write_back(target, recorded);
        fault::point();
        match written.map(|()| self.read_back(target, recorded)) {
            Ok(None) => RevertOutcome::WrittenBack,
            Ok(Some(why)) => RevertOutcome::Failed { why },
            // The kernel complains of an empty list, and empties it all the same (kernel/params.c, `param_array`).
            Err(_) if self.read_back(target, recorded).is_none() => RevertOutcome::WrittenBack,
            Err(trouble) => RevertOutcome::Failed { why: trouble.why },
        }
    }

    /// Why a place does not read back what was written; `None` where it does.
    fn read_back(&self, target: &Target, recorded: Option<&str>) -> Option<String> {
        match self.machine.settled(target, recorded) {
            Ok(found) if same(target, found.as_deref(), recorded) => None,
            Ok(found) => {
                let (wrote, found) = (shown(recorded), shown(found.as_deref()));
                Some(format!("was given {wrote} and reads back {found}: it did not stick"))
            }
            Err(trouble) => Some(trouble.why),
        }
    }

    /// Ends the processes that keep a request for this change.
    fn request(&self) -> RevertOutcome {
        let mut came = RevertOutcome::AlreadyThere;
        for holder in self.holders.iter().filter(|it| is_running(**it)) {
            fault::point();
            match end_process(*holder) {
                Ok(true) => came = RevertOutcome::WrittenBack,
                Ok(false) => {}
                Err(trouble) => return RevertOutcome::Failed { why: trouble.why },
            }
            fault::point();
        }
        came
    }
}

/// Whether what is written may go, and what was changed with it: a task, an interrupt, the tunables of a governor, a control group.
fn may_go(write: &Write) -> bool {
    write.aim != Aim::Sticks
        || matches!(write.target, Target::Affinity { .. })
        || is_of_control_group(&write.target)
}

fn is_of_control_group(target: &Target) -> bool {
    matches!(target, Target::Control { path } if path.starts_with("/sys/fs/cgroup/"))
}

fn after(came: &RevertOutcome) -> WriteOutcome {
    let left = |found: &Option<String>, why: &str| WriteOutcome::LeftAlone {
        found: found.clone(),
        why: why.to_owned(),
    };
    match came {
        RevertOutcome::WrittenBack | RevertOutcome::AlreadyThere => WriteOutcome::Undone,
        RevertOutcome::Void { .. } => WriteOutcome::Void,
        RevertOutcome::LeftAlone { found } => left(found, "somebody else has changed it since"),
        RevertOutcome::WouldBringFaultBack => {
            left(&None, "writing it back would bring a fault back")
        }
        RevertOutcome::Failed { why } => left(&None, why),
    }
}
