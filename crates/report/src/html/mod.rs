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

/// Whatever somebody's name for something may hold: a browser that reads this page asks nobody for anything.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Who wrote a page, in its head.
pub(crate) const GENERATOR: &str = concat!("fullclock ", env!("CARGO_PKG_VERSION"));

/// Whether the beginning of a file is that of a page of this program whose first line begins with `mark`.
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

/// A heading with what is below it.
pub(crate) fn section(title: &str, content: impl IntoIterator<Item = Markup>) -> Markup {
    let heading = Markup::element("h2", &[], [Markup::text(title)]);
    Markup::element("section", &[], std::iter::once(heading).chain(content))
}

/// A heading and lines below it; nothing where there are none.
pub(crate) fn list(title: &str, lines: &[String]) -> Markup {
    if lines.is_empty() {
        return Markup::default();
    }
    let items = lines.iter().map(|it| Markup::element("li", &[], [Markup::text(it)]));
    section(title, [Markup::element("ul", &[], items)])
}

/// Words over several lines.
pub(crate) fn paragraph(words: &str) -> Markup {
    Markup::element("p", &[], [Markup::text(words)])
}

/// Words beside something more important.
pub(crate) fn quiet(words: &str) -> Markup {
    Markup::element("p", &[("class", "quiet")], [Markup::text(words)])
}

/// What somebody may copy.
pub(crate) fn code(words: &str) -> Markup {
    let code = Markup::element("code", &[], [Markup::verbatim(words.trim_end())]);
    Markup::element("pre", &[("tabindex", "0")], [code])
}

/// What is folded away on a screen, and on paper is not.
pub(crate) fn folded(summary: &str, content: impl IntoIterator<Item = Markup>) -> Markup {
    let summary = Markup::element("summary", &[], [Markup::text(summary)]);
    Markup::element("details", &[], std::iter::once(summary).chain(content))
}

/// Names in the first column, and one or more values beside each; without column heads where `head` is empty.
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
    // A keyboard can scroll it, too.
    Markup::element("div", &[("class", "scroll"), ("tabindex", "0")], [table])
}
