//! Passwords, tokens and keys in commands and connection strings, found by how they are spelled.
//!
//! Results, journals, web pages and messages repeat what a user typed, and outlive it. The spellings are those of the clients
//! that database servers are measured with: URIs (RFC 3986, 3.2.1), keywords and `PGPASSWORD` of libpq ("Connection Strings",
//! "Environment Variables"), `-p` and `MYSQL_PWD` of MySQL and MariaDB ("Password Options"), `sqlplus user/password`, `redis-cli -a`,
//! and options and variables that are called a password, secret or token; also inside of `sh -c '...'`.
//!
//! It cannot know a secret that stands where nothing says so: a lone argument, a file's content.

mod names;
mod programs;
mod shell_words;
mod within;

use shell_words::{Word, split};
use std::borrow::Cow;
use std::ops::Range;

/// What is shown in place of a secret.
pub const MASK: &str = "***";

/// More nesting of `sh -c "sh -c '...'"` than anyone writes.
const DEEPEST: usize = 8;

/// A secret in a list of words: the index of the word, and the bytes in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    word: usize,
    bytes: Range<usize>,
}

/// The kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    /// The words of a command, which no shell parses: the word after `--password` is a secret.
    Arguments,
    /// A command line as one text.
    Command,
    /// A command line in a word of another one: a shell parses it, and expands `$NAME`.
    Script,
    /// A sentence, in which any word may follow `--password`.
    Prose,
}

/// Whether the words of a command, or commands quoted in them, contain a secret.
pub fn are_in(words: &[impl AsRef<str>]) -> bool {
    !places(&unquoted(words), Text::Arguments, 0).is_empty()
}

/// The words of a command with each secret replaced by [`MASK`].
pub fn masked_words(words: &[impl AsRef<str>]) -> Vec<String> {
    let unquoted = unquoted(words);
    let mut of_word = vec![Vec::new(); words.len()];
    for place in places(&unquoted, Text::Arguments, 0) {
        of_word[place.word].push(place.bytes);
    }
    let masked = |(word, places): (&Word<'_>, _)| replaced(word.text, places).into_owned();
    unquoted.iter().zip(of_word).map(masked).collect()
}

/// A command line with each secret replaced by [`MASK`].
pub fn masked_command(text: &str) -> Cow<'_, str> {
    replaced(text, ranges(text, Text::Command, 0))
}

/// A message with each secret replaced by [`MASK`]. Of options with a separate value, only quoted values are found.
pub fn masked(message: &str) -> Cow<'_, str> {
    replaced(message, ranges(message, Text::Prose, 0))
}

fn unquoted<'t>(words: &'t [impl AsRef<str>]) -> Vec<Word<'t>> {
    let word = |text: &'t str| Word { text, at: 0, is_quoted: false, is_first: false };
    words.iter().map(|it| word(it.as_ref())).collect()
}

/// The secrets in a text, which is split into words.
fn ranges(text: &str, kind: Text, depth: usize) -> Vec<Range<usize>> {
    let words = split(text);
    let in_text = |it: Place| {
        let at = words.get(it.word).map_or(0, |it| it.at);
        it.bytes.start + at..it.bytes.end + at
    };
    places(&words, kind, depth).into_iter().map(in_text).collect()
}

fn places(words: &[Word<'_>], kind: Text, depth: usize) -> Vec<Place> {
    let mut found = programs::secrets(words, kind);
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|it| words.get(it)).map_or("", |it| it.text);
        let has_spaces = word.text.contains(char::is_whitespace);
        let kind = if has_spaces { Text::Script } else { kind };
        let in_urls = within::of_urls(word.text).into_iter();
        let in_urls = in_urls.filter(|it| is_secret(&word.text[it.clone()], kind));
        let in_word = within::of_assignments(word.text, before, kind).into_iter().chain(in_urls);
        found.extend(in_word.map(|bytes| Place { word: at, bytes }));
        if depth < DEEPEST {
            let nested = nested(word.text, depth);
            found.extend(nested.into_iter().map(|bytes| Place { word: at, bytes }));
        }
    }
    found
}

/// The secrets in the commands that a word quotes.
fn nested(word: &str, depth: usize) -> Vec<Range<usize>> {
    if !shell_words::has_space(word) {
        return Vec::new();
    }
    if split(word).len() > 1 || !word.contains(char::is_whitespace) {
        return ranges(word, Text::Script, depth + 1);
    }
    let quoted = shell_words::quoted(word).into_iter();
    let of_part = |part: Range<usize>| {
        let found = ranges(&word[part.clone()], Text::Script, depth + 1).into_iter();
        found.map(move |it| it.start + part.start..it.end + part.start)
    };
    quoted.flat_map(of_part).collect()
}

/// The text with the mask in these places, which may overlap.
fn replaced(text: &str, mut places: Vec<Range<usize>>) -> Cow<'_, str> {
    if places.is_empty() {
        return text.into();
    }
    places.sort_by_key(|it| it.start);
    let (mut shown, mut end) = (String::new(), 0);
    for place in places {
        if place.start >= end {
            shown.push_str(&text[end..place.start]);
            shown.push_str(MASK);
        }
        end = end.max(place.end);
    }
    shown.push_str(&text[end..]);
    shown.into()
}

/// Characters that may enclose a value.
const QUOTES: [char; 4] = ['\'', '"', '`', '\\'];

/// Whether a value is a secret: not empty, not a mask, and in a script not `$PW` or `$(cat file)`.
fn is_secret(value: &str, kind: Text) -> bool {
    !value.trim_matches(QUOTES).is_empty() && !is_replaced(value, kind)
}

/// Whether a mask replaces the value that begins here, or a shell expands it.
fn is_replaced(value: &str, kind: Text) -> bool {
    let value = value.trim_start_matches(QUOTES);
    let begins_name = |it: char| it.is_ascii_alphabetic() || "_{(".contains(it);
    let refers = kind == Text::Script
        && value.strip_prefix('$').is_some_and(|rest| rest.starts_with(begins_name));
    value.starts_with(MASK) || refers
}

/// Whether a value switches an option on or off: `--password=no`.
fn is_switch(value: &str) -> bool {
    let value = value.trim_matches(QUOTES);
    let switches = ["true", "false", "yes", "no", "on", "off", "none"];
    switches.iter().any(|it| value.eq_ignore_ascii_case(it))
}

#[cfg(test)]
mod tests;
