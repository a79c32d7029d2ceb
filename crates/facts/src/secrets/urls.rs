//! `scheme://user:password@host`, and `user:password@tcp(host)` of the MySQL driver of Go.

use std::ops::Range;

/// The passwords of the addresses in a word.
pub(super) fn secrets(word: &str) -> Vec<Range<usize>> {
    let of_uri = word.match_indices("://").filter_map(|(at, it)| of_uri(word, at + it.len()));
    let of_go = ["@tcp(", "@unix("].iter().flat_map(|it| of_go(word, it));
    of_uri.chain(of_go).collect()
}

/// The passwords in front of this mark, each after a colon behind the mark before.
fn of_go(word: &str, mark: &str) -> Vec<Range<usize>> {
    let mut begin = 0;
    let mut found = Vec::new();
    for (at, _) in word.match_indices(mark) {
        found.extend(word[begin..at].rfind(':').map(|colon| begin + colon + 1..at));
        begin = at;
    }
    found
}

fn of_uri(word: &str, begin: usize) -> Option<Range<usize>> {
    let rest = &word[begin..];
    let rest = &rest[..rest.find("://").unwrap_or(rest.len())];
    let end = rest.find(|it: char| it.is_whitespace() || "'\"`<>".contains(it));
    let rest = &rest[..end.unwrap_or(rest.len())];
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let colon = rest.find(':')?;
    let last = match authority.rfind('@') {
        Some(last) => last,
        // A slash that should have been written %2F. On the web, a number after the colon is a port, and any path may follow.
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

/// Whether a text ends with these letters, and no letter is before them.
fn ends_with_word(text: &str, letters: &str) -> bool {
    let front = text.strip_suffix(letters);
    front.is_some_and(|it| !it.ends_with(|it: char| it.is_ascii_alphanumeric()))
}
