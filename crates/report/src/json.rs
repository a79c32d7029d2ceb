//! Results as JSON, in the shape that `schemas/` publishes.
//!
//! Fields are only ever added within a version of the schema.

use crate::documentation;
use crate::harmless::harmless_page;
use facts::{Fact, HostView, Missing, Origin};
use rules::audit::Audit;
use rules::check::{Check, Reference};
use rules::documentation::Entry;
use rules::finding::{ByHand, Finding};
use rules::pasted::Explanation;
use serde_json::{Result, Value, json};

/// The version of every shape in this file, which is the number in the schemas' file names.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// One audit: `schemas/audit-1.json`.
pub fn audit(host: &HostView, audit: &Audit) -> Result<String> {
    let without_verdict = |(check, missing): &(&Check, Missing)| {
        json!({
            "check": check.id,
            "source": missing.what,
            "reason": missing.reason(),
            "text": missing.to_string(),
            "remedy": missing.remedy(),
        })
    };
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "fullclock": env!("CARGO_PKG_VERSION"),
        "host": describe(host),
        "findings": audit.findings.iter().map(|(check, it)| finding(check, it)).collect::<Vec<_>>(),
        "unknown": audit.unknown.iter().map(without_verdict).collect::<Vec<_>>(),
        "not_applicable": audit.not_applicable.iter().map(without_verdict).collect::<Vec<_>>(),
        "clean": audit.clean.iter().map(|check| check.id).collect::<Vec<_>>(),
    }))
}

/// Every entry of every list and what it is about, without its documentation.
pub fn entries() -> Result<String> {
    let of = |list: &str| -> Vec<Value> {
        let entries = documentation::entries().filter(|entry| entry.list == list);
        entries.map(|it| json!({ "id": it.id, "title": it.title })).collect()
    };
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "checks": of("check"),
        "metrics": of("metric"),
        "ledger_lines": of("ledger line"),
        "settings": of("setting"),
        "workloads": of("workload"),
    }))
}

/// One entry with its documentation, and those of other lists with the same id.
pub fn entry(first: &Entry, others: &[Entry]) -> Result<String> {
    let mut value = documented(first);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("schema_version".to_owned(), SCHEMA_VERSION.into());
        fields.insert("others".to_owned(), others.iter().map(documented).collect());
    }
    pretty(&value)
}

fn documented(entry: &Entry) -> Value {
    json!({
        "list": entry.list,
        "id": entry.id,
        "title": entry.title,
        "doc": entry.doc,
        "references": references(entry.references),
    })
}

/// What a pasted text means.
pub fn explanation(explanation: &Explanation) -> Result<String> {
    pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "what": explanation.what,
        "meaning": explanation.meaning,
        "checks": explanation.checks,
    }))
}

pub(super) fn describe(host: &HostView) -> Value {
    let known = |fact: &Fact<String>| fact.as_ref().ok().cloned();
    let cpuinfo = host.cpuinfo.as_ref().ok();
    json!({
        "origin": match host.origin {
            Origin::Live => "live",
            Origin::Capture => "capture",
            Origin::Tree => "tree",
        },
        "kernel": known(&host.kernel.release),
        "cpu_model": cpuinfo.map(|it| &it.model_name).filter(|it| !it.is_empty()),
        "cpus_online": host.topology.online.as_ref().ok().map(ToString::to_string),
        "vendor": known(&host.dmi.vendor),
        "product": known(&host.dmi.product),
        "firmware": known(&host.dmi.firmware_version),
        "hypervisor": host.platform.hypervisor.as_ref().ok().cloned().flatten(),
        "container": host.platform.container.as_ref().ok().cloned().flatten(),
    })
}

fn finding(check: &Check, finding: &Finding) -> Value {
    let Finding { severity, confidence, cpus, message, evidence, cost, fix } = finding;
    json!({
        "id": check.id,
        "severity": severity.name(),
        "confidence": confidence.name(),
        "cpus": cpus.as_ref().map(|it| json!({ "list": it.cpus.to_string(), "n": it.cpus.len(), "of": it.of })),
        "message": message,
        "evidence": evidence.iter().map(|it| json!({ "source": it.source, "value": it.value })).collect::<Vec<_>>(),
        "cost": cost.as_ref().map(|it| json!({ "estimate": it.estimate, "derivation": it.derivation })),
        "fix": {
            "now": fix.now,
            "by_hand": fix.by_hand.iter().map(by_hand).collect::<Vec<_>>(),
            "look": fix.look,
            "refused": fix.refused,
            "lasting": fix.lasting,
        },
        "settings": fix.apply,
        "references": references(check.references),
    })
}

fn by_hand(it: &ByHand) -> Value {
    json!({ "command": it.command, "risk": it.risk, "available": it.available })
}

fn references(references: &[Reference]) -> Vec<Value> {
    let reference = |it: &Reference| json!({ "title": it.title, "url": it.url });
    references.iter().map(reference).collect()
}

/// Why there is no value, as every schema has it.
pub(super) fn reason(missing: &Missing) -> Value {
    json!({
        "source": missing.what,
        "reason": missing.reason(),
        "text": missing.to_string(),
        "remedy": missing.remedy(),
    })
}

pub(super) fn pretty(value: &Value) -> Result<String> {
    let text = serde_json::to_string_pretty(value)?;
    Ok(harmless_page(&text).into_owned() + "\n")
}
