//! Options that a command does not have although others do: each is refused with what does the same there.
//!
//! The options of an audit stand at the top, because no command means `audit`, and are global, so that they may stand
//! before or behind a command's name. Where one has no meaning it is taken out of the command's help, and refused in
//! both places.

use super::{Invocation, overview};
use crate::output;
use clap::builder::UnknownArgumentValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command, CommandFactory, Error, FromArgMatches};
use facts::secrets;
use std::borrow::Cow;

/// An option by its id, the commands that do not have it, and what to use instead.
struct Foreign {
    option: &'static str,
    commands: &'static [&'static str],
    instead: &'static str,
}

const COUNTED: &str = "ticks are counted on the machine it runs on; `fullclock audit` judges another by a copy or a capture";
const MEASURED: &str = "a ledger measures the machine it runs on; `--from FILE` reads what `fullclock watch --record FILE` kept of \
                        another";
const SPUN: &str = "noise is of the machine it runs on: no copy of a host shows it";
const WATCHED: &str = "watch shows the machine it runs on; `--replay FILE` shows what `--record FILE` kept of another";
const KEPT: &str =
    "the history is that of this machine's results; `--results FOLDER` reads those of another";
const BENCHED: &str =
    "trials run on the machine it runs on; `fullclock compare A B` reads results of others";
const RACED: &str = "nodes run on machines that are there; `--nodes ssh:HOST` names another";
const SERVED: &str =
    "serve shows the machine it runs on; `fullclock audit` judges another by a copy or a capture";
const ASKED: &str =
    "the controller is that of the machine it runs on; `ssh HOST fullclock ipmi` asks another's";
const COMPARED: &str = "a result names the machine it is of; give the files of both";
const NO_HOST: &str = "the text is the same for every host";
const JUDGES: &str = "`fullclock audit --fail-on LEVEL` judges; this command has no findings";

const FOREIGN: &[Foreign] = &[
    Foreign { option: "root", commands: &["tick"], instead: COUNTED },
    Foreign { option: "host", commands: &["tick"], instead: COUNTED },
    Foreign { option: "root", commands: &["ledger"], instead: MEASURED },
    Foreign { option: "host", commands: &["ledger"], instead: MEASURED },
    Foreign { option: "root", commands: &["noise"], instead: SPUN },
    Foreign { option: "host", commands: &["noise"], instead: SPUN },
    Foreign { option: "root", commands: &["watch"], instead: WATCHED },
    Foreign { option: "host", commands: &["watch"], instead: WATCHED },
    Foreign { option: "root", commands: &["history"], instead: KEPT },
    Foreign { option: "host", commands: &["history"], instead: KEPT },
    Foreign { option: "root", commands: &["bench"], instead: BENCHED },
    Foreign { option: "host", commands: &["bench"], instead: BENCHED },
    Foreign { option: "root", commands: &["race", "agent"], instead: RACED },
    Foreign { option: "host", commands: &["race", "agent"], instead: RACED },
    Foreign { option: "root", commands: &["ipmi"], instead: ASKED },
    Foreign { option: "host", commands: &["ipmi"], instead: ASKED },
    Foreign { option: "root", commands: &["serve"], instead: SERVED },
    Foreign { option: "host", commands: &["serve"], instead: SERVED },
    Foreign { option: "root", commands: &["compare"], instead: COMPARED },
    Foreign { option: "host", commands: &["compare"], instead: COMPARED },
    Foreign { option: "root", commands: &["certificate"], instead: COMPARED },
    Foreign { option: "host", commands: &["certificate"], instead: COMPARED },
    Foreign { option: "root", commands: &["explain"], instead: NO_HOST },
    Foreign { option: "host", commands: &["explain"], instead: NO_HOST },
    Foreign {
        option: "fail_on",
        commands: &[
            "agent",
            "bench",
            "capture",
            "certificate",
            "compare",
            "explain",
            "history",
            "ipmi",
            "ledger",
            "net",
            "noise",
            "race",
            "serve",
            "tick",
            "watch",
        ],
        instead: JUDGES,
    },
    Foreign {
        option: "verbose",
        commands: &["watch"],
        instead: "`--columns` names what to show, and `--json` has the reason of every missing value",
    },
    Foreign {
        option: "verbose",
        commands: &[
            "agent",
            "bench",
            "capture",
            "certificate",
            "compare",
            "explain",
            "history",
            "ipmi",
            "net",
            "race",
            "serve",
            "tick",
        ],
        instead: "nothing is left out without it",
    },
    Foreign {
        option: "json",
        commands: &["serve"],
        instead: "`/api/v1` answers in JSON; /api/v1/openapi.json describes it",
    },
    Foreign {
        option: "json",
        commands: &["capture"],
        instead: "a capture is text of its own; `fullclock audit --json` prints JSON",
    },
    Foreign { option: "color", commands: &["capture"], instead: "a capture is plain text" },
    Foreign { option: "quiet", commands: &["explain"], instead: "nothing but the text is printed" },
];

/// Reads the command line; ends the program where it asks for help or makes no sense.
pub(crate) fn parse() -> Invocation {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    let parsed = matches.and_then(|matches| {
        refuse_before_command(&mut command, &matches)?;
        Invocation::from_arg_matches(&matches)
    });
    parsed.unwrap_or_else(|error| exit(&error.format(&mut command)))
}

/// Ends the program with an error of the command line, which repeats words of the user; a password among them is masked.
fn exit(error: &Error) -> ! {
    let text = error.render().to_string();
    match secrets::masked(&text) {
        Cow::Owned(masked) if error.use_stderr() => {
            output::say(&masked);
            std::process::exit(error.exit_code())
        }
        _ => error.exit(),
    }
}

/// The command line, with hidden options that refuse themselves.
fn command() -> Command {
    let mut command = overview::with_tasks(Invocation::command());
    for foreign in FOREIGN {
        let known = command.get_arguments().find(|it| it.get_id() == foreign.option);
        let Some(known) = known.cloned() else { continue };
        let refusing = UnknownArgumentValueParser::suggest(foreign.instead);
        let n_values = usize::from(known.get_action().takes_values());
        // A default would become the value of the option at the top too.
        let refused = known.action(ArgAction::Set).num_args(n_values).default_missing_value("");
        let refused = refused.default_value(None).global(false).hide(true).value_parser(refusing);
        for name in foreign.commands {
            command = command.mut_subcommand(name, |it| it.arg(refused.clone()));
        }
    }
    command
}

/// Refuses what stands before the command's name, where clap accepts what belongs to no command.
fn refuse_before_command(command: &mut Command, matches: &ArgMatches) -> Result<(), Error> {
    let Some(name) = matches.subcommand_name() else { return Ok(()) };
    let is_given = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
    let is_foreign = |it: &&Foreign| it.commands.contains(&name) && is_given(it.option);
    let Some(foreign) = FOREIGN.iter().find(is_foreign) else { return Ok(()) };
    let given = format!("--{}", foreign.option.replace('_', "-"));
    let mut error = Error::new(ErrorKind::UnknownArgument);
    error.insert(ContextKind::InvalidArg, ContextValue::String(given));
    let tip = ContextValue::StyledStrs(vec![foreign.instead.into()]);
    error.insert(ContextKind::Suggested, tip);
    if let Some(command) = command.find_subcommand_mut(name) {
        let usage = ContextValue::StyledStr(command.render_usage());
        error.insert(ContextKind::Usage, usage);
    }
    Err(error.with_cmd(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refused_option_and_its_commands_exist() {
        let command = Invocation::command();
        for foreign in FOREIGN {
            assert!(command.get_arguments().any(|it| it.get_id() == foreign.option));
            for name in foreign.commands {
                assert!(command.find_subcommand(name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn the_command_line_is_one_that_clap_can_read() {
        command().debug_assert();
    }
}
