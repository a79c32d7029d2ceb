//! `history`: the results that were kept, or one of them.

use super::{Given, Scene, Tool, schema};
use anyhow::{Result, bail};
use engine::interrupt::Interrupt;
use lab::store::{History, read, recordings};
use report::document::Document;
use report::history::{self, Listed};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::RangeInclusive;

pub(super) const TOOL: Tool = Tool {
    name: "history",
    title: "Results that were kept",
    description: "Lists the results of benchmarks, experiments and races that this machine keeps, the latest first. With `id`, one result: \
                  its values with their intervals, its doubts, and the settings of the machine that it was measured on. `compare` \
                  takes two ids.",
    schema: schema::<Arguments>,
    answer,
    more: "ask for fewer by `count` or `workload`, or for one by `id`",
};

const COUNT: RangeInclusive<usize> = 1..=100;

const DEFAULT: usize = 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The id of a result, or a beginning of it that no other id has
    id: Option<String>,
    /// Only results of this workload, such as cpu-loop
    workload: Option<String>,
    /// List at most this many, 1 to 100; 20 without it
    #[schemars(range(min = 1, max = 100))]
    count: Option<usize>,
}

fn answer(scene: &Scene, given: Given, _: &Interrupt) -> Result<Document> {
    let Arguments { id, workload, count } = given.read()?;
    let count = count.unwrap_or(DEFAULT);
    if !COUNT.contains(&count) {
        bail!("`count` is {count}, expected {} to {}", COUNT.start(), COUNT.end());
    }
    // An index on disk would be written.
    let kept = History::open_in_memory(&scene.results)?;
    let Some(id) = id else {
        let entries = kept.list(workload.as_deref(), count)?;
        let listed: Vec<Listed<'_>> =
            entries.iter().map(|entry| Listed { entry, arms: Vec::new() }).collect();
        return Ok(history::document(&listed));
    };
    let entry = kept.find(&id)?;
    let record = read(&entry.path)?;
    Ok(history::entry_document(&entry, &record, recordings(&entry.path)))
}
