//! One round of sensors: `schemas/ipmi-sensors-2.json`.

use super::silence;
use crate::json::{Head, Opening, Time};
use facts::ipmi::{Threshold, Timestamp};
use lab::ipmi::sensors::{self, Board, Line, Round};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;
use std::collections::BTreeMap;

/// What the sensors read, and what happened since the round before.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SensorsDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    /// When the round began, by this machine's clock.
    at: Time<'static>,
    #[schemars(range(min = 0))]
    took_s: f64,
    /// The device, and what the controller says of itself.
    controller: &'a str,
    records: Records<'a>,
    /// Why the controller did not answer.
    error: Option<&'a str>,
    /// In the order of their records; null where the controller did not answer.
    sensors: Option<Vec<Sensor<'a>>>,
    /// What has happened since the round before.
    events: Vec<Event<'a>>,
    /// How many more the controller sent, too many to list.
    events_untold: u64,
}

/// Where the sensor records come from.
#[derive(Serialize, JsonSchema)]
struct Records<'a> {
    /// With those that are not about sensors.
    count: usize,
    /// Those that are not as the specification has them, and were left out.
    unreadable: usize,
    /// Whether they came from the disk, where the controller says that they have not changed.
    are_kept: bool,
    /// How many it took to fetch them; 0 from the disk.
    questions: u32,
    why_fetched: Option<&'a str>,
    /// Why the next time will fetch them, too.
    why_not_kept: Option<&'a str>,
}

/// A sensor, as it was read.
#[derive(Serialize, JsonSchema)]
struct Sensor<'a> {
    /// Not unique: owner and number are.
    name: &'a str,
    number: u8,
    owner: Owner,
    entity: Entity,
    /// In the words of IPMI 2.0, table 42-3.
    r#type: String,
    /// null of a sensor without values.
    unit: Option<String>,
    /// null of a sensor without values, and where there is no reading.
    value: Option<f64>,
    /// The worst threshold that is passed; null of a sensor without thresholds, and where there is no reading.
    level: Option<Level>,
    /// The thresholds that are passed, or the states that it is in; null where there is no reading.
    states: Option<Vec<String>>,
    /// Why there is no reading; null where there is one.
    why_none: Option<String>,
    /// In its unit; empty without --thresholds.
    #[schemars(extend("propertyNames" = { "enum": [
        "lower_non_critical", "lower_critical", "lower_non_recoverable",
        "upper_non_critical", "upper_critical", "upper_non_recoverable"
    ] }))]
    thresholds: BTreeMap<&'static str, f64>,
}

/// Who reads a sensor: an address on the bus, the channel of that, and the logical unit.
#[derive(Serialize, JsonSchema)]
struct Owner {
    id: u8,
    channel: u8,
    lun: u8,
}

/// What a sensor measures, by the numbers of IPMI 2.0, table 43-13.
#[derive(Serialize, JsonSchema)]
struct Entity {
    kind: u8,
    instance: u8,
}

/// The worst threshold that a reading has passed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Level {
    Ok,
    NonCritical,
    Critical,
    NonRecoverable,
}

/// Something that the controller reports.
#[derive(Serialize, JsonSchema)]
struct Event<'a> {
    /// By the controller's clock, which has no time zone; null where that is unknown.
    controller_time: Option<Time<'static>>,
    /// Where its clock was not set yet.
    controller_up_s: Option<u32>,
    /// The sensor's name; or its type and number, where no record has it.
    of: &'a str,
    what: &'a str,
    /// Whether the controller sent it by itself; else its log has it.
    is_sent: bool,
}

/// A round on one line.
pub fn line(head: &Head, board: Board<'_>, round: &Round) -> Result<String> {
    Ok(serde_json::to_string(&document(head, board, round))? + "\n")
}

/// A round on many lines.
pub fn pretty(head: &Head, board: Board<'_>, round: &Round) -> Result<String> {
    crate::json::pretty(&document(head, board, round))
}

fn document<'a>(head: &'a Head, board: Board<'a>, round: &'a Round) -> SensorsDocument<'a> {
    let origin = board.origin;
    SensorsDocument {
        opening: head.opening(),
        at: Time::of_ns(round.at_ns),
        took_s: round.took.as_secs_f64(),
        controller: board.name,
        records: Records {
            count: origin.n_records,
            unreadable: origin.n_unreadable,
            are_kept: origin.is_kept,
            questions: origin.questions,
            why_fetched: some(&origin.why),
            why_not_kept: some(&origin.unkept),
        },
        error: round.found.as_ref().err().map(String::as_str),
        sensors: round.found.as_ref().ok().map(|it| it.iter().map(sensor).collect()),
        events: round.events.iter().map(event).collect(),
        events_untold: round.n_untold,
    }
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|it| !it.is_empty())
}

fn sensor(line: &Line) -> Sensor<'_> {
    let sensor = &line.sensor;
    let level = line.level().map(|it| match it {
        sensors::Level::Ok => Level::Ok,
        sensors::Level::NonCritical => Level::NonCritical,
        sensors::Level::Critical => Level::Critical,
        sensors::Level::NonRecoverable => Level::NonRecoverable,
    });
    let (owner, entity) = (sensor.owner, sensor.entity);
    Sensor {
        name: &sensor.name,
        number: sensor.number,
        owner: Owner { id: owner.id, channel: owner.channel, lun: owner.lun },
        entity: Entity { kind: entity.kind, instance: entity.instance },
        r#type: sensor.sensor_type.to_string(),
        unit: sensor.analog.map(|_| sensor.unit.to_string()),
        value: line.value(),
        level,
        states: line.states(),
        why_none: silence(line),
        thresholds: line.thresholds.iter().map(|(it, value)| (name(*it), *value)).collect(),
    }
}

fn name(threshold: Threshold) -> &'static str {
    match threshold {
        Threshold::LowerNonCritical => "lower_non_critical",
        Threshold::LowerCritical => "lower_critical",
        Threshold::LowerNonRecoverable => "lower_non_recoverable",
        Threshold::UpperNonCritical => "upper_non_critical",
        Threshold::UpperCritical => "upper_critical",
        Threshold::UpperNonRecoverable => "upper_non_recoverable",
    }
}

fn event(event: &sensors::Event) -> Event<'_> {
    let (controller_time, controller_up_s) = match event.at {
        Some(Timestamp::Date(seconds)) => {
            (Some(Time::of_ns(u64::from(seconds) * 1_000_000_000)), None)
        }
        Some(Timestamp::SinceStart(seconds)) => (None, Some(seconds)),
        None => (None, None),
    };
    let (of, what) = (&*event.of, &*event.what);
    Event { controller_time, controller_up_s, of, what, is_sent: event.is_sent }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::{Round, pretty};
    use crate::schemas::checked;
    use serde_json::{Value, json};

    #[test]
    fn rounds_are_of_their_schema_with_and_without_an_answer() {
        let origin = sample::origin();
        let board = sample::board(&origin);
        let of = |round: &Round| checked("ipmi-sensors", |head| pretty(head, board, round));
        let (round, lost) = (of(&sample::round()), of(&sample::lost()));
        let [hot, absent, supply, silent] = &round["sensors"].as_array().unwrap()[..] else {
            panic!("{round:#}")
        };
        assert_eq!((&hot["value"], &hot["level"]), (&json!(96.5), &json!("critical")));
        assert_eq!(hot["thresholds"], json!({ "upper_critical": 95.0 }));
        assert_eq!(absent["why_none"], "no reading");
        assert_eq!(supply["states"][0], "Presence detected");
        assert_eq!((&silent["value"], &silent["states"]), (&Value::Null, &Value::Null));
        assert_eq!((&lost["sensors"], &lost["events"]), (&Value::Null, &json!([])));
    }
}
