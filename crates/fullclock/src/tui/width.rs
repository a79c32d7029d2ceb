//! Text cut to the columns it has on a terminal, where some characters take two and some none.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns that `text` takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
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
}
