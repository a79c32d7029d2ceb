//! What ids and pasted lines are about: `schemas/explain-2.json`.

use super::chain::{Chain, chain};
use super::{Head, Id, Opening, Source, pretty, references};
use crate::documentation;
use crate::explain::joined;
use crate::relations::{causes, effects};
use rules::audit::Audit;
use rules::diagnosis;
use rules::diagnosis::parts::{Kind, part_of};
use rules::documentation::Entry;
use rules::pasted;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Result;

/// Without a subject the ids of all lists; of an id its entry; of pasted text what it means.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExplainDocument<'a> {
    #[serde(flatten)]
    opening: Opening<'a, 2>,
    #[serde(flatten)]
    content: Content<'a>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Content<'a> {
    Lists(Lists),
    Entry(Named<'a>),
    Pasted(Pasted<'a>),
}

/// Every entry of every list, without its documentation.
#[derive(Serialize, JsonSchema)]
struct Lists {
    checks: Vec<Listed>,
    metrics: Vec<Listed>,
    ledger_lines: Vec<Listed>,
    settings: Vec<Listed>,
    workloads: Vec<Listed>,
    advisories: Vec<Listed>,
    /// Words that findings use.
    terms: Vec<Listed>,
}

/// An entry of a list.
#[derive(Serialize, JsonSchema)]
struct Listed {
    id: Id<'static>,
    title: &'static str,
}

/// An entry, and those of other lists with the same id, or that the same word stands for.
#[derive(Serialize, JsonSchema)]
struct Named<'a> {
    #[serde(flatten)]
    first: Documented<'a>,
    others: Vec<Documented<'a>>,
    /// The chains of this machine that a finding of the first is in; null where it was not looked at.
    here: Option<Vec<Chain<'a>>>,
}

/// An entry with its documentation.
#[derive(Serialize, JsonSchema)]
struct Documented<'a> {
    #[schemars(extend("enum" = ["check", "metric", "ledger line", "setting", "workload", "advisory", "term"]))]
    list: &'static str,
    id: Id<'static>,
    title: &'static str,
    /// Markdown.
    doc: &'a str,
    references: Vec<Source>,
    /// The part of a check's findings in the diagnosis; null where they have none.
    diagnosis: Option<Related>,
}

/// What the findings of a check are in the diagnosis.
#[derive(Serialize, JsonSchema)]
struct Related {
    /// Whether they are the sign of a fault, or what causes it.
    #[schemars(extend("enum" = ["sign", "cause"]))]
    kind: &'static str,
    /// Checks whose findings they can explain.
    explains: Vec<Id<'static>>,
    /// Checks whose findings can explain them.
    explained_by: Vec<Id<'static>>,
}

/// A pasted text: what was recognised in it first, and whatever else was.
#[derive(Serialize, JsonSchema)]
struct Pasted<'a> {
    #[serde(flatten)]
    first: Recognised<'a>,
    others: Vec<Recognised<'a>>,
    /// The chains that join several findings of it.
    diagnosis: Vec<Chain<'a>>,
}

/// One kind of text.
#[derive(Serialize, JsonSchema)]
struct Recognised<'a> {
    /// What was recognised.
    what: &'static str,
    /// What it means, paragraph by paragraph.
    meaning: &'a [String],
    /// Checks that look for the cause.
    checks: Vec<Id<'static>>,
}

/// Every entry of every list and what it is about, without its documentation.
pub fn entries(head: &Head) -> Result<String> {
    let of = |list: &str| -> Vec<Listed> {
        let entries = documentation::entries().filter(|entry| entry.list == list);
        entries.map(|it| Listed { id: Id(it.id), title: it.title }).collect()
    };
    let lists = Lists {
        checks: of("check"),
        metrics: of("metric"),
        ledger_lines: of("ledger line"),
        settings: of("setting"),
        workloads: of("workload"),
        advisories: of("advisory"),
        terms: of("term"),
    };
    pretty(&ExplainDocument { opening: head.opening(), content: Content::Lists(lists) })
}

/// One entry with its documentation, and those of other lists with the same id.
pub fn entry(head: &Head, first: &Entry, others: &[Entry], here: Option<&Audit>) -> Result<String> {
    let chains = here.map(diagnosis::chains);
    let is_of = |it: &&diagnosis::Chain<'_>| it.links().any(|link| link.check.id == first.id);
    let here = chains.as_ref().map(|all| all.iter().filter(is_of).map(chain).collect());
    let others = others.iter().map(documented).collect();
    let named = Named { first: documented(first), others, here };
    pretty(&ExplainDocument { opening: head.opening(), content: Content::Entry(named) })
}

fn documented(entry: &Entry) -> Documented<'_> {
    Documented {
        list: entry.list,
        id: Id(entry.id),
        title: entry.title,
        doc: &entry.doc,
        references: references(entry.references),
        diagnosis: part_of(entry.id).filter(|_| entry.list == "check").map(|part| Related {
            kind: match part.kind {
                Kind::Symptom => "sign",
                Kind::Mechanism => "cause",
            },
            explains: effects(entry.id).map(|it| Id(it.effect)).collect(),
            explained_by: causes(entry.id).map(|it| Id(it.cause)).collect(),
        }),
    }
}

/// What a pasted text means.
pub fn explanation(
    head: &Head,
    first: &pasted::Explanation,
    others: &[pasted::Explanation],
    audit: Option<&Audit>,
) -> Result<String> {
    let others = others.iter().map(recognised).collect();
    let joined = audit.map(joined).unwrap_or_default();
    let diagnosis = joined.iter().map(chain).collect();
    let pasted = Pasted { first: recognised(first), others, diagnosis };
    pretty(&ExplainDocument { opening: head.opening(), content: Content::Pasted(pasted) })
}

fn recognised(explanation: &pasted::Explanation) -> Recognised<'_> {
    Recognised {
        what: explanation.what,
        meaning: &explanation.meaning,
        checks: explanation.checks.iter().map(|it| Id(it)).collect(),
    }
}
