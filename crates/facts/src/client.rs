//! What a load generator says of itself while the machine is watched: numbers such as transactions per second, and lines that
//! mark a phase. Each is kept with the moment at which it was read.

/// The longest text of a mark, in characters.
pub const LONGEST_MARK: usize = 120;
/// The most numbers that are kept between two samples: a client that prints more often is no progress report.
pub const MOST_NUMBERS: usize = 4096;
/// The most marks that are kept between two samples.
pub const MOST_MARKS: usize = 64;
/// The longest name of a client or a unit, in bytes.
pub const LONGEST_NAME: usize = 64;

/// What was read of a client since the sample before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientSample {
    /// What its numbers are; `None` where only marks are kept.
    pub metric: Option<ClientMetric>,
    /// Its numbers, at most [`MOST_NUMBERS`].
    pub heard: Vec<Heard>,
    /// Its marks, at most [`MOST_MARKS`].
    pub marks: Vec<MarkText>,
}

/// What the numbers of a client are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMetric {
    /// The client: `pgbench`. Empty where the user gave an expression instead.
    pub client: String,
    /// The unit: `tps`. Empty where the user gave an expression.
    pub unit: String,
}

impl ClientMetric {
    /// What to call the client in a sentence and a column.
    pub fn name(&self) -> &str {
        if self.client.is_empty() { "client" } else { &self.client }
    }
}

/// A number that the client printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard {
    /// When it was read, by CLOCK_MONOTONIC_RAW in nanoseconds.
    pub at: u64,
    /// In the unit of [`ClientMetric`]; finite.
    pub value: f64,
}

/// A line of the client that marks a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkText {
    /// When it was read, by CLOCK_MONOTONIC_RAW in nanoseconds.
    pub at: u64,
    /// The line, without secrets and control characters, at most [`LONGEST_MARK`] characters.
    pub text: String,
}
