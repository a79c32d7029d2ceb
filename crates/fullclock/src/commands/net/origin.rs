//! How the result of a network command came to be.

use crate::output;
use engine::clock::since_1970;
use report::document::Format;
use report::net::Origin;

/// How the result of this command came to be. `before` are commands that come before this one.
pub(super) fn origin(before: &str) -> Origin {
    let commands = format!("{before}{}", command(output::command_line().into_iter()));
    Origin { commands, written: report::change::moment(since_1970()) }
}

/// What a result in this format says of its origin: in a terminal, the command stands above it.
pub(super) fn origin_in(format: Format, origin: &Origin) -> Option<&Origin> {
    (!format.is_text()).then_some(origin)
}

/// This command, for a shell, without what is of this machine alone: where the token is, and where and how the result goes.
fn command(arguments: impl Iterator<Item = String>) -> String {
    const WITH_VALUE: [&str; 4] = ["--token-file", "--output", "-o", "--format"];
    const ALONE: [&str; 3] = ["--force", "--csv", "--json"];
    let is_assigned = |word: &str, option| word.split_once('=').is_some_and(|it| it.0 == option);
    let mut words = vec!["fullclock".to_owned()];
    let mut arguments = arguments.skip(1);
    while let Some(word) = arguments.next() {
        if WITH_VALUE.contains(&&*word) {
            arguments.next();
        } else if !ALONE.contains(&&*word) && !WITH_VALUE.iter().any(|it| is_assigned(&word, *it)) {
            words.push(word);
        }
    }
    report::net::command_line(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_neither_the_token_nor_the_file() {
        let words = "/usr/bin/fullclock net client db2 --token-file t --test latency \
                     --output=r.html --force -n 5 -o r.md --device";
        let all = words.split(' ').map(str::to_owned).chain(["a b".to_owned()]);
        assert_eq!(command(all), "fullclock net client db2 --test latency -n 5 --device 'a b'");
    }
}
