//! A network test: `schemas/net-test-2.json`.

mod ends;

use super::ledger;
use crate::json::{Head, Opening, pretty, seconds};
use crate::net::Clocks;
use ends::{Guard, LedgerOfEnd, Placement, guard, ledger_of, placement};
use lab::known::Known;
use lab::net::protocol::{Test, Transport};
use lab::net::{self, BUSY, Figure, Run, guards, own_share};
use rules::ceiling::Direction;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// A test by message size, with the CPUs of both ends.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TestDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    /// Address and port of the other end.
    server: String,
    /// Over rdma, perftest measures: a thread is all of its program, which polls.
    transport: Transport,
    #[schemars(extend("enum" = ["write-bw", "read-bw", "send-bw", "latency"]))]
    test: &'static str,
    /// How many connections carried data at once.
    #[schemars(range(min = 1))]
    streams: u32,
    #[schemars(length(min = 1))]
    points: Vec<Point<'a>>,
    /// From this share of its time on a CPU on, a thread counts as limited by it.
    busy_threshold: f64,
    /// How much of all round trips the threads of both ends were on a CPU, 1 being all; null of other tests, and over rdma.
    #[schemars(range(min = 0))]
    cpu_share_of_round_trip: Option<f64>,
    /// The clocks that perftest found to differ, each once.
    perftest_conflicts: Vec<Clocks>,
    /// What the narrowest part of the client's device carries; null where it is unknown.
    ceiling_bytes_per_second: Option<u64>,
    /// Client and server.
    clock_guard: [Guard<'a>; 2],
    /// Client and server.
    ledgers: [LedgerOfEnd<'a>; 2],
    /// Client and server.
    placements: [Placement<'a>; 2],
}

/// The result of one message size.
#[derive(Serialize, JsonSchema)]
struct Point<'a> {
    /// The size of a message.
    #[schemars(range(min = 2))]
    bytes: u64,
    /// How many whole messages arrived, or round trips there were, over all streams.
    iterations: u64,
    /// Whether who sent did so by sendfile(2) of a file in memory, which copies nothing on that end.
    zero_copy: bool,
    /// What the receiving program got; null of a test of latency.
    bandwidth: Option<Bandwidth>,
    /// Half of a round trip; null of a test of throughput.
    latency: Option<Latency>,
    /// One for each stream.
    #[schemars(length(min = 1))]
    client: Vec<Thread<'a>>,
    /// One for each stream.
    #[schemars(length(min = 1))]
    server: Vec<Thread<'a>>,
}

/// What arrived.
#[derive(Serialize, JsonSchema)]
struct Bandwidth {
    received_bytes: u64,
    #[schemars(range(min = 0))]
    elapsed_s: f64,
    /// In the best tenth of a second, or over all of the time where that is more.
    peak_bytes_per_second: u64,
    average_bytes_per_second: u64,
    messages_per_second: u64,
}

/// How long messages took.
#[derive(Serialize, JsonSchema)]
struct Latency {
    min_s: f64,
    median_s: f64,
    mean_s: f64,
    deviation_s: f64,
    p99_s: f64,
    p999_s: f64,
    max_s: f64,
}

/// What a thread did.
#[derive(Serialize, JsonSchema)]
struct Thread<'a> {
    /// Where it was at the end.
    cpu: u32,
    /// All that it was seen on, as the kernel writes lists; empty where it was not seen.
    cpus: &'a str,
    /// Its time on a CPU.
    #[schemars(range(min = 0))]
    cpu_s: f64,
    #[schemars(range(min = 0))]
    elapsed_s: f64,
    /// Of that CPU, right after the work.
    clock_hz: &'a Known<f64>,
}

/// A test as JSON.
pub fn json(head: &Head, run: &Run) -> Result<String> {
    let is_latency = run.task.test == Test::Latency;
    pretty(&TestDocument {
        opening: head.opening(),
        server: run.server.to_string(),
        transport: run.task.transport,
        test: run.task.test.name(),
        streams: run.task.streams,
        points: run.points.iter().map(point).collect(),
        busy_threshold: BUSY,
        cpu_share_of_round_trip: (is_latency && !run.polls()).then(|| own_share(run)),
        perftest_conflicts: run.conflicts.iter().map(Clocks::of).collect(),
        ceiling_bytes_per_second: ceiling(run),
        clock_guard: guards(run).map(|it| guard(&it)),
        ledgers: ledger::of_both(run).named().map(|(end, it)| ledger_of(end, it)),
        placements: run.judged.named().map(|(end, it)| placement(end, it)),
    })
}

/// The ceiling of the client's device by its narrowest part; null if unknown.
fn ceiling(run: &Run) -> Option<u64> {
    let (_, ceiling) = run.over.as_ref()?;
    Some(ceiling.narrowest(Direction::One)?.carries(Direction::One).0)
}

fn point(point: &net::Point) -> Point<'_> {
    let (bandwidth, latency) = match &point.figure {
        Figure::Throughput(it) => (Some(bandwidth(point, it)), None),
        Figure::Latencies(it) => (None, Some(latency(it))),
    };
    Point {
        bytes: point.message.0,
        iterations: point.figure.messages(point.message),
        zero_copy: point.zero_copy,
        bandwidth,
        latency,
        client: point.work.client.iter().map(thread).collect(),
        server: point.work.server.iter().map(thread).collect(),
    }
}

fn bandwidth(point: &net::Point, moved: &net::Throughput) -> Bandwidth {
    let line = moved.bandwidth(point.message);
    Bandwidth {
        received_bytes: moved.bytes,
        elapsed_s: seconds(moved.elapsed_ns),
        peak_bytes_per_second: moved.peak.0,
        average_bytes_per_second: line.average.0,
        messages_per_second: line.messages().0,
    }
}

fn latency(latencies: &net::Latencies) -> Latency {
    Latency {
        min_s: seconds(latencies.min_ns),
        median_s: seconds(latencies.median_ns),
        mean_s: latencies.mean_ns / 1e9,
        deviation_s: latencies.deviation_ns / 1e9,
        p99_s: seconds(latencies.p99_ns),
        p999_s: seconds(latencies.p999_ns),
        max_s: seconds(latencies.max_ns),
    }
}

fn thread(work: &net::Work) -> Thread<'_> {
    Thread {
        cpu: work.cpu,
        cpus: &work.cpus,
        cpu_s: seconds(work.cpu_ns),
        elapsed_s: seconds(work.elapsed_ns),
        clock_hz: &work.clock_hz,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::{Run, json as run_json};
    use crate::schemas::{checked, is_valid};
    use serde_json::json;

    #[test]
    fn data_say_what_there_is_and_are_of_their_schema() {
        let of = |run: &Run| checked("net-test", |head| run_json(head, run));
        let (moved, latencies) = (of(&fixture::bandwidth()), of(&fixture::latency()));
        assert_eq!(moved["clock_guard"][0]["bound_bytes"], json!([2, 4096]));
        assert_eq!(moved["clock_guard"][0]["slowing"][0]["check"], "slow-governor");
        assert_eq!(moved["points"][1]["bandwidth"]["average_bytes_per_second"], 1_u64 << 30);
        assert_eq!(latencies["points"][0]["latency"]["p99_s"], 9.99e-6);
        assert!(latencies["points"][0]["server"][0]["clock_hz"]["missing"].is_string());
        assert_eq!(moved["perftest_conflicts"], json!([]));
        let rdma = of(&fixture::rdma());
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
        assert!(!is_valid("net-test", &without));
    }
}
