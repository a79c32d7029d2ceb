//! A document as text for a terminal: wrapped, aligned, and coloured if colour is enabled.

use super::{Align, Bar, Block, Cell, Chart, Document, Item, Role, Table, Text, Tone};
use crate::Style;
use crate::harmless::harmless;
use crate::page::{BOLD, DIM, color_of};
use anstyle::{AnsiColor, Style as Paint};
use unicode_width::UnicodeWidthStr;

/// Columns of an item's mark and of a label, unless one is longer.
const MARGIN: usize = 10;
/// What separates columns.
const GAP: usize = 2;
/// Columns of a bar.
const NARROWEST_BAR: usize = 10;
const WIDEST_BAR: usize = 50;
/// Columns of words are not made narrower than this, the last one and others: each row becomes labelled lines instead.
const NARROW: usize = 20;
const SHORT: usize = 12;

pub(super) fn render(document: &Document, style: Style) -> String {
    let mut terminal = Terminal { text: String::new(), style };
    terminal.flow("", 0, &Text::strong(&*document.title));
    if matches!(document.blocks.first(), Some(Block::Heading(_))) {
        terminal.line("");
    }
    terminal.blocks(&document.blocks, 0, None);
    terminal.text
}

/// A line in colours, and how many columns it takes.
struct Line {
    painted: String,
    width: usize,
}

struct Terminal {
    text: String,
    style: Style,
}

impl Terminal {
    /// Labels stand `outdent` columns to the left of the other blocks, or in front of their own text.
    fn blocks(&mut self, blocks: &[Block], indent: usize, outdent: Option<usize>) {
        let widest = widest_label(blocks);
        let (label_indent, label_width) = match outdent {
            Some(outdent) => (indent - outdent, widest.max(outdent.saturating_sub(GAP))),
            None => (indent, widest.max(MARGIN - GAP)),
        };
        let mut before = None;
        for block in blocks.iter().filter(|it| is_shown(it)) {
            if before.is_some_and(|it| stands_apart(it, block)) {
                self.text.push('\n');
            }
            before = Some(block);
            match block {
                Block::Heading(words) => self.flow("", indent, &Text::strong(&**words)),
                Block::Paragraph(text) | Block::Note(text) => self.flow("", indent, text),
                Block::Labelled { label, text } => {
                    self.labelled(label, label_width, label_indent, text);
                }
                Block::List(items) => {
                    for item in items {
                        self.flow(&format!("{:indent$}- ", ""), indent + GAP, item);
                    }
                }
                Block::Code(lines) => self.code(lines, indent),
                Block::Table(table) => self.table(table, indent),
                Block::Chart(chart) => self.chart(chart, indent),
                Block::Details { .. } => {}
                Block::Item(item) => self.item(item, indent),
            }
        }
    }

    /// A chart as its values.
    fn chart(&mut self, chart: &Chart, indent: usize) {
        if let Some(values) = &chart.values {
            self.flow("", indent, &Text::strong(&*chart.title));
            self.table(values, indent);
        }
    }

    fn item(&mut self, item: &Item, indent: usize) {
        let mark = item.severity.name().to_uppercase();
        let mark = self.paint(color_of(item.severity), &format!("{mark:MARGIN$}"));
        self.flow(&format!("{:indent$}{mark}", ""), indent + MARGIN, &item.head);
        self.blocks(&item.body, indent + MARGIN, Some(MARGIN - GAP));
    }

    fn labelled(&mut self, label: &str, width: usize, indent: usize, text: &Text) {
        let label = self.paint(DIM, &padded(label, width, Align::Left));
        self.flow(&format!("{:indent$}{label}{:GAP$}", "", ""), indent + width + GAP, text);
    }

    fn code(&mut self, lines: &str, indent: usize) {
        let indent = indent + GAP;
        for line in lines.lines() {
            self.line(&format!("{:indent$}{}", "", harmless(line)));
        }
    }

    fn table(&mut self, table: &Table, indent: usize) {
        let Some(widths) = table.fitted(self.style.width.saturating_sub(indent)) else {
            return self.stacked(table, indent);
        };
        let headings: Vec<Cell> =
            table.columns.iter().map(|it| Cell::Text(Text::strong(&*it.heading))).collect();
        if table.columns.iter().any(|it| !it.heading.is_empty()) {
            self.row(table, &widths, &headings, indent);
        }
        for row in &table.rows {
            self.row(table, &widths, row, indent);
        }
    }

    /// One row: what does not fit into a column goes on under it.
    fn row(&mut self, table: &Table, widths: &[usize], row: &[Cell], indent: usize) {
        let columns = widths.iter().zip(&table.columns);
        let cells: Vec<Vec<String>> = row
            .iter()
            .zip(columns)
            .map(|(cell, (width, column))| self.cell(cell, *width, column.align))
            .collect();
        let n_lines = cells.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..n_lines {
            let mut line = " ".repeat(indent);
            for (lines, width) in cells.iter().zip(widths) {
                match lines.get(at) {
                    Some(cell) => line += cell,
                    None => line += &" ".repeat(*width),
                }
                line += &" ".repeat(GAP);
            }
            self.line(&line);
        }
    }

    /// The lines of a cell, each of which fills its column.
    fn cell(&self, cell: &Cell, width: usize, align: Align) -> Vec<String> {
        let text = match cell {
            Cell::Text(text) => text,
            Cell::Bar(bar) => return vec![self.bar(*bar, width)],
        };
        let filled = |Line { painted, width: taken }: Line| {
            let padding = " ".repeat(width.saturating_sub(taken));
            match align {
                Align::Left => painted + &padding,
                Align::Right => padding + &painted,
            }
        };
        self.wrapped(text, width.max(1)).into_iter().map(filled).collect()
    }

    /// A value too small for a column gets a thin mark, so that only zero has an empty bar.
    fn bar(&self, Bar { start, end, tone }: Bar, width: usize) -> String {
        let (start, end) = (start.clamp(0.0, 1.0), end.clamp(0.0, 1.0));
        let column = |at: f64| ((at * width as f64).round() as usize).min(width);
        let (first, last) = (column(start), column(end));
        let (first, marks) = match (first < last, end > start) {
            (true, _) => (first, "█".repeat(last - first)),
            (false, true) => (first.min(width.saturating_sub(1)), "▏".to_owned()),
            (false, false) => (0, String::new()),
        };
        let after = width.saturating_sub(first + marks.chars().count());
        format!("{:first$}{}{:after$}", "", self.paint(paint_of_bar(tone), &marks), "")
    }

    /// A table that is too wide: a group of labelled lines for each row.
    fn stacked(&mut self, table: &Table, indent: usize) {
        let width = table.columns.iter().map(|it| it.heading.width()).max().unwrap_or(0);
        for (at, row) in table.rows.iter().enumerate() {
            if at > 0 {
                self.text.push('\n');
            }
            for (cell, column) in row.iter().zip(&table.columns) {
                if let Cell::Text(text) = cell
                    && !text.words().is_empty()
                {
                    self.labelled(&column.heading, width, indent, text);
                }
            }
        }
    }

    /// A paragraph that starts behind `margin` and goes on at column `indent`.
    fn flow(&mut self, margin: &str, indent: usize, text: &Text) {
        let width = self.style.width.saturating_sub(indent).max(NARROW);
        let mut margin = if margin.is_empty() { " ".repeat(indent) } else { margin.to_owned() };
        for Line { painted, .. } in self.wrapped(text, width) {
            self.line(&format!("{margin}{painted}"));
            margin = " ".repeat(indent);
        }
    }

    /// Lines of at most `width` columns. Paths that do not fit stay in one piece, past the margin, and so does a command.
    fn wrapped(&self, text: &Text, width: usize) -> Vec<Line> {
        let words = text.words();
        let mut letters = text.letters();
        if text.is_code() || words.width() <= width {
            let painted = self.painted(&words, &mut letters);
            return vec![Line { painted, width: words.width() }];
        }
        let options = textwrap::Options::new(width)
            .break_words(false)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        // A number and its percent sign stay together.
        let kept = words.replace(" %", "\u{a0}%");
        let lines = textwrap::wrap(&kept, options);
        let line = |line: std::borrow::Cow<'_, str>| Line {
            painted: self.painted(&line, &mut letters),
            width: line.width(),
        };
        lines.into_iter().map(line).collect()
    }

    /// `line` in the colours of its letters, of which those that wrapping left out are skipped.
    fn painted(&self, line: &str, letters: &mut impl Iterator<Item = (Role, char)>) -> String {
        let mut painted = String::with_capacity(line.len());
        let mut run = String::new();
        let mut role = Role::Plain;
        for wanted in line.chars().map(|it| if it == '\u{a0}' { ' ' } else { it }) {
            let Some((of, letter)) = letters.find(|(_, letter)| *letter == wanted) else { break };
            if of != role {
                painted += &self.paint(paint_of(role), &std::mem::take(&mut run));
                role = of;
            }
            run.push(letter);
        }
        painted + &self.paint(paint_of(role), &run)
    }

    fn paint(&self, paint: Paint, words: &str) -> String {
        let words = harmless(words);
        if self.style.color && !words.is_empty() && paint != Paint::new() {
            format!("{paint}{words}{paint:#}")
        } else {
            words.into_owned()
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}

impl Text {
    /// As one line without colours, made harmless.
    fn words(&self) -> String {
        self.pieces().map(|(_, words)| words).collect()
    }

    /// Each span in characters that a terminal may show: code within a sentence has backticks around it.
    fn pieces(&self) -> impl Iterator<Item = (Role, String)> {
        let is_within = !self.is_code();
        self.spans().iter().map(move |it| match (it.role, harmless(&it.words)) {
            (Role::Code, words) if is_within => (it.role, format!("`{words}`")),
            (role, words) => (role, words.into_owned()),
        })
    }

    /// Each letter with its role, and a non-breaking space as a space.
    fn letters(&self) -> impl Iterator<Item = (Role, char)> {
        let of = |(role, words): (Role, String)| -> Vec<(Role, char)> {
            words.chars().map(|it| (role, if it == '\u{a0}' { ' ' } else { it })).collect()
        };
        self.pieces().flat_map(of)
    }
}

impl Table {
    /// The widths of columns that fit into `room`: headings, and columns of words, are wrapped, the widest first, as far as their
    /// words allow. `None` if that is not enough.
    fn fitted(&self, room: usize) -> Option<Vec<usize>> {
        let mut widths = self.widths(room);
        let gaps = GAP * widths.len().saturating_sub(1);
        let least: Vec<usize> = (0..widths.len()).map(|it| self.least_width(it)).collect();
        while widths.iter().sum::<usize>() + gaps > room {
            let pairs = widths.iter_mut().zip(&least);
            let (widest, _) = pairs
                .filter(|(width, least)| **width > **least)
                .max_by_key(|(width, _)| **width)?;
            *widest -= 1;
        }
        Some(widths)
    }

    /// The narrowest that a column may be: that of bars as wide as it is, and numbers are never broken.
    fn least_width(&self, at: usize) -> usize {
        if self.is_of_bars(at) {
            return usize::MAX;
        }
        let longest = |text: &str| text.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0);
        let heading = self.columns.get(at).map_or(0, |it| longest(&it.heading));
        let is_of_words = self.columns.get(at).is_some_and(|it| it.align == Align::Left);
        if is_of_words && at + 1 == self.columns.len() {
            // A path in the last column may go past the margin.
            return NARROW;
        }
        let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|it| match it {
            Cell::Text(text) if is_of_words => longest(&text.words()),
            Cell::Text(text) => text.words().width(),
            Cell::Bar(_) => 0,
        });
        let shortest = if is_of_words { SHORT } else { 0 };
        cells.chain([heading, shortest]).max().unwrap_or(shortest)
    }

    /// Of every column, what its widest cell takes; bars take what `room` leaves them.
    fn widths(&self, room: usize) -> Vec<usize> {
        let width = |cell: &Cell| match cell {
            Cell::Text(text) => text.words().width(),
            Cell::Bar(_) => 0,
        };
        let of = |(at, column): (usize, &super::Column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(width);
            cells.chain([column.heading.width()]).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = self.columns.iter().enumerate().map(of).collect();
        let taken = widths.iter().map(|it| it + GAP).sum::<usize>();
        let bar = room.saturating_sub(taken).clamp(NARROWEST_BAR, WIDEST_BAR);
        for (at, width) in widths.iter_mut().enumerate() {
            if self.is_of_bars(at) {
                *width = bar;
            }
        }
        widths
    }
}

fn paint_of_bar(tone: Tone) -> Paint {
    let color = match tone {
        Tone::Useful => AnsiColor::Green,
        Tone::Amount | Tone::Idle => AnsiColor::Blue,
        Tone::Lost => AnsiColor::Red,
        Tone::Unexplained => AnsiColor::Magenta,
    };
    Paint::new().fg_color(Some(color.into()))
}

fn widest_label(blocks: &[Block]) -> usize {
    let label = |it: &Block| match it {
        Block::Labelled { label, .. } => Some(label.width()),
        _ => None,
    };
    blocks.iter().filter_map(label).max().unwrap_or(0)
}

fn padded(words: &str, width: usize, align: Align) -> String {
    let padding = " ".repeat(width.saturating_sub(words.width()));
    match align {
        Align::Left => format!("{words}{padding}"),
        Align::Right => format!("{padding}{words}"),
    }
}

fn paint_of(role: Role) -> Paint {
    match role {
        Role::Strong => BOLD,
        Role::Quiet => DIM,
        Role::Plain | Role::Code => Paint::new(),
    }
}

/// Whether a terminal shows anything of a block.
fn is_shown(block: &Block) -> bool {
    !matches!(block, Block::Chart(Chart { values: None, .. }) | Block::Details { .. })
}

/// Whether an empty line stands between two blocks: not after a heading, and not around lines that belong together.
fn stands_apart(before: &Block, after: &Block) -> bool {
    !matches!(
        (before, after),
        (Block::Heading(_), _)
            | (Block::Labelled { .. } | Block::Paragraph(_), Block::Labelled { .. })
            | (Block::Note(_), Block::Note(_))
    )
}
