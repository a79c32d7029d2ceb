//! The shape every line of the ledger has.

pub use crate::ledger::amount::{Entry, Method};
pub use crate::party::Party;

use crate::ledger::books::Books;
use facts::Fact;

/// One thing that a CPU's time goes to.
pub struct Loss {
    /// A noun: `kernel-threads`. Also the name of its file.
    pub id: &'static str,
    /// The same in a few words, as the ledger prints it.
    pub title: &'static str,
    /// What it means for the capacity.
    pub kind: Kind,
    /// Markdown: what it is, how it is measured, what fixes it.
    pub help: &'static str,
    /// The checks whose findings explain it, by id.
    pub checks: &'static [&'static str],
    /// Those of them that explain only some of its parts, each with how the names of these begin.
    pub of_parts: &'static [(&'static str, &'static str)],
    /// What one CPU has lost to it.
    pub measure: fn(&Books<'_>) -> Fact<Vec<Entry>>,
}

impl Loss {
    /// Whether the findings of a check explain a part.
    pub(crate) fn is_explained_by(&self, check: &str, part: &str) -> bool {
        let mut names = self.of_parts.iter().filter(|it| it.0 == check).map(|it| it.1).peekable();
        let is_of_all = names.peek().is_none();
        self.checks.contains(&check) && (is_of_all || names.any(|name| part.starts_with(name)))
    }
}

/// What a line means for the capacity of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not wanted by anybody: nothing is lost.
    Idle,
    /// Time that was taken from work.
    Lost,
    /// Time that work had.
    Useful,
}

impl Kind {
    /// The word in output.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Idle => "idle",
            Kind::Lost => "lost",
            Kind::Useful => "useful",
        }
    }
}
