//! A document in parts, for a page that sets it itself: words with their roles, and no markup.

use super::{Align, Bar, Block, Cell, Chart, Document, Item, Role, Table, Text};
use serde_json::{Value, json};

/// The title, the verdict if the document has one, and what else stands in it. A paragraph that is set off as a whole is the
/// verdict, the first one if there are several.
pub(super) fn value(document: &Document) -> Value {
    let verdict = document.blocks.iter().position(is_verdict);
    let others = document.blocks.iter().enumerate().filter(|(at, _)| Some(*at) != verdict);
    json!({
        "title": document.title,
        "verdict": verdict.and_then(|at| document.blocks.get(at)).map(words),
        "blocks": others.map(|(_, it)| block(it)).collect::<Vec<_>>(),
    })
}

fn is_verdict(block: &Block) -> bool {
    let is_strong = |text: &Text| text.spans().iter().all(|it| it.role == Role::Strong);
    matches!(block, Block::Paragraph(it) if !it.spans().is_empty() && is_strong(it))
}

fn words(block: &Block) -> String {
    let Block::Paragraph(text) = block else { return String::new() };
    text.spans().iter().map(|it| it.words.as_str()).collect()
}

/// An object with one key, the kind of the block; a labelled line has two.
fn block(block: &Block) -> Value {
    match block {
        Block::Heading(it) => json!({ "heading": it }),
        Block::Paragraph(it) => json!({ "paragraph": text(it) }),
        Block::Note(it) => json!({ "note": text(it) }),
        Block::Labelled { label, text: it } => json!({ "label": label, "text": text(it) }),
        Block::List(items) => json!({ "list": items.iter().map(text).collect::<Vec<_>>() }),
        Block::Code(it) => json!({ "code": it }),
        Block::Table(it) => json!({ "table": table(it) }),
        Block::Chart(it) => json!({ "chart": chart(it) }),
        Block::Details { summary, body } => {
            json!({ "details": { "summary": summary, "body": blocks(body) } })
        }
        Block::Item(it) => json!({ "item": item(it) }),
    }
}

fn blocks(blocks: &[Block]) -> Value {
    blocks.iter().map(block).collect()
}

/// Its values; the drawing is markup.
fn chart(chart: &Chart) -> Value {
    json!({ "title": chart.title, "about": chart.about, "values": chart.values.as_ref().map(table) })
}

fn item(item: &Item) -> Value {
    json!({
        "severity": item.severity.name(),
        "head": text(&item.head),
        "body": blocks(&item.body),
    })
}

fn table(table: &Table) -> Value {
    let column = |it: &super::Column| json!({ "heading": it.heading, "is_number": it.align == Align::Right });
    let row = |row: &Vec<Cell>| row.iter().map(cell).collect::<Vec<_>>();
    json!({
        "columns": table.columns.iter().map(column).collect::<Vec<_>>(),
        "rows": table.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn cell(cell: &Cell) -> Value {
    match cell {
        Cell::Text(it) => text(it),
        Cell::Bar(Bar { start, end, tone }) => {
            json!({ "start": start, "end": end, "tone": tone.name() })
        }
    }
}

/// Pairs of a role and words.
fn text(text: &Text) -> Value {
    let span = |it: &super::Span| {
        let role = match it.role {
            Role::Plain => "plain",
            Role::Strong => "strong",
            Role::Quiet => "quiet",
            Role::Code => "code",
        };
        json!([role, it.words])
    };
    text.spans().iter().map(span).collect()
}
