//! A ledger as JSON: `schemas/ledger-1.json`.

use super::capacity_ns;
use super::document::{name_of, party_name};
use crate::json::{SCHEMA_VERSION, describe, pretty, reason};
use facts::{Fact, HostView};
use rules::ledger::{Explanation, Ledger, Line};
use rules::loss::Kind;
use serde_json::{Result, Value, json};

/// A ledger as JSON.
pub fn ledger(host: &HostView, ledger: &Ledger) -> Result<String> {
    let capacity = capacity_ns(ledger);
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "host": describe(host),
        "cpus": ledger.cpus.to_string(),
        "wall_ns": ledger.wall_ns,
        "capacity_ns": capacity,
        "reference_clock": known(&ledger.reference, |it| json!({ "hz": it.clock.0, "source": it.source })),
        "lines": ledger.lines.iter().map(|it| line(it, capacity)).collect::<Vec<_>>(),
        "unexplained": {
            "ns": ledger.unexplained_ns,
            "share": share(ledger.unexplained_ns, capacity),
        },
        "waiting": ledger.waiting.as_ref().map(|it| known(it, |it| json!({ "ns": it.ns, "stopped_ns": it.stopped_ns }))),
        "notes": ledger.notes,
    }))
}

fn line(line: &Line, capacity: i64) -> Value {
    let explanation = |it: &Explanation| {
        json!({
            "check": it.check,
            "cpus": it.cpus.as_ref().map(ToString::to_string),
            "fix": it.fix,
        })
    };
    json!({
        "loss": line.loss.id,
        "part": line.part,
        "kind": match line.loss.kind {
            Kind::Idle => "idle",
            Kind::Lost => "lost",
            Kind::Useful => "useful",
        },
        "ns": line.ns.as_ref().ok(),
        "share": line.ns.as_ref().ok().map(|ns| share(*ns, capacity)),
        "missing": line.ns.as_ref().err().map(reason),
        "method": name_of(line.method),
        "source": line.source,
        "uncertainty_ns": line.uncertainty_ns,
        "interrupted_ns": line.interrupted_ns,
        "missing_cpus": line.missing.iter().map(|(cpu, why)| json!({ "cpu": cpu, "missing": reason(why) })).collect::<Vec<_>>(),
        "party": line.party.map(party_name),
        "cpus": line.cpus.iter().map(|(cpu, ns)| json!({ "cpu": cpu, "ns": ns })).collect::<Vec<_>>(),
        "findings": line.findings.iter().map(explanation).collect::<Vec<_>>(),
    })
}

fn share(ns: i64, capacity: i64) -> f64 {
    ns as f64 / capacity.max(1) as f64
}

/// The value, or why there is none.
fn known<T>(fact: &Fact<T>, value: impl Fn(&T) -> Value) -> Value {
    fact.as_ref().map_or_else(|missing| json!({ "missing": reason(missing) }), value)
}
