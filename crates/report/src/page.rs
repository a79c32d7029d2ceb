//! A page of terminal text: wrapped, indented, and coloured if colour is enabled.

use crate::harmless::{harmless, harmless_line};
use anstyle::{AnsiColor, Style as Paint};
use rules::finding::Severity;

/// Text that grows line by line.
pub(super) struct Page {
    text: String,
    style: Style,
}

/// Headings and names.
pub(super) const BOLD: Paint = Paint::new().bold();
/// Labels and explanations.
pub(super) const DIM: Paint = Paint::new().dimmed();

impl Page {
    pub(super) fn new(style: Style) -> Page {
        Page { text: String::new(), style }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// `words` in `paint`, or unchanged if colour is off.
    pub(super) fn paint(&self, paint: Paint, words: &str) -> String {
        let words = harmless(words);
        if self.style.color { format!("{paint}{words}{paint:#}") } else { words.into_owned() }
    }

    /// One line, which may contain painted text.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(&harmless_line(line.trim_end()));
        self.text.push('\n');
    }

    /// A label, followed by a paragraph that starts at column `indent`.
    pub(super) fn labelled(&mut self, indent: usize, label: &str, words: &str) {
        let width = self.style.width.saturating_sub(indent).max(20);
        let mut margin = self.paint(DIM, &format!("{label:indent$}"));
        for line in wrapped(words, width) {
            self.line(&format!("{margin}{line}"));
            margin = " ".repeat(indent);
        }
    }
}

/// Lines of `width` columns.
fn wrapped(words: &str, width: usize) -> Vec<String> {
    // Paths and commands that do not fit stay in one piece, past the margin.
    let options = textwrap::Options::new(width)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    // A number and its percent sign stay together.
    let words = harmless(words).replace(" %", "\u{a0}%");
    textwrap::wrap(&words, options).iter().map(|it| it.replace("\u{a0}%", " %")).collect()
}

/// The colour of a severity.
pub(super) fn color_of(severity: Severity) -> Paint {
    let color = match severity {
        Severity::Critical | Severity::High => AnsiColor::Red,
        Severity::Medium => AnsiColor::Yellow,
        Severity::Low => AnsiColor::Cyan,
        Severity::Info => AnsiColor::Blue,
    };
    Paint::new().fg_color(Some(color.into())).bold()
}

/// How to lay out text.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether to use colour.
    pub color: bool,
    /// How many columns the text may take.
    pub width: usize,
}
