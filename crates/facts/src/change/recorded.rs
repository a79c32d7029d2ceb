//! A change as the journal tells it, what was planned, what came of each write and of undoing it; and how it stands on the host: what
//! of it is in force, what somebody else has changed, and whether it will be reverted.

use super::{Group, Target, Write};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// A change in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Its number, of four digits or more: `0012`. Where one is asked for, `12` will do.
    pub id: String,
    /// When it began, since the epoch.
    pub when: Duration,
    /// The boot it was made in (/proc/sys/kernel/random/boot_id).
    pub boot: String,
    /// The words of the command that made it.
    pub command: Vec<String>,
    /// Whether undoing it brings back the faults that it takes away.
    pub brings_faults_back: bool,
    /// What became of it.
    pub state: ChangeState,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeState {
    /// Begun, or being reverted, and not ended: it was interrupted, unless it is running.
    Open,
    /// In force until it is reverted.
    Kept,
    /// In force, and reverted at the deadline unless it is confirmed.
    Awaiting {
        /// When, since the epoch, for people.
        until: Duration,
        /// When, on CLOCK_BOOTTIME of its boot.
        deadline: Duration,
    },
    /// Every place is as it was.
    Reverted,
    /// Some places could not be brought back; its groups say which.
    PartlyReverted {
        /// How many places still hold what the change wrote.
        left: u32,
    },
}

/// A group of a change, with what became of each write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedGroup {
    /// As it was planned, with what was there before.
    pub group: Group,
    /// What became of each of its writes, in their order.
    pub fates: Vec<WriteOutcome>,
}

impl RecordedGroup {
    /// The writes that were made, or may have been.
    pub fn made(&self) -> impl Iterator<Item = &Write> {
        let is_made = |fate: &WriteOutcome| {
            !matches!(fate, WriteOutcome::NotMade | WriteOutcome::Refused { .. })
        };
        let writes = self.group.writes.iter().zip(&self.fates);
        writes.filter(move |(_, fate)| is_made(fate)).map(|(write, _)| write)
    }
}

/// What a journal holds of one change, word for word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeLines {
    /// The journal's file.
    pub path: PathBuf,
    /// The lines with their ends.
    pub text: Vec<u8>,
    /// How many they are.
    pub n_lines: usize,
    /// How many lines the whole journal had: what is appended to it later is behind them.
    pub n_before: usize,
    /// What stands in each of them, and in no other line.
    pub pattern: String,
}

/// What became of one write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteOutcome {
    /// It is in the journal, and nobody knows whether it was made: a crash came in between.
    Intended,
    /// It was made, and reads back as it should.
    Done {
        /// What it read back; `None` where a file is gone, as it should be.
        read_back: Option<String>,
    },
    /// Nothing is written here, the old value is kept for undoing ([`super::Aim::Forgotten`]).
    Noted,
    /// The kernel refused it, which was allowed ([`super::Aim::IfTaken`]).
    Refused {
        /// The error in the system's words.
        why: String,
    },
    /// It was taken, and read back something else.
    DidNotStick {
        /// What it read back.
        found: Option<String>,
    },
    /// A failure came before its turn.
    NotMade,
    /// What was there before is there again.
    Undone,
    /// It could not be undone, or was not: somebody else has changed it since, or the system refuses.
    LeftAlone {
        /// What it held when it was to be undone; `None` where it could not be read or is not there.
        found: Option<String>,
        /// Why it was not written.
        why: String,
    },
    /// A reboot has undone it.
    Void,
}

/// What undoing did to one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The id of the change.
    pub change: String,
    /// The id of the setting.
    pub setting: String,
    /// The place that was to be restored.
    pub target: Target,
    /// What was recorded: the value that undoing is to bring back.
    pub recorded: Option<String>,
    /// What came of it.
    pub fate: RevertOutcome,
}

/// What came of undoing one write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevertOutcome {
    /// The recorded value was written back and reads back.
    WrittenBack,
    /// The recorded value was there already.
    AlreadyThere,
    /// Somebody else has changed it since: it holds neither what was written nor what was there before.
    LeftAlone {
        /// What it holds; `None` where it could not be read or is not there.
        found: Option<String>,
    },
    /// Writing it back would bring a fault back (a clock that is stopped most of the time), which is refused
    /// unless it is forced, or the change was begun to do so.
    WouldBringFaultBack,
    /// What it was is gone: another task has its id, another boot has begun.
    Void {
        /// What is gone.
        why: String,
    },
    /// It could not be read or written, or did not stick.
    Failed {
        /// The error in the system's words.
        why: String,
    },
}

impl RevertOutcome {
    /// Whether the place is as it was before the change, or nothing is left that could be.
    pub fn is_clean(&self) -> bool {
        matches!(
            self,
            RevertOutcome::WrittenBack | RevertOutcome::AlreadyThere | RevertOutcome::Void { .. }
        )
    }
}

/// A change, and what its places hold.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeStanding {
    /// What the journal has of it.
    pub recorded: Recorded,
    /// Whether it was made in this boot, so that its runtime places still have it.
    pub is_of_this_boot: bool,
    /// Its writes that were made, each with the id of its setting.
    pub places: Vec<WrittenPlace>,
    /// Whether it will be reverted, where it awaits confirmation.
    pub guard: Option<Guarding>,
}

/// What is known of the guard of a change that awaits confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarding {
    /// The deadline is to come.
    InTime {
        /// Whether a guard will revert the change then.
        is_running: bool,
    },
    /// The deadline is over.
    Overdue(Overdue),
}

/// A place that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenPlace {
    /// The id of the setting.
    pub setting: String,
    /// The write as it was planned.
    pub write: Write,
    /// How the place compares with what was written.
    pub standing: Standing,
}

/// How a place stands that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It holds what it was given.
    InForce,
    /// Somebody else has changed it.
    Changed {
        /// What it holds; `None` where it could not be read or is not there.
        found: Option<String>,
    },
    /// The next restart gives it what it was given: a setting of the firmware.
    Waiting {
        /// What it holds until then.
        now: String,
    },
    /// It cannot be read, for this reason.
    Unknown(String),
    /// It went with an earlier boot, or was reverted.
    Gone,
}

/// How a change stands that was not confirmed in time, and that the journal does not say to be reverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overdue {
    /// Every place holds what it held before: only the record is missing.
    Undone,
    /// Its guard runs.
    Guarded,
    /// No guard runs.
    Unguarded,
}

/// A write that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub path: String,
    /// Who wrote to it.
    pub pid: u32,
    /// Its name and its command, where it was still there to be asked.
    pub command: Option<String>,
}
