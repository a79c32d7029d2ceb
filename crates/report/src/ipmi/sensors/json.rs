//! One round of sensors: `schemas/ipmi-sensors-1.json`.

use super::silence;
use crate::json::SCHEMA_VERSION;
use facts::ipmi::{Threshold, Timestamp};
use facts::utc::timestamp;
use lab::ipmi::sensors::{Board, Event, Level, Line, Round};
use serde_json::{Map, Value, json};

/// A round as JSON: `schemas/ipmi-sensors-1.json`.
pub fn json(board: Board<'_>, round: &Round) -> Value {
    let origin = board.origin;
    json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "at": timestamp(round.at_ns),
        "took_s": round.took.as_secs_f64(),
        "controller": board.name,
        "records": {
            "count": origin.n_records,
            "unreadable": origin.n_unreadable,
            "are_kept": origin.is_kept,
            "questions": origin.questions,
            "why_fetched": some(&origin.why),
            "why_not_kept": some(&origin.unkept),
        },
        "error": round.found.as_ref().err(),
        "sensors": round.found.as_ref().map_or(Value::Null, |it| it.iter().map(line).collect()),
        "events": round.events.iter().map(event).collect::<Vec<_>>(),
        "events_untold": round.n_untold,
    })
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|it| !it.is_empty())
}

fn line(line: &Line) -> Value {
    let sensor = &line.sensor;
    let level = line.level().map(|it| match it {
        Level::Ok => "ok",
        Level::NonCritical => "non-critical",
        Level::Critical => "critical",
        Level::NonRecoverable => "non-recoverable",
    });
    let thresholds: Map<String, Value> =
        line.thresholds.iter().map(|(it, value)| (name(*it).to_owned(), json!(value))).collect();
    json!({
        "name": sensor.name,
        "number": sensor.number,
        "owner": { "id": sensor.owner.id, "channel": sensor.owner.channel, "lun": sensor.owner.lun },
        "entity": { "kind": sensor.entity.kind, "instance": sensor.entity.instance },
        "type": sensor.sensor_type.to_string(),
        "unit": sensor.analog.map(|_| sensor.unit.to_string()),
        "value": line.value(),
        "level": level,
        "states": line.states(),
        "why_none": silence(line),
        "thresholds": thresholds,
    })
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

fn event(event: &Event) -> Value {
    let (date, since_start) = match event.at {
        Some(Timestamp::Date(seconds)) => {
            (Some(timestamp(u64::from(seconds) * 1_000_000_000)), None)
        }
        Some(Timestamp::SinceStart(seconds)) => (None, Some(seconds)),
        None => (None, None),
    };
    json!({
        "controller_time": date,
        "s_since_controller_start": since_start,
        "of": event.of,
        "what": event.what,
        "is_sent": event.is_sent,
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn rounds_are_of_their_schema_with_and_without_an_answer() {
        let schema = include_str!("../../../../../schemas/ipmi-sensors-1.json");
        let schema: Value = serde_json::from_str(schema).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        let origin = sample::origin();
        let board = sample::board(&origin);
        let (round, lost) = (json(board, &sample::round()), json(board, &sample::lost()));
        for value in [&round, &lost] {
            schema.validate(value).unwrap_or_else(|why| panic!("{why}: {value:#}"));
        }
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
