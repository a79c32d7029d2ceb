//! `fullclock plan`: what a change would write, without writing it.

use super::{asked as named, code};
use crate::cli::Arguments;
use crate::head::head;
use crate::output;
use anyhow::Result;
use clap::Args;
use engine::change::requested::{asked, planned};
use host::{Answered, CachedSource};
use rules::plan::Plan;
use std::process::ExitCode;

/// What is to be changed.
#[derive(Args, Debug)]
pub(crate) struct PlanArguments {
    /// Settings to change, `governor=performance` or `idle-state=C6:off@0-3`, or ids of findings to fix
    #[arg(value_name = "SETTING=VALUE|FINDING")]
    pub(crate) what: Vec<String>,
    /// A profile: database-throughput, database-latency, powersave-night, /etc/fullclock/NAME.toml, or a path
    #[arg(long = "profile", value_name = "NAME|FILE")]
    pub(crate) profiles: Vec<String>,
    /// Plan what can do harm, too: `fullclock explain SETTING` says which
    #[arg(long)]
    pub(crate) i_know: bool,
}

pub(crate) fn run(arguments: &Arguments, options: &PlanArguments) -> Result<ExitCode> {
    let plan = shown(arguments, options)?;
    Ok(code(!plan.refused.is_empty()))
}

/// The plan for the host that the options name, printed.
pub(super) fn shown(arguments: &Arguments, options: &PlanArguments) -> Result<Plan> {
    let (source, name) = crate::commands::open(arguments)?;
    let cached = CachedSource::new(&*source);
    let answered = Answered::new(&cached);
    let named = named(options);
    let (requests, host) = asked(&answered, named)?;
    let plan = planned(&answered, &host, &requests, named);
    crate::commands::refuse_nothing(&answered, &name)?;
    output::print(&if arguments.output.json {
        report::change::plan_json(&head(arguments), &plan)?
    } else {
        report::change::plan(&plan, arguments.audit.verbose, output::style(arguments.output.color))
    })?;
    Ok(plan)
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock plan                        what would fix the findings of an audit
  fullclock plan slow-governor
  fullclock plan governor=performance idle-state=C6:off@4-7
  fullclock plan --profile database-latency
  fullclock plan --host db7.host        for another host, from its capture";
