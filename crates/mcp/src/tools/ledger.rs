//! `ledger`: where the CPU time of this machine went, during some seconds.

use super::{Given, Scene, Tool, schema};
use anyhow::{Result, anyhow, bail};
use engine::interrupt::Interrupt;
use engine::ledger::{Task, measure};
use engine::measure::choice::{self, within};
use facts::CpuSet;
use host::Live;
use report::document::Document;
use report::ledger::document;
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::RangeInclusive;
use std::time::Duration;

pub(super) const TOOL: Tool = Tool {
    name: "ledger",
    title: "Where CPU time goes now",
    description: "Measures this machine for some seconds and says where the CPU time went, in lines that sum to 100 %: idle, useful work, \
                  clock below its maximum, interrupts, time that a hypervisor took. Safe in production; the answer comes when the time \
                  is over. Call it while the workload runs. `explain` says what a line means.",
    schema: schema::<Arguments>,
    answer,
    more: "name fewer CPUs in `cpus`",
};

/// Longer than a client waits, and no wish of somebody who asks and reads.
const SECONDS: RangeInclusive<u64> = 1..=60;

const DEFAULT: u64 = 5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// How many seconds to measure, 1 to 60; 5 without it
    #[schemars(range(min = 1, max = 60))]
    seconds: Option<u64>,
    /// The CPUs to account for, a list like 0-3,8. Without it, all that are online
    cpus: Option<String>,
    /// Processes whose CPU time counts as useful, by their numbers. Without any, all work does
    #[serde(default)]
    pids: Vec<u32>,
    /// Whether to trace the scheduler and interrupts, which needs root and shows every nanosecond: never (without it), auto where it is
    /// allowed and takes less than 1 % of the CPUs, always, which fails where it cannot
    #[serde(default)]
    trace: Trace,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Trace {
    #[default]
    Never,
    Auto,
    Always,
}

fn answer(_: &Scene, given: Given, interrupt: &Interrupt) -> Result<Document> {
    let Arguments { seconds, cpus, pids, trace } = given.read()?;
    let seconds = seconds.unwrap_or(DEFAULT);
    if !SECONDS.contains(&seconds) {
        bail!("`seconds` is {seconds}, expected {} to {}", SECONDS.start(), SECONDS.end());
    }
    let cpus = cpus.as_deref().map(cpu_list).transpose()?;
    let host = host::view(&Live::this_machine());
    let online = host.topology.online.as_ref().map_err(Clone::clone)?;
    let task = Task {
        cpus: within(cpus.as_ref(), online)?,
        trace: match trace {
            Trace::Never => choice::Trace::Never,
            Trace::Auto => choice::Trace::Auto,
            Trace::Always => choice::Trace::Always,
        },
        pids,
        server: None,
        command: Vec::new(),
        beside_results: true,
        duration: Some(Duration::from_secs(seconds)),
    };
    let closed = measure(&host, &task, interrupt, &|_| Box::new(|_| ()))?;
    Ok(document::document("this machine", &host, &closed.ledger, false))
}

/// A list of CPUs that is not empty.
fn cpu_list(text: &str) -> Result<CpuSet> {
    let cpus = CpuSet::parse_list(text).map_err(|error| anyhow!("`cpus`: {error}"))?;
    if cpus.is_empty() { bail!("`cpus` names no CPU") } else { Ok(cpus) }
}
