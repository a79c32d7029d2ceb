//! Power: `schemas/ipmi-power-2.json`.

use super::conclusion;
use crate::json::{Head, Opening, pretty};
use facts::Microwatts;
use facts::ipmi::PowerLimit;
use lab::ipmi::power::{self, Power};
use rules::power_cap;
use rules::prochot::Since;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// The board's power against the controller's limit, and the PROCHOT# signals sampled with it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PowerDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    /// The device, and what the controller says of itself.
    controller: &'a str,
    /// The power limit that the controller says is in force when the first sample is taken; null where none is.
    limit: Option<Limit>,
    /// The time between two samples.
    #[schemars(extend("exclusiveMinimum" = 0))]
    interval_s: f64,
    /// What the board drew, by the samples; null where none has a reading.
    drawn: Option<Drawn>,
    /// The registers that show PROCHOT# and the processors' own power limits; null where none could be read.
    registers: Option<&'a [String]>,
    why_no_registers: Option<&'a str>,
    /// In how many samples some of the registers could not be read, or all; null where there are none.
    samples_with_unread_registers: Option<usize>,
    together: Together,
    #[schemars(length(min = 1))]
    samples: Vec<Sample<'a>>,
}

/// A power limit.
#[derive(Serialize, JsonSchema)]
struct Limit {
    #[schemars(extend("exclusiveMinimum" = 0))]
    power_w: f64,
    /// How long the board may be above the limit before the action follows.
    #[schemars(range(min = 0))]
    correction_time_s: f64,
    #[schemars(range(min = 0))]
    sampling_period_s: f64,
    /// What follows then, as DCMI numbers it: 1 switches the machine off, 17 logs an event.
    exception_action: u8,
    exception_action_words: String,
}

/// What the board drew.
#[derive(Serialize, JsonSchema)]
struct Drawn {
    #[schemars(range(min = 0))]
    min_w: f64,
    #[schemars(range(min = 0))]
    mean_w: f64,
    #[schemars(range(min = 0))]
    max_w: f64,
}

/// The samples in which both the board's power and PROCHOT# are known, counted.
#[derive(Serialize, JsonSchema)]
struct Together {
    samples: usize,
    /// With the board at 95 % of its limit or more.
    at_limit: usize,
    /// With PROCHOT# pulled, at the moment or since the sample before.
    prochot: usize,
    both: usize,
    relation: Relation,
    /// The same in a sentence.
    conclusion: String,
}

/// How PROCHOT# and the limit are related.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Relation {
    /// No sample has both.
    Unknown,
    /// PROCHOT# was never pulled.
    NeverPulled,
    /// It was pulled at the limit alone.
    Together,
    /// The board was at its limit all the time: there is nothing to compare with.
    AlwaysAtLimit,
    /// It was pulled at the limit at least twice as often as below it.
    Mostly,
    /// It was pulled neither way.
    Apart,
}

/// One moment.
#[derive(Serialize, JsonSchema)]
struct Sample<'a> {
    /// Since the first.
    #[schemars(range(min = 0))]
    after_s: f64,
    power_w: Option<f64>,
    why_no_power: Option<&'a str>,
    /// null without a limit or a reading.
    at_limit: Option<bool>,
    /// null where no register shows it.
    prochot: Option<Signal>,
    /// null where no register shows it.
    power_limit: Option<Signal>,
}

/// What the registers of all CPUs say.
#[derive(Serialize, JsonSchema)]
struct Signal {
    /// It holds a clock down at the moment of the sample.
    is_active: bool,
    /// Its log was clear at the sample before and is set: it held a clock down in between. Logs are never cleared here, so each
    /// tells once.
    has_begun: bool,
}

/// Power as JSON.
pub fn json(head: &Head, power: &Power) -> Result<String> {
    let drawn = power.drawn();
    pretty(&PowerDocument {
        opening: head.opening(),
        controller: &power.name,
        limit: power.limit.as_ref().map(limit),
        interval_s: power.interval.as_secs_f64(),
        drawn: drawn.map(|it| Drawn {
            min_w: watts(it.least),
            mean_w: watts(it.mean),
            max_w: watts(it.most),
        }),
        registers: power.registers.as_deref().ok(),
        why_no_registers: power.registers.as_ref().err().map(String::as_str),
        samples_with_unread_registers: power.n_partial(),
        together: together(power),
        samples: power.samples.iter().map(|it| sample(power, it)).collect(),
    })
}

fn limit(limit: &PowerLimit) -> Limit {
    Limit {
        power_w: watts(limit.power),
        correction_time_s: limit.correction.as_secs_f64(),
        sampling_period_s: limit.sampling.as_secs_f64(),
        exception_action: limit.action.0,
        exception_action_words: limit.action.to_string(),
    }
}

fn together(power: &Power) -> Together {
    let counts = power.counts();
    Together {
        samples: counts.n_moments,
        at_limit: counts.n_at_limit,
        prochot: counts.n_pulled,
        both: counts.n_both,
        relation: match counts.relation() {
            power_cap::Relation::Unknown => Relation::Unknown,
            power_cap::Relation::NeverPulled => Relation::NeverPulled,
            power_cap::Relation::Together => Relation::Together,
            power_cap::Relation::AlwaysAtLimit => Relation::AlwaysAtLimit,
            power_cap::Relation::Mostly => Relation::Mostly,
            power_cap::Relation::Apart => Relation::Apart,
        },
        conclusion: conclusion(power),
    }
}

fn sample<'a>(power: &Power, sample: &'a power::Sample) -> Sample<'a> {
    let reading = sample.reading.as_ref();
    Sample {
        after_s: sample.at.as_secs_f64(),
        power_w: reading.ok().map(|it| watts(it.current)),
        why_no_power: reading.err().map(String::as_str),
        at_limit: power.is_at_limit(sample),
        prochot: sample.signals.and_then(|it| it.prochot).map(signal),
        power_limit: sample.signals.and_then(|it| it.power_limit).map(signal),
    }
}

fn signal(since: Since) -> Signal {
    Signal { is_active: since.is_active, has_begun: since.has_begun }
}

fn watts(power: Microwatts) -> f64 {
    power.0 as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::super::fixture::power;
    use super::json as power_json;
    use crate::schemas::checked;
    use lab::ipmi::power::Power;
    use serde_json::{Value, json};

    fn value(power: &Power) -> Value {
        checked("ipmi-power", |head| power_json(head, power))
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
