//! A network test as a document: results, clocks and CPU load of both ends by message size, statements, and the ledgers of both
//! ends.

use super::ledger::{of_both, share};
use super::{cpu_us_each, text, with_ceiling};
use crate::chart::curve::{Curves, Level, Line, Reach, chart, size_words};
use crate::chart::losses::{self, Bar};
use crate::chart::parts::Quantity;
use crate::document::{Align, Block, Chart, Document, Table, Text};
use crate::lengths::span;
use crate::net::page::{numbers, repeat, results};
use crate::net::{Origin, rate};
use lab::known::Known;
use lab::net::{Ends, Entry, Figure, Ledger, Point, Run, Work, busiest, slowest_hz};
use rules::losses::LOSSES;

/// The document; `n_asked` is the number of requested message sizes.
pub fn run(run: &Run, n_asked: usize, origin: &Origin) -> Document {
    let curve = run.curve();
    let mut document =
        Document::new(format!("fullclock net client: {} with {}", run.title(), run.server));
    document.paragraph(Text::strong(verdict(run)));
    let n_left = n_asked.saturating_sub(run.points.len());
    if n_left > 0 {
        document.paragraph(format!(
            "It ended before {n_left} of {n_asked} message sizes were measured."
        ));
    }
    document.extend(text::measured(run).blocks());
    document.heading("By message size");
    let charts = [results(&with_ceiling(run, &curve)), busy(run), clocks(run)];
    document.extend(charts.into_iter().flatten().map(Block::Chart));
    ledgers(&mut document, run);
    repeat(&mut document, origin);
    document
}

/// The best result in a sentence.
fn verdict(run: &Run) -> String {
    let average = |it: &Point| match &it.figure {
        Figure::Throughput(moved) => Some(moved.bandwidth(it.message).average),
        Figure::Latencies(_) => None,
    };
    let latencies = |it: &Point| match &it.figure {
        Figure::Latencies(latencies) => Some((it.message, latencies.median_ns)),
        Figure::Throughput(_) => None,
    };
    if let Some((size, ns)) = run.points.iter().find_map(latencies) {
        return format!("{} one way with messages of {size}", span(ns));
    }
    let measured = run.points.iter().filter_map(|it| Some((average(it)?, it.message)));
    let best = measured.max_by_key(|it| it.0);
    best.map_or_else(
        || "No message size was measured".to_owned(),
        |(average, size)| format!("At most {}, with messages of {size}", rate(average)),
    )
}

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

fn busy(run: &Run) -> Option<Chart> {
    let polls =
        if run.polls() { "; perftest polls, so that it is busy whatever it waits for" } else { "" };
    let chart = chart(&Curves {
        title: "CPU",
        about: format!("How much of its time the busiest thread of each end was on a CPU{polls}."),
        measured: Quantity { name: "time on a CPU", unit: "%" },
        lines: lines(run, |it| Some(100.0 * busiest(it))),
        levels: Vec::new(),
        marks: Vec::new(),
        reach: Reach::Percent,
        is_tall: false,
    })?;
    let columns = ["message", "client, %", "client, us/message", "server, %", "server, us/message"];
    let row = |point: &Point| {
        let Ends { client, server } = &point.work;
        let share = |work: &[Work]| format!("{:.0}", 100.0 * busiest(work));
        let each = |work: &[Work]| {
            cpu_us_each(run, point, work).map_or_else(unknown, |it| format!("{it:.2}"))
        };
        let size = size_words(point.message.0);
        [size, share(client), each(client), share(server), each(server)]
    };
    Some(Chart { values: Some(numbers(columns, run.points.iter().map(row))), ..chart })
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn clocks(run: &Run) -> Option<Chart> {
    let nominal = run.judged.named().into_iter().zip(["series-0", "series-1"]);
    let level = |((end, it), class): ((&str, &lab::net::protocol::Judgement), &'static str)| {
        let value = *it.clocks.nominal_hz.value()? / 1e6;
        Some(Level { class, name: format!("nominal, {end}"), value })
    };
    let mhz = |work: &[Work]| slowest_hz(work).map(|it| it / 1e6);
    let chart = chart(&Curves {
        title: "Clock",
        about: "The lowest clock of the CPUs that worked, measured right after the work."
            .to_owned(),
        measured: Quantity { name: "clock", unit: "MHz" },
        lines: lines(run, mhz),
        levels: nominal.filter_map(level).collect(),
        marks: Vec::new(),
        reach: Reach::Differences,
        is_tall: false,
    })?;
    let row = |point: &Point| {
        let shown = |work: &[Work]| mhz(work).map_or_else(unknown, |it| format!("{it:.0}"));
        let Ends { client, server } = &point.work;
        [size_words(point.message.0), shown(client), shown(server)]
    };
    let columns = ["message", "client, MHz", "server, MHz"];
    Some(Chart { values: Some(numbers(columns, run.points.iter().map(row))), ..chart })
}

/// The ledgers of both ends side by side, and what is responsible for what was lost.
fn ledgers(document: &mut Document, run: &Run) {
    document.heading("Ledger");
    document.extend(text::accounted(run).blocks());
    let known: Vec<(&str, &Ledger)> =
        of_both(run).named().into_iter().filter_map(|(end, it)| Some((end, it.value()?))).collect();
    if known.is_empty() {
        return;
    }
    document.extend(losses(&known).map(Block::Chart));
    let percent = |it: Option<f64>| it.map_or_else(unknown, |it| format!("{:.2} %", 100.0 * it));
    let row = |title: &str, share: &dyn Fn(&Ledger) -> Option<f64>| -> Vec<Text> {
        let shares = known.iter().map(|(_, it)| percent(share(it)).into());
        std::iter::once(Text::from(title)).chain(shares).collect()
    };
    let lines = LOSSES.iter().map(|loss| row(loss.title, &|it: &Ledger| share(it, loss.id)));
    let rest = row("unexplained", &|it: &Ledger| Some(it.unexplained));
    let ends = known.iter().map(|(end, _)| (*end, Align::Right));
    let columns: Vec<(&str, Align)> = std::iter::once(("", Align::Left)).chain(ends).collect();
    document.push(Block::Table(Table::new(&columns, lines.chain([rest]))));
    for (end, ledger) in known {
        let notes = ledger.notes.iter().map(|it| Block::Note(Text::sentence(it)));
        let body = std::iter::once(Block::Table(every(ledger))).chain(notes).collect();
        document.push(Block::Details { summary: format!("Every line of the {end}"), body });
    }
}

/// Loss id, part and share of each line of a ledger.
type Parts = Vec<(String, String, f64)>;

fn losses(known: &[(&str, &Ledger)]) -> Option<Chart> {
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
    // The table below has them.
    Some(Chart { values: None, ..chart })
}

fn every(ledger: &Ledger) -> Table {
    let columns = [
        ("", Align::Left),
        ("share", Align::Right),
        ("uncertainty", Align::Right),
        ("found by", Align::Left),
    ];
    let row = |it: &Entry| -> Vec<Text> {
        let title = rules::losses::find(&it.loss).map_or(&*it.loss, |it| it.title);
        let part = if it.part.is_empty() { String::new() } else { format!(": {}", it.part) };
        let [share, uncertainty, method] = match &it.share {
            Known::Value(share) => [
                format!("{:.3} %", 100.0 * share),
                format!("+-{:.3} %", 100.0 * it.uncertainty),
                it.method.clone(),
            ],
            Known::Missing { missing } => [unknown(), String::new(), missing.clone()],
        };
        vec![format!("{title}{part}").into(), share.into(), uncertainty.into(), method.into()]
    };
    Table::new(&columns, ledger.lines.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use crate::document::Format;
    use crate::net::is_report;

    fn of(run: &Run, n_asked: usize) -> String {
        let origin =
            Origin { commands: "fullclock net client db2".to_owned(), written: "then".to_owned() };
        super::run(run, n_asked, &origin).render(Format::Html)
    }

    #[test]
    fn a_page_has_figures_clocks_ledgers_and_how_to_repeat_it() {
        let text = of(&fixture::bandwidth(), 3);
        for part in [
            "<h3>Throughput",
            "<h3>CPU",
            "<h3>Clock",
            "throughput (MiB/s), logarithmic scale",
            "At most 1120 MiB/s, with messages of 8388608 bytes",
            "<h2>Ledger",
            "<h3>Where the time went",
            "fullclock net client db2",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(is_report(&text) && !text.contains("It ended before"));
        assert!(text.contains("nominal, client") && text.contains("slow-governor"), "{text}");
    }

    #[test]
    fn a_test_that_was_cut_short_says_so_and_what_a_server_says_is_no_markup() {
        let mut run = fixture::latency();
        let evil = "<script>1</script>".to_owned();
        run.judged.server.ledger = Known::Missing { missing: evil };
        let text = of(&run, 23);
        assert!(text.contains("It ended before 22 of 23 message sizes"), "{text}");
        assert!(text.contains("<h3>Latency") && !text.contains("<script>"), "{text}");
        assert!(text.contains("9.5 us one way with messages of 64 bytes"), "{text}");
    }
}
