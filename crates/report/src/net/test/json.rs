//! A network test as JSON: `schemas/net-test-1.json`.

use super::ledger;
use crate::json::{SCHEMA_VERSION, pretty};
use facts::links::perftest::Conflict;
use lab::known::Known;
use lab::net::protocol::{Judgement, Slowing, Test};
use lab::net::{
    BUSY, Cause, Entry, Figure, Guard, Latencies, Ledger, Nearness, Point, Run, Throughput, Work,
    guards, own_share,
};
use rules::ceiling::Direction;
use serde_json::{Result, Value, json};

/// `schemas/net-test-1.json`.
pub fn json(run: &Run) -> Result<String> {
    let is_latency = run.task.test == Test::Latency;
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "server": run.server.to_string(),
        "transport": run.task.transport,
        "test": run.task.test.name(),
        "streams": run.task.streams,
        "points": run.points.iter().map(point).collect::<Vec<_>>(),
        "busy_threshold": BUSY,
        "cpu_share_of_round_trip": (is_latency && !run.polls()).then(|| own_share(run)),
        "perftest_conflicts": run.conflicts.iter().map(conflict).collect::<Vec<_>>(),
        "ceiling_bytes_per_second": ceiling(run),
        "clock_guard": guards(run).iter().map(guard).collect::<Vec<_>>(),
        "ledgers": ledger::of_both(run).named().map(|(end, it)| account(end, it)),
        "placements": run.judged.named().map(|(end, it)| placed(end, it)),
    }))
}

fn account(end: &str, ledger: &Known<Ledger>) -> Value {
    let Ledger { cpus, wall_ns, lines, unexplained, notes } = match ledger {
        Known::Value(ledger) => ledger,
        Known::Missing { missing } => return json!({ "end": end, "missing": missing }),
    };
    json!({
        "end": end,
        "cpus": cpus,
        "wall_ns": wall_ns,
        "lines": lines.iter().map(entry).collect::<Vec<_>>(),
        "unexplained": unexplained,
        "notes": notes,
    })
}

fn entry(entry: &Entry) -> Value {
    let Entry { loss, part, share, uncertainty, method, causes } = entry;
    let known = rules::losses::find(loss);
    let cause = |it: &Cause| json!({ "check": it.check, "fix": it.fix });
    json!({
        "loss": loss,
        "title": known.map(|it| it.title),
        "part": part,
        "kind": known.map(|it| it.kind.name()),
        "share": share,
        "uncertainty": uncertainty,
        "method": method,
        "causes": causes.iter().map(cause).collect::<Vec<_>>(),
    })
}

fn placed(end: &str, judgement: &Judgement) -> Value {
    let place = &judgement.place;
    let competing = judgement.ledger.value().map(|it| place.competing(it.wall_ns).to_string());
    let nearness = place.nearness().map(|it| match it {
        Nearness::OnlyNode => "only-node",
        Nearness::Near => "near",
        Nearness::Mixed => "mixed",
        Nearness::Far => "far",
    });
    json!({
        "end": end,
        "device": place.device,
        "adapter": place.adapter,
        "worked": place.worked,
        "incoming": place.incoming,
        "nearness": nearness,
        "competing": competing,
    })
}

fn conflict(conflict: &Conflict) -> Value {
    json!({ "first_hz": conflict.first.0, "other_hz": conflict.other.0 })
}

/// The ceiling of the client's device by its narrowest part; null if unknown.
fn ceiling(run: &Run) -> Option<u64> {
    let (_, ceiling) = run.over.as_ref()?;
    Some(ceiling.narrowest(Direction::One)?.carries(Direction::One).0)
}

fn point(point: &Point) -> Value {
    let (moved, latencies) = match &point.figure {
        Figure::Throughput(it) => (Some(moved(point, it)), None),
        Figure::Latencies(it) => (None, Some(latency(it))),
    };
    json!({
        "bytes": point.message.0,
        "iterations": point.figure.messages(point.message),
        "zero_copy": point.zero_copy,
        "bandwidth": moved,
        "latency": latencies,
        "client": point.work.client.iter().map(work).collect::<Vec<_>>(),
        "server": point.work.server.iter().map(work).collect::<Vec<_>>(),
    })
}

fn moved(point: &Point, moved: &Throughput) -> Value {
    let line = moved.bandwidth(point.message);
    json!({
        "received_bytes": moved.bytes,
        "elapsed_ns": moved.elapsed_ns,
        "peak_bytes_per_second": moved.peak.0,
        "average_bytes_per_second": line.average.0,
        "messages_per_second": line.messages().0,
    })
}

fn latency(latencies: &Latencies) -> Value {
    json!({
        "min_ns": latencies.min_ns,
        "median_ns": latencies.median_ns,
        "mean_ns": latencies.mean_ns,
        "deviation_ns": latencies.deviation_ns,
        "p99_ns": latencies.p99_ns,
        "p999_ns": latencies.p999_ns,
        "max_ns": latencies.max_ns,
    })
}

fn work(work: &Work) -> Value {
    json!({
        "cpu": work.cpu,
        "cpus": work.cpus,
        "cpu_ns": work.cpu_ns,
        "elapsed_ns": work.elapsed_ns,
        "clock_hz": work.clock_hz,
    })
}

fn guard(guard: &Guard<'_>) -> Value {
    let slowing = |it: &Slowing| json!({ "check": it.check, "message": it.message, "fix": it.fix });
    json!({
        "end": guard.end,
        "bound_bytes": guard.bound.iter().map(|it| it.message.0).collect::<Vec<_>>(),
        "slowest_hz": guard.slowest_hz,
        "nominal_hz": guard.clocks.nominal_hz,
        "lacking": guard.lacking(),
        "slowing": guard.clocks.slowing.iter().map(slowing).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn data_say_what_there_is_and_are_of_their_schema() {
        let schema = include_str!("../../../../../schemas/net-test-1.json");
        let schema: Value = serde_json::from_str(schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let of = |run: &Run| -> Value { serde_json::from_str(&json(run).unwrap()).unwrap() };
        let (moved, latencies) = (of(&fixture::bandwidth()), of(&fixture::latency()));
        validator.validate(&moved).unwrap();
        validator.validate(&latencies).unwrap();
        assert_eq!(moved["clock_guard"][0]["bound_bytes"], json!([2, 4096]));
        assert_eq!(moved["clock_guard"][0]["slowing"][0]["check"], "slow-governor");
        assert_eq!(moved["points"][1]["bandwidth"]["average_bytes_per_second"], 1_u64 << 30);
        assert_eq!(latencies["points"][0]["latency"]["p99_ns"], 9990);
        assert!(latencies["points"][0]["server"][0]["clock_hz"]["missing"].is_string());
        assert_eq!(moved["perftest_conflicts"], json!([]));
        let rdma = of(&fixture::rdma());
        validator.validate(&rdma).unwrap();
        assert_eq!((&rdma["transport"], &rdma["test"]), (&json!("rdma"), &json!("send-bw")));
        assert_eq!(rdma["perftest_conflicts"][0]["other_hz"], 2_534_000_000_u64);
        assert_eq!(rdma["clock_guard"][1]["bound_bytes"], json!([2, 4096]));
        let [client, server] = [&moved["ledgers"][0], &moved["ledgers"][1]];
        assert_eq!(
            (&client["end"], &client["lines"][1]["causes"][0]["check"]),
            (&json!("client"), &json!("slow-governor"))
        );
        let place = &moved["placements"][0];
        assert_eq!((&place["nearness"], &place["competing"]), (&json!("far"), &json!("1")));
        assert_eq!(place["adapter"]["interrupted"][0], json!({ "cpu": 1, "count": 81_220 }));
        assert_eq!(server["lines"][1]["share"]["missing"], "no counter shows the clock");
        let mut without = moved;
        without["points"][0]["client"] = json!(null);
        assert!(!validator.is_valid(&without));
    }
}
