//! `NAME=value`, `"name": "value"` and `Name: value` within a word.

use super::{Text, is_replaced, is_secret, is_switch, names};
use std::ops::Range;

/// The secrets that are assigned in a word, of which `before` is the one in front.
pub(super) fn secrets(word: &str, before: &str, kind: Text) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, sign) in word.match_indices(['=', ':']) {
        // What is in a secret is part of it, and to look for its end again would take the square of its length.
        if found.last().is_some_and(|it| at < it.end) {
            continue;
        }
        let one = match sign {
            "=" => after_equals(word, before, at, kind),
            _ => after_colon(word, at, kind),
        };
        found.extend(one.filter(|it| is_secret(&word[it.clone()], kind)));
    }
    found
}

/// A name that ends here, and where it begins.
fn name(word: &str, end: usize) -> (usize, &str) {
    let front = &word[..end];
    let is_part = |it: char| it.is_ascii_alphanumeric() || "-_.%".contains(it);
    let begin = front.trim_end_matches(is_part).len();
    (begin, &front[begin..])
}

/// A name without the letter of an escaped line end or tab in front of it: `\nDBPASS` in a quoted message.
fn after_escape<'t>(word: &str, begin: usize, name: &'t str) -> &'t str {
    let is_escaped = word[..begin].ends_with('\\');
    name.strip_prefix(['n', 'r', 't']).filter(|_| is_escaped).unwrap_or(name)
}

fn after_equals(word: &str, before: &str, at: usize, kind: Text) -> Option<Range<usize>> {
    // libpq takes spaces on both sides.
    let (begin, name) = name(word, word[..at].trim_end().len());
    // What is after a # stays in the browser; `serve` prints links that have its token there, so as to be opened.
    let is_fragment = word[..begin].ends_with('#');
    if is_fragment || !(names::is_secret(name) || names::is_secret(after_escape(word, begin, name)))
    {
        return None;
    }
    let value = value_begin(word, at, kind)?;
    let is_option = name.starts_with('-');
    let is_variable = !name.chars().any(|it| it.is_ascii_lowercase());
    // In `env "PGPASSWORD=a b"` the space belongs to it; in `sh -c 'PGPASSWORD=a b'` it does not.
    let runs_a_command = before.starts_with('-') && before.ends_with('c');
    let is_whole = begin == 0 && (is_option || (is_variable && !runs_a_command));
    if is_whole || (begin == 0 && !word.contains(char::is_whitespace)) {
        let is_secret = !is_option || !is_switch(&word[value..]);
        return is_secret.then_some(value..word.len());
    }
    let ends: &[char] = match word[..begin].chars().next_back() {
        Some('?' | '&') => &['&', '#'],
        Some(';') => &[';'],
        _ => &[],
    };
    let end = value_end(word, value, ends);
    (!is_option || !is_switch(&word[value..end])).then_some(value..end)
}

/// Where the value after a sign begins. `None` where something else is in its place, before its end is looked for.
fn value_begin(word: &str, sign: usize, kind: Text) -> Option<usize> {
    let value = word[sign + 1..].trim_start();
    (!is_replaced(value, kind)).then(|| word.len() - value.len())
}

/// JSON, headers of HTTP, and `pass:` of openssl(1).
fn after_colon(word: &str, at: usize, kind: Text) -> Option<Range<usize>> {
    let front = word[..at].trim_end_matches(['\\', '"', '\'']);
    let (begin, name) = name(front, front.len());
    let is_header = name.eq_ignore_ascii_case("authorization")
        || (name.to_ascii_lowercase().starts_with("x-") && names::is_secret(name));
    if is_header {
        return Some(at + 1..word.len());
    }
    let is_json = front.len() < at && names::is_secret(name);
    let is_pass = begin == 0 && name == "pass";
    if !is_json && !is_pass {
        return None;
    }
    let value = value_begin(word, at, kind)?;
    let end = value_end(word, value, if is_json { &[',', '}'] } else { &[] });
    let is_literal = is_json && ["true", "false", "null"].contains(&&word[value..end]);
    (!is_literal).then_some(value..end)
}

/// A value in quotes ends at the one that closes it, another at white space, a quote, or one of these.
fn value_end(word: &str, from: usize, ends: &[char]) -> usize {
    let value = &word[from..];
    let mark = ["\\\"", "\\'", "\"", "'"].into_iter().find(|it| value.starts_with(it));
    let Some(mark) = mark else {
        let is_end = |it: char| it.is_whitespace() || ends.contains(&it) || "'\"`".contains(it);
        return unescaped(value, is_end).map_or(word.len(), |it| from + it);
    };
    let inner = from + mark.len();
    let mut closing = word[inner..].match_indices(mark).map(|it| it.0);
    let close =
        closing.find(|it| mark.starts_with('\\') || !word[inner..inner + it].ends_with('\\'));
    close.map_or(word.len(), |it| inner + it + mark.len())
}

/// The first such character that no backslash precedes.
fn unescaped(text: &str, is_end: impl Fn(char) -> bool) -> Option<usize> {
    let mut was_backslash = false;
    for (at, it) in text.char_indices() {
        if is_end(it) && !was_backslash {
            return Some(at);
        }
        was_backslash = it == '\\' && !was_backslash;
    }
    None
}
