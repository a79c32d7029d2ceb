//! Commands that no setting replaces: what changes a place that fullclock does not write, and what only looks.
//!
//! Each has a precondition on the host, and one that changes something also a risk and the distributions that it holds for. None is
//! journaled, so that `fullclock revert` does not undo it; the reports say so.

use facts::HostView;
use std::fmt;

/// One command.
pub struct Command {
    /// A noun for it, which no other has.
    pub id: &'static str,
    /// Whether it changes the host.
    pub kind: Kind,
    /// The distributions and packages that have it.
    pub available: &'static str,
    /// What to type; `{}` stands for the argument that the finding gives.
    pub text: &'static str,
    /// Whether it can work on this host; otherwise why not.
    pub holds: fn(&HostView) -> Result<(), String>,
}

/// Whether a command changes the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only reads.
    Looks,
    /// It changes something, and nothing undoes that.
    Changes {
        /// What can go wrong, in words.
        risk: &'static str,
    },
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl PartialEq for Command {
    fn eq(&self, other: &Command) -> bool {
        self.id == other.id
    }
}

/// Every command, in no order that matters.
pub const COMMANDS: &[&Command] = &[];
