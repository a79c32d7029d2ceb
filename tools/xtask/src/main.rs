//! The project's chores, one file each: `cargo xtask COMMAND`.
#![forbid(unsafe_code)]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program of the project's own"
)]

use std::process::ExitCode;

use anyhow::Result;
use xtask::{import, tree};

mod aa;
mod ansible;
#[cfg(test)]
mod arrows;
mod book;
mod browser;
mod cargo;
mod check;
mod clients;
mod databases;
mod debian;
mod docs;
mod engines;
mod fuzz;
mod guest;
mod guide;
mod injection;
mod man;
mod package;
#[cfg(test)]
mod phrases;
mod pictures;
mod roff;
mod served;
mod simulation;
mod stage;
mod suites;
mod sushy;
mod sweep;
mod tally;
mod test;
mod venv;

/// One chore.
struct Command {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<ExitCode>,
}

/// Every chore, in the order that the help lists them.
const COMMANDS: &[Command] = &[
    Command {
        name: "check",
        about: "format, lints and every test that boots nothing: what to run while working",
        run: check::run,
    },
    Command {
        name: "test",
        about: "everything that has to pass: check, killed changes, pages in a browser, test bench",
        run: test::run,
    },
    Command {
        name: "sweep",
        about: "everything that takes long: every point of a kill or power cut, fuzzing, hostile clients",
        run: sweep::run,
    },
    Command {
        name: "scenarios",
        about: "single scenarios of the test bench: scenarios [--sweep] [NAME ...]",
        run: test::run_named_scenarios,
    },
    Command {
        name: "guest",
        about: "run a shell script in one of the test bench's machines",
        run: guest::run,
    },
    Command {
        name: "guide",
        about: "run the command lines of README and guide: guide [docs/guide/PAGE.md ...]",
        run: guide::run,
    },
    Command {
        name: "fuzz",
        about: "run the fuzz targets: fuzz [--runs N | --long] [TARGET ...]; --long takes an hour and keeps what it found",
        run: fuzz::run,
    },
    Command {
        name: "served",
        about: "ask `fullclock serve` everything that its description allows, as others would",
        run: served::run,
    },
    Command {
        name: "ansible",
        about: "run the Ansible role against this machine, which it only reads, and a captured host",
        run: ansible::run,
    },
    Command { name: "docs", about: "renew docs/ and schemas/, and make the book", run: docs::run },
    Command {
        name: "pictures",
        about: "renew the pictures of README.md and the book from the test bench: pictures [FILE ...]",
        run: pictures::run,
    },
    Command {
        name: "injection",
        about: "steal from a CPU and see whether the ledger finds it; needs an idle machine: injection [--quick]",
        run: injection::run,
    },
    Command {
        name: "aa",
        about: "compare every workload with itself and count what is claimed; takes hours, goes on: aa [-n RUNS] [--anew] [NAME ...]",
        run: aa::run,
    },
    Command {
        name: "package",
        about: "what is released: tarball, deb, rpm, their contents and checksums; --prove installs them",
        run: package::run,
    },
    Command {
        name: "clients",
        about: "measure real clients next to a sampler of the tests' own; needs an idle machine: clients [--long]",
        run: clients::run,
    },
    Command {
        name: "simulation",
        about: "compare arms of known differences, thousands of times: simulation [decisions] [--quick]",
        run: simulation::run,
    },
    Command {
        name: "import",
        about: "make a capture of pepc or stats-collect data: import FILE -o OUT.host",
        run: import::run,
    },
    Command {
        name: "tree",
        about: "make up the /proc and /sys of a large server: tree --cpus N DIR",
        run: tree::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", help());
        return ExitCode::SUCCESS;
    };
    if matches!(&**name, "help" | "-h" | "--help") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprint!("error: no command is called '{name}'\n\n{}", help());
        return ExitCode::from(2);
    };
    (command.run)(rest).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn help() -> String {
    let commands: String = COMMANDS
        .iter()
        .map(|command| format!("  {:<11}{}\n", command.name, command.about))
        .collect();
    format!("Usage: cargo xtask COMMAND\n\nCommands:\n{commands}  help       this list\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_every_command_in_its_own_line() {
        let help = help();
        for command in COMMANDS {
            let lines = help.lines().filter(|line| line.trim().starts_with(command.name)).count();
            assert_eq!(lines, 1, "{}", command.name);
        }
    }
}
