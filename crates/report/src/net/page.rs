//! The HTML page of a curve by message size, and the page layout that network tests share. One file that loads nothing.

use super::Statements;
use super::curve::{heading, statements};
use super::{Measured, word};
use crate::bench::quoted;
use crate::html::curve::{Curves, Level, Line, Reach, chart, size_words};
use crate::html::markup::Markup;
use crate::html::{GENERATOR, document, is_marked};
use crate::html::{code, paragraph, quiet, section, table};
use crate::lengths::span;
use facts::BytesPerSecond;
use facts::links::perftest::{Bandwidth, Figures, Latency};
use rules::curve::{Dip, bandwidths};
use std::time::Duration;

/// The beginning of the first line of every such page.
const MARK: &str = "fullclock net: ";

/// The origin of a page.
pub struct Origin {
    /// The commands that repeat it, one per line.
    pub commands: String,
    /// When it was written.
    pub written: String,
}

/// Whether `beginning` starts such a page.
pub fn is_report(beginning: &str) -> bool {
    is_marked(beginning, MARK)
}

/// Words quoted for a shell.
pub fn command_line(words: &[String]) -> String {
    words.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ")
}

/// The page of a curve.
pub fn curve_page(measured: &Measured<'_>, origin: &Origin) -> String {
    let title = heading(measured);
    let title = title.strip_prefix("fullclock net ").unwrap_or(&title);
    let sections = [figures(measured), statement_table("What it says", &statements(measured))];
    page(measured.name, title, &[], sections, origin)
}

/// A page: a title, paragraphs below it, and sections.
pub(super) fn page(
    subject: &str,
    title: &str,
    below: &[String],
    sections: impl IntoIterator<Item = Markup>,
    origin: &Origin,
) -> String {
    let Origin { commands, written } = origin;
    let below = below.iter().map(|it| paragraph(it));
    let first =
        [quiet(&format!("{MARK}{subject}")), Markup::element("h1", &[], [Markup::text(title)])];
    let header = first.into_iter().chain(below).chain([quiet(&format!("Written {written}"))]);
    let repeat = section("How to repeat it", [code(commands)]);
    let footer = quiet(&format!("{GENERATOR}, {written}"));
    document(
        title,
        [
            Markup::element("header", &[], header),
            Markup::element("main", &[], sections.into_iter().chain([repeat])),
            Markup::element("footer", &[], [footer]),
        ],
    )
}

/// Labelled sentences as a table.
pub(super) fn statement_table(title: &str, statements: &Statements) -> Markup {
    section(title, [table("machine", &[], statements.rows())])
}

/// A chart of the results by message size.
pub(super) fn figures(measured: &Measured<'_>) -> Markup {
    match &measured.curve.figures {
        Figures::Bandwidth(points) => throughput(measured, points),
        Figures::Latency(points) => latency(points),
    }
}

fn throughput(measured: &Measured<'_>, points: &[Bandwidth]) -> Markup {
    let known = |it: BytesPerSecond| Some(it.0 as f64).filter(|it| *it > 0.0);
    let average = points.iter().map(|it| (it.message.0, known(it.average))).collect();
    let peak: Vec<_> = points.iter().map(|it| (it.message.0, it.peak.and_then(known))).collect();
    let mut lines = vec![Line { class: "series-0", name: "average", points: average }];
    if peak.iter().any(|it| it.1.is_some()) {
        lines.push(Line { class: "series-1", name: "peak", points: peak });
    }
    let ceiling = measured.over.and_then(|(device, it)| {
        let direction = measured.direction();
        let narrowest = it.narrowest(direction)?;
        let name = format!("what the {} of {device} can carry", word(it, narrowest));
        Some((name, narrowest.carries(direction).0 as f64))
    });
    let level = |(name, value): &(String, f64)| Level {
        class: "series-2",
        name: name.clone(),
        value: *value,
    };
    let dips = bandwidths(points).map_or(Vec::new(), |it| it.dips);
    chart(&Curves {
        title: "Throughput",
        about: "What arrived, by message size; a ring marks a dip: a size that moves less than a smaller one.",
        lines,
        levels: ceiling.iter().map(level).collect(),
        marks: dips.iter().map(dip).collect(),
        reach: Reach::Values,
        shown: |it| BytesPerSecond(it as u64).to_string(),
        is_tall: true,
    })
}

fn dip(dip: &Dip) -> (u64, String) {
    let size = dip.lowest.message.0;
    let words = format!(
        "{}: {:.0} % less than {}",
        size_words(size),
        100.0 * dip.lost,
        size_words(dip.before.message.0)
    );
    (size, words)
}

fn latency(points: &[Latency]) -> Markup {
    let line = |class, name, of: &dyn Fn(&Latency) -> Option<Duration>| Line {
        class,
        name,
        points: points
            .iter()
            .map(|it| (it.message.0, of(it).map(|time| time.as_nanos() as f64)))
            .collect(),
    };
    let all = [
        line("series-0", "median", &|it| Some(it.typical)),
        line("series-1", "p99", &|it| it.percentile_99),
        line("series-2", "p99.9", &|it| it.percentile_999),
    ];
    chart(&Curves {
        title: "Latency",
        about: "Half of a round trip, by message size.",
        lines: all.into_iter().filter(|it| it.points.iter().any(|it| it.1.is_some())).collect(),
        levels: Vec::new(),
        marks: Vec::new(),
        reach: Reach::Values,
        shown: |it| span(it as u64),
        is_tall: true,
    })
}
