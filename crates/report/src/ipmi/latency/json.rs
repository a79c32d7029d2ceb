//! Round trips to the controller: `schemas/ipmi-latency-2.json`.

use super::{nanoseconds, quantiles};
use crate::json::{Head, Opening, pretty, seconds};
use lab::ipmi::{self, Latency};
use rules::noise::{self, Histogram};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;
use std::collections::BTreeMap;

/// How long round trips took, under each load.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LatencyDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    /// What the results depend on, in words: the controller, how much of a record it gives at once, who polls it.
    about: BTreeMap<&'a str, &'a str>,
    #[schemars(length(min = 1))]
    conditions: Vec<Condition<'a>>,
}

/// Round trips under one load.
#[derive(Serialize, JsonSchema)]
struct Condition<'a> {
    /// Whether a loop ran on each CPU during the round trips.
    every_cpu_busy: bool,
    #[schemars(range(min = 0))]
    elapsed_s: f64,
    /// What the kernel's thread that polls the controller was accounted; null where there is none, or it is unknown.
    kipmid_cpu_s: Option<f64>,
    device_id: Option<Trips>,
    /// null of a controller without sensor records.
    sensor_record: Option<Trips>,
    /// How long the interface let the thread that polls it wait, byte by byte; null where it was not visible.
    waits: Option<Waits>,
    /// Why it was not visible.
    waits_missing: Option<&'a str>,
}

/// Times of round trips, or of waits.
#[derive(Serialize, JsonSchema)]
struct Trips {
    #[schemars(range(min = 1))]
    count: usize,
    p50_s: f64,
    p90_s: f64,
    p99_s: f64,
    longest_s: f64,
    /// In steps of 1, 2 and 5 of every power of ten, from the first that has a round trip to the last.
    histogram: Vec<Bucket>,
}

/// Round trips that took similarly long.
#[derive(Serialize, JsonSchema)]
struct Bucket {
    from_s: f64,
    /// null of the last step, which has no end.
    below_s: Option<f64>,
    count: u64,
}

/// What was seen of the thread that polls.
#[derive(Serialize, JsonSchema)]
struct Waits {
    /// Questions of which every look of the thread was seen.
    questions: usize,
    /// Looks that found the controller busy.
    looks: u64,
    /// Looks that were not written down, for want of room.
    looks_lost: u64,
    /// The middle time between two looks: a wait is known to half of that. null where no wait.
    pause_s: Option<f64>,
    /// Of each wait; null where there was none.
    lengths: Option<Trips>,
}

/// Round trips as JSON.
pub fn json(head: &Head, latency: &Latency) -> Result<String> {
    pretty(&LatencyDocument {
        opening: head.opening(),
        about: latency.about.iter().map(|(name, words)| (&**name, &**words)).collect(),
        conditions: latency.conditions.iter().map(condition).collect(),
    })
}

fn condition(it: &ipmi::Condition) -> Condition<'_> {
    Condition {
        every_cpu_busy: it.is_loaded,
        elapsed_s: it.elapsed.as_secs_f64(),
        kipmid_cpu_s: it.polled.map(|it| it.as_secs_f64()),
        device_id: trips(&it.times.device_id),
        sensor_record: trips(&it.times.record),
        waits: it.waits.as_ref().ok().map(waits),
        waits_missing: it.waits.as_ref().err().map(String::as_str),
    }
}

fn waits(waits: &ipmi::Waits) -> Waits {
    Waits {
        questions: waits.questions.len(),
        looks: waits.n_looks,
        looks_lost: waits.n_lost,
        pause_s: waits.pause_us().map(|us| us / 1e6),
        lengths: trips(&nanoseconds(waits)),
    }
}

/// `None` where there is none.
fn trips(times_ns: &[u64]) -> Option<Trips> {
    if times_ns.is_empty() {
        return None;
    }
    let [p50_s, p90_s, p99_s, longest_s] = quantiles(times_ns).map(seconds);
    let buckets = Histogram::of(times_ns.iter().copied()).buckets();
    let histogram = buckets.iter().map(bucket).collect();
    Some(Trips { count: times_ns.len(), p50_s, p90_s, p99_s, longest_s, histogram })
}

fn bucket(it: &noise::Bucket) -> Bucket {
    Bucket { from_s: seconds(it.from_ns), below_s: it.below_ns.map(seconds), count: it.count }
}

#[cfg(test)]
mod tests {
    use super::super::tests::latency;
    use super::*;
    use crate::schemas::checked;
    use serde_json::Value;

    #[test]
    fn data_say_what_there_is_and_are_of_their_schema() {
        let value = checked("ipmi-latency", |head| json(head, &latency()));
        let busy = &value["conditions"][1];
        assert_eq!((&busy["every_cpu_busy"], &busy["kipmid_cpu_s"]), (&true.into(), &Value::Null));
        assert_eq!(busy["waits_missing"], "a probe of kcs_event may not be read");
        assert_eq!(value["conditions"][0]["waits"]["lengths"]["count"], 4);
        assert_eq!(value["conditions"][0]["device_id"]["longest_s"], 0.04);
        let mut without = latency();
        without.conditions[0].times.record.clear();
        let without = checked("ipmi-latency", |head| json(head, &without));
        assert_eq!(without["conditions"][0]["sensor_record"], Value::Null);
    }
}
