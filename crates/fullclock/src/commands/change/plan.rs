//! `fullclock plan`: what a change would write, without writing it.

use super::{asked as named, code};
use crate::cli::Arguments;
use crate::commands::change::options::PlanArguments;
use crate::output::{self};
use anyhow::Result;
use engine::change::requested::{asked, planned};
use host::{Answered, Once};
use rules::plan::Plan;
use std::process::ExitCode;

pub(crate) fn run(arguments: &Arguments, options: &PlanArguments) -> Result<ExitCode> {
    let plan = shown(arguments, options)?;
    Ok(code(!plan.refused.is_empty()))
}

/// The plan for the host that the options name, printed.
pub(super) fn shown(arguments: &Arguments, options: &PlanArguments) -> Result<Plan> {
    let (source, name) = crate::commands::open(arguments)?;
    let once = Once::new(&*source);
    let answered = Answered::new(&once);
    let named = named(options);
    let (requests, host) = asked(&answered, named)?;
    let plan = planned(&answered, &host, &requests, named);
    crate::commands::refuse_nothing(&answered, &name)?;
    output::print(&if arguments.output.json {
        report::change::plan_json(&plan)?
    } else {
        report::change::plan(&plan, arguments.audit.verbose, output::style(arguments.output.color))
    })?;
    Ok(plan)
}
