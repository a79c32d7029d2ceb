//! Two recordings compared: `schemas/why-1.json`.

use super::rows::{Quantity, Row, rows};
use super::words::{cause, verdict};
use super::{Report, notes};
use crate::bench::verdict_view::{AllowanceView, VerdictView};
use crate::json::{Answer, Head, Opening, pretty};
use lab::verdict::Moments;
use lab::why::{LoadTimes, What, Work};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// Why one recorded run of a client is slower than another.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WhyDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 1>,
    /// The recordings.
    a: &'a str,
    b: &'a str,
    /// What the client's numbers are: empty where the user gave an expression.
    client: &'a str,
    unit: &'a str,
    /// Whose CPU time is counted for a unit of work.
    #[schemars(extend("enum" = ["client-and-server", "server", "all"]))]
    work: &'static str,
    /// The verdict in words.
    sentence: String,
    /// On the client's numbers, B over A.
    rate: VerdictView,
    /// On the CPU time per unit of work.
    cost: Answer<'a, VerdictView>,
    /// How the logarithm of B's rate over A's is made up.
    shares: Answer<'a, SharesView>,
    /// Only where the rates differ: what explains it, the largest first.
    causes: Vec<CauseView<'a>>,
    /// How long loads from memory took, and whether that differs.
    memory_load: Answer<'a, LoadView>,
    /// The same of loads from the last-level cache.
    last_level_load: Answer<'a, LoadView>,
    /// The numbers of both.
    values: Vec<Value<'a>>,
    notes: Vec<String>,
}

/// Logarithms: total = cpu_time + clock + cost.
#[derive(Serialize, JsonSchema)]
struct SharesView {
    total: f64,
    cpu_time: f64,
    /// null where the clock is unknown, and part of `cost`.
    clock: Option<f64>,
    cost: f64,
}

/// What explains a part of the change.
#[derive(Serialize, JsonSchema)]
struct CauseView<'a> {
    #[schemars(extend("enum" = ["cost", "clock", "cpus", "idle", "quota", "stolen", "tasks", "rest"]))]
    what: &'static str,
    /// The tasks that it is about.
    name: Option<&'a str>,
    /// How much of the change it explains: 1 is all of it.
    share: f64,
    sentence: String,
}

/// The time of one load that needs the one before, in a probe that does the same in both recordings.
#[derive(Serialize, JsonSchema)]
struct LoadView {
    /// The geometric mean of the readings of A.
    a_s: f64,
    b_s: f64,
    a_readings: usize,
    b_readings: usize,
    /// B over A.
    verdict: VerdictView,
}

/// A number of both recordings.
#[derive(Serialize, JsonSchema)]
struct Value<'a> {
    #[schemars(extend("enum" = ["rate", "cost", "share", "wait"]))]
    quantity: &'static str,
    label: &'a str,
    /// Of `rate` the client's; `ms`; `share` of the time of all CPUs; `s/s`.
    unit: &'a str,
    a: Answer<'a, f64>,
    b: Answer<'a, f64>,
}

/// The whole document.
///
/// Errors: it cannot be written as JSON, which is a bug.
pub fn json(head: &Head, report: &Report<'_>) -> Result<String> {
    let why = report.why;
    let rows = rows(why);
    let shares = |it: &lab::why::Shares| SharesView {
        total: it.total,
        cpu_time: it.cpu_time,
        clock: it.clock,
        cost: it.cost,
    };
    pretty(&WhyDocument {
        opening: head.opening(),
        a: report.names[0],
        b: report.names[1],
        client: &why.metric.client,
        unit: &why.metric.unit,
        work: match why.work {
            Work::ClientAndServer => "client-and-server",
            Work::Server => "server",
            Work::All => "all",
        },
        sentence: verdict(why),
        rate: moments(&why.rate),
        cost: Answer::of(&why.cost, moments),
        shares: Answer::of(&why.shares, shares),
        causes: why
            .causes
            .iter()
            .map(|it| {
                let (what, name) = what(&it.what);
                CauseView { what, name, share: it.share, sentence: cause(why, it) }
            })
            .collect(),
        memory_load: Answer::of(&why.loads.memory, load),
        last_level_load: Answer::of(&why.loads.last_level, load),
        values: rows.iter().filter_map(|it| value(it, &why.metric.unit)).collect(),
        notes: notes(report),
    })
}

fn moments(of: &Moments) -> VerdictView {
    let allowance = AllowanceView::of(&of.allowance);
    VerdictView::of(&of.verdict).cleared(Some(allowance))
}

fn what(of: &What) -> (&'static str, Option<&str>) {
    match of {
        What::Cost(dearest) => ("cost", dearest.as_ref().map(|it| &*it.1)),
        What::Clock => ("clock", None),
        What::Cpus => ("cpus", None),
        What::Idle => ("idle", None),
        What::Quota => ("quota", None),
        What::Stolen => ("stolen", None),
        What::Tasks(_, name) => ("tasks", Some(name)),
        What::Rest => ("rest", None),
    }
}

fn load(of: &LoadTimes) -> LoadView {
    let ([a_s, b_s], [a_readings, b_readings]) = (of.ns.map(|it| it / 1e9), of.readings);
    LoadView { a_s, b_s, a_readings, b_readings, verdict: moments(&of.moments) }
}

/// Loads have fields of their own.
fn value<'a>(row: &'a Row, of_client: &'a str) -> Option<Value<'a>> {
    let (quantity, unit) = match row.quantity {
        Quantity::Rate => ("rate", of_client),
        Quantity::Cost => ("cost", "ms"),
        Quantity::Share => ("share", "share"),
        Quantity::Wait => ("wait", "s/s"),
        Quantity::Load => return None,
    };
    let [a, b] = row.values.each_ref().map(|it| Answer::of(it, |it| *it));
    Some(Value { quantity, label: &row.label, unit, a, b })
}
