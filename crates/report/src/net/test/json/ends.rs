//! What a network test says of each end.

use crate::json::seconds;
use lab::known::Known;
use lab::net::protocol::{self, Judgement};
use lab::net::{self, Nearness, NicLocality};
use schemars::JsonSchema;
use serde::Serialize;

/// One end of the test.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("enum" = ["client", "server"]))]
struct End(&'static str);

/// What the clock of an end's CPUs did to the test.
#[derive(Serialize, JsonSchema)]
pub(super) struct Guard<'a> {
    end: End,
    /// The sizes at which a thread was limited by its CPU; over rdma, those that the cost of each message limits, on a CPU or in
    /// the adapter.
    bound_bytes: Vec<u64>,
    /// The lowest clock that was measured; null where none was.
    slowest_hz: Option<f64>,
    nominal_hz: &'a Known<f64>,
    /// How much faster the CPUs would be at their nominal clock, as a share; null where they have it, or it is unknown.
    #[schemars(range(min = 0))]
    lacking: Option<f64>,
    /// What an audit of that end finds that slows CPUs which worked.
    slowing: Vec<Slowing<'a>>,
}

/// A finding that slows CPUs.
#[derive(Serialize, JsonSchema)]
struct Slowing<'a> {
    check: &'a str,
    message: &'a str,
    /// Commands that fix it until the next boot.
    fix: &'a [String],
}

/// Where the time of the CPUs that worked at one end went, from before the first size to after the last.
#[derive(Serialize, JsonSchema)]
pub(super) struct LedgerOfEnd<'a> {
    end: End,
    #[serde(flatten)]
    ledger: Content<'a>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Content<'a> {
    Known(Ledger<'a>),
    Missing {
        /// Why it is unknown.
        missing: &'a str,
    },
}

/// Where time went.
#[derive(Serialize, JsonSchema)]
struct Ledger<'a> {
    /// As the kernel writes lists: those that the user named, or that threads were seen on.
    cpus: &'a str,
    #[schemars(range(min = 0))]
    wall_s: f64,
    /// All lines and the unexplained rest add up to 1, as far as they are known.
    lines: Vec<Line<'a>>,
    /// What no line accounts for, as a share of the CPUs' time.
    unexplained: f64,
    notes: &'a [String],
}

/// Where time went.
#[derive(Serialize, JsonSchema)]
struct Line<'a> {
    /// As in docs/ledger.md.
    loss: &'a str,
    title: Option<&'static str>,
    /// Which part of it; empty where it is one thing, `others` for all parts that are small.
    part: &'a str,
    #[schemars(extend("enum" = ["idle", "lost", "useful", null]))]
    kind: Option<&'static str>,
    /// Of the CPUs' time, 1 being all.
    share: &'a Known<f64>,
    /// How far off that may be either way.
    #[schemars(range(min = 0))]
    uncertainty: f64,
    /// The least sure way in which it was obtained.
    #[schemars(extend("enum" = ["counter", "tracepoint", "probe", "derived", "bound"]))]
    method: &'a str,
    /// Findings of an audit that explain it.
    causes: Vec<Cause<'a>>,
}

/// A finding that explains a line.
#[derive(Serialize, JsonSchema)]
struct Cause<'a> {
    check: &'a str,
    fix: Option<&'a str>,
}

/// Where the adapter of an end is plugged in and who served it, compared with the CPUs that worked.
#[derive(Serialize, JsonSchema)]
pub(super) struct Placement<'a> {
    end: End,
    /// The interface that has this end's address of the connection, or the RDMA port.
    device: &'a Known<String>,
    /// What is behind it, or why there is nothing: lo and virtual interfaces have none.
    adapter: &'a Known<NicLocality>,
    /// The CPUs that worked for the test.
    worked: &'a str,
    /// Those on which the kernel handled the latest packets of its streams; empty where it is unknown.
    incoming: &'a str,
    /// Of the CPUs that worked to the adapter's NUMA node; null where that is unknown.
    #[schemars(extend("enum" = ["only-node", "near", "mixed", "far", null]))]
    nearness: Option<&'static str>,
    /// The CPUs that both worked and took 1000 of its interrupts a second or more; null where the time of the test is unknown.
    competing: Option<String>,
}

pub(super) fn guard<'a>(guard: &net::Guard<'a>) -> Guard<'a> {
    let slowing = |it: &'a protocol::Slowing| Slowing {
        check: &it.check,
        message: &it.message,
        fix: &it.fix,
    };
    Guard {
        end: End(guard.end),
        bound_bytes: guard.bound.iter().map(|it| it.message.0).collect(),
        slowest_hz: guard.slowest_hz,
        nominal_hz: &guard.clocks.nominal_hz,
        lacking: guard.lacking(),
        slowing: guard.clocks.slowing.iter().map(slowing).collect(),
    }
}

pub(super) fn ledger_of<'a>(end: &'static str, ledger: &'a Known<net::Ledger>) -> LedgerOfEnd<'a> {
    let ledger = match ledger {
        Known::Value(it) => Content::Known(Ledger {
            cpus: &it.cpus,
            wall_s: seconds(it.wall_ns),
            lines: it.lines.iter().map(line).collect(),
            unexplained: it.unexplained,
            notes: &it.notes,
        }),
        Known::Missing { missing } => Content::Missing { missing },
    };
    LedgerOfEnd { end: End(end), ledger }
}

fn line(entry: &net::Entry) -> Line<'_> {
    let net::Entry { loss, part, share, uncertainty, method, causes } = entry;
    let known = rules::losses::find(loss);
    Line {
        loss,
        title: known.map(|it| it.title),
        part,
        kind: known.map(|it| it.kind.name()),
        share,
        uncertainty: *uncertainty,
        method,
        causes: causes.iter().map(cause).collect(),
    }
}

fn cause(it: &net::Cause) -> Cause<'_> {
    Cause { check: &it.check, fix: it.fix.as_deref() }
}

pub(super) fn placement<'a>(end: &'static str, judgement: &'a Judgement) -> Placement<'a> {
    let place = &judgement.place;
    let competing = judgement.ledger.value().map(|it| place.competing(it.wall_ns).to_string());
    let nearness = place.nearness().map(|it| match it {
        Nearness::OnlyNode => "only-node",
        Nearness::Near => "near",
        Nearness::Mixed => "mixed",
        Nearness::Far => "far",
    });
    Placement {
        end: End(end),
        device: &place.device,
        adapter: &place.adapter,
        worked: &place.worked,
        incoming: &place.incoming,
        nearness,
        competing,
    }
}
