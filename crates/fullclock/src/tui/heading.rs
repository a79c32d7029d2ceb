//! The heading of a column: the metric's, and below it the name of the part in as many lines as it takes.

use super::text::width;
use rules::watch::{Part, Shown};
use std::borrow::Cow;

/// A column is no wider for the sake of its heading.
const WIDEST: usize = 16;
/// A part's name is wrapped to this where its words allow it.
const WRAPPED: usize = 9;
/// `100.00` and a mark fit.
const NARROWEST: usize = 7;
/// The space before a column, and the mark of the order behind it.
const AROUND: usize = 2;

pub(super) struct Heading {
    /// From the metric's to the last of the part.
    lines: Vec<String>,
    width: usize,
}

impl Heading {
    pub(super) fn of(column: &Shown) -> Heading {
        let lines = match &column.part {
            Part::Whole => vec![column.heading().into_owned()],
            Part::Named(part) => named(column.metric.column, part),
        };
        let widest = lines.iter().map(|it| width(it)).max().unwrap_or(0);
        Heading { lines, width: widest.clamp(NARROWEST, WIDEST) }
    }

    /// How many lines it has.
    pub(super) fn lines(&self) -> usize {
        self.lines.len()
    }

    /// It in so many lines, the last one first; empty above those that it has. What is too much for them is in the last.
    pub(super) fn within(&self, lines: usize) -> Vec<String> {
        let n_whole = if self.lines.len() > lines { lines.saturating_sub(1) } else { lines };
        let (whole, rest) = self.lines.split_at(n_whole.min(self.lines.len()));
        let between = if whole.is_empty() { ":" } else { " " };
        let last = (!rest.is_empty()).then(|| rest.join(between));
        let mut shown: Vec<String> = whole.iter().cloned().chain(last).rev().collect();
        shown.resize(lines, String::new());
        shown
    }

    /// The columns of a value.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The columns of the table that it takes.
    pub(super) fn columns(&self) -> usize {
        AROUND + self.width
    }
}

/// The name of a metric and that of a part: in one line where that is short.
fn named(metric: &str, part: &str) -> Vec<String> {
    let short = format!("{metric}:{part}");
    if width(&short) <= WRAPPED {
        return vec![short];
    }
    std::iter::once(metric.to_owned()).chain(wrapped(part)).collect()
}

/// The words of a part's name; one that is too long for a column is broken.
fn wrapped(part: &str) -> Vec<String> {
    let options = |columns: usize| {
        textwrap::Options::new(columns).word_splitter(textwrap::WordSplitter::NoHyphenation)
    };
    let words = textwrap::wrap(part, options(WRAPPED).break_words(false));
    words.iter().flat_map(|it| textwrap::wrap(it, options(WIDEST))).map(Cow::into_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_part_is_wrapped_and_nothing_of_it_is_cut() {
        assert_eq!(named("Req%", "POLL"), ["Req%:POLL"]);
        assert_eq!(named("Req%", "haltpoll idle"), ["Req%", "haltpoll", "idle"]);
        assert_eq!(named("PSI%", "cpu.some"), ["PSI%", "cpu.some"]);
        assert_eq!(
            named("IRQ/s", "24 virtio0-input.0-温度"),
            ["IRQ/s", "24", "virtio0-input.0-", "温度"]
        );
    }

    #[test]
    fn where_lines_are_few_the_last_one_has_the_rest() {
        let heading = Heading { lines: named("Req%", "haltpoll idle"), width: 8 };
        assert_eq!(heading.within(4), ["idle", "haltpoll", "Req%", ""]);
        assert_eq!(heading.within(3), ["idle", "haltpoll", "Req%"]);
        assert_eq!(heading.within(2), ["haltpoll idle", "Req%"]);
        assert_eq!(heading.within(1), ["Req%:haltpoll:idle"]);
    }
}
