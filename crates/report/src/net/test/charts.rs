//! The charts of a network test: CPU load and clock of both ends by message size, and what both ends lost. Tables have their values.

use crate::chart::curve::{Curves, Level, Line, Reach, chart};
use crate::chart::losses::{self, Bar};
use crate::chart::parts::Quantity;
use crate::document::Chart;
use lab::net::{Entry, Ledger, Point, Run, Work, busiest, slowest_hz};

/// A chart line for each end.
fn lines(run: &Run, of: impl Fn(&[Work]) -> Option<f64>) -> Vec<Line<'static>> {
    let line = |class, name, work: fn(&Point) -> &Vec<Work>| Line {
        class,
        name,
        points: run.points.iter().map(|it| (it.message.0, of(work(it)))).collect(),
    };
    vec![
        line("series-0", "client", |it| &it.work.client),
        line("series-1", "server", |it| &it.work.server),
    ]
}

/// How busy each end was.
pub(super) fn busy(run: &Run) -> Option<Chart> {
    let polls =
        if run.polls() { "; perftest polls, so that it is busy whatever it waits for" } else { "" };
    chart(&Curves {
        title: "CPU",
        about: format!("How much of its time the busiest thread of each end was on a CPU{polls}."),
        measured: Quantity { name: "time on a CPU", unit: "%" },
        lines: lines(run, |it| Some(100.0 * busiest(it))),
        levels: Vec::new(),
        marks: Vec::new(),
        reach: Reach::Percent,
        is_tall: false,
    })
}

/// At which clock each end worked.
pub(super) fn clocks(run: &Run) -> Option<Chart> {
    let nominal = run.judged.named().into_iter().zip(["series-0", "series-1"]);
    let level = |((end, it), class): ((&str, &lab::net::protocol::Judgement), &'static str)| {
        let value = *it.clocks.nominal_hz.value()? / 1e6;
        Some(Level { class, name: format!("nominal, {end}"), value })
    };
    let mhz = |work: &[Work]| slowest_hz(work).map(|it| it / 1e6);
    chart(&Curves {
        title: "Clock",
        about: "The lowest clock of the CPUs that worked, measured right after the work."
            .to_owned(),
        measured: Quantity { name: "clock", unit: "MHz" },
        lines: lines(run, mhz),
        levels: nominal.filter_map(level).collect(),
        marks: Vec::new(),
        reach: Reach::Differences,
        is_tall: false,
    })
}

/// Loss id, part and share of each line of a ledger.
type Parts = Vec<(String, String, f64)>;

/// What each end lost.
pub(super) fn losses(known: &[(&str, &Ledger)]) -> Option<Chart> {
    let known_part = |it: &Entry| Some((it.loss.clone(), it.part.clone(), *it.share.value()?));
    let parts: Vec<(String, Parts)> = known
        .iter()
        .map(|(end, it)| {
            (format!("{end}, CPUs {}", it.cpus), it.lines.iter().filter_map(known_part).collect())
        })
        .collect();
    let bars: Vec<Bar<'_>> =
        parts.iter().map(|(label, it)| Bar { label: label.clone(), ledger: it }).collect();
    let about = "What the CPUs that worked lost from before the first size to after the last, as a share of their time.";
    let chart = losses::drawn("", about.to_owned(), &bars)?;
    // The tables have them.
    Some(Chart { values: None, ..chart })
}
