//! Foreign text made harmless: characters that a terminal obeys, or that no reader sees, are shown as escapes.
//!
//! Any user can name a process, and the maker of a bundle its files; none of them may move the cursor, reverse the
//! direction of a line or begin a line of its own. Every output goes through one of the functions here. The escapes are those
//! of JSON (RFC 8259, section 7), so that they are right in a JSON string as well.
//!
//! [`csv_field`] makes a text a field of CSV (RFC 4180) that a spreadsheet does not run as a formula.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A name or a value as one line: line ends become `\n`, tabs become blanks.
pub fn harmless(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// The same for text whose line ends are ours and stay.
pub fn harmless_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |it| it == '\n')
}

/// A line in which our own colours stay.
pub fn harmless_line(text: &str) -> Cow<'_, str> {
    with_colors(text, harmless)
}

/// A whole result in which lines, tabs and our own colours stay.
pub fn harmless_page(text: &str) -> Cow<'_, str> {
    with_colors(text, |part| escaped(part, |it| matches!(it, '\n' | '\t')))
}

/// The text of a cell of the screen, whose width cannot grow: unseen characters are left out, and a replacement character
/// stands for a cell that held nothing else. `None` where there is nothing to replace.
pub fn without_unseen(cell: &str) -> Option<String> {
    if !cell.contains(is_unseen) {
        return None;
    }
    let seen: String = cell.chars().filter(|it| !is_unseen(*it)).collect();
    Some(if seen.is_empty() { char::REPLACEMENT_CHARACTER.to_string() } else { seen })
}

/// Characters that draw nothing where they stand: controls, and format characters that change how their neighbours are drawn
/// (Unicode Standard, sections 23.2 and 23.7; UAX 9 for those of direction).
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_escaped = |it: char| is_unseen(it) && !stays(it);
    if !text.contains(is_escaped) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            letter if !is_escaped(letter) => safe.push(letter),
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push(' '),
            letter => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    #[expect(clippy::let_underscore_must_use, reason = "a String takes everything")]
                    let _ = write!(safe, "\\u{unit:04x}");
                }
            }
        }
    }
    safe.into()
}

/// `escape` of everything between the sequences that select a colour (ECMA-48, section 8.3.117), which `anstyle` writes.
fn with_colors<'a>(text: &'a str, escape: impl Fn(&'a str) -> Cow<'a, str>) -> Cow<'a, str> {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default();
    let mut safe = escape(first);
    for part in parts {
        let parameters =
            part.find(|it: char| !it.is_ascii_digit() && it != ';').unwrap_or(part.len());
        let (color, rest) = match part[parameters..].strip_prefix('m') {
            Some(rest) => ([&part[..parameters], "m"].concat(), rest),
            None => (String::new(), part),
        };
        let start = if color.is_empty() { "\\u001b[" } else { "\x1b[" };
        safe.to_mut().extend([start, &color, &escape(rest)]);
    }
    safe
}

/// A text as one field of CSV.
///
/// A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula (OWASP, CSV
/// Injection). Such a cell gets an apostrophe before it, unless it is a number.
pub(crate) fn csv_field(text: &str) -> Cow<'_, str> {
    let is_formula =
        text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    let safe = harmless(text);
    if is_formula {
        return format!("\"'{}\"", safe.replace('"', "\"\"")).into();
    }
    if safe.contains([',', '"']) {
        return format!("\"{}\"", safe.replace('"', "\"\"")).into();
    }
    safe
}

/// Texts as one line of CSV (RFC 4180, with a line end as Unix has it), each a field of its own.
pub(crate) fn csv_line(fields: &[impl AsRef<str>]) -> String {
    let fields: Vec<_> = fields.iter().map(|it| csv_field(it.as_ref())).collect();
    fields.join(",") + "\n"
}

/// What may be unknown as a field of CSV, empty where it is.
pub(crate) fn csv_cell(value: Option<impl ToString>) -> String {
    value.map(|it| it.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_escaped_and_a_value_is_one_line() {
        assert_eq!(harmless("two\nlines\r\tend"), "two\\nlines\\r end");
        assert_eq!(harmless("\u{1b}[2J\u{9b}1m\u{7f}"), "\\u001b[2J\\u009b1m\\u007f");
        assert_eq!(
            harmless("\u{61c}\u{200e}\u{202e}\u{2066}\u{2028}\u{2029}\u{200b}\u{feff}\u{e0041}"),
            "\\u061c\\u200e\\u202e\\u2066\\u2028\\u2029\\u200b\\ufeff\\udb40\\udc41"
        );
        assert_eq!(harmless("Großrechner ☂ \u{a0}%"), "Großrechner ☂ \u{a0}%");
    }

    #[test]
    fn lines_of_our_own_and_our_colours_stay() {
        assert_eq!(harmless_lines("a\nb\u{202e}"), "a\nb\\u202e");
        assert_eq!(harmless_line("\u{1b}[1mbold\u{1b}[0m\n"), "\u{1b}[1mbold\u{1b}[0m\\n");
        assert_eq!(
            harmless_page("\u{1b}[31;1mred\u{1b}[0m\n\tx\u{1b}[2J\u{1b}]0;t\u{7}\u{2067}"),
            "\u{1b}[31;1mred\u{1b}[0m\n\tx\\u001b[2J\\u001b]0;t\\u0007\\u2067"
        );
    }

    #[test]
    fn escapes_in_json_mean_the_same_text() {
        let text = "\u{202e}a\u{7f}\u{feff}\u{e0041}\u{2028}\n\u{1b}\u{9b}";
        let json = serde_json::to_string(text).unwrap();
        let shown = harmless_page(&json);
        assert!(shown.is_ascii(), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }

    #[test]
    fn a_cell_of_the_screen_keeps_its_width() {
        assert_eq!(without_unseen("ä"), None);
        assert_eq!(without_unseen("a\u{202e}").as_deref(), Some("a"));
        assert_eq!(without_unseen("\u{200b}").as_deref(), Some("\u{fffd}"));
    }

    #[test]
    fn a_cell_that_would_be_a_formula_begins_with_an_apostrophe_and_a_number_does_not() {
        let cells = ["=1+1", "+x", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-5", "+1.5e3", "a=b", "-"];
        assert_eq!(
            cells.map(csv_field).join("|"),
            "\"'=1+1\"|\"'+x\"|\"'-2+3\"|\"'@SUM(A1)\"|\"' =1\"|\"'\\r=1\"|-5|+1.5e3|a=b|\"'-\""
        );
    }

    #[test]
    fn a_text_stays_in_its_field_and_its_line() {
        assert_eq!(csv_field("a,\"b\"\nc\u{202e}"), "\"a,\"\"b\"\"\\nc\\u202e\"");
        assert_eq!(csv_field("=HYPERLINK(\"http://x\")"), "\"'=HYPERLINK(\"\"http://x\"\")\"");
    }
}
