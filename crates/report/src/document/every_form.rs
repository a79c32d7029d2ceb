//! A document in every form, for snapshots: text at three widths, Markdown, and the part of the page that differs.

use super::{Document, Format};
use crate::Style;

/// At the narrowest width, on a usual terminal, and at the widest.
const WIDTHS: [usize; 3] = [60, 80, 110];

pub(crate) fn in_every_form(document: &Document) -> String {
    let texts = WIDTHS.map(|width| (format!("text, {width} columns"), text(document, width)));
    let markdown = ("Markdown".to_owned(), document.render(Format::Markdown));
    let page = ("HTML".to_owned(), main_of(&document.render(Format::Html)));
    let forms = texts.into_iter().chain([markdown, page]);
    forms.map(|(name, shown)| format!("==== {name}\n{shown}")).collect::<Vec<_>>().join("\n")
}

pub(crate) fn text(document: &Document, width: usize) -> String {
    document.render(Format::Text(Style { color: false, width }))
}

/// The main part of a page, a line for each element.
fn main_of(page: &str) -> String {
    let (_, rest) = page.split_once("<main>").unwrap();
    let (main, _) = rest.split_once("</main>").unwrap();
    main.replace("><", ">\n<") + "\n"
}
