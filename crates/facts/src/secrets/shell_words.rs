//! The words of a command line, with where each stands in the text.

use std::ops::Range;

/// A word without the quotes around it.
#[derive(Clone, Debug)]
pub(super) struct Word<'t> {
    pub(super) text: &'t str,
    /// Where it begins in what was split.
    pub(super) at: usize,
    pub(super) is_quoted: bool,
    /// Whether a shell begins a command here, since a line or another command ends in front of it.
    pub(super) is_first: bool,
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
        // A backslash that joins two lines is none of the words.
        let joins_lines = text[begin..at] == *"\\" && text[at..].starts_with(['\n', '\r']);
        if begin < at && !joins_lines {
            let whole = quote_at(begin).filter(|it| it.outer == (begin..at));
            let range = whole.map_or(begin..at, |it| it.inner.clone());
            let is_quoted = whole.is_some();
            let is_first = ends_line(&text[..begin]);
            words.push(Word { at: range.start, text: &text[range], is_quoted, is_first });
        }
        begin = at + space.len_utf8();
    }
    words
}

/// Whether a line ends with this text, and a command with it. A backslash joins the next line to it.
fn ends_line(text: &str) -> bool {
    let front = text.trim_end();
    let space = &text[front.len()..];
    let n_lines = space.matches('\n').count();
    let is_joined = front.ends_with('\\') && space.trim_start_matches('\r').starts_with('\n');
    n_lines > usize::from(is_joined)
}

/// Splits words further, as a shell does: at operators, and at line ends that are escaped, as in quoted messages and JSON. What
/// quotes hold is split as well.
///
/// Each piece with the number of its word, in which it is `at`.
pub(super) fn pieces<'t>(words: &[Word<'t>]) -> Vec<(usize, Word<'t>)> {
    let mut found = Vec::new();
    let mut is_first = false;
    for (number, word) in words.iter().enumerate() {
        is_first |= word.is_first;
        let mut begin = 0;
        for Break { range, ends_command } in breaks(word.text) {
            if begin < range.start {
                let text = &word.text[begin..range.start];
                let is_whole = text.len() == word.text.len();
                let is_quoted = (is_whole && word.is_quoted) || text.starts_with(['\'', '"']);
                found.push((number, Word { text, at: begin, is_quoted, is_first }));
                is_first = false;
            }
            is_first |= ends_command;
            begin = range.end;
        }
    }
    found
}

/// What stands between two pieces of a word; the last is its end.
struct Break {
    range: Range<usize>,
    ends_command: bool,
}

fn breaks(text: &str) -> Vec<Break> {
    let mut n_backslashes = 0;
    let mut found = Vec::new();
    for (at, sign) in text.bytes().enumerate() {
        let range = at - n_backslashes..at + 1;
        match sign {
            // Quoted n times, a line end has 2^(n-1) backslashes, and one that joins two lines three times as many.
            b'n' | b'r' | b't' if n_backslashes > 0 => {
                let ends_command = sign == b'n' && n_backslashes.is_power_of_two();
                found.push(Break { range, ends_command });
            }
            b';' | b'|' | b'&' | b'(' | b')' | b'`' => {
                found.push(Break { range, ends_command: true });
            }
            _ => {}
        }
        n_backslashes = if sign == b'\\' { n_backslashes + 1 } else { 0 };
    }
    // Of `-a \` at the end of a line, the value is on the next one.
    found.push(Break { range: text.len() - n_backslashes..text.len(), ends_command: false });
    found
}

/// Whether a text has white space in it, also escaped.
pub(super) fn has_space(text: &str) -> bool {
    text.contains(char::is_whitespace) || ["\\n", "\\t"].iter().any(|it| text.contains(it))
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
            ("a \\\n b \\", "a|b|\\"),
            ("", ""),
        ] {
            let words: Vec<&str> = split(text).iter().map(|it| it.text).collect();
            assert_eq!(words.join("|"), expected, "{text}");
        }
    }

    #[test]
    fn pieces_begin_a_command_after_operators_and_ends_of_lines() {
        for (text, expected) in [
            ("a b;c", "a|b|>c"),
            ("a\n b\\nc\\td", "a|>b|>c|d"),
            ("a \\\n b\\\\\\nc", "a|b|c"),
            ("a \\\n\n b \\\\\\\\n c", "a|>b|>c"),
            ("x=$(a 'b|c')", "x=$|>a|'b|>c'"),
            (";", ""),
        ] {
            let pieces = pieces(&split(text)).into_iter().map(|(_, it)| match it.is_first {
                true => format!(">{}", it.text),
                false => it.text.to_owned(),
            });
            assert_eq!(pieces.collect::<Vec<_>>().join("|"), expected, "{text:?}");
        }
    }
}
