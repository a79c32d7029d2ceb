//! `audit`: what is set wrong on a host, a line for each finding; and all there is to say of one check.

use super::{Given, Scene, Tool, host_at, schema};
use anyhow::{Result, bail};
use engine::advised;
use engine::clock::since_1970_ns;
use engine::interrupt::Interrupt;
use facts::utc;
use host::WithController;
use report::brief;
use report::document::Document;
use rules::config::Config;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

pub(super) const TOOL: Tool = Tool {
    name: "audit",
    title: "What keeps the CPUs below their clock",
    description: "Judges this machine, or a copy of another: what is set wrong, a line for each finding, the worst first, and which \
                  checks are unknown for want of what. With `finding`, the evidence, the cost and the fix of one check. Takes about \
                  a second, and each call looks anew.",
    schema: schema::<Arguments>,
    answer,
    more: "call `audit` with `finding` for one check",
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The id of a check, such as slow-governor: what the audit says of this one, in full
    finding: Option<String>,
    /// A copy of another host, by its path on this machine: a file of `fullclock capture`, or a folder or archive that holds proc/ and
    /// sys/, such as a sosreport. Without it, this machine
    path: Option<PathBuf>,
}

fn answer(scene: &Scene, given: Given, _: &Interrupt) -> Result<Document> {
    let Arguments { finding, path } = given.read()?;
    let find = |id: &String| match rules::checks::find(id) {
        Some(check) => Ok(check),
        None => bail!(
            "{id:?} is not the id of a check: `audit` names those that found something, `explain` all"
        ),
    };
    let check = finding.as_ref().map(find).transpose()?;
    let of_machine = || Box::new(WithController::this_machine()) as Box<dyn host::Source>;
    let (source, name) = host_at(path.as_deref(), of_machine)?;
    // What this site has decided holds for its own machine.
    let none = Config::default();
    let config = if path.is_none() { &scene.config } else { &none };
    let (host, audit) = advised::looked_at(&*source, &name, config, &utc::date(since_1970_ns()))?;
    if audit.judged_nothing() {
        bail!("{name}: no check found what it needs, so nothing could be judged");
    }
    Ok(match check {
        Some(check) => brief::check(&name, check, &audit),
        None => brief::audit(&name, &host, &audit),
    })
}
