//! What became of a write, and of undoing it.

use facts::change::Target;
use serde::{Deserialize, Serialize};

/// What became of one write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It is in the journal, and nobody knows whether it was made: a crash came in between.
    Intended,
    /// It was made, and reads back as it should.
    Done {
        /// What it read back; `None` where a file is gone, as it should be.
        read_back: Option<String>,
    },
    /// Nothing is written here, the old value is kept for undoing ([`facts::change::Aim::Forgotten`]).
    Noted,
    /// The kernel refused it, which was allowed ([`facts::change::Aim::IfTaken`]).
    Refused {
        /// Its words.
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
        /// Why.
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
    /// Where.
    pub target: Target,
    /// What was recorded: the value that undoing is to bring back.
    pub recorded: Option<String>,
    /// What came of it.
    pub fate: UndoneFate,
}

/// What came of undoing one write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoneFate {
    /// The recorded value was written back and reads back.
    WrittenBack,
    /// The recorded value was there already.
    AlreadyThere,
    /// Somebody else has changed it since: it holds neither what was written nor what was there before.
    LeftAlone {
        /// What it holds.
        found: Option<String>,
    },
    /// Writing it back would bring a fault back (a clock that is stopped most of the time), which is refused without
    /// [`super::Force::Yes`], and where the change was not begun to do so ([`super::Intent`]).
    WouldBringFaultBack,
    /// What it was is gone: another task has its id, another boot has begun.
    Void {
        /// What is gone.
        why: String,
    },
    /// It could not be read or written, or did not stick.
    Failed {
        /// Why.
        why: String,
    },
}

impl UndoneFate {
    /// Whether the place is as it was before the change, or nothing is left that could be.
    pub fn is_clean(&self) -> bool {
        matches!(self, UndoneFate::WrittenBack | UndoneFate::AlreadyThere | UndoneFate::Void { .. })
    }
}
