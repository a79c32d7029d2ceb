//! One round of sensors for Prometheus, as the textfile collector of its node exporter takes it.
//!
//! Names and units are stable. A sensor is told apart by its owner and number: names are not unique.

use crate::openmetrics::Exposition;
use facts::ipmi::{Unit, UnitModifier};
use lab::ipmi::sensors::{Line, Round};

/// The families of values: the unit's number, name, how it ends, and what it is.
const VALUES: [(u8, &str, &str, &str); 5] = [
    (Unit::DEGREES_C, "fullclock_ipmi_temperature_celsius", "celsius", "A temperature"),
    (Unit::RPM, "fullclock_ipmi_fan_speed_rpm", "rpm", "The speed of a fan"),
    (Unit::VOLTS, "fullclock_ipmi_voltage_volts", "volts", "A voltage"),
    (Unit::AMPS, "fullclock_ipmi_current_amperes", "amperes", "A current"),
    (Unit::WATTS, "fullclock_ipmi_power_watts", "watts", "A power"),
];

/// The family of values that have another unit.
const OTHER: &str = "fullclock_ipmi_sensor_value";

/// A round as OpenMetrics.
pub fn metrics(round: &Round) -> String {
    // The collector takes the older format.
    let mut page = Exposition::begin(false);
    let lines = round.found.as_deref().unwrap_or_default();
    page.family("fullclock_ipmi_up", "Whether the controller answered in the last round", "");
    page.sample("fullclock_ipmi_up", &[], f64::from(u8::from(round.found.is_ok())));
    let seconds = "fullclock_ipmi_round_seconds";
    page.family(seconds, "How long the last round took", "seconds");
    page.sample(seconds, &[], round.took.as_secs_f64());
    for (base, name, unit, help) in VALUES {
        let of_unit = |it: &&Line| family(it) == Some(base);
        values(&mut page, (name, unit, help), lines.iter().filter(of_unit), false);
    }
    let others = lines.iter().filter(|it| family(it).is_none());
    values(&mut page, (OTHER, "", "The value of a sensor, in its own unit"), others, true);
    states(&mut page, lines);
    page.finish()
}

/// The number of a unit that has a family of its own.
fn family(line: &Line) -> Option<u8> {
    let unit = line.sensor.unit;
    let is_plain = unit.modifier == UnitModifier::None && unit.rate.is_none();
    Some(unit.base).filter(|base| is_plain && VALUES.iter().any(|(it, ..)| it == base))
}

fn values<'a>(
    page: &mut Exposition,
    (name, unit, help): (&str, &str, &str),
    lines: impl Iterator<Item = &'a Line>,
    names_unit: bool,
) {
    let mut lines = lines.filter_map(|it| Some((it, it.value()?))).peekable();
    if lines.peek().is_some() {
        page.family(name, help, unit);
    }
    for (line, value) in lines {
        let unit = line.sensor.unit.to_string();
        let more: &[(&str, &str)] = if names_unit { &[("unit", &unit)] } else { &[] };
        sample(page, name, line, more, value);
    }
}

fn states(page: &mut Exposition, lines: &[Line]) {
    const LEVEL: &str = "fullclock_ipmi_sensor_state";
    const ASSERTED: &str = "fullclock_ipmi_sensor_asserted";
    let help =
        "The worst threshold that is passed: 0 none, 1 non-critical, 2 critical, 3 non-recoverable";
    page.family(LEVEL, help, "");
    for line in lines {
        if let Some(level) = line.level() {
            sample(page, LEVEL, line, &[], f64::from(level as u8));
        }
    }
    page.family(ASSERTED, "A state that a sensor without thresholds is in", "");
    for line in lines.iter().filter(|it| it.level().is_none()) {
        for state in line.states().into_iter().flatten() {
            sample(page, ASSERTED, line, &[("state", &state)], 1.0);
        }
    }
}

/// A sample of one sensor.
fn sample(page: &mut Exposition, name: &str, line: &Line, more: &[(&str, &str)], value: f64) {
    let sensor = &line.sensor;
    let owner = format!("{:#04x}.{}", sensor.owner.id, sensor.owner.lun);
    let entity = format!("{}.{}", sensor.entity.kind, sensor.entity.instance);
    let number = sensor.number.to_string();
    let labels =
        [("sensor", &sensor.name[..]), ("owner", &owner), ("number", &number), ("entity", &entity)];
    page.sample(name, &[&labels[..], more].concat(), value);
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn families_stand_together_and_say_what_they_are() {
        insta::assert_snapshot!(metrics(&sample::round()), @r#"
        # HELP fullclock_ipmi_up Whether the controller answered in the last round
        # TYPE fullclock_ipmi_up gauge
        fullclock_ipmi_up 1
        # HELP fullclock_ipmi_round_seconds How long the last round took
        # TYPE fullclock_ipmi_round_seconds gauge
        fullclock_ipmi_round_seconds 0.12
        # HELP fullclock_ipmi_temperature_celsius A temperature
        # TYPE fullclock_ipmi_temperature_celsius gauge
        fullclock_ipmi_temperature_celsius{sensor="CPU1 Temp",owner="0x20.0",number="1",entity="3.1"} 96.5
        # HELP fullclock_ipmi_sensor_state The worst threshold that is passed: 0 none, 1 non-critical, 2 critical, 3 non-recoverable
        # TYPE fullclock_ipmi_sensor_state gauge
        fullclock_ipmi_sensor_state{sensor="CPU1 Temp",owner="0x20.0",number="1",entity="3.1"} 2
        # HELP fullclock_ipmi_sensor_asserted A state that a sensor without thresholds is in
        # TYPE fullclock_ipmi_sensor_asserted gauge
        fullclock_ipmi_sensor_asserted{sensor="PSU1",owner="0x20.0",number="3",entity="3.1",state="Presence detected"} 1
        fullclock_ipmi_sensor_asserted{sensor="PSU1",owner="0x20.0",number="3",entity="3.1",state="Power Supply input lost (AC/DC)"} 1
        "#);
    }

    #[test]
    fn a_controller_that_does_not_answer_has_no_values() {
        let text = metrics(&sample::lost());
        assert!(text.contains("\nfullclock_ipmi_up 0\n"), "{text}");
        assert!(!text.contains("sensor="), "{text}");
    }
}
