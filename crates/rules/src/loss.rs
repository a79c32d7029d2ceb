//! The shape every line of the ledger has.

use crate::ledger::Books;
use facts::Fact;

/// One thing that a CPU's time goes to.
pub struct Loss {
    /// A noun: `kernel-threads`. Also the name of its file.
    pub id: &'static str,
    /// The same in a few words, as the ledger prints it.
    pub title: &'static str,
    /// What it means for the capacity.
    pub kind: Kind,
    /// Markdown: what it is, how it is measured, what mends it.
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
    /// Taken from work.
    Lost,
    /// Work.
    Useful,
}

/// An amount in the books of one CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Which part of the line: a kernel thread's name, a cause; empty where the line is one thing.
    pub part: String,
    /// Nanoseconds of the CPU's time at its reference clock.
    pub ns: i64,
    /// How it was obtained.
    pub method: Method,
    /// The counter, tracepoint or probe, verbatim.
    pub source: &'static str,
    /// How far off it may be either way, in nanoseconds.
    pub uncertainty_ns: u64,
    /// Of time that tasks ran: interrupts and softirqs that came meanwhile, in nanoseconds. They are not in `ns`, and
    /// have lines of their own. `None` where that is not known, and of what is no such time.
    pub interrupted_ns: Option<u64>,
    /// Who is responsible, where evidence shows it.
    pub party: Option<Party>,
}

/// How an amount was obtained, from the surest to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// A counter that the kernel or the processor keeps of just this.
    Counter,
    /// Durations of traced events.
    Tracepoint,
    /// A probe of ours measured it.
    Probe,
    /// A count of events times what one was measured to cost.
    Derived,
    /// Nothing is entered, because only a limit is known: it is at most the uncertainty.
    Bound,
}

/// Who keeps a clock low or takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Party {
    /// Settings of the operating system.
    OperatingSystem,
    /// Settings of the firmware.
    Firmware,
    /// The management controller (BMC).
    ManagementController,
    /// The hypervisor under a guest.
    Hypervisor,
    /// Power and heat.
    Physics,
}

impl Method {
    /// The word in output.
    pub fn name(self) -> &'static str {
        match self {
            Method::Counter => "counter",
            Method::Tracepoint => "tracepoint",
            Method::Probe => "probe",
            Method::Derived => "derived",
            Method::Bound => "bound",
        }
    }
}

impl Party {
    /// The words in output.
    pub fn name(self) -> &'static str {
        match self {
            Party::OperatingSystem => "operating system",
            Party::Firmware => "firmware",
            Party::ManagementController => "management controller",
            Party::Hypervisor => "hypervisor",
            Party::Physics => "physics",
        }
    }
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
