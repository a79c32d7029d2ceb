//! Sensors of the management controller: a table, then what changes; JSON; and what Prometheus reads.

mod json;
mod metrics;
mod text;

pub use json::json;
pub use metrics::metrics;
pub use text::{changed, event, heading, table, untold};

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
    /// What happened.
    pub what: String,
    /// Whether the controller sent it by itself; else the log has it.
    pub is_sent: bool,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Ok,
    NonCritical,
    Critical,
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
    fn value(&self) -> Option<f64> {
        self.measured.as_ref().ok()?.value
    }

    /// The specification's words for what it says besides a value; none where it says nothing.
    fn states(&self) -> Option<Vec<String>> {
        self.sensor.states(&self.measured.as_ref().ok()?.reading)
    }

    /// The worst threshold that is passed; none for a sensor without thresholds, or without a reading.
    fn level(&self) -> Option<Level> {
        let passed = self.sensor.passed(&self.measured.as_ref().ok()?.reading)?;
        Some(passed.iter().map(Level::of).max().unwrap_or(Level::Ok))
    }

    /// Why there is no reading; none where there is one.
    fn silence(&self) -> Option<String> {
        match &self.measured {
            Err(why) => Some(why.to_string()),
            Ok(it) if !it.reading.is_scanned => Some("not scanned".to_owned()),
            Ok(it) if !it.reading.is_available => Some("no reading".to_owned()),
            Ok(_) => None,
        }
    }

    /// What stands behind its value.
    fn state(&self) -> String {
        match (self.silence(), self.states()) {
            (Some(silence), _) => silence,
            (None, None) => "no states".to_owned(),
            (None, Some(states)) if !states.is_empty() => states.join(", "),
            (None, Some(_)) if self.level().is_some() => "ok".to_owned(),
            (None, Some(_)) => "-".to_owned(),
        }
    }
}

/// As ipmitool prints it: whole numbers without decimals, others with two.
fn figure(value: f64) -> String {
    if value == value.trunc() { format!("{value:.0}") } else { format!("{value:.2}") }
}

#[cfg(test)]
mod sample {
    use super::*;
    use facts::ipmi::{Question, Reading, SensorRecord};

    /// What the controller answers a question with, behind the completion code.
    fn answered<T>(question: &Question<T>, data: &[u8]) -> T {
        let data = [&[0][..], data].concat();
        question.answered(question.function | 1, question.command, &data).unwrap()
    }

    /// A sensor of this type, read as `reading`; a temperature is doubled.
    fn line(number: u8, name: &str, kinds: [u8; 2], value: Option<f64>, reading: &[u8]) -> Line {
        let [sensor_type, reading_type] = kinds;
        let length = u8::try_from(name.len()).unwrap();
        let header = [number, 0, 0x51, 1, 43 + length];
        let who =
            [0x20, 0, number, 3, 1, 0x7f, 0x68, sensor_type, reading_type, 0, 0, 0, 0, 0x12, 0];
        let unit = if reading_type == 1 { [0, sensor_type, 0] } else { [0xc0, 0, 0] };
        let scale = [0, 2, 0, 0, 0, 0, 0, 0];
        let body = [&header[..], &who, &unit, &scale, &[0; 16], &[0xc0 | length], name.as_bytes()];
        let sensor = SensorRecord::parse(&body.concat()).unwrap().into_sensors().remove(0);
        let reading = answered(&Reading::question(number), reading);
        Line { sensor, measured: Ok(SensorValue { reading, value }), thresholds: Vec::new() }
    }

    pub(super) fn board(origin: &RecordsOrigin) -> Board<'_> {
        Board { name: "/dev/ipmi0: device 0x20", origin }
    }

    pub(super) fn origin() -> RecordsOrigin {
        RecordsOrigin {
            is_kept: true,
            n_records: 4,
            n_unreadable: 1,
            questions: 0,
            why: String::new(),
            unkept: String::new(),
        }
    }

    /// A temperature that is too high, one that is not read, a state, and a sensor that is not answered for.
    pub(super) fn round() -> Round {
        let mut hot = line(1, "CPU1 Temp", [1, 1], Some(96.5), &[48, 0xc0, 0x18]);
        hot.thresholds = vec![(Threshold::UpperCritical, 95.0)];
        let absent = line(2, "CPU2 Temp", [1, 1], None, &[0, 0xe0, 0xc0]);
        let supply = line(3, "PSU1", [8, 0x6f], None, &[0, 0xc0, 0x09, 0x80]);
        let mut silent = line(4, "FAN \"1\"", [4, 1], None, &[0, 0xc0, 0xc0]);
        silent.measured = Err(Unanswered::Refused(facts::ipmi::Completion::NOT_PRESENT));
        let event = Event {
            at: Some(Timestamp::Date(1_600_000_000)),
            of: "CPU1 Temp".to_owned(),
            what: "Upper Critical going high".to_owned(),
            is_sent: false,
        };
        Round {
            at_ns: 1_795_464_000_500_000_000,
            took: Duration::from_millis(120),
            found: Ok(vec![hot, absent, supply, silent]),
            events: vec![event],
            n_untold: 3,
        }
    }

    pub(super) fn lost() -> Round {
        let why = Err("/dev/ipmi0: no answer to Get Sensor Reading in 30 s".to_owned());
        Round { found: why, events: Vec::new(), n_untold: 0, ..round() }
    }
}
