//! A change against the host: what of it is in force, what somebody else has changed, and whether it will be reverted.

use super::{Recorded, Write};

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
    /// What was planned.
    pub write: Write,
    /// How it stands.
    pub standing: Standing,
}

/// How a place stands that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It holds what it was given.
    InForce,
    /// Somebody else has changed it.
    Changed {
        /// What it holds.
        found: Option<String>,
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
