//! Power as JSON: `schemas/ipmi-power-1.json`.

use super::conclusion;
use crate::json::{SCHEMA_VERSION, pretty};
use facts::Microwatts;
use facts::ipmi::PowerLimit;
use lab::ipmi::power::{Power, Sample};
use rules::power_cap::Relation;
use rules::prochot::Since;
use serde_json::{Result, Value, json};

/// Power as JSON: `schemas/ipmi-power-1.json`.
pub fn json(power: &Power) -> Result<String> {
    let drawn = power.drawn().map(
        |it| json!({ "min_w": watts(it.least), "mean_w": watts(it.mean), "max_w": watts(it.most) }),
    );
    let counts = power.counts();
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "controller": power.name,
        "limit": power.limit.as_ref().map(limit),
        "interval_s": power.interval.as_secs_f64(),
        "drawn": drawn,
        "registers": power.registers.as_deref().ok(),
        "why_no_registers": power.registers.as_ref().err(),
        "samples_with_unread_registers": power.n_partial(),
        "together": {
            "samples": counts.n_moments,
            "at_limit": counts.n_at_limit,
            "prochot": counts.n_pulled,
            "both": counts.n_both,
            "relation": relation(counts.relation()),
            "conclusion": conclusion(power),
        },
        "samples": power.samples.iter().map(|it| sample(power, it)).collect::<Vec<_>>(),
    }))
}

fn limit(limit: &PowerLimit) -> Value {
    json!({
        "power_w": watts(limit.power),
        "correction_time_s": limit.correction.as_secs_f64(),
        "sampling_period_s": limit.sampling.as_secs_f64(),
        "exception_action": limit.action.0,
        "exception_action_words": limit.action.to_string(),
    })
}

fn sample(power: &Power, sample: &Sample) -> Value {
    let reading = sample.reading.as_ref();
    json!({
        "at_s": sample.at.as_secs_f64(),
        "power_w": reading.ok().map(|it| watts(it.current)),
        "why_no_power": reading.err(),
        "at_limit": power.is_at_limit(sample),
        "prochot": sample.signals.and_then(|it| it.prochot).map(signal),
        "power_limit": sample.signals.and_then(|it| it.power_limit).map(signal),
    })
}

fn signal(since: Since) -> Value {
    json!({ "is_active": since.is_active, "has_begun": since.has_begun })
}

fn watts(power: Microwatts) -> f64 {
    power.0 as f64 / 1e6
}

fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::Unknown => "unknown",
        Relation::NeverPulled => "never-pulled",
        Relation::Together => "together",
        Relation::AlwaysAtLimit => "always-at-limit",
        Relation::Mostly => "mostly",
        Relation::Apart => "apart",
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::power;
    use super::*;

    fn value(power: &Power) -> Value {
        let value: Value = serde_json::from_str(&json(power).unwrap()).unwrap();
        let schema = include_str!("../../../../../schemas/ipmi-power-1.json");
        let schema: Value = serde_json::from_str(schema).unwrap();
        jsonschema::validator_for(&schema).unwrap().validate(&value).unwrap();
        value
    }

    #[test]
    fn data_say_what_there_is_and_are_of_their_schema() {
        let told = value(&power(&[(310, ""), (490, "P"), (0, "L"), (480, "?")]));
        assert_eq!(
            (&told["limit"]["power_w"], &told["drawn"]["max_w"]),
            (&json!(500.0), &json!(490.0))
        );
        assert_eq!(told["together"]["relation"], "together");
        assert_eq!(
            (&told["together"]["samples"], &told["together"]["both"]),
            (&json!(2), &json!(1))
        );
        let samples = &told["samples"];
        assert_eq!(
            (&samples[1]["at_limit"], &samples[2]["at_limit"]),
            (&json!(true), &Value::Null)
        );
        assert_eq!(samples[2]["prochot"]["has_begun"], true);
        assert_eq!(told["samples_with_unread_registers"], 1);
        assert_eq!((&samples[3]["prochot"], &samples[2]["power_w"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn a_signal_that_no_register_tells_of_is_null_and_not_inactive() {
        let mut untold = power(&[(310, "P")]);
        untold.samples[0].signals.as_mut().unwrap().power_limit = None;
        let told = value(&untold);
        assert_eq!(told["samples"][0]["power_limit"], Value::Null);
        assert_eq!(told["samples"][0]["prochot"]["is_active"], true);
    }

    #[test]
    fn no_limit_and_no_registers_are_null_with_a_reason() {
        let mut free = power(&[(310, "?")]);
        free.limit = None;
        free.registers = Err("no device".to_owned());
        let told = value(&free);
        assert_eq!((&told["limit"], &told["registers"]), (&Value::Null, &Value::Null));
        assert_eq!(told["samples_with_unread_registers"], Value::Null);
        assert_eq!(
            (&told["why_no_registers"], &told["together"]["relation"]),
            (&json!("no device"), &json!("unknown"))
        );
    }
}
