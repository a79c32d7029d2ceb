//! Secrets inside one word: values that are assigned to a name, and passwords in addresses.
//!
//! Assignments are `NAME=value`, `"name": "value"` and `Name: value`. Addresses are `scheme://user:password@host`,
//! and `user:password@tcp(host)` of the MySQL driver of Go.

use super::{Text, is_replaced, is_secret, is_switch, names};
use std::ops::Range;

/// The secrets that are assigned to a name in a word; `before` is the word before it.
pub(super) fn of_assignments(word: &str, before: &str, kind: Text) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, sign) in word.match_indices(['=', ':']) {
        // The rest of a secret needs no search: searching each part for its end would take quadratic time.
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

/// The name that ends at `end`, and where it begins.
fn name(word: &str, end: usize) -> (usize, &str) {
    let front = &word[..end];
    let is_part = |it: char| it.is_ascii_alphanumeric() || "-_.%".contains(it);
    let begin = front.trim_end_matches(is_part).len();
    (begin, &front[begin..])
}

/// A name without the letter of an escaped newline or tab before it: `\nDBPASS` in a quoted message.
fn after_escape<'t>(word: &str, begin: usize, name: &'t str) -> &'t str {
    let is_escaped = word[..begin].ends_with('\\');
    name.strip_prefix(['n', 'r', 't']).filter(|_| is_escaped).unwrap_or(name)
}

fn after_equals(word: &str, before: &str, at: usize, kind: Text) -> Option<Range<usize>> {
    // libpq allows spaces on both sides.
    let (begin, name) = name(word, word[..at].trim_end().len());
    // A browser does not send what follows a #. `serve` prints links with their token there, and they must stay
    // usable.
    let is_fragment = word[..begin].ends_with('#');
    if is_fragment || !(names::is_secret(name) || names::is_secret(after_escape(word, begin, name)))
    {
        return None;
    }
    let value = value_begin(word, at, kind)?;
    let is_option = name.starts_with('-');
    let is_variable = !name.chars().any(|it| it.is_ascii_lowercase());
    // In `env "PGPASSWORD=a b"` the space is part of the value; in `sh -c 'PGPASSWORD=a b'` it is not.
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

/// Where the value after a sign begins. `None` where a mask or a reference replaces it; this is checked before the
/// end is searched.
fn value_begin(word: &str, sign: usize, kind: Text) -> Option<usize> {
    let value = word[sign + 1..].trim_start();
    (!is_replaced(value, kind)).then(|| word.len() - value.len())
}

/// `Name: value` of JSON, HTTP headers, and `pass:` of openssl(1).
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

/// The end of a value. A quoted value ends at its closing quote, another one at white space, a quote, or one of
/// `ends`.
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

/// The index of the first such character without a backslash before it.
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

/// The passwords in the addresses in a word.
pub(super) fn of_urls(word: &str) -> Vec<Range<usize>> {
    let with_scheme =
        word.match_indices("://").filter_map(|(at, it)| after_scheme(word, at + it.len()));
    let before_mark = ["@tcp(", "@unix("].iter().flat_map(|it| before_mark(word, it));
    with_scheme.chain(before_mark).collect()
}

/// The passwords before each `mark`, after the last colon.
fn before_mark(word: &str, mark: &str) -> Vec<Range<usize>> {
    let mut begin = 0;
    let mut found = Vec::new();
    for (at, _) in word.match_indices(mark) {
        found.extend(word[begin..at].rfind(':').map(|colon| begin + colon + 1..at));
        begin = at;
    }
    found
}

fn after_scheme(word: &str, begin: usize) -> Option<Range<usize>> {
    let rest = &word[begin..];
    let rest = &rest[..rest.find("://").unwrap_or(rest.len())];
    let end = rest.find(|it: char| it.is_whitespace() || "'\"`<>".contains(it));
    let rest = &rest[..end.unwrap_or(rest.len())];
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let colon = rest.find(':')?;
    let last = match authority.rfind('@') {
        Some(last) => last,
        // A slash that should be written %2F. In a web address, a number after the colon is a port, and any path may
        // follow.
        None => {
            let after = authority.get(colon + 1..)?;
            let is_web = ["http", "https", "ssh", "git"]
                .iter()
                .any(|it| ends_with_word(&word[..begin - 3], it));
            let is_port = is_web && after.chars().all(|it| it.is_ascii_digit());
            rest.rfind('@').filter(|_| !is_port && !rest.starts_with('['))?
        }
    };
    (colon < last).then(|| begin + colon + 1..begin + last)
}

/// Whether a text ends with these letters, without another letter before them.
fn ends_with_word(text: &str, letters: &str) -> bool {
    let front = text.strip_suffix(letters);
    front.is_some_and(|it| !it.ends_with(|it: char| it.is_ascii_alphanumeric()))
}
