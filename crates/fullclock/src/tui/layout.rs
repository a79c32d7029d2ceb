//! How the lines of a screen are divided, and text cut to the columns that it has.
//!
//! Some characters take two columns and some none.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many lines each part around the table gets.
pub(super) struct Lines {
    pub(super) status: u16,
    pub(super) bar: u16,
    pub(super) legend: u16,
    pub(super) detail: u16,
}

impl Lines {
    /// Those of a screen of this size.
    pub(super) fn of(columns: u16, height: u16) -> Lines {
        let legend = if columns < 120 { 2 } else { 1 };
        match height {
            0..=11 => Lines { status: 0, bar: 0, legend: 0, detail: 0 },
            12..=15 => Lines { status: 0, bar: 1, legend: 1, detail: 2 },
            16..=31 => Lines { status: 1, bar: 1, legend, detail: 3 },
            _ => Lines { status: 1, bar: 1, legend: 2, detail: 6 },
        }
    }
}

/// The line of the title, and that of the keys.
const AROUND: u16 = 2;

/// The table's rule and its headings.
const HEADINGS: u16 = 2;

/// How many rows of the table fit on a screen of this size.
pub(super) fn table_lines((columns, height): (u16, u16)) -> usize {
    let Lines { status, bar, legend, detail } = Lines::of(columns, height);
    usize::from(height.saturating_sub(AROUND + HEADINGS + status + bar + legend + detail))
}

/// How many lines of a page fit on a screen of this size.
pub(super) fn page_lines((_, height): (u16, u16)) -> usize {
    usize::from(height.saturating_sub(AROUND))
}

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
