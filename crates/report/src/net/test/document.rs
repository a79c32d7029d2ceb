//! A network test as a document: the most that it moved, what limited it, each message size, and the ledgers of both ends.

use super::{charts, cpu_us_each, ledger, text, with_ceiling};
use crate::document::{Align, Block, Document, Table, Text};
use crate::lengths::span;
use crate::net::Origin;
use crate::net::by_size::by_size;
use facts::quantity::counted;
use lab::net::{Ends, Figure, Point, Run, Work, busiest, slowest_hz};

/// The document; the text of it holds a table that `fullclock net curve` reads. `n_requested` is the number of requested message
/// sizes. Without an origin it does not say how to repeat it.
pub fn document(run: &Run, n_requested: usize, origin: Option<&Origin>) -> Document {
    let title = format!("fullclock net client: {} with {}", run.title(), run.server.ip());
    let mut document = Document::new(title);
    document.paragraph(Text::strong(verdict(run)));
    document.paragraph(about(run));
    let n_left = n_requested.saturating_sub(run.points.len());
    if n_left > 0 {
        document.paragraph(format!(
            "The test ended before {n_left} of {n_requested} message sizes were measured."
        ));
    }
    text::measured(run).put(&mut document);
    by_size(&mut document, &with_ceiling(run, &run.curve()));
    work(&mut document, run);
    document.heading("Ledger of the CPUs that worked");
    ledger::put(&mut document, run);
    text::accounted(run).put(&mut document);
    document.extend(ledger::in_full(run));
    document.heading("As perftest prints it");
    document.note(Text::sentence("`fullclock net curve` reads this. MiB are 2^20 bytes."));
    document.push(Block::Code(text::as_perftest(run)));
    if let Some(origin) = origin {
        origin.put(&mut document);
    }
    document
}

/// The best result in a sentence.
fn verdict(run: &Run) -> String {
    let average = |it: &Point| match &it.figure {
        Figure::Throughput(moved) => Some(moved.bandwidth(it.message).average),
        Figure::Latencies(_) => None,
    };
    let median = |it: &Point| match &it.figure {
        Figure::Latencies(latencies) => Some((latencies.median_ns, it.message)),
        Figure::Throughput(_) => None,
    };
    if let Some((ns, size)) = run.points.iter().find_map(median) {
        return format!("{} one way with messages of {size}.", span(ns));
    }
    let measured = run.points.iter().filter_map(|it| Some((average(it)?, it.message)));
    measured.max_by_key(|it| it.0).map_or_else(
        || "No message size was measured.".to_owned(),
        |(average, size)| format!("At most {average}, with messages of {size}."),
    )
}

/// Which server, over how many streams.
fn about(run: &Run) -> String {
    let streams = counted(run.task.streams, "stream");
    match text::uncopied(run) {
        Some(sizes) => {
            format!("Server {}, {streams}; sent without a copy: {sizes} bytes.", run.server)
        }
        None => format!("Server {}, {streams}.", run.server),
    }
}

/// How busy each end was, what a message cost it, and at which clock.
fn work(document: &mut Document, run: &Run) {
    document.heading("CPU by message size");
    document.note(
        "How much of its time the busiest thread of each end was on a CPU, the CPU time of all its threads for each message, and the lowest \
         clock of their CPUs.",
    );
    let charts = [charts::busy(run), charts::clocks(run)];
    document.extend(charts.into_iter().flatten().map(Block::Chart));
    let columns = [
        ("bytes", Align::Right),
        ("client", Align::Right),
        ("us each", Align::Right),
        ("MHz", Align::Right),
        ("server", Align::Right),
        ("us each", Align::Right),
        ("MHz", Align::Right),
    ];
    let row = |point: &Point| -> Vec<Text> {
        let Ends { client, server } = &point.work;
        let [a, b, c] = did(run, point, client);
        let [d, e, f] = did(run, point, server);
        [point.message.0.to_string(), a, b, c, d, e, f].map(Text::from).into()
    };
    document.push(Block::Table(Table::new(&columns, run.points.iter().map(row))));
}

fn did(run: &Run, point: &Point, work: &[Work]) -> [String; 3] {
    let clock = slowest_hz(work).map_or("-".to_owned(), |it| format!("{:.0}", it / 1e6));
    let each = cpu_us_each(run, point, work).map_or("-".to_owned(), |it| format!("{it:.2}"));
    [format!("{:.0} %", 100.0 * busiest(work)), each, clock]
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::text::csv;
    use super::*;
    use crate::document::Format;
    use crate::document::every_form::{in_every_form, text as as_text};
    use facts::BytesPerSecond;
    use facts::links::perftest::{Curve, Figures};
    use lab::known::Known;

    #[test]
    fn throughput_has_a_table_that_curve_reads_back() {
        let run = fixture::bandwidth();
        insta::assert_snapshot!(in_every_form(&document(&run, 3, None)));
        let of_text = Curve::parse(&as_text(&document(&run, 3, None), 60)).unwrap();
        assert_eq!(of_text.test.as_deref(), Some("TCP_Write BW Test"));
        for curve in [of_text, Curve::parse(&csv(&run)).unwrap()] {
            let Figures::Bandwidth(lines) = curve.figures else { panic!("{curve:?}") };
            let counted: Vec<_> = lines.iter().map(|it| (it.message.0, it.iterations)).collect();
            let expected = [(2, Some(1_000_000)), (4096, Some(262_144)), (8_388_608, Some(140))];
            assert_eq!(counted, expected);
            assert_eq!(lines[1].average, BytesPerSecond(1 << 30));
            assert_eq!(lines[0].rate.map(|it| it.0), Some(1_000_000));
        }
    }

    #[test]
    fn latency_has_a_table_that_curve_reads_back() {
        let shown = as_text(&document(&fixture::latency(), 1, None), 80);
        insta::assert_snapshot!(shown);
        let curve = Curve::parse(&shown).unwrap();
        let Figures::Latency(lines) = curve.figures else { panic!("{curve:?}") };
        let us = |it: std::time::Duration| it.as_nanos();
        assert_eq!(lines[0].iterations, Some(1000));
        assert_eq!((lines[0].min.map(us), us(lines[0].typical)), (Some(9000), 9500));
        assert_eq!(lines[0].max.map(us), Some(90_000));
    }

    #[test]
    fn over_rdma_no_thread_is_said_to_be_limited_because_it_is_busy() {
        insta::assert_snapshot!(as_text(&document(&fixture::rdma(), 0, None), 80));
    }

    fn of(run: &Run, n_requested: usize) -> String {
        let origin =
            Origin { commands: "fullclock net client db2".to_owned(), written: "then".to_owned() };
        document(run, n_requested, Some(&origin)).render(Format::Html)
    }

    #[test]
    fn a_page_has_figures_clocks_ledgers_and_how_to_repeat_it() {
        let text = of(&fixture::bandwidth(), 3);
        for part in [
            "<h3>Throughput",
            "<h3>CPU",
            "<h3>Clock",
            "throughput (MB/s), logarithmic scale",
            "At most 1.17 GB/s, with messages of 8388608 bytes",
            "<h2>Ledger of",
            "<h3>Where the time went",
            "fullclock net client db2",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("The test ended before"));
        assert!(text.contains("nominal, client") && text.contains("slow-governor"), "{text}");
    }

    #[test]
    fn a_test_that_was_cut_short_says_so_and_what_a_server_says_is_no_markup() {
        let mut run = fixture::latency();
        let evil = "<script>1</script>".to_owned();
        run.judged.server.ledger = Known::Missing { missing: evil };
        let text = of(&run, 23);
        assert!(text.contains("The test ended before 22 of 23 message sizes"), "{text}");
        assert!(text.contains("<h3>Latency") && !text.contains("<script>"), "{text}");
        assert!(text.contains("9.5 us one way with messages of 64 bytes"), "{text}");
    }
}
