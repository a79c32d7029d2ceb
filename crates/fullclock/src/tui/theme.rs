//! Colours and glyphs. Colour repeats what a letter, a sign or a word already says.

use ratatui::style::{Color, Modifier, Style};
use rules::finding::Severity;
use rules::loss::Kind;
use rules::metric::Emphasis;

pub(super) const HEADING: Style = Style::new().add_modifier(Modifier::BOLD);
/// What explains something more important beside it.
pub(super) const ASIDE: Style = Style::new().add_modifier(Modifier::DIM);
pub(super) const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);

/// A loss of this much of the time, in percent, is red.
pub(super) const LARGE: f64 = 5.0;

/// What the terminal can and may show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    /// Which colours.
    pub(crate) colors: Colors,
    /// Whether characters outside of ASCII arrive as such (the locale's character set is UTF-8).
    pub(crate) unicode: bool,
}

/// Which colours may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colors {
    /// None (`--color`, NO_COLOR).
    None,
    /// Those of ANSI, which each terminal makes what it likes.
    Ansi,
    /// The 256 of xterm. Those used here have a contrast of at least 3 to black and to white.
    Xterm,
}

/// The losses, in turn: neighbours differ, and none is red or green.
const LOSSES: [u8; 9] = [136, 67, 133, 30, 130, 98, 101, 32, 169];
const ANSI_LOSSES: [Color; 3] = [Color::Cyan, Color::Magenta, Color::Yellow];
const LARGE_LOSSES: [u8; 2] = [160, 167];
const GREEN: u8 = 28;
const RED: u8 = 196;
const AMBER: u8 = 130;
const BLUE: u8 = 67;
const GREY: u8 = 244;

impl Theme {
    /// Something out of the ordinary, in a sentence.
    pub(super) fn alarm(self) -> Style {
        self.emphasis(Emphasis::Notable).add_modifier(Modifier::BOLD)
    }

    /// A value that stands out as much.
    pub(super) fn emphasis(self, emphasis: Emphasis) -> Style {
        match (emphasis, self.colors) {
            (Emphasis::Ordinary, _) => Style::new(),
            (Emphasis::Notable, Colors::None) => Style::new(),
            (Emphasis::Severe, Colors::None) => HEADING,
            // Yellow letters cannot be read on white.
            (Emphasis::Notable, Colors::Ansi) => Style::new().fg(Color::Black).bg(Color::Yellow),
            (Emphasis::Severe, Colors::Ansi) => HEADING.fg(Color::Red),
            (Emphasis::Notable, Colors::Xterm) => Style::new().fg(Color::Indexed(AMBER)),
            (Emphasis::Severe, Colors::Xterm) => HEADING.fg(Color::Indexed(RED)),
        }
    }

    /// How bad a finding is.
    pub(super) fn severity(self, severity: Severity) -> Style {
        let emphasis = match severity {
            Severity::Critical | Severity::High => Emphasis::Severe,
            Severity::Medium => Emphasis::Notable,
            Severity::Low | Severity::Info => Emphasis::Ordinary,
        };
        self.emphasis(emphasis).add_modifier(Modifier::BOLD)
    }

    /// A share of the time: `percent` of it, by a loss that is the one at `place` among the losses.
    pub(super) fn share(self, kind: Kind, place: usize, percent: f64) -> Style {
        let is_large = percent >= LARGE;
        let of = |colors: &[u8]| colors.get(place % colors.len()).copied().unwrap_or(GREY);
        match kind {
            Kind::Useful => self.colored(Color::Green, GREEN),
            Kind::Idle => self.rest(),
            Kind::Lost if is_large => self.colored(Color::Red, of(&LARGE_LOSSES)),
            Kind::Lost => {
                let ansi = ANSI_LOSSES.get(place % ANSI_LOSSES.len()).copied();
                self.colored(ansi.unwrap_or(Color::Cyan), of(&LOSSES))
            }
        }
    }

    /// What is neither useful nor lost: idle, unexplained.
    pub(super) fn rest(self) -> Style {
        self.colored(Color::Reset, GREY)
    }

    /// The curve of a chart.
    pub(super) fn curve(self) -> Style {
        self.colored(Color::Cyan, BLUE)
    }

    fn colored(self, ansi: Color, xterm: u8) -> Style {
        match self.colors {
            Colors::None => Style::new(),
            Colors::Ansi => Style::new().fg(ansi),
            Colors::Xterm => Style::new().fg(Color::Indexed(xterm)),
        }
    }

    /// Whether colour and blocks together show what is what; else letters do.
    pub(super) fn has_blocks(self) -> bool {
        self.unicode && self.colors != Colors::None
    }

    /// From nothing to full, for one line of a chart.
    pub(super) fn levels(self) -> &'static [char] {
        if self.unicode { &BLOCKS_UP } else { &['_', '.', '-', '=', '+', 'x', 'X', '#'] }
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

    /// What stands between neighbours.
    pub(super) fn border(self) -> &'static str {
        if self.unicode { "│" } else { "|" }
    }

    /// What a text that goes on elsewhere ends with.
    pub(super) fn ellipsis(self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }
}

/// Eighths of a cell, from its lower edge.
pub(super) const BLOCKS_UP: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Eighths of a cell, from its left edge.
pub(super) const BLOCKS_RIGHT: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
/// Time that nobody wanted.
pub(super) const IDLE: char = '░';
/// Time that no line accounts for.
pub(super) const UNEXPLAINED: char = '▒';

#[cfg(test)]
mod tests {
    use super::*;

    /// The colour of xterm's palette (256colres.pl of xterm), from 0 to 1.
    fn rgb(color: u8) -> [f64; 3] {
        const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
        let of = |value: u8| f64::from(value) / 255.0;
        match color {
            232.. => [of(8 + (color - 232) * 10); 3],
            _ => {
                let cube = usize::from(color - 16);
                [cube / 36, cube / 6 % 6, cube % 6].map(|it| of(STEPS[it]))
            }
        }
    }

    /// WCAG 2.1, relative luminance.
    fn luminance(color: u8) -> f64 {
        let linear =
            |it: f64| if it <= 0.04045 { it / 12.92 } else { ((it + 0.055) / 1.055).powf(2.4) };
        let [red, green, blue] = rgb(color).map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn every_colour_can_be_read_on_black_and_on_white() {
        let all = [&LOSSES[..], &LARGE_LOSSES, &[GREEN, RED, AMBER, BLUE, GREY]].concat();
        for color in all {
            let (on_white, on_black) =
                (1.05 / (luminance(color) + 0.05), (luminance(color) + 0.05) / 0.05);
            assert!(on_white >= 3.0 && on_black >= 3.0, "{color}: {on_white:.1}, {on_black:.1}");
        }
    }

    #[test]
    fn a_loss_is_red_only_where_it_is_large() {
        let theme = Theme { colors: Colors::Xterm, unicode: true };
        let red = |percent| {
            let color = theme.share(Kind::Lost, 0, percent).fg;
            LARGE_LOSSES.iter().any(|it| color == Some(Color::Indexed(*it)))
        };
        assert_eq!([0.0, 4.9, 5.0, 60.0].map(red), [false, false, true, true]);
        let grey = Some(Color::Indexed(GREY));
        assert_eq!([theme.share(Kind::Idle, 0, 99.0).fg, theme.rest().fg], [grey, grey]);
    }
}
