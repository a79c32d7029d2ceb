//! What a client is sent: a text of bounded length in which nothing hides.

use anyhow::Error;
use facts::secrets;
use report::Style;
use report::document::{Document, Format};
use report::harmless::harmless_page;

/// Some 3,000 tokens. A client that wants more asks for a part.
pub(crate) const LONGEST: usize = 10_000;

/// What the line takes that says how much was left out.
const LONGEST_NOTE: usize = 200;

/// As in a file: a bar of a ledger takes what is left of the width.
const STYLE: Style = Style { color: false, width: 100 };

/// A document as text. Where it is too long its end is left out, and `more` says how to get at it.
pub(crate) fn text(document: &Document, more: &str) -> String {
    bounded(&harmless_page(&document.render(Format::Text(STYLE))), more)
}

/// Why a call failed, without passwords: an argument may hold one.
pub(crate) fn failure(error: &Error) -> String {
    let why = format!("{error:#}");
    bounded(&harmless_page(&secrets::masked(&why)), "give shorter arguments")
}

/// As many whole lines as fit; of a line that alone is too long, its beginning.
fn bounded(text: &str, more: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let room = LONGEST - LONGEST_NOTE;
    let room = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let fits = text.get(..room).unwrap_or_default();
    let kept = fits.rfind('\n').map_or(fits, |end| &fits[..=end]);
    let n_left = text[kept.len()..].lines().count();
    let end = if kept.ends_with('\n') { "" } else { "...\n" };
    format!("{kept}{end}\n[{n_left} more lines are left out: {more}]\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn a_long_text_ends_with_a_whole_line_and_says_how_much_is_missing() {
        let line = "x".repeat(99);
        let long = format!("{line}\n").repeat(300);
        let short = bounded(&long, "ask for less");
        assert!(short.len() <= LONGEST, "{}", short.len());
        let (kept, note) = short.rsplit_once("\n\n").unwrap();
        assert!(kept.lines().all(|it| it == line));
        let n_left = 300 - kept.lines().count();
        assert_eq!(note, format!("[{n_left} more lines are left out: ask for less]\n"));
        assert_eq!(bounded("all\nof it\n", "ask for less"), "all\nof it\n");
    }

    #[test]
    fn a_long_line_is_cut_between_two_letters() {
        let short = bounded(&"\u{e4}".repeat(LONGEST), "ask for less");
        assert!(short.len() <= LONGEST && short.starts_with('\u{e4}'), "{}", short.len());
        assert!(short.contains("\u{e4}...\n"));
    }

    #[test]
    fn a_failure_has_neither_passwords_nor_characters_that_a_terminal_obeys() {
        let error =
            anyhow!("no such file").context("cannot read postgres://me:S3KR1T@db\x1b]0;x\x07");
        let text = failure(&error);
        assert!(text.contains("no such file") && !text.contains("S3KR1T"), "{text}");
        assert!(!text.contains('\x07'), "{text:?}");
    }
}
