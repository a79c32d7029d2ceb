//! Sensors of a controller, as they were read, and what it reports of them.

use facts::ipmi::{RecordsOrigin, Sensor, SensorValue, Threshold, Timestamp, Unanswered};
use std::time::Duration;

/// What was asked.
#[derive(Clone, Copy)]
pub struct Board<'a> {
    /// The device, and what the controller says of itself.
    pub name: &'a str,
    /// Where its sensor records come from.
    pub origin: &'a RecordsOrigin,
}

/// All sensors, read once.
pub struct Round {
    /// When it began, in nanoseconds since 1970.
    pub at_ns: u64,
    /// How long it took.
    pub took: Duration,
    /// In the order of their records; or why the controller did not answer.
    pub found: Result<Vec<Line>, String>,
    /// What has happened since the round before.
    pub events: Vec<Event>,
    /// How many events the controller sent besides, too many to tell.
    pub n_untold: u64,
}

/// One sensor, as it was read.
#[derive(Clone, PartialEq)]
pub struct Line {
    /// The sensor.
    pub sensor: Sensor,
    /// What it read, or what the controller answered instead.
    pub measured: Result<SensorValue, Unanswered>,
    /// In the sensor's unit; empty where nobody asked.
    pub thresholds: Vec<(Threshold, f64)>,
}

/// Something that the controller reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, by the controller's clock.
    pub at: Option<Timestamp>,
    /// What it is about: a sensor's name, or its type and number.
    pub of: String,
    /// The event, in words.
    pub what: String,
    /// Whether the controller sent it by itself; else the log has it.
    pub is_sent: bool,
}

/// The worst threshold that a reading has passed, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No threshold is crossed.
    Ok,
    /// A non-critical one.
    NonCritical,
    /// A critical one.
    Critical,
    /// A non-recoverable one.
    NonRecoverable,
}

impl Level {
    fn of(threshold: Threshold) -> Level {
        match threshold {
            Threshold::LowerNonCritical | Threshold::UpperNonCritical => Level::NonCritical,
            Threshold::LowerCritical | Threshold::UpperCritical => Level::Critical,
            Threshold::LowerNonRecoverable | Threshold::UpperNonRecoverable => {
                Level::NonRecoverable
            }
        }
    }
}

impl Line {
    /// The value that was read, in the sensor's unit.
    pub fn value(&self) -> Option<f64> {
        self.measured.as_ref().ok()?.value
    }

    /// The specification's words for what it says besides a value; none where it says nothing.
    pub fn states(&self) -> Option<Vec<String>> {
        self.sensor.states(&self.measured.as_ref().ok()?.reading)
    }

    /// The worst threshold that is passed; none for a sensor without thresholds, or without a reading.
    pub fn level(&self) -> Option<Level> {
        let passed = self.sensor.passed(&self.measured.as_ref().ok()?.reading)?;
        Some(passed.iter().map(Level::of).max().unwrap_or(Level::Ok))
    }
}
