//! The study of kipmid's limit: `schemas/ipmi-tune-2.json`.

use super::verdict;
use crate::experiment::Study;
use crate::json::{Head, Opening, pretty};
use lab::experiment::{self, Tuned, Tuning};
use lab::ipmi::{Foretold, Model, PollingLoop};
use lab::known::Known;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// What each limit costs, and which one to have.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TuneDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    /// The id of the study that it was, which `fullclock report` shows.
    study: &'a str,
    /// Whether every trial was run.
    is_complete: bool,
    verdict: String,
    /// The limit where the trade of time for CPU time turns; null where it turns nowhere.
    knee: Option<&'a str>,
    /// The same, where it spares CPU time beyond doubt.
    advised: Option<&'a str>,
    /// In the order of the sweep.
    limits: Vec<Limit<'a>>,
    /// The kernel's loop, as it was heard without a limit; null where it could not be observed.
    model: Option<Loop>,
    /// Why it could not be observed.
    model_missing: Option<&'a str>,
}

/// What one limit comes to.
#[derive(Serialize, JsonSchema)]
struct Limit<'a> {
    /// kipmid_max_busy_us; 0 is none.
    limit: &'a str,
    /// Whether no other limit has both faster answers and less CPU time.
    is_unbeaten: bool,
    /// How much longer the answers take.
    slower: Known<Change>,
    /// How much more CPU time waiting for them takes.
    cpu_time: Known<Change>,
    #[schemars(length(min = 1))]
    conditions: Vec<Condition<'a>>,
    /// What the model makes of it while the other CPUs are idle.
    model: Option<Modelled>,
}

/// Against the first limit, as a share, with its interval; all changes are within theirs with a chance of 99 %.
#[derive(Serialize, JsonSchema)]
struct Change {
    change: f64,
    low: f64,
    high: f64,
}

/// The middle of its trials; null where no trial has it.
#[derive(Serialize, JsonSchema)]
struct Condition<'a> {
    /// What the other CPUs did.
    #[schemars(extend("enum" = ["idle", "all-cores"]))]
    load: &'a str,
    trials: u32,
    /// How long one device id and one record take together.
    both_s: Option<f64>,
    device_id_s: Option<f64>,
    record_s: Option<f64>,
    /// What kipmi0 took of a CPU during the trials.
    share_percent: Option<f64>,
    /// What it took for both.
    polled_s: Option<f64>,
}

/// What the model makes of a limit.
#[derive(Serialize, JsonSchema)]
struct Modelled {
    both_s: f64,
    polled_s: f64,
}

/// How the kernel drives an interface that does not interrupt.
#[derive(Serialize, JsonSchema)]
struct Loop {
    /// Between two ticks.
    tick_s: f64,
    /// Between two looks at the controller; 0 where it looks all the time.
    pause_s: f64,
    /// What a look takes of a CPU.
    look_s: f64,
    /// Whether a sleep of a jiffy ends with the second tick.
    rounds_up: bool,
}

/// The study of kipmid's limit as JSON.
pub fn json(head: &Head, tuning: &Tuning, model: &Model, study: &Study<'_>) -> Result<String> {
    let knee = tuning.knee.and_then(|it| tuning.limits.get(it));
    pretty(&TuneDocument {
        opening: head.opening(),
        study: &study.record.id,
        is_complete: study.record.is_complete,
        verdict: verdict(tuning),
        knee: knee.map(|it| &*it.limit),
        advised: tuning.advised(),
        limits: tuning.limits.iter().enumerate().map(|it| limit(tuning, model, it)).collect(),
        model: model.as_ref().ok().map(|it| polling(&it.kernel)),
        model_missing: model.as_ref().err().map(String::as_str),
    })
}

fn limit<'a>(tuning: &Tuning, model: &Model, (at, it): (usize, &'a Tuned)) -> Limit<'a> {
    let model = model.as_ref().ok();
    let foretold = model.and_then(|model| Some(model.under(it.limit.parse().ok()?)));
    Limit {
        limit: &it.limit,
        is_unbeaten: tuning.front.contains(&at),
        slower: change(&it.slower),
        cpu_time: change(&it.polled),
        conditions: it.conditions.iter().map(condition).collect(),
        model: foretold.map(|Foretold { both_ms, polled_ms }| Modelled {
            both_s: both_ms / 1e3,
            polled_s: polled_ms / 1e3,
        }),
    }
}

fn change(of: &Known<experiment::Change>) -> Known<Change> {
    match of {
        Known::Value(it) => {
            Known::Value(Change { change: it.change, low: it.interval.low, high: it.interval.high })
        }
        Known::Missing { missing } => Known::missing(missing),
    }
}

fn condition(it: &experiment::Condition) -> Condition<'_> {
    let seconds = |ms: Option<f64>| ms.map(|it| it / 1e3);
    Condition {
        load: &it.load,
        trials: it.trials,
        both_s: seconds(it.both_ms),
        device_id_s: seconds(it.device_id_ms),
        record_s: seconds(it.record_ms),
        share_percent: it.share_percent,
        polled_s: seconds(it.polled_ms),
    }
}

fn polling(it: &PollingLoop) -> Loop {
    Loop {
        tick_s: it.tick_us / 1e6,
        pause_s: it.pause_us / 1e6,
        look_s: it.look_us / 1e6,
        rounds_up: it.rounds_up,
    }
}
