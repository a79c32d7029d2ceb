//! HTML pages and their text blocks. A page loads nothing, runs no script, and works on phones, in dark mode and on paper.
//!
//! Charts are SVG with horizontal positions in percent, so that they fill any width while text and points keep their size.
//! Colours are classes of the style sheet.

pub(crate) mod chart;
pub(crate) mod curve;
pub(crate) mod losses;
pub(crate) mod markup;
pub(crate) mod scale;

use markup::Markup;

/// Keeps the browser from loading anything, whatever markup a user-supplied name contains.
pub(crate) const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The `generator` in the head of a page.
pub(crate) const GENERATOR: &str = concat!("fullclock ", env!("CARGO_PKG_VERSION"));

/// Whether `beginning` starts a page that this program wrote and whose first line begins with `mark`.
pub(crate) fn is_marked(beginning: &str, mark: &str) -> bool {
    let written_by = GENERATOR.split(' ').next().unwrap_or_default();
    let parts = [
        "<!DOCTYPE html>".to_owned(),
        format!("name=\"generator\" content=\"{written_by} "),
        format!("<header><p class=\"quiet\">{mark}"),
    ];
    parts.iter().all(|it| beginning.contains(it))
}

pub(crate) fn document(title: &str, body: impl IntoIterator<Item = Markup>) -> String {
    let meta =
        |name, value, content: &str| Markup::empty("meta", &[(name, value), ("content", content)]);
    let head = [
        Markup::empty("meta", &[("charset", "utf-8")]),
        meta("http-equiv", "Content-Security-Policy", POLICY),
        meta("name", "viewport", "width=device-width, initial-scale=1"),
        meta("name", "color-scheme", "light dark"),
        meta("name", "generator", GENERATOR),
        Markup::element("title", &[], [Markup::text(title)]),
        Markup::style(include_str!("style.css")),
    ];
    let html = Markup::element(
        "html",
        &[("lang", "en")],
        [Markup::element("head", &[], head), Markup::element("body", &[], body)],
    );
    format!("<!DOCTYPE html>\n{}\n", html.into_string())
}

/// A section with a heading.
pub(crate) fn section(title: &str, content: impl IntoIterator<Item = Markup>) -> Markup {
    let heading = Markup::element("h2", &[], [Markup::text(title)]);
    Markup::element("section", &[], std::iter::once(heading).chain(content))
}

/// A section with a list; empty if there are no lines.
pub(crate) fn list(title: &str, lines: &[String]) -> Markup {
    if lines.is_empty() {
        return Markup::default();
    }
    let items = lines.iter().map(|it| Markup::element("li", &[], [Markup::text(it)]));
    section(title, [Markup::element("ul", &[], items)])
}

pub(crate) fn paragraph(words: &str) -> Markup {
    Markup::element("p", &[], [Markup::text(words)])
}

/// A paragraph in a less prominent colour.
pub(crate) fn quiet(words: &str) -> Markup {
    Markup::element("p", &[("class", "quiet")], [Markup::text(words)])
}

/// Preformatted text to copy, such as commands.
pub(crate) fn code(words: &str) -> Markup {
    let code = Markup::element("code", &[], [Markup::verbatim(words.trim_end())]);
    Markup::element("pre", &[("tabindex", "0")], [code])
}

/// Content that is folded on screen and shown in print.
pub(crate) fn folded(summary: &str, content: impl IntoIterator<Item = Markup>) -> Markup {
    let summary = Markup::element("summary", &[], [Markup::text(summary)]);
    Markup::element("details", &[], std::iter::once(summary).chain(content))
}

/// A table with names in the first column and one or more values per row; no header if `head` is empty.
pub(crate) fn table<'a>(
    class: &str,
    head: &[&str],
    rows: impl IntoIterator<Item = (&'a str, Vec<String>)>,
) -> Markup {
    let heading = |scope: &str, words: &str| {
        Markup::element("th", &[("scope", scope)], [Markup::text(words)])
    };
    let row = |(name, values): (&str, Vec<String>)| {
        let cell = |it: &String| Markup::element("td", &[], [Markup::text(it)]);
        let cells = std::iter::once(heading("row", name)).chain(values.iter().map(cell));
        Markup::element("tr", &[], cells)
    };
    let head = match head {
        [] => Markup::default(),
        names => {
            let names = names.iter().map(|it| heading("col", it));
            Markup::element("thead", &[], [Markup::element("tr", &[], names)])
        }
    };
    let body = Markup::element("tbody", &[], rows.into_iter().map(row));
    let table = Markup::element("table", &[("class", class)], [head, body]);
    // `tabindex` makes it scrollable by keyboard.
    Markup::element("div", &[("class", "scroll"), ("tabindex", "0")], [table])
}
