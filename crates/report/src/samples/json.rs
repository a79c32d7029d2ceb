//! One reading as one line of JSON: `schemas/sample-1.json`.

use crate::json::{self as common, SCHEMA_VERSION};
use facts::utc::timestamp;
use facts::{CpuSet, Fact, Missing, PerCpu};
use rules::metric::Values;
use rules::watch;
use rules::watch::{Column, Reading, Share, Shares};
use serde_json::{Map, Result, Value, json};

/// The line, with its end.
pub fn line(reading: &Reading, is_wanted: impl Fn(&Column) -> bool) -> Result<String> {
    let columns = reading.columns.iter().filter(|it| is_wanted(it));
    let value = json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "at": timestamp(reading.at.real_ns),
        "elapsed_s": reading.elapsed_ns.as_ref().ok().map(|ns| seconds(*ns)),
        "suspended_s": seconds(reading.suspended_ns),
        "cpus": reading.cpus.to_string(),
        "metrics": columns.map(column).collect::<Vec<_>>(),
        "ledger": ledger(&reading.shares),
        "notes": reading.notes,
    });
    serde_json::to_string(&value).map(|text| text + "\n")
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// More digits would be of the arithmetic, not of the counters.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn column(column: &Column) -> Value {
    let mut values = Map::new();
    let mut missing: Vec<(&Missing, CpuSet)> = Vec::new();
    let of = match column.series.as_ref().map(|it| &it.values) {
        Err(reason) => {
            missing.push((reason, CpuSet::default()));
            "nothing"
        }
        Ok(Values::Host(fact)) => {
            match fact {
                Ok(value) => drop(values.insert("host".to_owned(), json!(rounded(*value)))),
                Err(reason) => missing.push((reason, CpuSet::default())),
            }
            "host"
        }
        Ok(Values::Cpus(facts)) => by_cpu("cpus", facts, &mut values, &mut missing),
        Ok(Values::Cores(facts)) => by_cpu("cores", facts, &mut values, &mut missing),
        Ok(Values::Packages(facts)) => by_cpu("packages", facts, &mut values, &mut missing),
    };
    json!({
        "id": column.metric.id,
        "part": column.part(),
        "unit": column.metric.unit.symbol(),
        "of": of,
        "values": values,
        "missing": missing.iter().map(|(reason, cpus)| reason_of(reason, cpus)).collect::<Vec<_>>(),
    })
}

/// Each CPU's value or reason; says whose they are.
fn by_cpu<'a>(
    of: &'static str,
    facts: &'a PerCpu<f64>,
    values: &mut Map<String, Value>,
    missing: &mut Vec<(&'a Missing, CpuSet)>,
) -> &'static str {
    for (cpu, fact) in facts.iter() {
        match fact {
            Ok(value) => drop(values.insert(cpu.to_string(), json!(rounded(*value)))),
            Err(reason) => add(missing, reason, cpu),
        }
    }
    of
}

fn add<'a>(missing: &mut Vec<(&'a Missing, CpuSet)>, reason: &'a Missing, cpu: u32) {
    match missing.iter_mut().find(|(it, _)| *it == reason) {
        Some((_, cpus)) => cpus.insert(cpu),
        None => missing.push((reason, [cpu].into_iter().collect())),
    }
}

/// As every schema has it, in the words for samples.
fn reason(missing: &Missing) -> Value {
    let mut value = common::reason(missing);
    value["text"] = watch::text(missing).into();
    value["remedy"] = watch::remedy(missing).into();
    value
}

fn reason_of(missing: &Missing, cpus: &CpuSet) -> Value {
    let mut value = reason(missing);
    value["cpus"] = if cpus.is_empty() { Value::Null } else { cpus.to_string().into() };
    value
}

/// As `schemas/ledger-1.json` has it, without what only `fullclock ledger` finds out.
fn ledger(shares: &Fact<Shares>) -> Value {
    let shares = match shares {
        Err(missing) => return json!({ "missing": reason(missing) }),
        Ok(shares) => shares,
    };
    json!({
        "capacity_ns": shares.capacity_ns,
        "lines": shares.lines.iter().map(|it| line_of_ledger(it, shares)).collect::<Vec<_>>(),
        "unexplained": {
            "ns": shares.unexplained_ns,
            "share": shares.percent(shares.unexplained_ns) / 100.0,
        },
        "notes": shares.notes,
    })
}

fn line_of_ledger(line: &Share, shares: &Shares) -> Value {
    json!({
        "loss": line.loss,
        "part": line.part,
        "kind": line.kind.name(),
        "ns": line.ns.as_ref().ok(),
        "share": line.ns.as_ref().ok().map(|ns| shares.percent(*ns) / 100.0),
        "missing": line.ns.as_ref().err().map(reason),
        "method": line.method.name(),
        "source": line.source,
        "uncertainty_ns": line.uncertainty_ns,
    })
}
