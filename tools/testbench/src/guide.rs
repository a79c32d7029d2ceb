//! The command lines of README and guide, to be run as a reader would run them.
#![expect(clippy::disallowed_methods, reason = "reads the pages of the project")]

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

/// Where a block of command lines can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Any machine: a block of `sh`.
    Anywhere,
    /// A machine with P-states and a management controller, whose settings may change: a block of `sh,machine`.
    Machine,
    /// A network with a controller that speaks Redfish, which no test has: a block of `sh,redfish`.
    Redfish,
}

/// A page and its command lines, in order.
#[derive(Debug)]
pub struct Page {
    /// Its path in the workspace.
    pub name: String,
    commands: Vec<(Place, String)>,
}

impl Page {
    /// README and every page of the guide.
    ///
    /// Fails where a page cannot be read, or has a command line in a block that says of no place.
    pub fn all(workspace: &Path) -> Result<Vec<Page>> {
        let guide = workspace.join("docs/guide");
        let entries = fs::read_dir(&guide).with_context(|| format!("{}", guide.display()))?;
        let files = entries.map(|it| Ok(it?.file_name().to_string_lossy().into_owned()));
        let mut names: Vec<String> =
            files.map(|it| it.map(|it| format!("docs/guide/{it}"))).collect::<Result<_>>()?;
        names.push("README.md".to_owned());
        names.sort();
        let read = |name: String| {
            let text = fs::read_to_string(workspace.join(&name)).with_context(|| name.clone())?;
            Ok(Page { commands: commands(&text).context(name.clone())?, name })
        };
        names.into_iter().map(read).collect()
    }

    /// Its command lines for one place.
    pub fn commands(&self, place: Place) -> Vec<&str> {
        let there = self.commands.iter().filter(|(it, _)| *it == place);
        there.map(|(_, line)| line.as_str()).collect()
    }
}

/// A script of every command line for [`Place::Machine`], which says how each ended: `ended with 0`.
pub fn script(pages: &[Page]) -> String {
    let lines = pages.iter().flat_map(|page| {
        page.commands(Place::Machine).into_iter().map(move |line| {
            let quoted = format!("{}: {line}", page.name).replace('\'', "'\\''");
            format!("echo '$ {quoted}'\n{line} </dev/null 2>&1\necho \"ended with $?\"\n")
        })
    });
    lines.collect()
}

/// The lines of each block, without comments.
fn commands(page: &str) -> Result<Vec<(Place, String)>> {
    let (mut found, mut block) = (Vec::new(), None);
    for line in page.lines() {
        if let Some(info) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(info) };
            continue;
        }
        let place = match block {
            Some("sh") => Place::Anywhere,
            Some("sh,machine") => Place::Machine,
            Some("sh,redfish") => Place::Redfish,
            _ => {
                ensure!(!is_command(line), "nobody knows where to run this: {line}");
                continue;
            }
        };
        let command = line.split("  #").next().unwrap_or_default().trim();
        if !command.is_empty() {
            found.push((place, command.to_owned()));
        }
    }
    ensure!(block.is_none(), "a block does not end");
    Ok(found)
}

/// Whether a line outside of the blocks is a command to type, as indented code is.
fn is_command(line: &str) -> bool {
    let line = line.strip_prefix("    ").or_else(|| line.strip_prefix("$ "));
    line.is_some_and(|it| it.starts_with("fullclock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_say_where_their_lines_run() {
        let page = "a\n```sh\nfullclock   # this\n\nfullclock tick -d 1s\n```\n```toml\nx = 1\n```\n```sh,machine\nfullclock plan\n```\n```sh,redfish\nfullclock bmc\n```\n";
        let own = |it: &str| it.to_owned();
        let expected = vec![
            (Place::Anywhere, own("fullclock")),
            (Place::Anywhere, own("fullclock tick -d 1s")),
            (Place::Machine, own("fullclock plan")),
            (Place::Redfish, own("fullclock bmc")),
        ];
        assert_eq!(commands(page).unwrap(), expected);
    }

    #[test]
    fn command_without_a_place_is_an_error() {
        for page in ["    fullclock audit\n", "```\n$ fullclock audit\n```\n", "```sh\nx\n"] {
            commands(page).unwrap_err();
        }
    }
}
