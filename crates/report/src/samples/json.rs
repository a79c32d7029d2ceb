//! One reading as one line: `schemas/sample-2.json`.

use crate::json::{Answer, Head, Opening, Reason, Time, seconds, signed_seconds};
use facts::{CpuSet, Fact, Missing, PerCpu};
use rules::metric::Values;
use rules::watch::{self, ClientValue, Column, Reading, Share, Shares};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;
use std::collections::BTreeMap;

/// What happened between two samples.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SampleDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    /// The end of the interval.
    at: Time<'static>,
    /// The length of the interval by CLOCK_MONOTONIC_RAW; null where that clock makes no sense.
    #[schemars(extend("exclusiveMinimum" = 0))]
    elapsed_s: Option<f64>,
    /// For how long the machine was suspended in addition.
    #[schemars(range(min = 0))]
    suspended_s: f64,
    /// The CPUs that were online and requested at the end, as the kernel writes lists: 0-3,8.
    cpus: String,
    metrics: Vec<Metric<'a>>,
    /// Where the time of the CPUs went, by counters alone; `fullclock ledger` knows more.
    ledger: Answer<'a, Ledger<'a>>,
    /// What a client printed of itself; null where none was listened to.
    client: Option<Client<'a>>,
    /// What has to be said of the interval: that it came late, that the machine slept, that the client printed a mark.
    notes: &'a [String],
}

/// The numbers that a client printed in the interval.
#[derive(Serialize, JsonSchema)]
struct Client<'a> {
    /// The client as `--client` names it; empty where an expression was given.
    name: &'a str,
    /// Empty where an expression was given.
    unit: &'a str,
    /// The mean of its numbers; null where it printed none.
    value: Option<f64>,
    /// How many numbers it printed.
    numbers: usize,
    /// Why there is no value.
    missing: Option<Reason<'a>>,
}

/// One metric, or one part of it; `fullclock explain ID` says what it is. Parts that nothing happened to are left out where they
/// would be 0.
#[derive(Serialize, JsonSchema)]
struct Metric<'a> {
    id: &'static str,
    /// Empty where the metric is one thing.
    part: &'a str,
    unit: &'static str,
    /// Whose the values are; those of a core or a package are under the CPU that was asked.
    #[schemars(extend("enum" = ["cpus", "cores", "packages", "host", "nothing"]))]
    of: &'static str,
    /// By CPU number, or `host`.
    #[schemars(extend("propertyNames" = { "pattern": r"^(\d+|host)$" }))]
    values: BTreeMap<String, f64>,
    missing: Vec<MissingValues<'a>>,
}

/// Why values are unknown.
#[derive(Serialize, JsonSchema)]
struct MissingValues<'a> {
    #[serde(flatten)]
    reason: Reason<'a>,
    /// The CPUs that it is about; null where it is about all.
    cpus: Option<String>,
}

/// The known `time_s` of all lines and that of `unexplained` sum to `capacity_s`, to the nanosecond.
#[derive(Serialize, JsonSchema)]
struct Ledger<'a> {
    #[schemars(extend("exclusiveMinimum" = 0))]
    capacity_s: f64,
    lines: Vec<Line<'a>>,
    /// What no line accounts for; negative where sources contradict each other.
    unexplained: Unexplained,
    notes: &'a [String],
}

/// Where time went.
#[derive(Serialize, JsonSchema)]
struct Line<'a> {
    loss: &'static str,
    part: &'a str,
    #[schemars(extend("enum" = ["idle", "lost", "useful"]))]
    kind: &'static str,
    /// Time of all CPUs; null where unknown.
    time_s: Option<f64>,
    /// Of the capacity, 1 being all of it; null where unknown.
    share: Option<f64>,
    /// Why it is unknown.
    missing: Option<Reason<'a>>,
    #[schemars(extend("enum" = ["counter", "tracepoint", "probe", "derived", "bound"]))]
    method: &'static str,
    source: &'a str,
    #[schemars(range(min = 0))]
    uncertainty_s: f64,
}

/// What no line accounts for.
#[derive(Serialize, JsonSchema)]
struct Unexplained {
    time_s: f64,
    share: f64,
}

/// The line, with its end.
pub fn line(head: &Head, reading: &Reading, is_wanted: impl Fn(&Column) -> bool) -> Result<String> {
    let columns = reading.columns.iter().filter(|it| is_wanted(it));
    let line = serde_json::to_string(&SampleDocument {
        opening: head.opening(),
        at: Time::of_ns(reading.at.real_ns),
        elapsed_s: reading.elapsed_ns.as_ref().ok().map(|ns| seconds(*ns)),
        suspended_s: seconds(reading.suspended_ns),
        cpus: reading.cpus.to_string(),
        metrics: columns.map(metric).collect(),
        ledger: ledger(&reading.shares),
        client: reading.client.as_ref().map(client),
        notes: &reading.notes,
    })?;
    Ok(line + "\n")
}

/// More digits would be of the arithmetic, not of the counters.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn client(client: &ClientValue) -> Client<'_> {
    Client {
        name: &client.metric.client,
        unit: &client.metric.unit,
        value: client.value.as_ref().ok().map(|it| rounded(*it)),
        numbers: client.n,
        missing: client.value.as_ref().err().map(reason),
    }
}

fn metric(column: &Column) -> Metric<'_> {
    let mut found = Found::default();
    let of = match column.series.as_ref().map(|it| &it.values) {
        Err(reason) => {
            found.missing.push((reason, CpuSet::default()));
            "nothing"
        }
        Ok(Values::Host(fact)) => {
            match fact {
                Ok(value) => drop(found.values.insert("host".to_owned(), rounded(*value))),
                Err(reason) => found.missing.push((reason, CpuSet::default())),
            }
            "host"
        }
        Ok(Values::Cpus(facts)) => found.by_cpu("cpus", facts),
        Ok(Values::Cores(facts)) => found.by_cpu("cores", facts),
        Ok(Values::Packages(facts)) => found.by_cpu("packages", facts),
    };
    let missing = found.missing.iter().map(|(reason, cpus)| MissingValues {
        reason: self::reason(reason),
        cpus: (!cpus.is_empty()).then(|| cpus.to_string()),
    });
    Metric {
        id: column.metric.id,
        part: column.part(),
        unit: column.metric.unit.symbol(),
        of,
        missing: missing.collect(),
        values: found.values,
    }
}

/// The values of a metric, and why others are unknown.
#[derive(Default)]
struct Found<'a> {
    values: BTreeMap<String, f64>,
    missing: Vec<(&'a Missing, CpuSet)>,
}

impl<'a> Found<'a> {
    /// Each CPU's value or reason; says whose they are.
    fn by_cpu(&mut self, of: &'static str, facts: &'a PerCpu<f64>) -> &'static str {
        for (cpu, fact) in facts.iter() {
            match fact {
                Ok(value) => drop(self.values.insert(cpu.to_string(), rounded(*value))),
                Err(reason) => self.lacks(reason, cpu),
            }
        }
        of
    }

    fn lacks(&mut self, reason: &'a Missing, cpu: u32) {
        match self.missing.iter_mut().find(|(it, _)| *it == reason) {
            Some((_, cpus)) => cpus.insert(cpu),
            None => self.missing.push((reason, [cpu].into_iter().collect())),
        }
    }
}

/// In the words for samples.
fn reason(missing: &Missing) -> Reason<'_> {
    Reason::worded(missing, watch::text(missing), watch::remedy(missing))
}

fn ledger(shares: &Fact<Shares>) -> Answer<'_, Ledger<'_>> {
    Answer::of(shares, |shares| Ledger {
        capacity_s: signed_seconds(shares.capacity_ns),
        lines: shares.lines.iter().map(|it| line_of_ledger(it, shares)).collect(),
        unexplained: Unexplained {
            time_s: signed_seconds(shares.unexplained_ns),
            share: shares.percent(shares.unexplained_ns) / 100.0,
        },
        notes: &shares.notes,
    })
}

fn line_of_ledger<'a>(line: &'a Share, shares: &Shares) -> Line<'a> {
    let ns = line.ns.as_ref();
    Line {
        loss: line.loss,
        part: &line.part,
        kind: line.kind.name(),
        time_s: ns.ok().map(|ns| signed_seconds(*ns)),
        share: ns.ok().map(|ns| shares.percent(*ns) / 100.0),
        missing: ns.err().map(reason),
        method: line.method.name(),
        source: &line.source,
        uncertainty_s: seconds(line.uncertainty_ns),
    }
}
