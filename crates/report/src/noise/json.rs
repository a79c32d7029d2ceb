//! What CPUs lost as JSON: `schemas/noise-1.json`.

use super::Report;
use crate::json::{SCHEMA_VERSION, describe, pretty, reason};
use facts::Missing;
use facts::utc::timestamp;
use rules::noise::{CpuNoise, Histogram, LongGap, Part, Percentiles, Taker, Ticks};
use rules::spin::Method;
use serde_json::{Map, Result, Value, json};

/// Of the whole report.
pub fn noise(report: &Report<'_>) -> Result<String> {
    let noise = report.noise;
    let unwatched = |(cpu, why): &(u32, Missing)| json!({ "cpu": cpu, "missing": reason(why) });
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "host": describe(report.host),
        "started": timestamp(report.real_ns(noise.started_ns())),
        "cpus": noise.cpus.iter().map(|it| cpu(report, it)).collect::<Vec<_>>(),
        "unwatched": noise.unwatched.iter().map(unwatched).collect::<Vec<_>>(),
        "untraced": report.untraced.map(reason),
    }))
}

fn cpu(report: &Report<'_>, cpu: &CpuNoise) -> Value {
    json!({
        "cpu": cpu.cpu,
        "wall_ns": cpu.wall_ns,
        "step_ns": cpu.step_ns.as_ref().ok(),
        "floor_ns": cpu.floor_ns,
        "gaps": cpu.n_gaps,
        "gaps_not_kept": cpu.not_kept.count,
        "lost_ns": cpu.lost_ns,
        "lost_share": cpu.lost_share(),
        "own_ns": cpu.own_ns,
        "method": match cpu.method {
            Method::Trace => "trace",
            Method::Counts => "counts",
        },
        "percentiles_ns": percentiles(cpu),
        "ticks": ticks(cpu),
        "causes": cpu.parts.iter().map(|it| part(cpu, it)).collect::<Vec<_>>(),
        "longest": cpu.longest.iter().map(|it| long_gap(report, it)).collect::<Vec<_>>(),
        "histogram": histogram(&cpu.histogram),
    })
}

fn percentiles(cpu: &CpuNoise) -> Value {
    let value = |it: &Percentiles| {
        let named = it.named().map(|(name, ns)| (name.to_owned(), Value::from(ns)));
        Value::Object(named.into_iter().collect::<Map<_, _>>())
    };
    cpu.percentiles.as_ref().map_or_else(|missing| json!({ "missing": reason(missing) }), value)
}

fn ticks(cpu: &CpuNoise) -> Value {
    let value = |it: &Ticks| json!({ "found": it.found, "counted": it.counted });
    cpu.ticks.as_ref().map_or_else(|missing| json!({ "missing": reason(missing) }), value)
}

fn part(cpu: &CpuNoise, part: &Part) -> Value {
    json!({
        "cause": part.taker.to_string(),
        "kind": part.taker.kind(),
        "ns": part.taken.ns,
        "share": cpu.share(part.taken.ns),
        "count": part.taken.count,
    })
}

fn long_gap(report: &Report<'_>, gap: &LongGap) -> Value {
    let taker = |(taker, ns): &(Taker, u64)| json!({ "cause": taker.to_string(), "kind": taker.kind(), "ns": ns });
    let causes = |takers: &Vec<(Taker, u64)>| takers.iter().map(taker).collect::<Vec<_>>();
    json!({
        "at_ns": report.since_start_ns(gap.at_ns),
        "at": timestamp(report.real_ns(gap.at_ns)),
        "ns": gap.length_ns,
        "causes": gap.takers.as_ref().map(causes),
    })
}

fn histogram(histogram: &Histogram) -> Vec<Value> {
    let bucket = |it: rules::noise::Bucket| json!({ "from_ns": it.from_ns, "below_ns": it.below_ns, "count": it.count, "ns": it.ns });
    histogram.buckets().into_iter().map(bucket).collect()
}
