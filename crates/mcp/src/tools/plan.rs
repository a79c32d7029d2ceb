//! `plan`: what a fix or a change would write. Nothing here can apply one.

use super::{Given, Scene, Tool, host_at, schema};
use anyhow::Result;
use engine::change::drafted::drafted;
use engine::change::requested::Asked;
use engine::interrupt::Interrupt;
use host::Live;
use report::change::Planned;
use report::document::Document;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

pub(super) const TOOL: Tool = Tool {
    name: "plan",
    title: "What a fix would write",
    description: "Shows what a fix or a change of settings would write, old and new values, and why something would be refused. Writes \
                  nothing, and no tool does: a person applies a plan with `fullclock apply`, as root, and takes it back with `fullclock \
                  revert`.",
    schema: schema::<Arguments>,
    answer,
    more: "name one finding or setting in `what`",
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Ids of findings to fix, such as slow-governor, or settings with their values, such as governor=performance or
    /// idle-state=C6:off@0-3. Without any, everything that fixes a finding
    #[serde(default)]
    what: Vec<String>,
    /// A copy of another host, as of `audit`. Without it, this machine
    path: Option<PathBuf>,
}

fn answer(_: &Scene, given: Given, _: &Interrupt) -> Result<Document> {
    let Arguments { what, path } = given.read()?;
    let (source, name) = host_at(path.as_deref(), || Box::new(Live::this_machine()))?;
    // What can do harm is for people to plan.
    let asked = Asked { what: &what, profiles: &[], i_know: false };
    let drafted = drafted(&*source, &name, asked)?;
    let planned = Planned {
        name: &name,
        plan: &drafted.plan,
        unfixed: &drafted.unfixed,
        unfound: &drafted.unfound,
        files: &[],
    };
    Ok(report::change::plan(&planned, false))
}
