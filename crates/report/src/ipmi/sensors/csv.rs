//! Sensors as CSV: a line for each sensor of each round.

use super::silence;
use crate::harmless::csv_line;
use facts::ipmi::Threshold;
use facts::utc::timestamp;
use lab::ipmi::sensors::{Level, Line, Round};

/// The thresholds, in the order of their columns.
const THRESHOLDS: [Threshold; 6] = [
    Threshold::LowerNonRecoverable,
    Threshold::LowerCritical,
    Threshold::LowerNonCritical,
    Threshold::UpperNonCritical,
    Threshold::UpperCritical,
    Threshold::UpperNonRecoverable,
];

/// The names of the columns.
pub fn csv_heading() -> String {
    "at,sensor,owner,number,type,value,unit,level,states,why_none,lower_non_recoverable,lower_critical,\
     lower_non_critical,upper_non_critical,upper_critical,upper_non_recoverable\n"
        .to_owned()
}

/// The lines of a round; none where the controller did not answer.
pub fn csv(round: &Round) -> String {
    let at = timestamp(round.at_ns);
    round.found.iter().flatten().map(|it| row(&at, it)).collect()
}

fn row(at: &str, line: &Line) -> String {
    let sensor = &line.sensor;
    let number = |value: f64| value.to_string();
    let level = match line.level() {
        None => "",
        Some(Level::Ok) => "ok",
        Some(Level::NonCritical) => "non-critical",
        Some(Level::Critical) => "critical",
        Some(Level::NonRecoverable) => "non-recoverable",
    };
    let first = [
        at.to_owned(),
        sensor.name.clone(),
        format!("{:#04x}.{}", sensor.owner.id, sensor.owner.lun),
        sensor.number.to_string(),
        sensor.sensor_type.to_string(),
        line.value().map(number).unwrap_or_default(),
        line.value().map(|_| sensor.unit.to_string()).unwrap_or_default(),
        level.to_owned(),
        line.states().unwrap_or_default().join("; "),
        silence(line).unwrap_or_default(),
    ];
    let of = |wanted: Threshold| {
        let found = line.thresholds.iter().find(|(it, _)| *it == wanted);
        found.map(|(_, value)| number(*value)).unwrap_or_default()
    };
    let cells: Vec<String> = first.into_iter().chain(THRESHOLDS.map(of)).collect();
    csv_line(&cells)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn each_sensor_is_a_line_with_as_many_cells_as_names() {
        let text = csv_heading() + &csv(&sample::round());
        insta::assert_snapshot!(text);
        // Of these sensors, one has a comma in a cell, which is quoted.
        let lines = text.lines().map(|it| it.replace("sensor, record", "sensor record"));
        assert!(lines.map(|it| it.matches(',').count()).all(|it| it == 15), "{text}");
        assert_eq!(csv(&sample::lost()), "");
    }
}
