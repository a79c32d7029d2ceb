//! SARIF 2.1.0 (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>): a rule for each check, a result for each finding.
//!
//! Checks that are unknown are notifications of the invocation (section 3.20.21) and not results: viewers that do not look at the kind
//! of a result, code scanning of GitHub among them, show every result as a fault.

use super::{Audited, Format, line_of};
use facts::Missing;
use rules::audit::Suppressed;
use rules::check::Check;
use rules::checks::CHECKS;
use rules::finding::{Evidence, Finding, Severity};
use serde_json::{Result, Value, json};

pub(super) const FORMAT: Format =
    Format { name: "sarif", ending: Some("sarif"), write, plugin: None };

/// The name of the folder that paths of evidence start from: the root of the host.
const ROOT: &str = "HOSTROOT";

fn write(audited: &Audited<'_>) -> Result<String> {
    let audit = audited.audit;
    let found = audit.findings.iter().map(|(check, it)| result(audited, check, it));
    let results: Vec<Value> =
        found.chain(audit.suppressed.iter().map(|it| suppressed(audited, it))).collect();
    let notifications: Vec<Value> =
        audit.unknown.iter().map(|(check, it)| notification(check, it)).collect();
    let run = json!({
        "tool": { "driver": {
            "name": "fullclock",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "shortDescription": { "text": "What keeps the CPUs of a server below their clock" },
            "rules": CHECKS.iter().map(|it| rule(it)).collect::<Vec<_>>(),
        } },
        "automationDetails": { "id": format!("fullclock/audit/{}", audited.head.host) },
        "originalUriBaseIds": { ROOT: {
            "uri": "file:///",
            "description": { "text": format!("the root of {}", audited.head.host) },
        } },
        "invocations": [{
            "executionSuccessful": !audit.judged_nothing(),
            "startTimeUtc": audited.head.began,
            "toolExecutionNotifications": notifications,
        }],
        "columnKind": "unicodeCodePoints",
        "results": results,
    });
    crate::json::pretty(&json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }))
}

fn rule(check: &Check) -> Value {
    let mut rule = json!({
        "id": check.id,
        "shortDescription": { "text": check.title },
        "help": { "text": check.doc.trim(), "markdown": check.doc.trim() },
    });
    // What is not on the web has no address.
    if let Some(first) = check.references.iter().find(|it| !it.url.is_empty()) {
        rule["helpUri"] = first.url.into();
    }
    rule
}

/// The level of a severity (section 3.27.10).
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    }
}

fn result(audited: &Audited<'_>, check: &Check, finding: &Finding) -> Value {
    let index = CHECKS.iter().position(|it| it.id == check.id);
    let mut evidence = finding.evidence.iter().map(|it| location(&audited.head.host, it));
    let first: Vec<Value> = evidence.by_ref().take(1).collect();
    let source = finding.evidence.first().map_or("", |it| &it.source);
    json!({
        "ruleId": check.id,
        // -1: there is no such rule (section 3.27.6).
        "ruleIndex": index.and_then(|it| i64::try_from(it).ok()).unwrap_or(-1),
        "level": level(finding.severity),
        "message": { "text": line_of(check.id, finding) },
        "locations": first,
        "relatedLocations": evidence.collect::<Vec<_>>(),
        // The same fault in the next audit is the same result.
        "partialFingerprints": { "fullclockFinding/v1": format!("{}:{source}", check.id) },
        "properties": {
            "severity": finding.severity.name(),
            "confidence": finding.confidence.name(),
            "cpus": finding.cpus.as_ref().map(|it| it.cpus.to_string()),
            "cost": finding.cost.as_ref().map(|it| &it.estimate),
            "apply": finding.fix.apply,
        },
    })
}

/// A finding that the site has decided about (section 3.35).
fn suppressed(audited: &Audited<'_>, it: &Suppressed) -> Value {
    let mut result = result(audited, it.check, &it.finding);
    result["suppressions"] = json!([{
        "kind": "external",
        "status": "accepted",
        "justification": format!("until {}: {}", it.by.until, it.by.because),
    }]);
    result
}

/// Where evidence was read: a file, or a register of a host.
fn location(host: &str, evidence: &Evidence) -> Value {
    let Evidence { source, value } = evidence;
    let logical = json!([{ "name": source, "fullyQualifiedName": format!("{host}:{source}"), "kind": "resource" }]);
    let mut location = json!({
        "logicalLocations": logical,
        "message": { "text": format!("{source} = {value}") },
    });
    // A register has its number after the path.
    let path = source.split(' ').next().and_then(|it| it.strip_prefix('/'));
    if let Some(path) = path.filter(|it| !it.is_empty()) {
        let artifact = json!({ "uri": percent_encoded(path), "uriBaseId": ROOT });
        location["physicalLocation"] = json!({ "artifactLocation": artifact });
    }
    location
}

fn notification(check: &Check, missing: &Missing) -> Value {
    json!({
        "level": "note",
        "message": { "text": format!("{} is unknown: {missing}", check.id) },
        "associatedRule": { "id": check.id },
    })
}

/// A path as a relative reference (RFC 3986, sections 3.3 and 4.2).
fn percent_encoded(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(byte));
            }
            byte => super::put(&mut encoded, format_args!("%{byte:02X}")),
        }
    }
    encoded
}
