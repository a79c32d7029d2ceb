//! The shape every metric has: a value made of two counters and the time between them.

use crate::interval::Interval;
use facts::{Fact, PerCpu};

/// One quantity of a host over an interval.
///
/// What is declared here is all that any output knows of it: table, JSON, CSV, screen and documentation.
pub struct Metric {
    /// A noun that reads well as a column: `busy-mhz`. Also the name of its file.
    pub id: &'static str,
    /// The same in a few words, for a list.
    pub title: &'static str,
    /// The heading of its column: at most eight characters, as turbostat has them.
    pub column: &'static str,
    /// What its values are counted in.
    pub unit: Unit,
    /// How values of several CPUs or intervals go together.
    pub kind: Kind,
    /// Markdown: what it is, where it comes from, what it cannot know.
    pub help: &'static str,
    /// Makes it of an interval.
    pub measure: fn(&Interval) -> Fact<Vec<Series>>,
}

/// The values of one metric, or of one part of it: a kind of interrupt, an idle state.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Which part; empty where the metric is one thing.
    pub part: String,
    /// Of what the values are.
    pub values: Values,
}

/// Values by what they belong to.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// One for each CPU that was online.
    Cpus(PerCpu<f64>),
    /// One for each package, by the CPU that was asked for it.
    Packages(PerCpu<f64>),
    /// One for the whole host.
    Host(Fact<f64>),
}

/// What a metric's values are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Of the interval, 100 being all of it.
    Percent,
    /// Millions of cycles a second.
    Megahertz,
    /// Events a second.
    PerSecond,
    /// Watts.
    Watts,
    /// Degrees Celsius.
    Celsius,
    /// Milliseconds a second.
    MillisecondsPerSecond,
}

/// How values of several CPUs go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// They add up: events a second, watts.
    Sum,
    /// Their mean is that of the machine: shares of time.
    Mean,
    /// Neither: a clock, a temperature. The highest is shown.
    Peak,
}

impl Unit {
    /// As written behind a number.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Percent => "%",
            Unit::Megahertz => "MHz",
            Unit::PerSecond => "/s",
            Unit::Watts => "W",
            Unit::Celsius => "°C",
            Unit::MillisecondsPerSecond => "ms/s",
        }
    }
}
