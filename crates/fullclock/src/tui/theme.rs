//! Colours and glyphs. Colour repeats what a letter, a sign or a word already says.

use ratatui::style::{Color, Modifier, Style};
use rules::loss::Kind;

pub(super) const HEADING: Style = Style::new().add_modifier(Modifier::BOLD);
/// What explains something more important beside it.
pub(super) const ASIDE: Style = Style::new().add_modifier(Modifier::DIM);
pub(super) const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);

/// What the terminal can and may show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    /// Whether colour may be used (`--color`, NO_COLOR).
    pub(crate) color: bool,
    /// Whether characters outside of ASCII arrive as such (the locale's character set is UTF-8).
    pub(crate) unicode: bool,
}

impl Theme {
    pub(super) fn alarm(self) -> Style {
        self.colored(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// A share of the time.
    pub(super) fn share(self, kind: Kind) -> Style {
        match kind {
            Kind::Idle => self.colored(Color::Blue),
            Kind::Lost => self.colored(Color::Red),
            Kind::Useful => self.colored(Color::Green),
        }
    }

    /// What no line of the ledger accounts for.
    pub(super) fn unexplained(self) -> Style {
        self.colored(Color::Magenta)
    }

    fn colored(self, color: Color) -> Style {
        if self.color { Style::new().fg(color) } else { Style::new() }
    }

    /// From nothing to full, for one line of a chart.
    pub(super) fn levels(self) -> &'static [char] {
        if self.unicode {
            &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
        } else {
            &['_', '.', '-', '=', '+', 'x', 'X', '#']
        }
    }

    /// Behind the heading of the column that rows are sorted by.
    pub(super) fn direction(self, descending: bool) -> &'static str {
        match (self.unicode, descending) {
            (true, true) => "▼",
            (true, false) => "▲",
            (false, true) => "v",
            (false, false) => "^",
        }
    }

    /// What rules are drawn with.
    pub(super) fn rule(self) -> &'static str {
        if self.unicode { "─" } else { "-" }
    }
}
