//! The results of a curve or a test, a row for each message size.

use super::Measured;
use super::charts::results;
use crate::document::{Align, Block, Cell, Document, Table, Text};
use crate::lengths::{Scale, span};
use facts::BytesPerSecond;
use facts::links::perftest::{Bandwidth, Figures, Latency};
use std::time::Duration;

/// The chart, a row for each size, and the scale of its bars.
pub(super) fn by_size(document: &mut Document, measured: &Measured<'_>) {
    document.heading("By message size");
    document.extend(results(measured).map(Block::Chart));
    let (table, scale, ends) = match &measured.curve.figures {
        Figures::Bandwidth(points) => {
            let values: Vec<u64> = points.iter().map(|it| it.average.0).collect();
            let scale = Scale::of(&values);
            let ends = [scale.from, scale.to].map(|it| BytesPerSecond(it as u64).to_string());
            (bandwidth_table(points, scale), scale, ends)
        }
        Figures::Latency(points) => {
            let values: Vec<u64> = points.iter().map(|it| nanoseconds(it.typical)).collect();
            let scale = Scale::of(&values);
            let ends = [scale.from, scale.to].map(|it| span(it as u64));
            (latency_table(points, scale), scale, ends)
        }
    };
    document.push(Block::Table(table));
    if scale.is_logarithmic() {
        let [from, to] = ends;
        document.note(format!("The bars are logarithmic, from {from} to {to}."));
    }
}

fn bandwidth_table(points: &[Bandwidth], scale: Scale) -> Table {
    let columns = [
        ("bytes", Align::Right),
        ("messages", Align::Right),
        ("peak", Align::Right),
        ("average", Align::Right),
        ("", Align::Left),
    ];
    let rate = |it: Option<BytesPerSecond>| match it {
        Some(rate) if rate.0 > 0 => rate.to_string(),
        _ => "-".to_owned(),
    };
    let mut table = Table::new(&columns, []);
    for it in points {
        let count = it.iterations.map_or("-".to_owned(), |it| it.to_string());
        let cells = [it.message.0.to_string(), count, rate(it.peak), rate(Some(it.average))];
        table.rows.push(with_bar(cells, scale, it.average.0));
    }
    table
}

fn latency_table(points: &[Latency], scale: Scale) -> Table {
    // Not every version of perftest prints it.
    let has_999 = points.iter().any(|it| it.percentile_999.is_some());
    let headings: &[&str] = match has_999 {
        true => &["bytes", "p99", "p99.9", "longest", "median"],
        false => &["bytes", "p99", "longest", "median"],
    };
    let columns = headings.iter().map(|it| (*it, Align::Right)).chain([("", Align::Left)]);
    let time = |it: Option<Duration>| it.map_or("-".to_owned(), |it| span(nanoseconds(it)));
    let mut table = Table::new(&columns.collect::<Vec<_>>(), []);
    for it in points {
        let rare = has_999.then_some(it.percentile_999);
        let times = [Some(it.percentile_99), rare, Some(it.max), Some(Some(it.typical))];
        let cells = std::iter::once(it.message.0.to_string());
        let cells = cells.chain(times.into_iter().flatten().map(time));
        table.rows.push(with_bar(cells, scale, nanoseconds(it.typical)));
    }
    table
}

fn with_bar(cells: impl IntoIterator<Item = String>, scale: Scale, value: u64) -> Vec<Cell> {
    let cells = cells.into_iter().map(|it| Cell::Text(Text::from(it)));
    cells.chain([Cell::Bar(scale.bar(value))]).collect()
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
