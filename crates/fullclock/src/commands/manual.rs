//! `fullclock manual` and `fullclock completions`: what packages install beside the program, for those who have only the program.

use crate::output;
use anyhow::{Context, Result, bail};
use clap::{Args, Command, ValueEnum};
use clap_complete::env::{Bash, EnvCompleter, Fish, Zsh};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, roman};
use std::path::PathBuf;
use std::process::ExitCode;

/// The options of `fullclock manual`.
#[derive(Args, Debug)]
pub(crate) struct ManualOptions {
    /// The command whose page is printed, `net client`; without one, that of fullclock itself
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of all commands into this folder, fullclock-apply.1 and so on, in place of those that are there
    #[arg(short, long, value_name = "FOLDER", conflicts_with = "command")]
    output: Option<PathBuf>,
}

/// The shells that are told how to complete.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// The variable by which a shell asks this program what may follow.
pub(crate) const VARIABLE: &str = "COMPLETE";

#[expect(clippy::disallowed_methods, reason = "pages that the user wants in a folder")]
pub(super) fn run(options: &ManualOptions) -> Result<ExitCode> {
    let program = built();
    if let Some(folder) = &options.output {
        for page in pages(&program) {
            let path = folder.join(format!("{}.1", page.name));
            std::fs::write(&path, page.text)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = &program;
    for word in &options.command {
        let Some(below) = command.find_subcommand(word) else {
            bail!("{} has no command {word:?}: `fullclock --help` lists them", name(command));
        };
        command = below;
    }
    output::print(&page(command, &program))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the script that a shell reads to complete what is typed behind `fullclock`.
pub(super) fn completions(shell: Shell) -> Result<ExitCode> {
    let completer: &dyn EnvCompleter = match shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "fullclock", "fullclock", "fullclock", &mut script)?;
    output::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}

/// A manual page in roff.
struct Page {
    name: String,
    text: String,
}

/// The command line as it is parsed, with the names of commands in their commands.
fn built() -> Command {
    let mut program = super::foreign::command();
    program.build();
    program
}

fn pages(program: &Command) -> Vec<Page> {
    fn add(command: &Command, program: &Command, pages: &mut Vec<Page>) {
        pages.push(Page { name: name(command), text: page(command, program) });
        shown(command).for_each(|it| add(it, program, pages));
    }
    let mut pages = Vec::new();
    add(program, program, &mut pages);
    pages
}

/// The commands below one that are no other's business.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help")
}

/// `fullclock-net-client`.
fn name(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

/// The page of a command. No date is in it: equal programs have equal pages.
fn page(command: &Command, program: &Command) -> String {
    let man = Man::new(command.clone())
        .title(name(command).to_uppercase())
        .source(format!("fullclock {}", env!("CARGO_PKG_VERSION")))
        .manual("fullclock manual");
    let mut text = Vec::new();
    let mut render = |section: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        section(&mut text)
            .unwrap_or_else(|error| unreachable!("a vector takes everything: {error}"));
    };
    render(&|into| man.render_title(into));
    render(&|into| man.render_name_section(into));
    render(&|into| man.render_synopsis_section(into));
    render(&|into| man.render_description_section(into));
    render(&|into| man.render_options_section(into));
    if shown(command).next().is_some() {
        render(&|into| man.render_subcommands_section(into));
    }
    let described = bold_code(&String::from_utf8_lossy(&text));
    let mut end = Roff::new();
    if let Some(examples) = command.get_after_help() {
        add_examples(&mut end, &examples.to_string());
    }
    if command.get_name() == program.get_name() {
        add_section(&mut end, "EXIT STATUS", EXIT_STATUS);
        add_section(&mut end, "FILES", FILES);
        add_section(&mut end, "ENVIRONMENT", ENVIRONMENT);
    }
    end.control("SH", ["SEE ALSO"]);
    let others = shown(if command.get_name() == program.get_name() { program } else { command });
    let below = others.map(|it| format!("{}(1)", name(it)));
    let all: Vec<String> = ALWAYS.iter().map(|it| (*it).to_owned()).chain(below).collect();
    end.text([roman(all.join(", "))]);
    described + &end.to_roff()
}

/// `` `words` `` in bold, as manuals show what is typed.
fn bold_code(text: &str) -> String {
    let mut bold = String::with_capacity(text.len());
    for line in text.lines() {
        let pieces: Vec<&str> = line.split('`').collect();
        if pieces.len().is_multiple_of(2) {
            bold.push_str(line);
        } else {
            for (at, piece) in pieces.iter().enumerate() {
                match at % 2 {
                    0 => bold.push_str(piece),
                    _ => bold.extend(["\\fB", piece, "\\fR"]),
                }
            }
        }
        bold.push('\n');
    }
    bold
}

/// Lines as they are written.
fn add_examples(page: &mut Roff, text: &str) {
    page.control("SH", ["EXAMPLES"]);
    page.control("nf", []);
    for line in text.lines().filter(|it| *it != "Examples:") {
        page.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
    }
    page.control("fi", []);
}

/// A section of a term and its meaning each.
fn add_section(page: &mut Roff, title: &str, entries: &[(&str, &str)]) {
    page.control("SH", [title]);
    for (term, meaning) in entries {
        page.control("TP", []);
        page.text([Inline::Bold((*term).to_owned())]);
        page.text([roman(*meaning)]);
    }
}

/// The pages that each page leads to: the program's, and those of the files that people write.
const ALWAYS: &[&str] =
    &["fullclock(1)", "fullclock-config(5)", "fullclock-profile(5)", "fullclock-plan(5)"];

const EXIT_STATUS: &[(&str, &str)] = &[
    ("0", "Done, and nothing that --fail-on names was found."),
    ("1", "A finding is at least as severe as --fail-on says; something drifted."),
    ("2", "It could not run: a wrong command line, a file that cannot be read, no rights."),
    ("3", "A change was refused or did not stick."),
    (
        "others",
        "Those of the command that was measured: `ledger`, `watch` and `tick` pass them on.",
    ),
];

const FILES: &[(&str, &str)] = &[
    ("/var/lib/fullclock", "The journal of changes, and the results of root. Mode 0700."),
    (
        "~/.local/state/fullclock",
        "The results of an ordinary user; XDG_STATE_HOME names another folder.",
    ),
    (
        "/etc/fullclock/config.toml",
        "The configuration: fullclock-config(5). That of an ordinary user is ~/.config/fullclock/config.toml.",
    ),
    ("/etc/fullclock/NAME.toml", "Profiles of this machine: fullclock-profile(5)."),
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("NO_COLOR", "No colours, whatever the terminal can show."),
    ("XDG_STATE_HOME", "Where an ordinary user's results are."),
    (VARIABLE, "Set by completion scripts: the shell that asks what may follow."),
];

pub(crate) const MANUAL_EXAMPLES: &str = "\
Examples:
  fullclock manual | man -l -
  fullclock manual net client | man -l -
  fullclock manual --output /usr/local/share/man/man1";

pub(crate) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(fullclock completions bash)       in this shell
  fullclock completions bash > /etc/bash_completion.d/fullclock
  fullclock completions zsh > /usr/local/share/zsh/site-functions/_fullclock
  fullclock completions fish > ~/.config/fish/completions/fullclock.fish";
