//! Phrases that users must not meet: a test of every text that the program, its pages and its documents show.
//!
//! Each was found unclear by a reader. Single words that have an ordinary use are not listed, and neither are comments.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo::workspace;

/// What is not written, and what is written in its place.
const PHRASES: &[(&str, &str)] = &[
    ("each thief", "each cause, each loss"),
    ("any thief", "any cause"),
    ("what mends it", "how to fix it"),
    (" mends ", "fixes"),
    (" mended", "fixed"),
    ("told apart", "different; no difference found"),
    ("can be told", "is known, is detectable"),
    ("cannot be told", "is unknown"),
    ("would have been seen", "would have been detected"),
    ("a figure twice as large", "a difference of 100 %"),
    ("nothing more is to come", "ended"),
    ("run is dead", "the run failed"),
    ("ended without a word", "exited without a message"),
    ("hidden from a guest", "not available in a guest"),
    ("register file", "MSRs"),
    ("in sight", "shown, time range"),
    ("thousand million", "billion, 1e9, G cycles"),
    ("pale ones", "grey: not significant"),
    ("may be chance", "not significant"),
    ("wanted already", "already set"),
    (" was wished", "was requested"),
    ("it let expect", "the expected range is"),
    ("lets expect", "the expected range is"),
    ("promises a clock", "nominal clock unknown"),
    ("99 % below", "p99"),
    ("all from {", "min, max"),
    ("not known", "unknown"),
    ("nobody knows", "unknown"),
    ("nobody could", "not visible"),
    ("nobody can tell", "unknown"),
    ("comes on top", "is added to it"),
    ("is no folder and", "is neither a folder nor"),
    ("how long so ever", "however long"),
    ("a fault of it", "a bug in fullclock"),
    ("would tell", "can show"),
    ("is no factor", "is not FACTOR=LEVELS"),
    (" is hidden", "is not available in a guest"),
    ("asked for", "requested"),
    ("how many arms", "how many variants"),
    ("with a figure", "with a result"),
    ("what moves its", "what changes the result"),
    ("as wanted", "as requested, already set"),
    ("is no time", "is not a time"),
    ("times as much)", "once"),
    ("wait of sessions", "run-queue wait per commit"),
    ("what this machine does not have", "that do not apply to this machine"),
    ("did not ask for it", "did not collect it"),
];

/// Folders and files whose text users read, from the root of the tree.
const SHOWN: &[&str] =
    &["crates", "docs", "README.md", "CHANGELOG.md", "SECURITY.md", "contrib", "schemas"];

/// Every line that users may read and that holds a phrase, with what to write.
fn found() -> Vec<String> {
    let root = workspace();
    let mut files = Vec::new();
    SHOWN.iter().for_each(|it| gather(&root.join(it), &mut files));
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        // A sentence may go on in the next line: what begins in one and ends in the next is found, too.
        let mut before = String::new();
        for (at, line) in shown(&name, &text) {
            let line = plain(line);
            let both = format!("{before} {line}");
            let is_new = |phrase: &str| both.contains(phrase) && !before.contains(phrase);
            for (phrase, instead) in PHRASES.iter().filter(|(phrase, _)| is_new(phrase)) {
                found.push(format!("{name}:{}: \"{phrase}\", write: {instead}", at + 1));
            }
            before = line;
        }
    }
    found
}

/// A line in lower case, without what it begins and ends with for the sake of its language.
fn plain(line: &str) -> String {
    let line = line.trim().trim_start_matches("///").trim_start_matches(['*', '-']);
    line.trim_end_matches('\\').trim().to_lowercase()
}

fn gather(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(path) else {
        files.push(path.to_owned());
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_test = name == "tests" || name == "snapshots" || name == "fixture";
        if !is_test {
            gather(&entry.path(), files);
        }
    }
}

/// The lines of a file that users may read, each with its number from 0.
fn shown<'a>(name: &str, text: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let is_rust = name.ends_with(".rs");
    let is_script = name.ends_with(".js");
    let is_text =
        [".md", ".html", ".json", ".svg", ".rules", ".yml"].iter().any(|it| name.ends_with(it));
    let is_test = name.ends_with("tests.rs") || name.ends_with("fixture.rs");
    // Comments of the command line are its help.
    let has_help = name.starts_with("crates/fullclock/src/commands") || name.ends_with("/cli.rs");
    let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let tested = text.get(..end).unwrap_or(text);
    let is_shown = move |line: &str| {
        let line = line.trim_start();
        let is_comment = line.starts_with("//") && !(has_help && line.starts_with("///"));
        is_text
            || (is_rust && !is_test && !is_comment)
            || (is_script && !is_comment && !line.starts_with(['*', '/']))
    };
    tested.lines().enumerate().filter(move |(_, line)| is_shown(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_holds_a_phrase_that_readers_stumbled_over() {
        let found = found();
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    #[test]
    fn help_is_text_and_other_comments_are_not() {
        let text = "/// told apart\n// told apart\nlet a = \"told apart\";\n#[cfg(test)]\nmod tests { told apart }\n";
        let lines = |name: &str| shown(name, text).map(|(at, _)| at).collect::<Vec<usize>>();
        assert_eq!(lines("crates/rules/src/a.rs"), [2]);
        assert_eq!(lines("crates/fullclock/src/commands/a.rs"), [0, 2]);
        assert_eq!(lines("crates/rules/src/tests.rs"), Vec::<usize>::new());
    }
}
