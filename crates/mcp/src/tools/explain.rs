//! `explain`: what an entry of a list is about, or what a pasted line means.

use super::{Given, Scene, Tool, schema};
use anyhow::{Result, bail};
use engine::explained;
use engine::interrupt::Interrupt;
use report::document::Document;
use report::{brief, documentation, explain};
use rules::config::Config;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOL: Tool = Tool {
    name: "explain",
    title: "What an id or a pasted line means",
    description: "Explains a check, a metric, a line of the ledger, a setting or a workload by its id: what it looks at or does, what it \
                  costs, when to leave it alone, what it cannot know. Also words such as EPP or PROCHOT, columns of turbostat, and \
                  pasted lines: messages of the kernel's log, output of cpupower or lscpu. Without a subject, lists all ids.",
    schema: schema::<Arguments>,
    answer,
    more: "`fullclock explain` prints all of it",
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// An id, such as slow-governor, a word, or pasted text of several lines
    subject: Option<String>,
}

fn answer(_: &Scene, given: Given, _: &Interrupt) -> Result<Document> {
    let Arguments { subject } = given.read()?;
    let subject = subject.unwrap_or_default();
    let subject = subject.trim();
    if subject.is_empty() {
        return Ok(brief::ids());
    }
    if let [first, others @ ..] = &*documentation::find(subject) {
        return Ok(explain::entry(first, others));
    }
    let pasted = explained::pasted(subject, &Config::default(), "");
    match &*pasted.explanations {
        [first, others @ ..] => Ok(explain::explanation(first, others, pasted.audit.as_ref())),
        [] => bail!(explain::unknown(subject)),
    }
}
