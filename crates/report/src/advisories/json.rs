//! Advisories and what they are to a host: `schemas/advisories-1.json`.

use super::{why, words};
use crate::json::{Head, Id, Machine, Opening, pretty};
use facts::HostView;
use rules::advisory::standing::Standing;
use rules::advisory::{Source, Symptom};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// Published faults of firmware, microcode and kernels, those first that concern the host; of one, that one.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AdvisoriesDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 1>,
    machine: Machine<'a>,
    advisories: Vec<Published<'a>>,
}

/// One advisory.
#[derive(Serialize, JsonSchema)]
struct Published<'a> {
    id: Id<'a>,
    #[schemars(length(min = 1))]
    title: &'a str,
    /// seen here: the version is affected and a check found what the fault does; affected by version: only the former; perhaps
    /// affected: the kernel is a distribution's, which may have fixed it.
    #[schemars(extend("enum" = ["seen here", "affected by version", "perhaps affected", "unknown", "not affected"]))]
    state: &'static str,
    /// What the state says besides: checks that see it, why it is not seen, what could not be read.
    why: Option<String>,
    /// What of the host was compared.
    compared: Vec<Compared<'a>>,
    #[schemars(extend("enum" = ["firmware", "operating system", "management controller"]))]
    party: &'static str,
    about: &'a str,
    /// What is affected, in words; one of them has to fit.
    affected: Vec<String>,
    /// null where no version is known.
    fixed: Option<&'a str>,
    /// What to do, in the imperative.
    action: &'a str,
    symptoms: Vec<Shown<'a>>,
    /// What it costs, by a source; null where none says so.
    loss: Option<Loss<'a>>,
    sources: Vec<Read<'a>>,
}

/// What was read.
#[derive(Serialize, JsonSchema)]
struct Compared<'a> {
    source: &'a str,
    value: &'a str,
}

/// What shows that it acts.
#[derive(Serialize, JsonSchema)]
struct Shown<'a> {
    check: Id<'a>,
    /// What is in the finding; null where any finding of the check shows it.
    mentions: Option<&'a str>,
}

/// What it costs.
#[derive(Serialize, JsonSchema)]
struct Loss<'a> {
    what: &'a str,
    /// The address of the source.
    source: Option<&'a str>,
}

/// Where it is published.
#[derive(Serialize, JsonSchema)]
struct Read<'a> {
    title: &'a str,
    url: &'a str,
    /// The day on which it was read.
    read: &'a str,
}

/// The advisories as JSON.
///
/// Errors: it cannot be written as JSON, which is a bug.
pub fn json(head: &Head, host: &HostView, standings: &[Standing]) -> Result<String> {
    pretty(&AdvisoriesDocument {
        opening: head.opening(),
        machine: Machine::of(host),
        advisories: standings.iter().map(published).collect(),
    })
}

fn published(standing: &Standing) -> Published<'_> {
    let advisory = &*standing.advisory;
    let loss = advisory.loss.as_ref().map(|it| Loss {
        what: &it.what,
        source: advisory.sources.get(it.source).map(|it| it.url.as_str()),
    });
    let compared = standing.compared.iter();
    Published {
        id: Id(&advisory.id),
        title: &advisory.title,
        state: standing.state.name(),
        why: why(&standing.state),
        compared: compared.map(|it| Compared { source: &it.source, value: &it.value }).collect(),
        party: advisory.party.name(),
        about: &advisory.about,
        affected: advisory.affected.iter().map(words).collect(),
        fixed: advisory.fixed.as_deref(),
        action: &advisory.action,
        symptoms: advisory.symptoms.iter().map(shown).collect(),
        loss,
        sources: advisory.sources.iter().map(read).collect(),
    }
}

fn shown(symptom: &Symptom) -> Shown<'_> {
    Shown { check: Id(&symptom.check), mentions: symptom.mentions.as_deref() }
}

fn read(source: &Source) -> Read<'_> {
    Read { title: &source.title, url: &source.url, read: &source.read }
}
