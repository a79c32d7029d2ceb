//! The charts of a curve by message size. The table under each has its values.

use super::{Measured, word};
use crate::chart::curve::{Curves, Level, Line, Reach, chart, size_words};
use crate::chart::parts::Quantity;
use crate::document::Chart;
use facts::BytesPerSecond;
use facts::links::perftest::{Bandwidth, Figures, Latency};
use rules::curve::{Dip, bandwidths};
use std::time::Duration;

/// A chart of the results by message size.
pub(super) fn results(measured: &Measured<'_>) -> Option<Chart> {
    match &measured.curve.figures {
        Figures::Bandwidth(points) => throughput(measured, points),
        Figures::Latency(points) => latency(points),
    }
}

fn throughput(measured: &Measured<'_>, points: &[Bandwidth]) -> Option<Chart> {
    let known = |it: BytesPerSecond| Some(it.megabytes()).filter(|it| *it > 0.0);
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
        let value = narrowest.carries(direction).megabytes();
        Some(Level { class: "series-2", name, value })
    });
    let dips = bandwidths(points).map_or(Vec::new(), |it| it.dips);
    chart(&Curves {
        title: "Throughput",
        about: "What arrived, by message size; a ring marks a dip: a size that moves less than a smaller one.".to_owned(),
        measured: Quantity { name: "throughput", unit: "MB/s" },
        lines,
        levels: ceiling.into_iter().collect(),
        marks: dips.iter().map(dip).collect(),
        reach: Reach::Values,
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
    chart(&Curves {
        title: "Latency",
        about: "Half of a round trip, by message size.".to_owned(),
        measured: Quantity { name: "latency", unit: "us" },
        lines: all.into_iter().filter(|it| it.points.iter().any(|it| it.1.is_some())).collect(),
        levels: Vec::new(),
        marks: Vec::new(),
        reach: Reach::Values,
        is_tall: true,
    })
}
