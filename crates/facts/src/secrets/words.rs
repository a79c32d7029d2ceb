//! The words of a command line, with where each stands in the text.

use std::ops::Range;

/// A word without the quotes around it.
#[derive(Clone, Debug)]
pub(super) struct Word<'t> {
    pub(super) text: &'t str,
    /// Where it begins in the text that was split.
    pub(super) at: usize,
    pub(super) is_quoted: bool,
}

/// A part of a text in quotes: with them, and without.
struct Quoted {
    outer: Range<usize>,
    inner: Range<usize>,
}

/// What opens and closes a quote: a character, and as many backslashes before it as there are quotes around it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mark {
    sign: u8,
    n_backslashes: usize,
}

/// Splits at white space outside of quotes. A quote that nothing closes goes on to the end.
pub(super) fn split(text: &str) -> Vec<Word<'_>> {
    let quotes = quotes(text);
    // They are in order, and none overlaps another.
    let quote_at = |at: usize| {
        let next = quotes.partition_point(|it| it.outer.end <= at);
        quotes.get(next).filter(|it| it.outer.start <= at)
    };
    let breaks =
        text.char_indices().filter(|(at, it)| it.is_whitespace() && quote_at(*at).is_none());
    let mut words = Vec::new();
    let mut begin = 0;
    for (at, space) in breaks.chain([(text.len(), ' ')]) {
        if begin < at {
            let whole = quote_at(begin).filter(|it| it.outer == (begin..at));
            let range = whole.map_or(begin..at, |it| it.inner.clone());
            let is_quoted = whole.is_some();
            words.push(Word { at: range.start, text: &text[range], is_quoted });
        }
        begin = at + space.len_utf8();
    }
    words
}

/// The parts of a text that stand in quotes, without them.
pub(super) fn quoted(text: &str) -> Vec<Range<usize>> {
    quotes(text).into_iter().map(|it| it.inner).collect()
}

fn quotes(text: &str) -> Vec<Quoted> {
    let mut found = Vec::new();
    let mut marks = marks(text).into_iter();
    while let Some((at, mark)) = marks.next() {
        let close = marks.find(|it| it.1 == mark).map(|it| it.0);
        let inner = at + 1..close.map_or(text.len(), |it| it - mark.n_backslashes);
        let outer = at - mark.n_backslashes..close.map_or(text.len(), |it| it + 1);
        found.push(Quoted { outer, inner });
    }
    found
}

/// Every quote in a text: where its character is.
fn marks(text: &str) -> Vec<(usize, Mark)> {
    let mut n_backslashes = 0;
    let mut found = Vec::new();
    for (at, sign) in text.bytes().enumerate() {
        if matches!(sign, b'\'' | b'"' | b'`') {
            found.push((at, Mark { sign, n_backslashes }));
        }
        n_backslashes = if sign == b'\\' { n_backslashes + 1 } else { 0 };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_at_white_space_outside_of_quotes() {
        for (text, expected) in [
            ("  a  b ", "a|b"),
            ("a 'b c' \"d e\"", "a|b c|d e"),
            ("a='b c' d", "a='b c'|d"),
            ("\"say \\\"a b\\\" c\" d", "say \\\"a b\\\" c|d"),
            ("say \\\"a b\\\" c", "say|a b|c"),
            ("'open to the end", "open to the end"),
            ("", ""),
        ] {
            let words: Vec<&str> = split(text).iter().map(|it| it.text).collect();
            assert_eq!(words.join("|"), expected, "{text}");
        }
    }
}
