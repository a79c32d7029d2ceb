//! Defaults of options that the configuration sets. An option on the command line wins, then the configuration, then what the help says.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use rules::config::Config;
use std::path::Path;

/// An option whose default a site can set.
struct Configured {
    /// Its id.
    option: &'static str,
    /// The only command of which this holds; `None` for every other one that has the option.
    command: Option<&'static str>,
    value: fn(&Config) -> Option<String>,
}

/// The first that fits holds.
const CONFIGURED: &[Configured] = &[
    Configured { option: "state_dir", command: None, value: |it| it.state.clone() },
    // Studies are in a folder of their own, as without a configuration.
    Configured {
        option: "results",
        command: Some("experiment"),
        value: |it| {
            let studies = Path::new(it.results.as_deref()?).join("experiments");
            Some(studies.display().to_string())
        },
    },
    Configured { option: "results", command: None, value: |it| it.results.clone() },
    Configured {
        option: "listen",
        command: Some("serve"),
        value: |it| it.listen.map(|it| it.to_string()),
    },
];

/// The options that a command was not given, and of which the configuration may say what holds.
pub(super) struct LeftOut {
    /// The command, with spaces between the names.
    path: String,
    options: Vec<&'static Configured>,
}

impl LeftOut {
    /// Of a command line that `command` read; `None` where the configuration has no say in it.
    pub(super) fn of(command: &Command, matches: &ArgMatches) -> Option<LeftOut> {
        let (mut path, mut command, mut matches) = (String::new(), command, matches);
        while let Some((name, below)) = matches.subcommand() {
            path = format!("{path} {name}").trim_start().to_owned();
            command = command.find_subcommand(name)?;
            matches = below;
        }
        let mut options: Vec<&'static Configured> = Vec::new();
        for it in CONFIGURED.iter().filter(|it| it.command.is_none_or(|command| command == path)) {
            if command.get_arguments().any(|known| known.get_id() == it.option)
                && matches.value_source(it.option) != Some(ValueSource::CommandLine)
                && options.iter().all(|other| other.option != it.option)
            {
                options.push(it);
            }
        }
        (!options.is_empty()).then_some(LeftOut { path, options })
    }

    /// The command line with these defaults; `None` where the configuration says nothing about them.
    pub(super) fn with_defaults(&self, mut command: Command, config: &Config) -> Option<Command> {
        let mut is_changed = false;
        for it in &self.options {
            if let Some(value) = (it.value)(config) {
                // A default lives as long as the program.
                command = with_default(command, &self.path, it.option, String::leak(value));
                is_changed = true;
            }
        }
        is_changed.then_some(command)
    }
}

fn with_default(
    command: Command,
    path: &str,
    option: &'static str,
    value: &'static str,
) -> Command {
    let has = command.get_arguments().any(|it| it.get_id() == option);
    let command = if has { command.mut_arg(option, |it| it.default_value(value)) } else { command };
    match path.split_once(' ') {
        _ if path.is_empty() => command,
        Some((name, rest)) => {
            command.mut_subcommand(name, |it| with_default(it, rest, option, value))
        }
        None => command.mut_subcommand(path, |it| with_default(it, "", option, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Invocation;
    use clap::CommandFactory;

    /// The defaults of a command line by a configuration that sets all there is.
    fn of(words: &[&str]) -> Vec<String> {
        let text = "[folders]\nstate = '/s'\nresults = '/r'\n[serve]\nlisten = '10.0.0.1:1'";
        let config = Config::parse("c", text).unwrap();
        let words = || std::iter::once("fullclock").chain(words.iter().copied());
        let mut command = Invocation::command();
        let matches = command.try_get_matches_from_mut(words()).unwrap();
        let Some(left) = LeftOut::of(&command, &matches) else { return Vec::new() };
        let command = left.with_defaults(Invocation::command(), &config).unwrap();
        let mut matches = &command.get_matches_from(words());
        while let Some((_, below)) = matches.subcommand() {
            matches = below;
        }
        let value = |it: &&Configured| {
            let raw = matches.get_raw(it.option)?.next()?;
            Some(format!("{}={}", it.option, raw.to_string_lossy()))
        };
        left.options.iter().filter_map(value).collect()
    }

    #[test]
    fn what_is_not_on_the_command_line_is_what_the_configuration_says() {
        assert_eq!(of(&["status"]), ["state_dir=/s"]);
        assert_eq!(of(&["history"]), ["results=/r"]);
        assert_eq!(of(&["serve"]), ["results=/r", "listen=10.0.0.1:1"]);
        assert_eq!(of(&["serve", "--listen", "127.0.0.1:2", "--results", "/x"]), [""; 0]);
        assert_eq!(of(&["experiment", "x=1"]), ["state_dir=/s", "results=/r/experiments"]);
        assert_eq!(of(&["ipmi", "tune"]), ["state_dir=/s", "results=/r"]);
        assert_eq!(of(&["agent"]), [""; 0]);
        assert_eq!(of(&[]), [""; 0]);
    }
}
