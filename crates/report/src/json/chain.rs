//! A chain of a diagnosis, in an audit's JSON.

use super::Id;
use super::scope::Cpus;
use crate::diagnosis::{because, distinguished, sentences};
use rules::diagnosis::{self, Candidate as Possible};
use rules::finding::Moment;
use rules::party::Party;
use schemars::JsonSchema;
use serde::Serialize;

/// Findings joined: a sign of lost clock or time, what causes it, whose it is and what to do.
#[derive(Serialize, JsonSchema)]
pub(super) struct Chain<'a> {
    /// In words.
    #[schemars(length(min = 1))]
    sentence: String,
    /// That of the most severe of its findings.
    #[schemars(extend("enum" = ["info", "low", "medium", "high", "critical"]))]
    severity: &'static str,
    /// That of the least sure of its findings.
    #[schemars(extend("enum" = ["low", "medium", "high"]))]
    confidence: &'static str,
    /// What it takes.
    #[schemars(extend("enum" = ["clock", "turbo", "time"]))]
    lost: &'static str,
    /// How much of that; null where it is unknown.
    loss: Option<Loss>,
    /// null where it is not about CPUs.
    cpus: Option<Cpus>,
    /// What causes it; null where only the sign was found.
    mechanism: Option<&'a str>,
    /// Whose the mechanism is; null where that is unknown.
    #[schemars(extend("enum" = ["operating system", "program", "firmware", "management controller", "hypervisor", "power and heat", null]))]
    party: Option<&'static str>,
    /// The program that does it, with its number; several where each may be the one.
    program: Option<&'a str>,
    /// Whether it is certain that the program does it; null without one.
    program_is_certain: Option<bool>,
    /// Whether the cause was in force when the host was read, or a log or count shows that it was at some time since boot.
    #[schemars(extend("enum" = ["now", "since boot"]))]
    seen: &'static str,
    /// What to do about the cause, where no setting does it.
    action: Option<&'a str>,
    /// The checks whose findings it joins, the cause first.
    #[schemars(length(min = 1))]
    findings: Vec<Id<'static>>,
    /// What may cause a sign that nothing explains, the likeliest first.
    candidates: Vec<Candidate<'a>>,
}

/// How much a chain takes.
#[derive(Serialize, JsonSchema)]
struct Loss {
    /// The share of each CPU's clock or time, 0 to 1.
    share: f64,
    /// What that says of the true share: some CPUs may lose more, or a setting allows it at most.
    #[schemars(extend("enum" = ["measured", "at least", "at most"]))]
    bound: &'static str,
}

/// A possible cause.
#[derive(Serialize, JsonSchema)]
struct Candidate<'a> {
    check: Id<'static>,
    mechanism: &'a str,
    /// What speaks for it.
    because: String,
    /// What shows whether it is the cause; null where nothing on this host does.
    distinguished_by: Option<String>,
}

pub(super) fn chain<'a>(it: &diagnosis::Chain<'a>) -> Chain<'a> {
    Chain {
        sentence: sentences(it),
        severity: it.severity().name(),
        confidence: it.confidence().name(),
        lost: it.of().name(),
        loss: it.loss().map(|it| Loss { share: it.share, bound: it.bound.name() }),
        cpus: it.cpus().as_ref().map(Cpus::of),
        mechanism: it.cause().map(|_| it.mechanism()),
        party: it.party().map(Party::name),
        program: it.program(),
        program_is_certain: it.program().map(|_| it.is_certain()),
        seen: match it.moment() {
            Moment::Now => "now",
            Moment::SinceBoot => "since boot",
        },
        action: it.action(),
        findings: it.links().map(|it| Id(it.check.id)).collect(),
        candidates: it.candidates.iter().map(candidate).collect(),
    }
}

fn candidate<'a>(it: &Possible<'a>) -> Candidate<'a> {
    Candidate {
        check: Id(it.check.id),
        mechanism: it.name(),
        because: because(it),
        distinguished_by: distinguished(it),
    }
}
