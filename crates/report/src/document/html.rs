//! A document as one HTML file, which loads nothing, runs no script, and works on phones, in dark mode and on paper.

use super::{Align, Bar, Block, Cell, Chart, Document, Item, Role, Table, Text};
use crate::harmless::{harmless, harmless_lines};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Keeps the browser from loading anything, whatever markup a user-supplied name contains.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const GENERATOR: &str = concat!("fullclock ", env!("CARGO_PKG_VERSION"));

pub(super) fn render(document: &Document) -> String {
    let title = words(&document.title);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(GENERATOR);
                title { (title) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                header { h1 { (title) } }
                main { (sections(&document.blocks)) }
                footer { p.quiet { (GENERATOR) } }
            }
        }
    };
    page.into_string() + "\n"
}

/// What stands before the first heading, then a section for each heading.
fn sections(blocks: &[Block]) -> Markup {
    let is_heading = |it: &Block| matches!(it, Block::Heading(_));
    html! {
        @for part in blocks.chunk_by(|_, next| !is_heading(next)) {
            @if part.first().is_some_and(is_heading) {
                section { (flow(part)) }
            } @else {
                (flow(part))
            }
        }
    }
}

/// Blocks in order; neighbouring labelled lines are one list.
fn flow(blocks: &[Block]) -> Markup {
    let is_labelled = |it: &Block| matches!(it, Block::Labelled { .. });
    html! {
        @for part in blocks.chunk_by(|before, next| is_labelled(before) && is_labelled(next)) {
            @if part.first().is_some_and(is_labelled) {
                dl { @for it in part { (block(it)) } }
            } @else {
                @for it in part { (block(it)) }
            }
        }
    }
}

fn block(block: &Block) -> Markup {
    match block {
        Block::Heading(heading) => html! { h2 { (words(heading)) } },
        Block::Paragraph(it) => html! { p { (text(it)) } },
        Block::Note(it) => html! { p.quiet { (text(it)) } },
        Block::Labelled { label, text: it } => html! {
            @if !label.is_empty() { dt { (words(label)) } }
            dd { (text(it)) }
        },
        Block::List(items) => html! { ul { @for it in items { li { (text(it)) } } } },
        // `tabindex` makes it scrollable by keyboard.
        Block::Code(lines) => {
            html! { pre tabindex="0" { code { (harmless_lines(lines.trim_end())) } } }
        }
        Block::Table(it) => table(it),
        Block::Chart(it) => chart(it),
        Block::Details { summary, body } => details(summary, &flow(body)),
        Block::Item(it) => item(it),
    }
}

fn chart(chart: &Chart) -> Markup {
    html! {
        figure {
            figcaption {
                h3 { (words(&chart.title)) }
                p.quiet { (words(&chart.about)) }
            }
            (chart.drawing)
            @if let Some(values) = &chart.values { (details("Values", &table(values))) }
        }
    }
}

fn details(summary: &str, body: &Markup) -> Markup {
    html! { details { summary { (words(summary)) } (body) } }
}

fn item(item: &Item) -> Markup {
    let name = item.severity.name();
    html! {
        section.item.(name) {
            h3 { span.severity { (name) } " " (text(&item.head)) }
            (flow(&item.body))
        }
    }
}

fn table(table: &Table) -> Markup {
    let class = |at: usize| {
        let align = table.columns.get(at).map(|it| it.align);
        (align == Some(Align::Right)).then_some("number")
    };
    let has_headings = table.columns.iter().any(|it| !it.heading.is_empty());
    html! {
        div.scroll tabindex="0" {
            table {
                @if has_headings {
                    thead {
                        tr {
                            @for (at, column) in table.columns.iter().enumerate() {
                                th class=[class(at)] scope="col" { (words(&column.heading)) }
                            }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (at, cell) in row.iter().enumerate() {
                                @match cell {
                                    Cell::Text(it) if at == 0 => th class=[class(at)] scope="row" { (text(it)) },
                                    Cell::Text(it) => td class=[class(at)] { (text(it)) },
                                    Cell::Bar(it) => td.bars { (bar(*it)) },
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Its numbers stand in the same row.
fn bar(Bar { start, end, tone }: Bar) -> Markup {
    let percent = |it: f64| format!("{:.2}%", it.clamp(0.0, 1.0) * 100.0);
    // What is more than nothing can be seen.
    let width = if end > start { (end - start).max(0.003) } else { 0.0 };
    let tone = tone.name();
    html! {
        svg aria-hidden="true" { rect.(tone) x=(percent(start)) width=(percent(width)) height="100%" {} }
    }
}

fn text(text: &Text) -> Markup {
    html! {
        @for span in text.spans() {
            @match span.role {
                Role::Plain => (words(&span.words)),
                Role::Strong => strong { (words(&span.words)) },
                Role::Quiet => span.quiet { (words(&span.words)) },
                // Somebody may copy it into a shell: every space is one.
                Role::Code => code { (harmless(&span.words)) },
            }
        }
    }
}

/// Words for a reader: a number and its percent sign stay in one line.
pub(crate) fn words(words: &str) -> String {
    harmless(words).replace(" %", "\u{a0}%")
}
