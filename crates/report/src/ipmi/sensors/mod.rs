//! Sensors of the management controller: a document of a round, lines of what changes, CSV, JSON, and what Prometheus reads.

mod csv;
mod document;
mod json;
mod lines;
mod metrics;

pub use csv::{csv, csv_heading};
pub use document::document;
pub(crate) use json::SensorsDocument;
pub use json::{line, pretty};
pub use lines::{changed, event, untold};
pub use metrics::metrics;

use facts::ipmi::{Threshold, Timestamp};
use facts::utc::timestamp;
use lab::ipmi::sensors::Line;

/// Why there is no reading; none where there is one.
fn silence(line: &Line) -> Option<String> {
    match &line.measured {
        Err(why) => Some(why.to_string()),
        Ok(it) if !it.reading.is_scanned => Some("not scanned".to_owned()),
        Ok(it) if !it.reading.is_available => Some("no reading".to_owned()),
        Ok(_) => None,
    }
}

/// The text of the column State.
fn state(line: &Line) -> String {
    match (silence(line), line.states()) {
        (Some(silence), _) => silence,
        (None, None) => "no states".to_owned(),
        (None, Some(states)) if !states.is_empty() => states.join(", "),
        (None, Some(_)) if line.level().is_some() => "ok".to_owned(),
        (None, Some(_)) => "-".to_owned(),
    }
}

/// As ipmitool prints it: whole numbers without decimals, others with two.
fn figure(value: f64) -> String {
    if value == value.trunc() { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// The short names of `ipmitool sensor`.
fn short_name(threshold: Threshold) -> &'static str {
    match threshold {
        Threshold::LowerNonCritical => "lnc",
        Threshold::LowerCritical => "lcr",
        Threshold::LowerNonRecoverable => "lnr",
        Threshold::UpperNonCritical => "unc",
        Threshold::UpperCritical => "ucr",
        Threshold::UpperNonRecoverable => "unr",
    }
}

/// `unc 90, ucr 95`, for each threshold of a sensor.
fn thresholds(line: &Line) -> String {
    let shown = |(threshold, value): &(Threshold, f64)| {
        format!("{} {}", short_name(*threshold), figure(*value))
    };
    line.thresholds.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// When something was, by the controller's clock.
fn when(at: Option<Timestamp>) -> String {
    match at {
        None => "at an unknown time".to_owned(),
        Some(Timestamp::SinceStart(seconds)) => {
            format!("{seconds} s after the controller's start")
        }
        Some(Timestamp::Date(seconds)) => {
            let text = timestamp(u64::from(seconds) * 1_000_000_000);
            format!("{} by its clock", text.get(..19).unwrap_or(&text).replace('T', " "))
        }
    }
}

#[cfg(test)]
mod sample {
    use facts::ipmi::{
        Question, Reading, RecordsOrigin, SensorRecord, SensorValue, Threshold, Timestamp,
        Unanswered,
    };
    use lab::ipmi::sensors::{Board, Event, Line, Round};
    use std::time::Duration;

    /// What the controller answers a question with, after the completion code.
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
