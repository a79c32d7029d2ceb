//! A document as Markdown, to be pasted into a ticket: CommonMark with the tables of GitHub's dialect.

use super::{Align, Block, Cell, Chart, Column, Document, Item, Role, Span, Table, Text};
use crate::harmless::{harmless, harmless_lines};

pub(super) fn render(document: &Document) -> String {
    let mut text = format!("# {}\n", plain(&document.title));
    blocks(&mut text, &document.blocks, 2);
    text
}

/// `level` is that of the headings among them.
fn blocks(text: &mut String, all: &[Block], level: usize) {
    let mut was_labelled = false;
    for block in all {
        if matches!(block, Block::Chart(Chart { values: None, .. })) {
            continue;
        }
        let is_labelled = matches!(block, Block::Labelled { .. });
        if !(is_labelled && was_labelled) {
            text.push('\n');
        }
        was_labelled = is_labelled;
        match block {
            Block::Heading(words) => heading(text, level, &plain(words)),
            Block::Paragraph(it) | Block::Note(it) => text.extend([&*flow(it), "\n"]),
            Block::Labelled { label, text: it } if label.is_empty() => {
                text.extend(["- ", &flow(it), "\n"]);
            }
            Block::Labelled { label, text: it } => {
                text.extend(["- **", &plain(label), "**: ", &flow(it), "\n"]);
            }
            Block::List(items) => {
                for item in items {
                    text.extend(["- ", &flow(item), "\n"]);
                }
            }
            Block::Code(lines) => code(text, lines),
            Block::Table(it) => table(text, it),
            Block::Chart(it) => chart(text, it, level + 1),
            Block::Details { summary, body } => {
                heading(text, level + 1, &plain(summary));
                blocks(text, body, level + 2);
            }
            Block::Item(it) => item(text, it, level),
        }
    }
}

fn heading(text: &mut String, level: usize, words: &str) {
    text.extend([&*"#".repeat(level), " ", words, "\n"]);
}

/// A chart as its values, if it has some.
fn chart(text: &mut String, chart: &Chart, level: usize) {
    if let Some(values) = &chart.values {
        heading(text, level, &plain(&chart.title));
        text.extend(["\n", &plain(&chart.about), "\n\n"]);
        table(text, values);
    }
}

fn item(text: &mut String, item: &Item, level: usize) {
    let mark = item.severity.name().to_uppercase();
    heading(text, level, &format!("{mark}: {}", flow(&item.head)));
    blocks(text, &item.body, level + 1);
}

/// Columns of bars are left out: the numbers beside them say the same.
fn table(text: &mut String, table: &Table) {
    let columns: Vec<&Column> = shown(table, &table.columns).collect();
    let headings: Vec<String> = columns.iter().map(|it| plain(&it.heading)).collect();
    row(text, &headings);
    let rule = |it: Align| match it {
        Align::Left => "---",
        Align::Right => "--:",
    };
    let rules: Vec<&str> = columns.iter().map(|it| rule(it.align)).collect();
    text.extend(["|", &rules.join("|"), "|\n"]);
    for cells in &table.rows {
        row(text, &shown(table, cells).map(cell).collect::<Vec<_>>());
    }
}

fn shown<'a, T>(table: &'a Table, row: &'a [T]) -> impl Iterator<Item = &'a T> {
    row.iter().enumerate().filter(|(at, _)| !table.is_of_bars(*at)).map(|(_, it)| it)
}

fn row(text: &mut String, cells: &[String]) {
    text.extend(["| ", &cells.join(" | "), " |\n"]);
}

/// A fence is longer than any run of backticks in it.
fn code(text: &mut String, words: &str) {
    let longest = words.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    text.extend([&*fence, "\n", &harmless_lines(words.trim_end()), "\n", &fence, "\n"]);
}

fn flow(text: &Text) -> String {
    text.spans().iter().map(span).collect()
}

/// In a table a backslash keeps a pipe from ending the cell, in code too (GFM, section 4.10).
fn cell(cell: &Cell) -> String {
    let Cell::Text(text) = cell else { return String::new() };
    let of = |it: &Span| match it.role {
        Role::Code => span(it).replace('|', "\\|"),
        _ => span(it),
    };
    text.spans().iter().map(of).collect()
}

fn span(span: &Span) -> String {
    match span.role {
        Role::Plain | Role::Quiet => plain(&span.words),
        Role::Strong => format!("**{}**", plain(&span.words)),
        Role::Code => inline_code(&span.words),
    }
}

/// CommonMark, section 6.1: the delimiters are longer than any run of backticks inside.
fn inline_code(words: &str) -> String {
    let words = harmless(words);
    let longest = words.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let pad = if words.starts_with('`') || words.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{words}{pad}{ticks}")
}

/// Words that mean themselves: names of users may hold anything.
fn plain(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for letter in harmless(words).chars() {
        if matches!(letter, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&')
        {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}
