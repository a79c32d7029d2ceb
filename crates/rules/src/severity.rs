//! How much a finding hurts: the steps, from a note to a host that does not do its work.

/// How much a finding hurts a database server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing to do.
    Info,
    /// Costs little, or only at times.
    Low,
    /// Costs some percent, or much at times.
    Medium,
    /// Costs tens of percent.
    High,
    /// The host does not do its work at all at the clock it has.
    Critical,
}

impl Severity {
    /// From the least to the worst.
    pub const ALL: [Severity; 5] =
        [Severity::Info, Severity::Low, Severity::Medium, Severity::High, Severity::Critical];

    /// The word in options and output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
            Severity::Critical => "critical",
        }
    }
}
