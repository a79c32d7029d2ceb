//! The commands by task, and what each does to a machine in production: the list of `fullclock --help`.

use crate::output;
use clap::Command;
use textwrap::Options;

/// What a command does to the machine it runs on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It reads.
    Safe,
    /// It keeps CPUs, disks or a network busy.
    Busy,
    /// It writes settings, and takes them back when asked.
    Writes,
}

impl Effect {
    fn word(self) -> &'static str {
        match self {
            Effect::Safe => "safe",
            Effect::Busy => "busy",
            Effect::Writes => "WRITES",
        }
    }
}

/// Commands that serve one task, in the order in which they are used.
struct Task {
    title: &'static str,
    commands: &'static [(&'static str, Effect)],
}

const TASKS: &[Task] = &[
    Task {
        title: "Look",
        commands: &[
            ("audit", Effect::Safe),
            ("explain", Effect::Safe),
            ("advisories", Effect::Safe),
            ("doctor", Effect::Safe),
            ("watch", Effect::Safe),
            ("capture", Effect::Safe),
            ("fleet", Effect::Safe),
            ("diff", Effect::Safe),
            ("ipmi", Effect::Safe),
            ("bmc", Effect::Safe),
        ],
    },
    Task {
        title: "Measure",
        commands: &[
            ("ledger", Effect::Safe),
            ("tick", Effect::Safe),
            ("noise", Effect::Busy),
            ("bench", Effect::Busy),
            ("baseline", Effect::Busy),
            ("race", Effect::Busy),
            ("net", Effect::Busy),
        ],
    },
    Task {
        title: "Change",
        commands: &[
            ("plan", Effect::Safe),
            ("apply", Effect::Writes),
            ("confirm", Effect::Safe),
            ("revert", Effect::Writes),
            ("status", Effect::Safe),
            ("watch-drift", Effect::Safe),
        ],
    },
    Task {
        title: "Prove",
        commands: &[
            ("experiment", Effect::Writes),
            ("report", Effect::Safe),
            ("compare", Effect::Safe),
            ("certificate", Effect::Safe),
            ("history", Effect::Safe),
        ],
    },
    Task {
        title: "Serve",
        commands: &[
            ("serve", Effect::Safe),
            ("metrics", Effect::Safe),
            ("mcp", Effect::Safe),
            ("agent", Effect::Busy),
        ],
    },
];

const LEGEND: &str = "safe: only reads. busy: occupies CPUs, disks or a network, not for production. WRITES: changes settings, which \
                      `fullclock revert` takes back. `experiment` and `ipmi tune` write and are busy; `ledger --spin` and `ipmi \
                      latency --load` are busy.";

/// The help of the program, with its commands by task.
pub(super) fn with_tasks(command: Command) -> Command {
    let tasks = tasks(&command, output::width());
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{tasks}\nOptions:\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

fn tasks(command: &Command, width: usize) -> String {
    const NAME: usize = 13;
    const EFFECT: usize = 8;
    let indent = " ".repeat(2 + NAME + EFFECT);
    let mut text = String::new();
    for task in TASKS {
        text += task.title;
        text += ":\n";
        for (name, effect) in task.commands {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let first = format!("  {name:NAME$}{:EFFECT$}", effect.word());
            let options = Options::new(width).initial_indent(&first).subsequent_indent(&indent);
            text += &(textwrap::fill(&about, options) + "\n");
        }
    }
    text + "\n" + &textwrap::fill(LEGEND, width) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Invocation;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_has_one_task() {
        let command = Invocation::command();
        let visible = command.get_subcommands().filter(|it| !it.is_hide_set());
        let visible: BTreeSet<&str> = visible.map(Command::get_name).collect();
        let listed: Vec<&str> =
            TASKS.iter().flat_map(|it| it.commands).map(|(name, _)| *name).collect();
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), visible);
        assert_eq!(listed.len(), visible.len(), "{listed:?}");
    }

    /// The commands as a table of Markdown.
    fn table() -> String {
        let command = Invocation::command();
        let row = |task: &Task, (name, effect): &(&str, Effect)| {
            let about = command.find_subcommand(name).and_then(Command::get_about).unwrap();
            let is_first = task.commands.first().is_some_and(|(it, _)| it == name);
            let title = if is_first { task.title } else { "" };
            format!("| {title} | `{name}` | {} | {about} |\n", effect.word())
        };
        let rows = TASKS.iter().flat_map(|task| task.commands.iter().map(move |it| row(task, it)));
        let head = "| task | command | in production | what it does |\n|---|---|---|---|\n";
        format!("{head}{}\n{LEGEND}\n", rows.collect::<String>())
    }

    #[test]
    fn the_readme_has_the_table_of_commands() {
        let readme = include_str!("../../../../README.md");
        let (_, behind) = readme.split_once("<!-- commands -->\n").unwrap();
        let (found, _) = behind.split_once("<!-- end of commands -->").unwrap();
        assert_eq!(found, table());
    }

    #[test]
    fn a_command_is_shown_with_its_effect_and_what_it_is_for() {
        let text = tasks(&Invocation::command(), 80);
        assert!(text.contains("\n  apply        WRITES  Change settings, all or none"), "{text}");
        assert!(text.lines().all(|it| it.chars().count() <= 80), "{text}");
    }
}
