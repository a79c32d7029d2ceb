//! How the trials were taken, and the commands that take them again.

use super::Certificate;
use super::data::names;
use super::moments::Moment;
use crate::bench::{command_line, described, quoted};
use lab::compare::Design;

impl Certificate<'_> {
    /// A row for each thing that is known of the trials: before and after, or of both.
    pub(super) fn measured(&self) -> Vec<(String, Vec<String>)> {
        let row = |name: &str, of: &dyn Fn(&Moment<'_>) -> String| {
            (name.to_owned(), self.moments.iter().map(of).collect())
        };
        let mut rows = vec![
            row("result", &|it| it.side.record.id.clone()),
            row("began", &|it| it.side.record.began.clone()),
            row("by", &|it| format!("fullclock {}", it.side.record.version)),
            row("workload", &|it| described(it.arm)),
            row("trials", &|it| it.summary.trials.to_string()),
        ];
        let abouts = self.moments.iter().flat_map(|it| &it.arm.about);
        let mut named: Vec<&str> = Vec::new();
        for (name, _) in abouts {
            if !named.contains(&name.as_str()) {
                named.push(name);
            }
        }
        rows.extend(named.into_iter().map(|name| {
            row(name, &|it| {
                let about = it.arm.about.iter().find(|(about, _)| about == name);
                about.map_or("not recorded".to_owned(), |(_, value)| value.clone())
            })
        }));
        rows
    }

    pub(super) fn order(&self) -> String {
        match self.comparison.verdict.design {
            Design::Separate => {
                "Each of the two in a moment of its own; the clock was probed around each trial."
                    .to_owned()
            }
            Design::Interleaved => {
                let pieces = self.moments[0].side.record.pieces;
                let pieces = match pieces {
                    1 => String::new(),
                    n => format!(", each trial cut into {n} pieces that took turns"),
                };
                format!(
                    "In blocks, each with both in random order{pieces}; the clock was probed around each trial."
                )
            }
        }
    }

    /// The commands, a line each.
    pub(super) fn commands(&self) -> String {
        let [before, after] = &self.moments;
        let line = |it: &Moment<'_>| command_line(it.arm, it.summary.trials);
        let (a, b) = (line(before), line(after));
        let trials = match (self.is_one_result(), self.change) {
            _ if before.arm.is_foreign || after.arm.is_foreign => {
                "# another program ran the trials; `fullclock bench --parse FILE` reads what it prints"
                    .to_owned()
            }
            (true, Some(change)) => {
                format!("fullclock {}", words(&change.shown.recorded.command))
            }
            (true, None) if a == b => {
                format!("fullclock apply --prove {} SETTING=VALUE", quoted(&a))
            }
            (true, None) => format!("fullclock bench --vs {} {}", quoted(&a), quoted(&b)),
            (false, None) => format!("fullclock bench {a}\n# the change\nfullclock bench {b}"),
            (false, Some(change)) => {
                let change = words(&change.shown.recorded.command);
                format!("fullclock bench {a}\nfullclock {change}\nfullclock bench {b}")
            }
        };
        let files: Vec<String> = names(self.data).iter().map(|it| quoted(it)).collect();
        let change = self
            .change
            .map_or_else(String::new, |it| format!(" --change {}", it.shown.recorded.id));
        format!("{trials}\nfullclock certificate {}{change}", files.join(" "))
    }
}

fn words(command: &[String]) -> String {
    command.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ")
}
