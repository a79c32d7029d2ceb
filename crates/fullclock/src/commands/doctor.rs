//! `fullclock doctor`: what is missing here for this program, what it would add, and its command.

use super::bmc;
use crate::cli::Arguments;
use crate::config::{self, Loaded};
use crate::head::head;
use crate::output;
use crate::result::ResultArguments;
use anyhow::Result;
use clap::Args;
use facts::access::Access;
use facts::{HostView, Missing, Origin};
use report::doctor::{self, Configuration, Controller, Examination};
use rules::config::Redfish;
use rules::means::{self, Examined};
use std::io::{self, IsTerminal};
use std::process::ExitCode;

/// The options of `fullclock doctor`.
#[derive(Args, Debug)]
pub(crate) struct DoctorOptions {
    #[command(flatten)]
    result: ResultArguments,
}

pub(super) fn run(arguments: &Arguments, options: &DoctorOptions) -> Result<ExitCode> {
    let destination = options.result.destination(&arguments.output)?;
    let (source, name) = super::open(arguments)?;
    let (host, access, examined) =
        output::with_progress(&arguments.output, "reading the host ...", || examine(&*source));
    let configuration = configuration(arguments);
    let examination = Examination {
        host: &host,
        access: &access,
        examined: &examined,
        configuration: &configuration,
    };
    destination.print(&match destination.format() {
        None => doctor::json(&head(arguments), &examination)?,
        Some(format) => {
            doctor::document(&name, &examination, arguments.audit.verbose).render(format)
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A configuration that is refused is no reason to say nothing: it is one of the things that are wrong here.
fn configuration(arguments: &Arguments) -> Configuration {
    match config::loaded_with_advisories(&arguments.config) {
        Err(error) => Configuration::Refused(format!("{error:#}")),
        Ok(_) if arguments.config.no_config => Configuration::Off,
        Ok(Loaded { path: Some(path), config }) => Configuration::Read {
            path: path.display().to_string(),
            controller: config.redfish.as_ref().map(controller),
            config: Box::new(config),
            today: config::today(arguments.began),
        },
        Ok(Loaded { path: None, .. }) => Configuration::Absent(
            config::places().iter().map(|it| it.display().to_string()).collect(),
        ),
    }
}

/// Whether the controller could be asked: its file is read, and nothing is sent.
fn controller(configured: &Redfish) -> Controller {
    let file = configured.token_file.as_ref().or(configured.password_file.as_ref());
    let client = bmc::of_config(configured).and_then(|it| it.client());
    let (url, refused) = match client {
        Ok(client) => (Some(client.address().to_string()), None),
        Err(error) => (None, Some(format!("{error:#}"))),
    };
    Controller { url, file: file.cloned(), refused }
}

fn examine(source: &dyn host::Source) -> (HostView, Access, Vec<Examined>) {
    let host = host::view(source);
    let mut access = host::access(source);
    if source.origin() == Origin::Live {
        let has_terminal = io::stdin().is_terminal() || io::stdout().is_terminal();
        access.terminal = if has_terminal { Ok(()) } else { Err(Missing::absent("a terminal")) };
    }
    let audit = rules::audit::audit(&host);
    let examined = means::examine(&host, &access, &audit);
    (host, access, examined)
}

pub(super) const EXAMPLES: &str = "\
Examples:
  fullclock doctor                what is missing here, and the command for it
  fullclock doctor -v             also what is here, and what shows that
  sudo fullclock doctor           the same as root, who lacks less
  fullclock doctor --json         for a pipeline
  fullclock doctor --host db7.host   of another machine, by its capture";

#[cfg(test)]
mod tests {
    use crate::commands::Invocation;
    use clap::CommandFactory;
    use rules::means::MEANS;

    #[test]
    fn every_command_that_something_is_good_for_exists() {
        let program = Invocation::command();
        for means in MEANS {
            for name in means.adds.commands {
                assert!(program.find_subcommand(name).is_some(), "{}: {name}", means.id);
            }
        }
    }
}
