//! A network test as a document: the most that it moved, what limited it, each message size, and the ledgers of both ends.

use super::{cpu_us_each, ledger, page, text};
use crate::document::{Align, Block, Document, Table, Text};
use crate::net::by_size::by_size;
use facts::quantity::counted;
use lab::net::{Ends, Point, Run, Work, busiest, slowest_hz};

/// The document; the text of it holds a table that `fullclock net curve` reads.
pub fn document(run: &Run) -> Document {
    let mut document = Document::new(format!("fullclock net client: {}", page::title(run)));
    document.paragraph(about(run));
    text::measured(run).put(&mut document);
    by_size(&mut document, &run.curve());
    work(&mut document, run);
    document.heading("Where the time of the CPUs that worked went");
    ledger::put(&mut document, run);
    text::accounted(run).put(&mut document);
    document.heading("As perftest prints it");
    document.note(Text::sentence("`fullclock net curve` reads this. MiB are 2^20 bytes."));
    document.push(Block::Code(text::as_perftest(run)));
    document
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
    use crate::document::every_form::{in_every_form, text as as_text};
    use facts::BytesPerSecond;
    use facts::links::perftest::{Curve, Figures};

    #[test]
    fn throughput_has_a_table_that_curve_reads_back() {
        let run = fixture::bandwidth();
        insta::assert_snapshot!(in_every_form(&document(&run)));
        let of_text = Curve::parse(&as_text(&document(&run), 60)).unwrap();
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
        let shown = as_text(&document(&fixture::latency()), 80);
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
        insta::assert_snapshot!(as_text(&document(&fixture::rdma()), 80));
    }
}
