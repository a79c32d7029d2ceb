//! Options that a command does not have although others do: each is refused with what does the same there.
//!
//! The options of an audit stand at the top, because no command means `audit`, and are global, so that they may stand
//! before or behind a command's name. Where one has no meaning it is taken out of the command's help, and refused in
//! both places.

use super::defaults::LeftOut;
use super::{Invocation, audit, overview};
use crate::{build, config, output};
use anyhow::Result;
use clap::builder::UnknownArgumentValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, Error, FromArgMatches};
use facts::secrets;
use std::borrow::Cow;

/// Options by their ids, the commands that do not have them (`net client`), and what to use instead.
struct Foreign {
    options: &'static [&'static str],
    commands: &'static [&'static str],
    instead: &'static str,
}

/// Which host is meant.
const HOST: &[&str] = &["root", "host"];

/// Which configuration is read.
const CONFIG: &[&str] = &["config", "no_config"];

const FOREIGN: &[Foreign] = &[
    Foreign {
        options: HOST,
        commands: &["tick"],
        instead: "ticks are counted on this machine; `fullclock audit` judges another by a copy or a capture",
    },
    Foreign {
        options: HOST,
        commands: &["ledger"],
        instead: "a ledger measures this machine; `--from FILE` reads what `fullclock watch --record FILE` kept of another",
    },
    Foreign {
        options: HOST,
        commands: &["noise"],
        instead: "noise is measured on this machine: no copy of a host shows it",
    },
    Foreign {
        options: HOST,
        commands: &["watch"],
        instead: "watch shows this machine; `--replay FILE` shows what `--record FILE` kept of another",
    },
    Foreign {
        options: HOST,
        commands: &["history"],
        instead: "the history is that of this machine's results; `--results FOLDER` reads those of another",
    },
    Foreign {
        options: HOST,
        commands: &["baseline"],
        instead: "baselines are taken on this machine; `--results FOLDER` reads those of another",
    },
    Foreign {
        options: HOST,
        commands: &["bench"],
        instead: "trials run on this machine; `fullclock compare A B` reads results of others",
    },
    Foreign {
        options: HOST,
        commands: &["race", "agent"],
        instead: "nodes are machines that run; `--nodes ssh:HOST` names another",
    },
    Foreign {
        options: HOST,
        commands: &["serve"],
        instead: "serve shows this machine; `fullclock audit` judges another by a copy or a capture",
    },
    Foreign {
        options: HOST,
        commands: &["metrics"],
        instead: "metrics are those of this machine; `fullclock audit` judges another by a copy or a capture",
    },
    Foreign {
        options: HOST,
        commands: &["mcp"],
        instead: "the client names a copy or a capture where it asks, by `path`",
    },
    Foreign {
        options: HOST,
        commands: &["ipmi"],
        instead: "the controller is that of this machine; `ssh HOST fullclock ipmi` asks another's",
    },
    Foreign {
        options: HOST,
        commands: &["bmc"],
        instead: "a controller is asked over a network, or of this machine; `--redfish URL` names another's",
    },
    Foreign {
        options: HOST,
        commands: &["net client", "net server"],
        instead: "a test needs two machines that run; `fullclock net curve` reads what was measured elsewhere",
    },
    Foreign {
        options: HOST,
        commands: &["compare", "certificate", "report"],
        instead: "a result names the machine that it was measured on; give the files",
    },
    Foreign {
        options: HOST,
        commands: &["explain"],
        instead: "the text is the same for every host",
    },
    Foreign {
        options: HOST,
        commands: &["confirm", "revert", "status", "watch-drift", "experiment"],
        instead: "it changes this machine, or reads its journal; `fullclock plan` plans for another host",
    },
    Foreign {
        options: HOST,
        commands: &["fleet"],
        instead: "captures and copies are a PATH each, and folders of them; `--prometheus URL` asks an engine",
    },
    Foreign {
        options: HOST,
        commands: &["diff"],
        instead: "name both: `fullclock diff A B`, of which one may be `live`",
    },
    Foreign {
        options: &["fail_on"],
        commands: &["fleet"],
        instead: "`--fail-on-slow` exits with 1 where a machine is slow",
    },
    Foreign {
        options: &["fail_on"],
        commands: &["diff"],
        instead: "it exits with 1 where something differs, as diff(1) does",
    },
    Foreign {
        options: &["verbose"],
        commands: &["fleet", "diff"],
        instead: "`--all` shows what is left out",
    },
    Foreign {
        options: &["fail_on"],
        commands: &[
            "advisories",
            "agent",
            "apply",
            "baseline",
            "bench",
            "bmc",
            "capture",
            "certificate",
            "compare",
            "confirm",
            "doctor",
            "experiment",
            "completions",
            "explain",
            "history",
            "ipmi",
            "ledger",
            "manual",
            "mcp",
            "metrics",
            "net",
            "noise",
            "plan",
            "race",
            "report",
            "revert",
            "serve",
            "status",
            "tick",
            "watch",
            "watch-drift",
        ],
        instead: "`fullclock audit --fail-on LEVEL` judges; this command has no findings",
    },
    Foreign {
        options: CONFIG,
        commands: &["agent", "diff", "fleet", "ledger", "net", "noise", "report", "tick"],
        instead: "this command reads no configuration: it has no folder and no findings of its own",
    },
    Foreign {
        options: &["verbose"],
        commands: &["watch"],
        instead: "`--columns` names what to show, and `--json` has the reason of every missing value",
    },
    Foreign {
        options: &["verbose"],
        commands: &[
            "agent",
            "baseline",
            "bench",
            "bmc",
            "capture",
            "certificate",
            "compare",
            "completions",
            "confirm",
            "explain",
            "history",
            "ipmi",
            "manual",
            "mcp",
            "metrics",
            "net",
            "race",
            "report",
            "serve",
            "tick",
            "watch-drift",
        ],
        instead: "nothing is left out without it",
    },
    Foreign {
        options: &["json"],
        commands: &["serve"],
        instead: "`/api/v1` answers in JSON; /api/v1/openapi.json describes it",
    },
    Foreign {
        options: &["json", "color"],
        commands: &["metrics"],
        instead: "metrics are text for Prometheus; `fullclock audit --json` prints JSON",
    },
    Foreign {
        options: &["json"],
        commands: &["capture"],
        instead: "a capture is text of its own; `fullclock audit --json` prints JSON",
    },
    Foreign {
        options: &["json"],
        commands: &["agent"],
        instead: "an agent prints where it listens; `fullclock race --json` prints the result",
    },
    Foreign {
        options: &["json"],
        commands: &["net server"],
        instead: "`fullclock net client --json` prints the result of both ends",
    },
    Foreign {
        options: &["json", "color", "quiet"],
        commands: &["mcp"],
        instead: "standard output is the protocol, which is JSON",
    },
    Foreign { options: &["color"], commands: &["capture"], instead: "a capture is plain text" },
    Foreign {
        options: &["root", "host", "json", "color"],
        commands: &["manual", "completions"],
        instead: "a page is what `man` reads, and a script what a shell reads",
    },
    Foreign {
        options: &["quiet"],
        commands: &["explain", "manual", "completions"],
        instead: "nothing but the text is printed",
    },
];

/// What `--verbose` shows, by command, where it is not the same as of an audit.
const VERBOSE: &[(&str, &str)] = &[
    ("advisories", "List those that do not concern the host, too"),
    ("doctor", "Say what shows each thing, name every check, and list what is not needed here"),
    ("ledger", "Show the smallest parts, and each line's source and uncertainty"),
    ("noise", "Show the causes and the histogram of each CPU"),
    ("plan", "Show every file and register of every CPU"),
    ("apply", "Show every file and register of every CPU"),
    ("revert", "Show every file and register of every CPU"),
    ("status", "Show every file and register of every CPU"),
    ("experiment", "Show every file and register of every CPU that is changed"),
];

/// Reads the command line; ends the program where it asks for help or makes no sense.
///
/// Errors: the configuration, which decides what was left out, is refused.
pub(crate) fn parse() -> Result<Invocation> {
    let (invocation, left_out) = read(command());
    let Some(left_out) = left_out else { return Ok(invocation) };
    let loaded = config::read(&invocation.arguments.config)?;
    let command = left_out.with_defaults(command(), &loaded.config);
    Ok(command.map_or(invocation, |command| read(command).0))
}

/// What the command line asks for, and what of it the configuration may say.
fn read(mut command: Command) -> (Invocation, Option<LeftOut>) {
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    let parsed = matches.and_then(|matches| {
        refuse_before_command(&mut command, &matches)?;
        Ok((Invocation::from_arg_matches(&matches)?, LeftOut::of(&command, &matches)))
    });
    let parsed = parsed.unwrap_or_else(|error| exit(&error.format(&mut command)));
    // It is thousands of small pieces, and the program ends soon: to free them is a fortieth of an audit.
    std::mem::forget(command);
    parsed
}

/// Ends the program with an error of the command line, which repeats words of the user; a password among them is masked.
fn exit(error: &Error) -> ! {
    if error.kind() == ErrorKind::DisplayVersion && is_verbose() {
        let said = output::print(&build::description());
        std::process::exit(i32::from(said.is_err()) * 2)
    }
    let text = error.render().to_string();
    if error.use_stderr() {
        exit_as_plugin(&text);
    }
    match secrets::masked(&text) {
        Cow::Owned(masked) if error.use_stderr() => {
            output::say(&masked);
            std::process::exit(error.exit_code())
        }
        _ => error.exit(),
    }
}

/// Whether `--verbose` stands beside `--version`: clap looks no further than the first of them.
fn is_verbose() -> bool {
    let is_short = |it: &str| it.starts_with('-') && !it.starts_with("--") && it.contains('v');
    output::command_line().iter().skip(1).any(|it| it == "--verbose" || is_short(it))
}

/// Ends the program as the plugin that the command line names, if it names one: to a monitoring system any other exit code is a state.
fn exit_as_plugin(text: &str) {
    let words = output::command_line();
    let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    if let Some((line, code)) = audit::plugin_failure(&words, &secrets::masked(first)) {
        // Where nobody reads the line, the exit code says it.
        output::print(&line).ok();
        std::process::exit(i32::from(code));
    }
}

/// The command line, with hidden options that refuse themselves.
pub(crate) fn command() -> Command {
    let mut command = overview::with_tasks(Invocation::command());
    for (name, help) in VERBOSE {
        let Some(verbose) = option(&command, "verbose") else { continue };
        command = command.mut_subcommand(name, |it| it.arg(verbose.help(*help)));
    }
    if let Some(quiet) = option(&command, "quiet") {
        let help = "Print the findings only: no progress, no notes, nothing that is unknown";
        command = command.mut_subcommand("audit", |it| it.arg(quiet.help(help)));
    }
    for foreign in FOREIGN {
        for id in foreign.options {
            let Some(known) = option(&command, id) else { continue };
            let refused = refusing(known, foreign.instead);
            for path in foreign.commands {
                command = with_argument(command, path, refused.clone());
            }
        }
    }
    command
}

/// The command with one more option of the command below it that is called `path`, with spaces between the names.
fn with_argument(command: Command, path: &str, argument: Arg) -> Command {
    let (name, rest) = path.split_once(' ').unwrap_or((path, ""));
    command.mut_subcommand(name, |it| match rest {
        "" => it.arg(argument),
        rest => with_argument(it, rest, argument),
    })
}

/// An option of the program itself.
fn option(command: &Command, id: &str) -> Option<Arg> {
    command.get_arguments().find(|it| it.get_id() == id).cloned()
}

/// The option, hidden, and refused with what to use instead.
fn refusing(known: Arg, instead: &'static str) -> Arg {
    let n_values = usize::from(known.get_action().takes_values());
    // A default would become the value of the option at the top too.
    let refused = known.action(ArgAction::Set).num_args(n_values).default_missing_value("");
    let parser = UnknownArgumentValueParser::suggest(instead);
    refused.default_value(None).global(false).hide(true).value_parser(parser)
}

/// Refuses what stands before the command's name, where clap accepts what belongs to no command.
fn refuse_before_command(command: &mut Command, matches: &ArgMatches) -> Result<(), Error> {
    let mut path = String::new();
    let mut above = vec![matches];
    while let Some((name, matches)) = above.last().and_then(|it| it.subcommand()) {
        path = format!("{path} {name}").trim_start().to_owned();
        refuse_above(command, &path, &above)?;
        above.push(matches);
    }
    Ok(())
}

/// Refuses options of the commands above the one at `path` that it does not have.
fn refuse_above(command: &mut Command, path: &str, above: &[&ArgMatches]) -> Result<(), Error> {
    let is_given = |id| {
        #[expect(
            clippy::disallowed_methods,
            reason = "without it, a debug build panics on options that a command lacks"
        )]
        let source = |it: &&ArgMatches| {
            it.try_contains_id(id).is_ok() && it.value_source(id) == Some(ValueSource::CommandLine)
        };
        above.iter().any(source)
    };
    let foreign = FOREIGN.iter().filter(|it| it.commands.contains(&path));
    let mut given = foreign.flat_map(|it| it.options.iter().map(move |id| (*id, it.instead)));
    let Some((id, instead)) = given.find(|(id, _)| is_given(id)) else { return Ok(()) };
    let given = format!("--{}", id.replace('_', "-"));
    let mut error = Error::new(ErrorKind::UnknownArgument);
    error.insert(ContextKind::InvalidArg, ContextValue::String(given));
    let tip = ContextValue::StyledStrs(vec![instead.into()]);
    error.insert(ContextKind::Suggested, tip);
    if let Some(command) = below(command, path) {
        let usage = ContextValue::StyledStr(command.render_usage());
        error.insert(ContextKind::Usage, usage);
    }
    Err(error.with_cmd(command))
}

/// The command at `path`.
fn below<'a>(command: &'a mut Command, path: &str) -> Option<&'a mut Command> {
    path.split(' ').try_fold(command, |it, name| it.find_subcommand_mut(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refused_option_and_its_commands_exist() {
        let mut command = Invocation::command();
        for foreign in FOREIGN {
            for option in foreign.options {
                assert!(command.get_arguments().any(|it| it.get_id() == *option), "{option}");
            }
            for path in foreign.commands {
                assert!(below(&mut command, path).is_some(), "{path}");
            }
        }
    }

    #[test]
    fn a_command_without_a_configuration_has_no_folder_that_it_could_set() {
        let mut command = Invocation::command();
        let without = FOREIGN.iter().filter(|it| it.options == CONFIG);
        for path in without.flat_map(|it| it.commands) {
            let below = below(&mut command, path).unwrap();
            let has = |id| below.get_arguments().any(|it| it.get_id() == id);
            assert!(!has("state_dir") && !has("results"), "{path}");
        }
    }

    #[test]
    fn verbose_shows_more_or_is_refused() {
        let command = Invocation::command();
        for it in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            let name = it.get_name();
            let refused = FOREIGN
                .iter()
                .any(|it| it.options.contains(&"verbose") && it.commands.contains(&name));
            let shows = name == "audit" || VERBOSE.iter().any(|(it, _)| *it == name);
            assert!(refused != shows, "{name}");
        }
    }

    #[test]
    fn the_command_line_is_one_that_clap_can_read() {
        command().debug_assert();
    }
}
