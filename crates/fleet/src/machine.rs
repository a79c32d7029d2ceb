//! What is known of one machine of a fleet.

use std::collections::HashSet;
use std::sync::Arc;

/// One machine, as one source knows it.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// What it is called: the `instance` of its series, or the file that holds its capture.
    pub name: Arc<str>,
    /// How fast it is. Each figure at most once, each value finite and above 0.
    pub figures: Vec<(Figure, f64)>,
    /// The result that [`Figure::Result`] is made of, as it was measured.
    pub result: Option<Measured>,
    /// What machines are grouped by, and what they differ in. Each name at most once in a kind.
    pub attributes: Vec<Attribute>,
    /// Whether an audit judged it.
    pub audit: Audit,
}

/// Whether a finding that a machine does not have is known to be absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Audit {
    /// No audit judged the machine: nothing is known of its findings but those that it has.
    #[default]
    None,
    /// An audit judged it, but for these checks.
    But(Vec<Arc<str>>),
}

impl Audit {
    /// Whether an audit could judge anything.
    #[must_use]
    pub fn is_made(&self) -> bool {
        *self != Self::None
    }

    /// Whether it made this check.
    #[must_use]
    pub fn made(&self, check: &str) -> bool {
        match self {
            Self::None => false,
            Self::But(unknown) => !unknown.iter().any(|it| **it == *check),
        }
    }
}

/// A result in its own unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The workload, with all that was requested of it: results of others cannot be compared with it.
    pub workload: Arc<str>,
    /// What was measured: `elapsed`.
    pub name: Arc<str>,
    /// What it is counted in.
    pub unit: Arc<str>,
    /// Whether less is better.
    pub is_less_better: bool,
}

impl Measured {
    /// What was measured, of a figure of which more is better; and the other way round.
    #[must_use]
    pub fn turned(&self, value: f64) -> f64 {
        if self.is_less_better { value.recip() } else { value }
    }
}

/// How fast a machine is, in one number of which more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Figure {
    /// The clock of its busy CPUs to their nominal clock (`fullclock_clock_ratio`).
    Clock,
    /// Simple operations a second of a short probe to those at the nominal clock (`fullclock_speed_ratio`).
    Speed,
    /// The figure of a result, or its reciprocal where less is better ([`Measured`]).
    Result,
}

/// One thing that machines can have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Attribute {
    /// What sort of thing.
    pub kind: Kind,
    /// Its name: `bios_version`, the id of a check, a path.
    pub name: Arc<str>,
    /// Its value; of a finding the severity in words.
    pub value: Arc<str>,
}

/// What sort of thing an attribute is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A label by which fleets are grouped: model, firmware, rack.
    Label,
    /// A finding of an audit.
    Finding,
    /// A setting that `fullclock plan` can change.
    Setting,
    /// Anything else that a capture holds.
    Fact,
}

/// The severities of findings, the worst last.
pub const SEVERITIES: [&str; 5] = ["info", "low", "medium", "high", "critical"];

/// Words that many machines share, each kept once.
#[derive(Debug, Default)]
pub struct Words {
    words: HashSet<Arc<str>>,
}

impl Words {
    /// The kept copy of a word.
    pub fn keep(&mut self, word: &str) -> Arc<str> {
        if let Some(kept) = self.words.get(word) {
            return Arc::clone(kept);
        }
        let kept: Arc<str> = word.into();
        self.words.insert(Arc::clone(&kept));
        kept
    }
}
