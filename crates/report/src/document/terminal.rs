//! A document as text for a terminal: wrapped, aligned, and coloured if colour is enabled.

use super::{Align, Bar, Block, Cell, Document, Item, Role, Table, Text, Tone};
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
/// A last column that would be narrower is not wrapped beside the others: each row becomes labelled lines.
const NARROW: usize = 20;

pub(super) fn render(document: &Document, style: Style) -> String {
    let mut terminal = Terminal { text: String::new(), style };
    terminal.flow("", 0, &Text::strong(&*document.title));
    if matches!(document.blocks.first(), Some(Block::Heading(_))) {
        terminal.line("");
    }
    terminal.blocks(&document.blocks, 0, None);
    terminal.text
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
        for block in blocks {
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
                Block::Item(item) => self.item(item, indent),
            }
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
        let widths = table.widths(self.style.width.saturating_sub(indent));
        let (last, others) = widths.split_last().unwrap_or((&0, &[]));
        let before_last = indent + others.iter().map(|it| it + GAP).sum::<usize>();
        let room = self.style.width.saturating_sub(before_last);
        if room < (*last).min(NARROW) {
            return self.stacked(table, indent);
        }
        let headings: Vec<Cell> =
            table.columns.iter().map(|it| Cell::Text(Text::strong(&*it.heading))).collect();
        if table.columns.iter().any(|it| !it.heading.is_empty()) {
            self.row(table, &widths, &headings, indent, before_last);
        }
        for row in &table.rows {
            self.row(table, &widths, row, indent, before_last);
        }
    }

    /// One row: what does not fit into the last column goes on under it.
    fn row(
        &mut self,
        table: &Table,
        widths: &[usize],
        row: &[Cell],
        indent: usize,
        before_last: usize,
    ) {
        let mut margin = " ".repeat(indent);
        let mut cells = row.iter().zip(widths).zip(&table.columns);
        let n_others = row.len().saturating_sub(1);
        for ((cell, width), column) in cells.clone().take(n_others) {
            margin += &self.cell(cell, *width, column.align);
            margin += &" ".repeat(GAP);
        }
        let Some(((last, width), column)) = cells.next_back() else { return };
        match (last, column.align) {
            (Cell::Text(text), Align::Left) => self.flow(&margin, before_last, text),
            (cell, align) => {
                let cell = self.cell(cell, *width, align);
                self.line(&(margin + &cell));
            }
        }
    }

    fn cell(&self, cell: &Cell, width: usize, align: Align) -> String {
        let text = match cell {
            Cell::Text(text) => text,
            Cell::Bar(bar) => return self.bar(*bar, width),
        };
        let words = text.words();
        let padding = " ".repeat(width.saturating_sub(words.width()));
        let painted: String =
            text.pieces().map(|(role, words)| self.paint(paint_of(role), &words)).collect();
        match align {
            Align::Left => painted + &padding,
            Align::Right => padding + &painted,
        }
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
                if let Cell::Text(text) = cell {
                    self.labelled(&column.heading, width, indent, text);
                }
            }
        }
    }

    /// A paragraph that starts behind `margin` and goes on at column `indent`.
    fn flow(&mut self, margin: &str, indent: usize, text: &Text) {
        let width = self.style.width.saturating_sub(indent).max(NARROW);
        let mut margin = if margin.is_empty() { " ".repeat(indent) } else { margin.to_owned() };
        for line in self.wrapped(text, width) {
            self.line(&format!("{margin}{line}"));
            margin = " ".repeat(indent);
        }
    }

    /// Lines of at most `width` columns. Paths that do not fit stay in one piece, past the margin, and so does a command.
    fn wrapped(&self, text: &Text, width: usize) -> Vec<String> {
        if text.is_code() {
            return vec![text.words()];
        }
        let options = textwrap::Options::new(width)
            .break_words(false)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        let words = text.words();
        // A number and its percent sign stay together.
        let kept = words.replace(" %", "\u{a0}%");
        let mut letters = text.letters();
        let lines = textwrap::wrap(&kept, options);
        lines.iter().map(|line| self.painted(line, &mut letters)).collect()
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

/// Whether an empty line stands between two blocks: not after a heading, and not around lines that belong together.
fn stands_apart(before: &Block, after: &Block) -> bool {
    !matches!(
        (before, after),
        (Block::Heading(_), _)
            | (Block::Labelled { .. } | Block::Paragraph(_), Block::Labelled { .. })
            | (Block::Note(_), Block::Note(_))
    )
}
