//! An audit: `schemas/audit-2.json`.

use super::chain::{Chain, chain};
use super::scope::Cpus;
use super::{Head, Id, Machine, Opening, Reason, Source, pretty, references};
use facts::{HostView, Missing, site};
use rules::audit::{self, Audit};
use rules::check::Check;
use rules::config::Ignored;
use rules::diagnosis;
use rules::finding;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// What an audit of a host found: findings, and checks that are clean, unknown or not applicable.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AuditDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    machine: Machine<'a>,
    /// The look that `--look` requested; null where nobody looked for longer than every audit does.
    look: Option<Look>,
    /// The findings about clock and time, joined by what causes them; the most severe first.
    diagnosis: Vec<Chain<'a>>,
    /// Worst first.
    findings: Vec<Finding<'a>>,
    /// Findings that the configuration suppresses: without effect on `--fail-on`.
    suppressed: Vec<Suppressed<'a>>,
    /// Entries of the configuration whose day is over: what they were about is among the findings.
    expired_suppressions: Vec<Decision<'a>>,
    /// Thresholds of checks that the configuration sets.
    thresholds: Vec<Threshold>,
    /// Checks that could not be made. They are not clean.
    unknown: Vec<WithoutVerdict<'a>>,
    /// Checks about something that this host does not have.
    not_applicable: Vec<WithoutVerdict<'a>>,
    /// Checks that found nothing.
    clean: Vec<Id<'static>>,
}

/// A look of some time at what may hold a clock down.
#[derive(Serialize, JsonSchema)]
struct Look {
    /// How long it took, in seconds.
    #[schemars(range(min = 0))]
    seconds: f64,
}

/// A fault of the host.
#[derive(Serialize, JsonSchema)]
struct Finding<'a> {
    id: Id<'static>,
    #[schemars(extend("enum" = ["info", "low", "medium", "high", "critical"]))]
    severity: &'static str,
    #[schemars(extend("enum" = ["low", "medium", "high"]))]
    confidence: &'static str,
    /// null where the finding is not about CPUs.
    cpus: Option<Cpus>,
    #[schemars(length(min = 1))]
    message: &'a str,
    #[schemars(length(min = 1))]
    evidence: Vec<Evidence<'a>>,
    /// null where nothing allows an estimate.
    cost: Option<Cost<'a>>,
    fix: Fix<'a>,
    /// What `fullclock apply` takes to fix it: SETTING=VALUE or SETTING=VALUE@CPUS, as `fullclock plan` accepts it on this host.
    #[schemars(inner(regex(pattern = "^[a-z0-9-]+=")))]
    settings: &'a [String],
    #[schemars(length(min = 1))]
    references: Vec<Source>,
}

/// A finding that the site has decided about.
#[derive(Serialize, JsonSchema)]
struct Suppressed<'a> {
    #[serde(flatten)]
    finding: Finding<'a>,
    /// The last day, UTC.
    #[schemars(regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    until: &'a str,
    #[schemars(length(min = 1))]
    because: &'a str,
}

/// An entry of `ignore` in the configuration.
#[derive(Serialize, JsonSchema)]
struct Decision<'a> {
    check: Id<'static>,
    /// null where it is about all CPUs.
    cpus: Option<String>,
    /// The last day, UTC.
    #[schemars(regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    until: &'a str,
    because: &'a str,
}

/// From which amount on a check finds something here.
#[derive(Serialize, JsonSchema)]
struct Threshold {
    check: Id<'static>,
    value: f64,
    unit: &'static str,
    default: f64,
}

/// One thing that was read.
#[derive(Serialize, JsonSchema)]
struct Evidence<'a> {
    /// A path, or a path and a register.
    #[schemars(length(min = 1))]
    source: &'a str,
    /// What it held, verbatim.
    value: &'a str,
}

/// What a fault takes.
#[derive(Serialize, JsonSchema)]
struct Cost<'a> {
    estimate: &'a str,
    /// How that is known.
    derivation: &'a str,
}

/// What would fix a fault.
#[derive(Serialize, JsonSchema)]
struct Fix<'a> {
    /// Shell commands (bash) that make the writes of `settings`; gone after a reboot. `fullclock plan` accepts each on this host.
    now: &'a [String],
    /// Commands for what no setting changes. They are not journaled: `fullclock revert` does not undo them.
    by_hand: Vec<ByHand<'a>>,
    /// Commands that only read.
    look: &'a [String],
    /// Why a setting or a command is not offered on this host, a line each.
    refused: &'a [String],
    /// What makes it last.
    lasting: Option<&'a str>,
}

/// A command for what no setting changes.
#[derive(Serialize, JsonSchema)]
struct ByHand<'a> {
    #[schemars(length(min = 1))]
    command: &'a str,
    /// What can go wrong.
    #[schemars(length(min = 1))]
    risk: &'static str,
    /// Distributions and packages that have it.
    #[schemars(length(min = 1))]
    available: &'static str,
}

/// A check without a verdict.
#[derive(Serialize, JsonSchema)]
struct WithoutVerdict<'a> {
    check: Id<'static>,
    #[serde(flatten)]
    reason: Reason<'a>,
}

/// An audit as JSON.
pub fn audit(head: &Head, host: &HostView, audit: &Audit) -> Result<String> {
    pretty(&AuditDocument {
        opening: head.opening(),
        machine: Machine::of(host),
        look: host.watched.as_ref().map(|it| Look { seconds: it.time.as_secs_f64() }),
        diagnosis: diagnosis::chains(audit).iter().map(chain).collect(),
        findings: audit.findings.iter().map(|(check, it)| finding(check, it)).collect(),
        suppressed: audit.suppressed.iter().map(suppressed).collect(),
        expired_suppressions: audit.expired.iter().map(decision).collect(),
        thresholds: host.thresholds.set().iter().map(threshold).collect(),
        unknown: audit.unknown.iter().map(without_verdict).collect(),
        not_applicable: audit.not_applicable.iter().map(without_verdict).collect(),
        clean: audit.clean.iter().map(|check| Id(check.id)).collect(),
    })
}

fn suppressed(it: &audit::Suppressed) -> Suppressed<'_> {
    let audit::Suppressed { check, finding: found, by } = it;
    Suppressed { finding: finding(check, found), until: &by.until, because: &by.because }
}

fn decision(it: &Ignored) -> Decision<'_> {
    Decision {
        check: Id(it.check.id),
        cpus: it.cpus.as_ref().map(ToString::to_string),
        until: &it.until,
        because: &it.because,
    }
}

fn threshold((threshold, value): &(&'static site::Threshold, f64)) -> Threshold {
    Threshold {
        check: Id(threshold.check),
        value: *value,
        unit: threshold.unit,
        default: threshold.default,
    }
}

fn finding<'a>(check: &'static Check, finding: &'a finding::Finding) -> Finding<'a> {
    let finding::Finding {
        severity,
        confidence,
        cpus,
        message,
        evidence,
        cost,
        lost: _,
        fix,
        held: _,
    } = finding;
    let evidence = evidence.iter().map(|it| Evidence { source: &it.source, value: &it.value });
    Finding {
        id: Id(check.id),
        severity: severity.name(),
        confidence: confidence.name(),
        cpus: cpus.as_ref().map(Cpus::of),
        message,
        evidence: evidence.collect(),
        cost: cost.as_ref().map(|it| Cost { estimate: &it.estimate, derivation: &it.derivation }),
        fix: Fix {
            now: &fix.now,
            by_hand: fix.by_hand.iter().map(by_hand).collect(),
            look: &fix.look,
            refused: &fix.refused,
            lasting: fix.lasting.as_deref(),
        },
        settings: &fix.apply,
        references: references(check.references),
    }
}

fn without_verdict<'a>((check, missing): &'a (&'static Check, Missing)) -> WithoutVerdict<'a> {
    WithoutVerdict { check: Id(check.id), reason: Reason::of(missing) }
}

fn by_hand(it: &finding::ByHand) -> ByHand<'_> {
    ByHand { command: &it.command, risk: it.risk, available: it.available }
}
