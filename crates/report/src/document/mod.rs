//! What a command has to say, before anyone decides how it looks.
//!
//! A command builds its document once. [`Format`] says which of the back ends shows it: a terminal of some width, Markdown for a
//! ticket, or an HTML page. JSON and CSV are no documents: they are for programs, and have shapes of their own.

mod ascii;
#[cfg(test)]
pub(crate) mod every_form;
mod html;
mod json;
mod markdown;
mod terminal;
#[cfg(test)]
mod tests;

pub(crate) use html::words;

use crate::Style;
use maud::Markup;
use rules::finding::Severity;
use serde_json::Value;

/// A title and what stands under it, in reading order.
#[derive(Clone, Debug)]
pub struct Document {
    /// One line: what was measured or asked, and of which machine.
    title: String,
    blocks: Vec<Block>,
}

/// What shows a document.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// Text for a terminal.
    Text(Style),
    /// The same for one whose locale has no UTF-8.
    Ascii(Style),
    /// CommonMark with the tables of GitHub's dialect.
    Markdown,
    /// One HTML file that loads nothing and runs no script.
    Html,
}

/// A part of a document.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    /// Begins a section.
    Heading(String),
    /// A sentence or more.
    Paragraph(Text),
    /// A less prominent paragraph: what holds for the whole document, or where to read on.
    Note(Text),
    /// A line with a name. Neighbours are aligned.
    Labelled { label: String, text: Text },
    /// Items of equal rank.
    List(Vec<Text>),
    /// Lines to copy as they are: commands, files.
    Code(String),
    /// Rows under headings.
    Table(Table),
    /// A picture.
    Chart(Chart),
    /// Something to look up: folded on a page, left out in a terminal.
    Details { summary: String, body: Vec<Block> },
    /// A part that is marked by how bad it is, such as a finding.
    Item(Item),
}

/// A marked part and what stands under it.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub severity: Severity,
    /// One line.
    pub head: Text,
    pub body: Vec<Block>,
}

/// A picture for a page, and its values for those who read text.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub title: String,
    /// How to read it, in a sentence.
    pub about: String,
    /// Legend, drawing and axes, which pages show.
    pub drawing: Markup,
    /// What is drawn, as numbers; folded on a page. A chart without them is left out in text: the document has its numbers
    /// elsewhere.
    pub values: Option<Table>,
}

/// Rows of values under headings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub columns: Vec<Column>,
    /// Each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// What a row has in a column.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Text(Text),
    Bar(Bar),
}

/// A part of a whole as a bar from `start` to `end`, both between 0 and 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bar {
    pub start: f64,
    pub end: f64,
    pub tone: Tone,
}

/// What the colour of a bar means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// A value beside others of its kind, which is neither good nor bad.
    Amount,
    Useful,
    Idle,
    Lost,
    Unexplained,
}

impl Tone {
    /// What style sheets and pages call it.
    fn name(self) -> &'static str {
        match self {
            Tone::Amount => "amount",
            Tone::Useful => "useful",
            Tone::Idle => "idle",
            Tone::Lost => "lost",
            Tone::Unexplained => "unexplained",
        }
    }
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new(
        columns: &[(&str, Align)],
        rows: impl IntoIterator<Item = Vec<Text>>,
    ) -> Table {
        let column =
            |&(heading, align): &(&str, Align)| Column { heading: heading.to_owned(), align };
        let mut table = Table { columns: columns.iter().map(column).collect(), rows: Vec::new() };
        rows.into_iter().for_each(|it| table.push(it));
        table
    }

    /// Adds a row of texts.
    pub(crate) fn push(&mut self, row: Vec<Text>) {
        self.rows.push(row.into_iter().map(Cell::Text).collect());
    }

    /// Whether the column at `at` holds a bar.
    fn is_of_bars(&self, at: usize) -> bool {
        self.rows.iter().any(|row| matches!(row.get(at), Some(Cell::Bar(_))))
    }
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub heading: String,
    pub align: Align,
}

/// Where the values of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    /// Numbers, digit under digit.
    Right,
}

/// Words, some of which are set off from the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text(Vec<Span>);

/// Words of one role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub role: Role,
    pub words: String,
}

/// Why words are set off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Plain,
    /// A name that the eye looks for.
    Strong,
    /// An aside.
    Quiet,
    /// Something to type: a command, a path.
    Code,
}

impl Format {
    /// Whether a terminal shows it.
    pub fn is_text(self) -> bool {
        matches!(self, Format::Text(_) | Format::Ascii(_))
    }
}

impl Document {
    /// An empty document under `title`.
    pub(crate) fn new(title: impl Into<String>) -> Document {
        Document { title: title.into(), blocks: Vec::new() }
    }

    /// The document as `format` shows it.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Text(style) => terminal::render(self, style),
            Format::Ascii(style) => ascii::ascii(&terminal::render(self, style)),
            Format::Markdown => markdown::render(self),
            Format::Html => html::render(self),
        }
    }

    /// What stands before the first heading, for those who have the rest elsewhere.
    #[must_use]
    pub(crate) fn opening(mut self) -> Document {
        let end = self.blocks.iter().position(|it| matches!(it, Block::Heading(_)));
        self.blocks.truncate(end.unwrap_or(self.blocks.len()));
        self
    }

    /// The document in parts, for a page that sets it itself.
    pub fn parts(&self) -> Value {
        json::value(self)
    }

    pub(crate) fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    pub(crate) fn extend(&mut self, blocks: impl IntoIterator<Item = Block>) {
        self.blocks.extend(blocks);
    }

    /// A list under a heading; nothing if it has no items.
    pub(crate) fn list(&mut self, heading: &str, items: Vec<Text>) {
        if !items.is_empty() {
            self.heading(heading);
            self.push(Block::List(items));
        }
    }

    pub(crate) fn heading(&mut self, words: impl Into<String>) {
        self.push(Block::Heading(words.into()));
    }

    pub(crate) fn paragraph(&mut self, text: impl Into<Text>) {
        self.push(Block::Paragraph(text.into()));
    }

    pub(crate) fn note(&mut self, text: impl Into<Text>) {
        self.push(Block::Note(text.into()));
    }

    pub(crate) fn labelled(&mut self, label: impl Into<String>, text: impl Into<Text>) {
        self.push(Block::labelled(label, text));
    }
}

impl Block {
    pub(crate) fn labelled(label: impl Into<String>, text: impl Into<Text>) -> Block {
        Block::Labelled { label: label.into(), text: text.into() }
    }

    pub(crate) fn paragraph(text: impl Into<Text>) -> Block {
        Block::Paragraph(text.into())
    }
}

impl Text {
    /// The same with more words behind it.
    #[must_use]
    pub(crate) fn with(mut self, role: Role, words: impl Into<String>) -> Text {
        self.0.push(Span { role, words: words.into() });
        self
    }

    pub(crate) fn strong(words: impl Into<String>) -> Text {
        Text::default().with(Role::Strong, words)
    }

    pub(crate) fn quiet(words: impl Into<String>) -> Text {
        Text::default().with(Role::Quiet, words)
    }

    pub(crate) fn code(words: impl Into<String>) -> Text {
        Text::default().with(Role::Code, words)
    }

    /// A sentence in which backticks set code off.
    pub(crate) fn sentence(words: &str) -> Text {
        let parts = words.split('`').enumerate().filter(|(_, part)| !part.is_empty());
        parts.fold(Text::default(), |text, (at, part)| {
            text.with(if at % 2 == 0 { Role::Plain } else { Role::Code }, part)
        })
    }

    /// Whether it is code alone, to be copied in one piece.
    fn is_code(&self) -> bool {
        self.0.iter().all(|it| it.role == Role::Code)
    }

    pub(crate) fn spans(&self) -> &[Span] {
        &self.0
    }
}

/// Words as they are: they may come from a host. Sentences of ours are [`Text::sentence`]s.
impl From<&str> for Text {
    fn from(words: &str) -> Text {
        Text::default().with(Role::Plain, words)
    }
}

impl From<String> for Text {
    fn from(words: String) -> Text {
        Text::default().with(Role::Plain, words)
    }
}
