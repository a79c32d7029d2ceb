//! Text wrapped or cut to the columns that there are.
//!
//! Some characters take two columns and some none.

use super::theme::Theme;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns that `text` takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A rule of `columns` with words in it.
pub(super) fn rule(words: &[String], columns: u16, theme: Theme) -> String {
    let columns = usize::from(columns);
    let rule = theme.rule();
    let text = format!("{rule}{rule} {} ", words.join(&format!(" {rule}{rule} ")));
    let text = cut(&text, columns);
    let fill = columns.saturating_sub(width(&text));
    format!("{text}{}", rule.repeat(fill))
}

/// `text` in lines. A number and its percent sign stay together, and so do paths and options, which hold hyphens.
pub(super) fn wrap(text: &str, columns: usize, indent: &str) -> Vec<String> {
    let options = textwrap::Options::new(columns.max(1))
        .subsequent_indent(indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let kept = text.replace(" %", "\u{a0}%");
    textwrap::wrap(&kept, options).iter().map(|it| it.replace('\u{a0}', " ")).collect()
}

/// `text` in at most `lines` lines. Where that is not all of it, `more` stands at the end.
pub(super) fn wrapped(text: &str, columns: usize, lines: usize, more: &str) -> Vec<String> {
    let mut shown = wrap(text, columns, "");
    if shown.len() <= lines {
        return shown;
    }
    shown.truncate(lines);
    if let Some(last) = shown.last_mut() {
        let room = columns.saturating_sub(width(more) + 1);
        let kept = wrap(last, room, "").into_iter().next().unwrap_or_default();
        *last = cut(&format!("{kept} {more}"), columns);
    }
    shown
}

/// `text` as the beginning of a sentence.
pub(super) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// `1 interval`, `7 intervals`.
pub(super) fn counted(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// `text`, or as much of it as fits into `columns` with a mark that something is cut off.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let mut shown = String::new();
    for letter in text.chars() {
        let wide = letter.width().unwrap_or(0);
        if wide > left {
            break;
        }
        left -= wide;
        shown.push(letter);
    }
    if columns > 0 {
        shown.push('~');
    }
    shown
}

/// `text` cut and filled to exactly `columns`, at the left of them.
pub(crate) fn left(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let fill = columns.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(fill))
}

/// The same at the right.
pub(crate) fn right(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let fill = columns.saturating_sub(text.width());
    format!("{}{text}", " ".repeat(fill))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_character_takes_two_columns_or_is_left_out() {
        assert_eq!(cut("温度温度", 8), "温度温度");
        assert_eq!(cut("温度温度", 6), "温度~");
        assert_eq!(left("温度温度", 6), "温度~ ");
        assert_eq!(right("7", 3), "  7");
        assert_eq!((cut("abc", 0), cut("abc", 1)), (String::new(), "~".to_owned()));
    }

    #[test]
    fn a_text_that_is_too_long_ends_between_two_words_and_says_where_it_goes_on() {
        let text = "One two three four five six.";
        assert_eq!(wrapped(text, 14, 1, "(i)"), ["One two (i)"]);
        assert_eq!(wrapped(text, 14, 2, "(i)"), ["One two three", "four five six."]);
        assert_eq!(wrapped(text, 5, 1, "(i)"), ["O (i)"]);
    }
}
