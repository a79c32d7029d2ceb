//! The page that `--report` names.

use crate::output;
use crate::page_file::{self, Kind};
use anyhow::Result;
use engine::clock::since_1970;
use report::document::{Document, Format};
use report::net::Origin;
use std::path::Path;

const KIND: Kind = Kind {
    noun: "report of a network test",
    option: "--report",
    force: None,
    is_one: report::net::is_report,
};

/// Refuses a file that could not be written, before anything is measured.
pub(super) fn check(path: Option<&Path>) -> Result<()> {
    path.map_or(Ok(()), |it| page_file::check(it, &KIND))
}

/// How the result of this command came to be. `before` are commands that come before this one.
pub(super) fn origin(before: &str) -> Origin {
    let commands = format!("{before}{}", command(output::command_line().into_iter()));
    Origin { commands, written: report::change::moment(since_1970()) }
}

/// What a result in this format says of its origin: in a terminal, the command stands above it.
pub(super) fn origin_in(format: Format, origin: &Origin) -> Option<&Origin> {
    (!format.is_text()).then_some(origin)
}

/// Writes the page, where the user wants one.
pub(super) fn write(
    options: &output::OutputArguments,
    path: Option<&Path>,
    document: impl FnOnce() -> Document,
) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    page_file::write(path, &document().render(Format::Html), &KIND, false)?;
    output::note(options, &format!("report: {}", path.display()));
    Ok(())
}

/// This command, for a shell, without what is of this machine alone: where the token is, and where and how the result goes.
fn command(arguments: impl Iterator<Item = String>) -> String {
    const LEFT_OUT: [&str; 3] = ["--token-file", "--report", "--format"];
    let mut words = vec!["fullclock".to_owned()];
    let mut arguments = arguments.skip(1);
    while let Some(word) = arguments.next() {
        if LEFT_OUT.contains(&&*word) {
            arguments.next();
        } else if !LEFT_OUT
            .iter()
            .any(|it| word.strip_prefix(it).is_some_and(|it| it.starts_with('=')))
        {
            words.push(word);
        }
    }
    report::net::command_line(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_told_without_the_token_and_the_page() {
        let words = "/usr/bin/fullclock net client db2 --token-file t --test latency --report=r.html -n 5 --device";
        let all = words.split(' ').map(str::to_owned).chain(["a b".to_owned()]);
        assert_eq!(command(all), "fullclock net client db2 --test latency -n 5 --device 'a b'");
    }
}
