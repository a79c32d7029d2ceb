//! `fullclock plan`: what a change would write, without writing it.

use super::controller::ControllerArguments;
use super::{asked as named, code};
use crate::cli::Arguments;
use crate::complete;
use crate::head::head;
use crate::output;
use crate::result::{Destination, ResultArguments};
use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap_complete::engine::ArgValueCandidates;
use engine::change::drafted::{Drafted, drafted};
use engine::redfish::WithRedfish;
use facts::change::Write;
use report::change::Planned;
use report::other_tools::{Site, TOOLS, Tool, Written};
use std::process::ExitCode;

/// What is to be changed.
#[derive(Args, Debug)]
pub(crate) struct PlanArguments {
    /// Settings to change, `governor=performance` or `idle-state=C6:off@0-3`, or ids of findings to fix
    #[arg(value_name = "SETTING=VALUE|FINDING", add = ArgValueCandidates::new(complete::findings_and_settings))]
    pub(crate) what: Vec<String>,
    /// A profile: database-throughput, database-latency, powersave-night, /etc/fullclock/NAME.toml, or a path
    #[arg(long = "profile", value_name = "NAME|FILE", add = ArgValueCandidates::new(complete::profiles))]
    pub(crate) profiles: Vec<String>,
    /// Plan what can do harm, too: `fullclock explain SETTING` says which
    #[arg(long)]
    pub(crate) i_know: bool,
    #[command(flatten)]
    pub(crate) controller: ControllerArguments,
    #[command(flatten)]
    pub(crate) result: ResultArguments,
}

/// What is to be changed, and in which words it is shown.
#[derive(Args, Debug)]
pub(crate) struct PlanCommand {
    #[command(flatten)]
    plan: PlanArguments,
    /// Print what the plan changes as another tool takes it: a profile of TuneD, commands of cpupower, or a script of POSIX sh that
    /// reads back what it writes. What a tool cannot do is a comment
    #[arg(long = "as", value_name = "TOOL", value_parser = tool(), conflicts_with_all = ["json", "format"])]
    tool: Option<&'static Tool>,
}

fn tool() -> impl TypedValueParser<Value = &'static Tool> {
    let find = |given: String| TOOLS.iter().find(|it| it.name == given).ok_or("no such tool");
    PossibleValuesParser::new(TOOLS.iter().map(|it| it.name)).try_map(find)
}

pub(crate) fn run(arguments: &Arguments, options: &PlanCommand) -> Result<ExitCode> {
    let PlanCommand { plan: options, tool } = options;
    options.controller.needs_configuration(arguments)?;
    let destination = match tool {
        None => options.result.destination(&arguments.output)?,
        Some(_) => options.result.destination_of_text(&arguments.output)?,
    };
    let draft = Draft::of(arguments, options)?;
    match tool {
        None => draft.print(arguments, &destination, &[])?,
        Some(tool) => draft.print_as(arguments, &destination, tool)?,
    }
    Ok(code(!draft.drafted.plan.refused.is_empty()))
}

/// The plan for the host that the options name.
pub(super) struct Draft {
    name: String,
    pub(super) drafted: Drafted,
}

impl Draft {
    /// Errors: the host cannot be read; something is named that does not exist.
    pub(super) fn of(arguments: &Arguments, options: &PlanArguments) -> Result<Draft> {
        let controller = options.controller.controller(arguments)?;
        let (mut source, name) = crate::commands::open(arguments)?;
        if let Some(controller) = controller {
            source = controller.of(source)?;
        } else if options.controller.is_left_alone(arguments) {
            source = Box::new(WithRedfish::left_alone(source));
        }
        let drafted = drafted(&*source, &name, named(options))?;
        Ok(Draft { name, drafted })
    }

    /// Prints it as a tool takes it.
    fn print_as(
        &self,
        arguments: &Arguments,
        destination: &Destination,
        tool: &Tool,
    ) -> Result<()> {
        let Draft { name, drafted: Drafted { plan, unfixed, unfound, tuned_profiles } } = self;
        let head = head(arguments);
        let planned = Planned { name, plan, unfixed, unfound, files: &[] };
        let site = Site { began: &head.began, tuned_profiles };
        let Written { text, lacking } = tool.text(&planned, &site);
        if let Some(lacking) = lacking {
            output::note(&arguments.output, &lacking);
        }
        destination.print(&text)
    }

    /// Prints it, with the files that would make it last.
    pub(super) fn print(
        &self,
        arguments: &Arguments,
        destination: &Destination,
        files: &[Write],
    ) -> Result<()> {
        let Draft { name, drafted: Drafted { plan, unfixed, unfound, .. } } = self;
        destination.print(&match destination.format() {
            None => report::change::plan_json(&head(arguments), plan, unfixed)?,
            Some(format) => {
                let planned = Planned { name, plan, unfixed, unfound, files };
                report::change::plan(&planned, arguments.audit.verbose).render(format)
            }
        })
    }
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  fullclock plan                        what would fix the findings of an audit
  fullclock plan slow-governor
  fullclock plan governor=performance idle-state=C6:off@4-7
  fullclock plan --profile database-latency
  fullclock plan --host db7.host        for another host, from its capture
  fullclock plan firmware-turbo=on --redfish https://bmc7 --token-file token
  fullclock plan --as shell > fix.sh    a script to review and run elsewhere
  fullclock plan --format markdown      for a ticket";
