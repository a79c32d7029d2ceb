//! A network test as an HTML page: results, clocks and CPU load of both ends by message size, statements, and the ledgers of
//! both ends.

use super::ledger::{of_both, share};
use super::{cpu_us_each, text, with_ceiling};
use crate::html::curve::{Curves, Level, Line, Reach, chart, size_words};
use crate::html::losses::{self, Bar};
use crate::html::markup::Markup;
use crate::html::{folded, section, table};
use crate::lengths::span;
use crate::net::page::{self as pages, Origin};
use facts::{BytesPerSecond, Hertz};
use lab::known::Known;
use lab::net::{Ends, Entry, Figure, Ledger, Point, Run, Work, busiest, slowest_hz};
use rules::losses::LOSSES;

/// The page; `n_asked` is the number of requested message sizes.
pub fn page(run: &Run, n_asked: usize, origin: &Origin) -> String {
    let curve = run.curve();
    let measured = with_ceiling(run, &curve);
    let subject = format!("{} with {}", run.title(), run.server);
    let n_left = n_asked.saturating_sub(run.points.len());
    let below: Vec<String> = (n_left > 0)
        .then(|| format!("It ended before {n_left} of {n_asked} message sizes were measured."))
        .into_iter()
        .collect();
    let sections = [
        pages::figures(&measured),
        busy(run),
        clocks(run),
        pages::statement_table("What it says", &text::measured(run)),
        ledgers(run),
        numbers(run),
    ];
    pages::page(&subject, &title(run), &below, sections, origin)
}

/// Loss id, part and share of each line of a ledger.
type Parts = Vec<(String, String, f64)>;

/// The best result in a sentence.
pub(super) fn title(run: &Run) -> String {
    let rate = |it: &Point| match &it.figure {
        Figure::Throughput(moved) => moved.bandwidth(it.message).average.0,
        Figure::Latencies(_) => 0,
    };
    let latencies = |it: &Point| match &it.figure {
        Figure::Latencies(latencies) => Some((it.message.0, latencies.median_ns)),
        Figure::Throughput(_) => None,
    };
    let (name, server) = (run.title(), run.server.ip());
    if let Some((size, ns)) = run.points.iter().find_map(latencies) {
        return format!("{name} with {server}: {} one way with {}", span(ns), size_words(size));
    }
    let best = run.points.iter().max_by_key(|it| rate(it));
    let most = best.map_or(String::new(), |it| {
        format!(": at most {}, with {}", BytesPerSecond(rate(it)), size_words(it.message.0))
    });
    format!("{name} with {server}{most}")
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

fn busy(run: &Run) -> Markup {
    let polls =
        if run.polls() { "; perftest polls, so that it is busy whatever it waits for" } else { "" };
    let about = format!("How much of its time the busiest thread of each end was on a CPU{polls}.");
    chart(&Curves {
        title: "CPU",
        about: &about,
        lines: lines(run, |it| Some(busiest(it))),
        levels: Vec::new(),
        marks: Vec::new(),
        reach: Reach::Share,
        shown: |it| format!("{:.0} %", 100.0 * it),
        is_tall: false,
    })
}

fn clocks(run: &Run) -> Markup {
    let nominal = run.judged.named().into_iter().zip(["series-0", "series-1"]);
    let level = |((end, it), class): ((&str, &lab::net::protocol::Judgement), &'static str)| {
        let value = *it.clocks.nominal_hz.value()?;
        Some(Level { class, name: format!("nominal, {end}"), value })
    };
    chart(&Curves {
        title: "Clock",
        about: "The lowest clock of the CPUs that worked, measured right after the work.",
        lines: lines(run, slowest_hz),
        levels: nominal.filter_map(level).collect(),
        marks: Vec::new(),
        reach: Reach::Differences,
        shown: |it| Hertz(it as u64).to_string(),
        is_tall: false,
    })
}

fn ledgers(run: &Run) -> Markup {
    let known: Vec<(&str, &Ledger)> =
        of_both(run).named().into_iter().filter_map(|(end, it)| Some((end, it.value()?))).collect();
    let parts: Vec<(String, Parts)> = known
        .iter()
        .map(|(end, it)| {
            (format!("{end}, CPUs {}", it.cpus), it.lines.iter().filter_map(known_part).collect())
        })
        .collect();
    let bars: Vec<Bar<'_>> =
        parts.iter().map(|(label, it)| Bar { label: label.clone(), ledger: it }).collect();
    let about = "What the CPUs that worked lost from before the first size to after the last, as a share of their time.";
    let head: Vec<&str> = std::iter::once("").chain(known.iter().map(|it| it.0)).collect();
    let percent =
        |it: Option<f64>| it.map_or("unknown".to_owned(), |it| format!("{:.2} %", 100.0 * it));
    let of_loss = |id: &str| known.iter().map(|it| percent(share(it.1, id))).collect::<Vec<_>>();
    let losses = LOSSES.iter().map(|it| (it.title, of_loss(it.id)));
    let rest = known.iter().map(|it| percent(Some(it.1.unexplained))).collect();
    let rows = losses.chain([("unexplained", rest)]);
    let table = if known.is_empty() { Markup::default() } else { table("", &head, rows) };
    let all =
        known.iter().map(|(end, it)| folded(&format!("Every line of the {end}"), [every(it)]));
    let content: Vec<Markup> =
        [losses::drawn(about, &bars), table].into_iter().chain(all).collect();
    let statements = pages::statement_table("Causes, gaps and adapters", &text::accounted(run));
    Markup::all([section("Ledger", content), statements])
}

fn known_part(entry: &Entry) -> Option<(String, String, f64)> {
    Some((entry.loss.clone(), entry.part.clone(), *entry.share.value()?))
}

fn every(ledger: &Ledger) -> Markup {
    let row = |it: &Entry| {
        let title = rules::losses::find(&it.loss).map_or(&*it.loss, |it| it.title);
        let part = if it.part.is_empty() { String::new() } else { format!(": {}", it.part) };
        let cells = match &it.share {
            Known::Value(share) => vec![
                format!("{:.3} %", 100.0 * share),
                format!("+-{:.3} %", 100.0 * it.uncertainty),
                it.method.clone(),
            ],
            Known::Missing { missing } => vec![missing.clone()],
        };
        (format!("{title}{part}"), cells)
    };
    let rows: Vec<(String, Vec<String>)> = ledger.lines.iter().map(row).collect();
    let notes = ledger
        .notes
        .iter()
        .map(|it| Markup::element("p", &[("class", "quiet")], [Markup::text(it)]));
    let table = table("", &[], rows.iter().map(|(name, cells)| (&**name, cells.clone())));
    Markup::all(std::iter::once(table).chain(notes))
}

fn numbers(run: &Run) -> Markup {
    let is_latency = run.points.iter().all(|it| matches!(it.figure, Figure::Latencies(_)));
    let figures: &[&str] = if is_latency {
        &["median", "99 %", "99.9 %", "longest"]
    } else {
        &["average", "peak", "zero copy"]
    };
    let of_end = ["client busy", "us/message", "clock", "server busy", "us/message", "clock"];
    let head: Vec<&str> =
        ["message", "count"].into_iter().chain(figures.iter().copied()).chain(of_end).collect();
    let rows: Vec<(String, Vec<String>)> =
        run.points.iter().map(|it| (size_words(it.message.0), cells(run, it))).collect();
    let rows = rows.iter().map(|(name, cells)| (&**name, cells.clone()));
    section("Figures", [table("", &head, rows)])
}

fn cells(run: &Run, point: &Point) -> Vec<String> {
    let mut cells = vec![point.figure.messages(point.message).to_string()];
    match &point.figure {
        Figure::Throughput(moved) => {
            let average = moved.bandwidth(point.message).average.to_string();
            let zero_copy = if point.zero_copy { "yes" } else { "no" };
            cells.extend([average, moved.peak.to_string(), zero_copy.to_owned()]);
        }
        Figure::Latencies(it) => {
            cells.extend([it.median_ns, it.p99_ns, it.p999_ns, it.max_ns].map(span));
        }
    }
    let Ends { client, server } = &point.work;
    for work in [client, server] {
        let each = cpu_us_each(run, point, work).map_or("-".to_owned(), |it| format!("{it:.2}"));
        let clock = slowest_hz(work).map_or("-".to_owned(), |it| Hertz(it as u64).to_string());
        cells.extend([format!("{:.0} %", 100.0 * busiest(work)), each, clock]);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn of(run: &Run, n_asked: usize) -> String {
        let origin =
            Origin { commands: "fullclock net client db2".to_owned(), written: "then".to_owned() };
        page(run, n_asked, &origin)
    }

    #[test]
    fn a_page_has_figures_clocks_ledgers_and_how_to_repeat_it() {
        let text = of(&fixture::bandwidth(), 3);
        for part in [
            "<h3>Throughput",
            "<h3>CPU",
            "<h3>Clock",
            "<h2>Ledger",
            "<h3>Where the time went",
            "fullclock net client db2",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(pages::is_report(&text) && !text.contains("It ended before"));
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
        assert!(text.contains("9.5 us one way with 64"), "{text}");
    }
}
