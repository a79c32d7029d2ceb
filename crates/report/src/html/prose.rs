//! The parts of a page that are words: sections, paragraphs, lists, what is copied into a shell, tables of names and values.

use super::markup::Markup;

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
