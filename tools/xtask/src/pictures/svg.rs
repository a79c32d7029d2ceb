//! A terminal's screen as an SVG.
//!
//! It has a background of its own, so that it looks the same on a light page and on a dark one. A viewer may have any monospaced
//! font: the width of every piece of text is given, so that columns stay columns. Blocks and rules are drawn, because those of
//! many fonts leave gaps between lines.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write as _};

use vt100::{Cell, Color, Screen};

/// Pixels that a character takes, and its size, which has that width in most fonts (0.6 em).
const WIDTH: f64 = 8.0;
const HEIGHT: f64 = 17.0;
const FONT_SIZE: f64 = 13.3;
/// From the top of a line to the foot of its letters.
const BASELINE: f64 = 12.5;
/// Around the text.
const MARGIN: f64 = 16.0;

const FONTS: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace";

const BACKGROUND: Rgb = Rgb(0x16, 0x1b, 0x22);
const FOREGROUND: Rgb = Rgb(0xd6, 0xdd, 0xe4);

/// The sixteen colours of a terminal, of which each is readable on [`BACKGROUND`].
const COLORS: [Rgb; 16] = [
    Rgb(0x48, 0x4f, 0x58),
    Rgb(0xff, 0x7b, 0x72),
    Rgb(0x56, 0xc9, 0x6b),
    Rgb(0xe3, 0xb3, 0x41),
    Rgb(0x6c, 0xb2, 0xf5),
    Rgb(0xc9, 0x9b, 0xff),
    Rgb(0x4f, 0xc9, 0xd4),
    Rgb(0xb9, 0xc3, 0xcd),
    Rgb(0x8b, 0x94, 0x9e),
    Rgb(0xff, 0xa1, 0x98),
    Rgb(0x7e, 0xe2, 0x90),
    Rgb(0xf2, 0xcc, 0x60),
    Rgb(0x9c, 0xce, 0xff),
    Rgb(0xde, 0xbf, 0xff),
    Rgb(0x86, 0xe1, 0xea),
    Rgb(0xff, 0xff, 0xff),
];

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rgb(u8, u8, u8);

impl Display for Rgb {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

impl Rgb {
    /// A colour as a terminal has it; `None` is the terminal's own.
    fn of(color: Color) -> Option<Rgb> {
        match color {
            Color::Default => None,
            Color::Rgb(red, green, blue) => Some(Rgb(red, green, blue)),
            Color::Idx(index) => Some(Rgb::indexed(index)),
        }
    }

    /// xterm's 256 colours: sixteen that each terminal chooses, a cube of 6x6x6, 24 greys.
    fn indexed(index: u8) -> Rgb {
        let level = |it: u8| if it == 0 { 0 } else { 55 + 40 * it };
        match (COLORS.get(usize::from(index)), index) {
            (Some(color), _) => *color,
            (None, 232..) => {
                let grey = 8 + 10 * (index - 232);
                Rgb(grey, grey, grey)
            }
            (None, _) => {
                let at = index - 16;
                Rgb(level(at / 36), level(at / 6 % 6), level(at % 6))
            }
        }
    }

    /// Dim text: some of the background shines through.
    fn dimmed(self) -> Rgb {
        let mixed = |own: u8, below: u8| {
            let sum = u16::from(own) * 13 + u16::from(below) * 7;
            u8::try_from(sum / 20).unwrap_or(u8::MAX)
        };
        Rgb(mixed(self.0, BACKGROUND.0), mixed(self.1, BACKGROUND.1), mixed(self.2, BACKGROUND.2))
    }
}

/// How a cell looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Style {
    text: Rgb,
    /// `None` is the screen's own.
    behind: Option<Rgb>,
    is_bold: bool,
    is_underlined: bool,
}

impl Style {
    fn of(cell: &Cell) -> Style {
        let text = Rgb::of(cell.fgcolor()).unwrap_or(FOREGROUND);
        let text = if cell.dim() { text.dimmed() } else { text };
        let behind = Rgb::of(cell.bgcolor());
        let (text, behind) = match cell.inverse() {
            true => (behind.unwrap_or(BACKGROUND), Some(text)),
            false => (text, behind),
        };
        Style { text, behind, is_bold: cell.bold(), is_underlined: cell.underline() }
    }
}

/// A part of a cell that is filled, from its top left corner, in cells.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Block {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Block {
    const WHOLE: Block = Block { left: 0.0, top: 0.0, width: 1.0, height: 1.0 };

    /// What a character of Unicode's blocks "Block Elements" and "Box Drawing" fills; `None` of any other, which a font draws.
    fn of(character: char) -> Option<Block> {
        let eighths = |n: u32| f64::from(n) / 8.0;
        let code = u32::from(character);
        Some(match character {
            '▀' => Block { height: 0.5, ..Block::WHOLE },
            '▁'..='█' => {
                let height = eighths(code - 0x2580);
                Block { top: 1.0 - height, height, ..Block::WHOLE }
            }
            '▉'..='▏' => Block { width: eighths(0x2590 - code), ..Block::WHOLE },
            '▐' => Block { left: 0.5, width: 0.5, ..Block::WHOLE },
            '─' => Block { top: 0.47, height: 0.06, ..Block::WHOLE },
            '│' => Block { left: 0.44, width: 0.12, ..Block::WHOLE },
            _ => return None,
        })
    }
}

/// The picture of a screen; `title` says what it shows to whoever does not see it.
pub(super) fn draw(screen: &Screen, title: &str) -> String {
    let (rows, columns) = screen.size();
    let width = f64::from(columns.get()) * WIDTH + 2.0 * MARGIN;
    let height = f64::from(rows.get()) * HEIGHT + 2.0 * MARGIN;
    let mut drawing = Drawing::default();
    for row in 0..rows.get() {
        for column in 0..columns.get() {
            if let Some(cell) = screen.cell(row, column) {
                drawing.add(row, column, cell);
            }
        }
        drawing.end_run();
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">\n\
         <title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n\
         {}<g font-family=\"{FONTS}\" font-size=\"{FONT_SIZE}\" fill=\"{FOREGROUND}\">\n{}</g>\n</svg>\n",
        escaped(title),
        drawing.paths(),
        drawing.texts,
    )
}

/// Text that is drawn in one piece.
struct Run {
    row: u16,
    column: u16,
    text: String,
    n_columns: u16,
    style: Style,
}

/// What is drawn so far.
#[derive(Default)]
struct Drawing {
    /// Filled rectangles by colour, as the data of a path: those behind the text first.
    behind: BTreeMap<Rgb, String>,
    blocks: BTreeMap<Rgb, String>,
    texts: String,
    /// The text that goes on in the next cell.
    run: Option<Run>,
}

impl Drawing {
    fn add(&mut self, row: u16, column: u16, cell: &Cell) {
        let style = Style::of(cell);
        if let Some(color) = style.behind {
            fill(self.behind.entry(color).or_default(), row, column, Block::WHOLE);
        }
        let text = cell.contents();
        let block = text.chars().next().and_then(Block::of);
        if let Some(block) = block {
            self.end_run();
            fill(self.blocks.entry(style.text).or_default(), row, column, block);
        } else if !cell.is_wide_continuation() {
            self.write(row, column, text, if cell.is_wide() { 2 } else { 1 }, style);
        }
    }

    /// Writes one character. Two spaces end a piece of text, so that each column of a table is one.
    fn write(&mut self, row: u16, column: u16, text: &str, n_columns: u16, style: Style) {
        let is_space = text.trim().is_empty();
        match &mut self.run {
            Some(run) if run.style == style && !(is_space && run.text.ends_with(' ')) => {
                run.text.push_str(if is_space { " " } else { text });
                run.n_columns += n_columns;
            }
            _ => {
                self.end_run();
                if !is_space {
                    let text = text.to_owned();
                    self.run = Some(Run { row, column, text, n_columns, style });
                }
            }
        }
    }

    fn end_run(&mut self) {
        let Some(mut run) = self.run.take() else { return };
        if run.text.ends_with(' ') {
            run.text.pop();
            run.n_columns -= 1;
        }
        self.texts.push_str(&run.to_string());
    }

    fn paths(&self) -> String {
        let path = |(color, data): (&Rgb, &String)| {
            format!("<path shape-rendering=\"crispEdges\" fill=\"{color}\" d=\"{data}\"/>\n")
        };
        self.behind.iter().chain(&self.blocks).map(path).collect()
    }
}

impl Display for Run {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (x, y) = corner(self.row, self.column);
        let length = f64::from(self.n_columns) * WIDTH;
        write!(f, "<text x=\"{x}\" y=\"{}\" textLength=\"{length}\"", y + BASELINE)?;
        if self.style.text != FOREGROUND {
            write!(f, " fill=\"{}\"", self.style.text)?;
        }
        if self.style.is_bold {
            f.write_str(" font-weight=\"bold\"")?;
        }
        if self.style.is_underlined {
            f.write_str(" text-decoration=\"underline\"")?;
        }
        writeln!(f, ">{}</text>", escaped(&self.text))
    }
}

/// Where a cell begins.
fn corner(row: u16, column: u16) -> (f64, f64) {
    (MARGIN + f64::from(column) * WIDTH, MARGIN + f64::from(row) * HEIGHT)
}

/// Adds a part of a cell to the data of a path.
fn fill(path: &mut String, row: u16, column: u16, block: Block) {
    let (x, y) = corner(row, column);
    let (x, y) = (x + block.left * WIDTH, y + block.top * HEIGHT);
    let (width, height) = (block.width * WIDTH, block.height * HEIGHT);
    // Thousandths of a pixel say nothing.
    let rounded = |it: f64| (it * 100.0).round() / 100.0;
    let [x, y, width, height] = [x, y, width, height].map(rounded);
    // Text can always be added to a text.
    write!(path, "M{x} {y}h{width}v{height}h-{width}z").ok();
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::terminal;

    fn drawn(printed: &str) -> String {
        let screen = terminal::after_prompt("a", printed, 30).unwrap();
        draw(&screen, "a < b")
    }

    /// Elements of one kind, without the prompt's two.
    fn elements<'a>(svg: &'a str, start: &str) -> Vec<&'a str> {
        svg.lines().filter(|it| it.starts_with(start) && !it.contains("y=\"28.5\"")).collect()
    }

    #[test]
    fn columns_of_a_table_are_placed_one_by_one_with_their_widths() {
        let svg = drawn("Busy%  C1 %   x");
        let expected = [
            "<text x=\"16\" y=\"62.5\" textLength=\"40\">Busy%</text>",
            "<text x=\"72\" y=\"62.5\" textLength=\"32\">C1 %</text>",
            "<text x=\"128\" y=\"62.5\" textLength=\"8\">x</text>",
        ];
        assert_eq!(elements(&svg, "<text"), expected);
    }

    #[test]
    fn colours_weights_and_inverse_text_are_those_of_the_terminal() {
        let svg = drawn("\u{1b}[1;31mHIGH\u{1b}[0m \u{1b}[2mdim\u{1b}[0m \u{1b}[7minv\u{1b}[0m");
        let red = COLORS[1];
        let expected = [
            format!(
                "<text x=\"16\" y=\"62.5\" textLength=\"32\" fill=\"{red}\" font-weight=\"bold\">HIGH</text>"
            ),
            format!(
                "<text x=\"56\" y=\"62.5\" textLength=\"24\" fill=\"{}\">dim</text>",
                FOREGROUND.dimmed()
            ),
            format!("<text x=\"88\" y=\"62.5\" textLength=\"24\" fill=\"{BACKGROUND}\">inv</text>"),
        ];
        assert_eq!(elements(&svg, "<text"), expected);
        let behind = elements(&svg, "<path");
        assert_eq!(behind.len(), 1, "{svg}");
        assert!(behind[0].contains(&format!("fill=\"{FOREGROUND}\"")), "{svg}");
    }

    #[test]
    fn bars_are_filled_from_below_or_from_the_left_and_are_no_text() {
        let svg = drawn("█▄▌");
        let expected = "M16 50h8v17h-8zM24 58.5h8v8.5h-8zM32 50h4v17h-4z";
        assert!(elements(&svg, "<path")[0].contains(expected), "{svg}");
        assert_eq!(elements(&svg, "<text").len(), 0, "{svg}");
    }

    #[test]
    fn text_is_never_markup() {
        let svg = drawn("<b>&\"");
        assert!(
            svg.contains("<title>a &lt; b</title>") && svg.contains(">&lt;b&gt;&amp;\"</text>")
        );
    }

    #[test]
    fn colours_by_number_are_those_of_xterm() {
        let indexed = [16, 21, 196, 231, 232, 255].map(|it| Rgb::indexed(it).to_string());
        assert_eq!(indexed, ["#000000", "#0000ff", "#ff0000", "#ffffff", "#080808", "#eeeeee"]);
    }

    #[test]
    fn every_colour_is_readable_on_the_background() {
        // Web Content Accessibility Guidelines 2.2, 1.4.3: at least 4.5. The first colour is black, which nobody writes with.
        for color in COLORS[1..].iter().copied().chain([FOREGROUND, FOREGROUND.dimmed()]) {
            assert!(contrast(color, BACKGROUND) >= 4.5, "{color}");
        }
    }

    fn contrast(lighter: Rgb, darker: Rgb) -> f64 {
        let linear = |it: u8| {
            let it = f64::from(it) / 255.0;
            if it <= 0.04045 { it / 12.92 } else { ((it + 0.055) / 1.055).powf(2.4) }
        };
        let luminance =
            |it: Rgb| 0.2126 * linear(it.0) + 0.7152 * linear(it.1) + 0.0722 * linear(it.2);
        (luminance(lighter) + 0.05) / (luminance(darker) + 0.05)
    }
}
