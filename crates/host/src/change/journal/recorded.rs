//! A change as the journal tells it.

use crate::change::Fate;
use facts::change::{Group, Write};
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
    /// Whether undoing it brings back the faults that it takes away ([`crate::change::Intent`]).
    pub brings_faults_back: bool,
    /// What became of it.
    pub state: State,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
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
    /// Some places could not be brought back; [`super::Journal::groups`] says which.
    PartlyReverted {
        /// How many.
        left: u32,
    },
}

/// A group of a change, with what became of each write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedGroup {
    /// As it was planned, with what was there before.
    pub group: Group,
    /// What became of each of its writes, in their order.
    pub fates: Vec<Fate>,
}

impl RecordedGroup {
    /// The writes that were made, or may have been.
    pub(in crate::change) fn made(&self) -> impl Iterator<Item = &Write> {
        let is_made = |fate: &Fate| !matches!(fate, Fate::NotMade | Fate::Refused { .. });
        let writes = self.group.writes.iter().zip(&self.fates);
        writes.filter(move |(_, fate)| is_made(fate)).map(|(write, _)| write)
    }
}
