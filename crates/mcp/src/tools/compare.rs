//! `compare`: what can be said of the difference between two results.

use super::{Given, Scene, Tool, schema};
use anyhow::Result;
use engine::earlier::{earlier_runs, folders_of};
use engine::interrupt::Interrupt;
use lab::comparison::{compared, sides};
use lab::record::Record;
use lab::store::{History, read};
use report::document::Document;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOL: Tool = Tool {
    name: "compare",
    title: "What differs between two results",
    description: "Compares two results by their ids: by how much B differs from A, whether that exceeds what two runs of the same differ \
                  by, and how much of it the clock explains. With `a` alone, the two things that one result measured side by side.",
    schema: schema::<Arguments>,
    answer,
    more: "`fullclock compare A B` prints all of it",
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The id of a result that `history` lists, or a beginning of it that no other id has
    a: String,
    /// The id of the one that is compared with it
    b: Option<String>,
}

fn answer(scene: &Scene, given: Given, _: &Interrupt) -> Result<Document> {
    let Arguments { a, b } = given.read()?;
    let kept = History::open_in_memory(&scene.results)?;
    let found = [Some(a), b].into_iter().flatten().map(|id| kept.find(&id));
    let entries = found.collect::<Result<Vec<_>, _>>()?;
    let records: Vec<Record> = entries.iter().map(|it| read(&it.path)).collect::<Result<_, _>>()?;
    let names: Vec<String> = entries.into_iter().map(|it| it.id).collect();
    let sides = sides(&records, &names);
    let earlier = earlier_runs(&sides, &folders_of(&[], Some(&scene.results)));
    let found = compared(&records, &sides, &names, &earlier, None)?;
    Ok(report::bench::comparisons(&found, &sides, &names))
}
