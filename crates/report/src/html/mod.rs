//! What pages for a browser are made of: nothing is fetched, no script runs, and they read on a phone, in the dark and on
//! paper.
//!
//! Charts are SVG whose horizontal places are percentages, so that they fill any width while letters and points keep their
//! size. Colours are classes of the style sheet.

pub(crate) mod chart;
pub(crate) mod curve;
pub(crate) mod losses;
pub(crate) mod markup;
pub(crate) mod points;
pub(crate) mod prose;
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
