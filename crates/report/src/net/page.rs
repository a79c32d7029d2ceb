//! A curve by message size as a document: what it says, then the chart; and what documents of network tests share.

use super::curve::{heading, statements};
use super::{Measured, word};
use crate::bench::quoted;
use crate::chart::curve::{Curves, Level, Line, Reach, chart, size_words};
use crate::chart::parts::Quantity;
use crate::document::{Align, Block, Chart, Document, Table, Text, is_page};
use facts::BytesPerSecond;
use facts::links::perftest::{Bandwidth, Figures, Latency};
use rules::curve::{Dip, bandwidths};
use std::time::Duration;

/// What the title of every such page begins with.
const TITLE: &str = "fullclock net ";

/// The origin of a page.
pub struct Origin {
    /// The commands that repeat it, one per line.
    pub commands: String,
    /// When it was written.
    pub written: String,
}

/// Whether `beginning` starts the page of a network test.
pub fn is_report(beginning: &str) -> bool {
    is_page(beginning, TITLE)
}

/// Words quoted for a shell.
pub fn command_line(words: &[String]) -> String {
    words.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ")
}

/// The plateau of a curve, its share of the ceiling, its dips and its values. Without an origin it does not say how to repeat it.
pub fn curve(measured: &Measured<'_>, origin: Option<&Origin>) -> Document {
    let mut document = Document::new(heading(measured));
    document.extend(statements(measured).blocks());
    document.extend(results(measured).map(Block::Chart));
    if let Some(origin) = origin {
        repeat(&mut document, origin);
    }
    document
}

/// How a test is repeated, and when its page was written.
pub(super) fn repeat(document: &mut Document, origin: &Origin) {
    document.heading("How to repeat it");
    document.push(Block::Code(origin.commands.clone()));
    document.note(format!("Written {}", origin.written));
}

/// A chart of the results by message size.
pub(super) fn results(measured: &Measured<'_>) -> Option<Chart> {
    match &measured.curve.figures {
        Figures::Bandwidth(points) => throughput(measured, points),
        Figures::Latency(points) => latency(points),
    }
}

fn throughput(measured: &Measured<'_>, points: &[Bandwidth]) -> Option<Chart> {
    let known = |it: BytesPerSecond| Some(it.mebibytes()).filter(|it| *it > 0.0);
    let average: Vec<_> = points.iter().map(|it| (it.message.0, known(it.average))).collect();
    let peak: Vec<_> = points.iter().map(|it| (it.message.0, it.peak.and_then(known))).collect();
    let mut lines = vec![Line { class: "series-0", name: "average", points: average }];
    if peak.iter().any(|it| it.1.is_some()) {
        lines.push(Line { class: "series-1", name: "peak", points: peak });
    }
    let ceiling = measured.over.and_then(|(device, it)| {
        let direction = measured.direction();
        let narrowest = it.narrowest(direction)?;
        let name = format!("what the {} of {device} can carry", word(it, narrowest));
        let value = narrowest.carries(direction).mebibytes();
        Some(Level { class: "series-2", name, value })
    });
    let dips = bandwidths(points).map_or(Vec::new(), |it| it.dips);
    let chart = chart(&Curves {
        title: "Throughput",
        about: "What arrived, by message size; a ring marks a dip: a size that moves less than a smaller one.".to_owned(),
        measured: Quantity { name: "throughput", unit: "MiB/s" },
        lines,
        levels: ceiling.into_iter().collect(),
        marks: dips.iter().map(dip).collect(),
        reach: Reach::Values,
        is_tall: true,
    })?;
    let columns = ["message", "average, MiB/s", "peak, MiB/s", "messages/s"];
    let row = |it: &Bandwidth| {
        let mebibytes = |it: BytesPerSecond| format!("{:.2}", it.mebibytes());
        let peak = it.peak.map_or_else(String::new, mebibytes);
        [size_words(it.message.0), mebibytes(it.average), peak, it.messages().0.to_string()]
    };
    Some(Chart { values: Some(numbers(columns, points.iter().map(row))), ..chart })
}

/// A table of numbers.
pub(super) fn numbers<const N: usize>(
    headings: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> Table {
    let columns = headings.map(|it| (it, Align::Right));
    Table::new(&columns, rows.into_iter().map(|it| it.map(Text::from).into()))
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

fn latency(points: &[Latency]) -> Option<Chart> {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let line = |class, name, of: &dyn Fn(&Latency) -> Option<Duration>| Line {
        class,
        name,
        points: points.iter().map(|it| (it.message.0, of(it).map(micros))).collect(),
    };
    let all = [
        line("series-0", "median", &|it| Some(it.typical)),
        line("series-1", "p99", &|it| it.percentile_99),
        line("series-2", "p99.9", &|it| it.percentile_999),
    ];
    let chart = chart(&Curves {
        title: "Latency",
        about: "Half of a round trip, by message size.".to_owned(),
        measured: Quantity { name: "latency", unit: "us" },
        lines: all.into_iter().filter(|it| it.points.iter().any(|it| it.1.is_some())).collect(),
        levels: Vec::new(),
        marks: Vec::new(),
        reach: Reach::Values,
        is_tall: true,
    })?;
    let columns = ["message", "median, us", "p99, us", "p99.9, us", "max, us"];
    let row = |it: &Latency| {
        let shown =
            |it: Option<Duration>| it.map_or_else(String::new, |it| format!("{:.2}", micros(it)));
        [
            size_words(it.message.0),
            shown(Some(it.typical)),
            shown(it.percentile_99),
            shown(it.percentile_999),
            shown(it.max),
        ]
    };
    Some(Chart { values: Some(numbers(columns, points.iter().map(row))), ..chart })
}
