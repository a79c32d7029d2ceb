//! A network test as text that `fullclock net curve` reads, and as CSV.
//!
//! The columns are perftest's (src/perftest_parameters.h: RESULT_FMT, RESULT_FMT_LAT). The heading of the second table differs
//! from perftest's, so that parsers of perftest's output skip it.

use super::guard::spans;
use super::{cpu_us_each, guard, ledger, placement, with_ceiling};
use crate::Style;
use crate::lengths::{Bars, significant};
use crate::net::Statements;
use crate::net::curve;
use crate::page::{BOLD, Page};
use facts::BytesPerSecond;
use facts::links::perftest::Bandwidth;
use lab::net::protocol::Test;
use lab::net::{Ends, Figure, Latencies, Point, Run, Throughput, Work, busiest, slowest_hz};

/// A rule as wide as perftest's.
const RULE: &str =
    "---------------------------------------------------------------------------------------";

/// A test as text, with perftest's columns.
pub fn text(run: &Run, style: Style) -> String {
    let mut page = Page::new(style);
    banner(&mut page, run);
    table(&mut page, run);
    page.line(RULE);
    page.line("");
    work(&mut page, run);
    page.line("");
    chart(&mut page, run);
    page.line("");
    measured(run).put(&mut page);
    page.line("");
    ledger::put(&mut page, run);
    accounted(run).put(&mut page);
    page.finish()
}

/// Statements about the results and the clocks.
pub(super) fn measured(run: &Run) -> Statements {
    let mut statements = curve::statements(&with_ceiling(run, &run.curve()));
    guard::put(&mut statements, run);
    statements
}

/// Statements about the ledgers and the placement of the adapters.
pub(super) fn accounted(run: &Run) -> Statements {
    let mut statements = Statements::default();
    ledger::add_to(&mut statements, run);
    placement::add_to(&mut statements, run);
    statements
}

fn banner(page: &mut Page, run: &Run) {
    page.line(RULE);
    page.line(&format!("                    {}", run.title()));
    page.line(&format!(" Server          : {}", run.server));
    page.line(&format!(" Streams         : {}", run.task.streams));
    if run.points.iter().any(|it| it.zero_copy) {
        let uncopied: Vec<&Point> = run.points.iter().filter(|it| it.zero_copy).collect();
        page.line(&format!(" Zero copy       : {} bytes", spans(&run.points, &uncopied)));
    }
    page.line(RULE);
}

fn table(page: &mut Page, run: &Run) {
    page.line(match run.task.test {
        Test::WriteBw | Test::ReadBw | Test::SendBw => {
            " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]"
        }
        Test::Latency => {
            " #bytes     #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   \
             99% percentile[usec]   99.9% percentile[usec]"
        }
    });
    for point in &run.points {
        page.line(&match &point.figure {
            Figure::Throughput(moved) => bandwidth(&moved.bandwidth(point.message)),
            Figure::Latencies(latencies) => latency(point, latencies),
        });
    }
}

fn bandwidth(line: &Bandwidth) -> String {
    format!(
        " {:<10} {:<14} {:<19.2} {:<21.2} {:.6}",
        line.message.0,
        line.iterations.unwrap_or_default(),
        line.peak.map_or(0.0, BytesPerSecond::mebibytes),
        line.average.mebibytes(),
        line.messages().0 as f64 / 1e6
    )
}

fn latency(point: &Point, latencies: &Latencies) -> String {
    let us = |ns: u64| ns as f64 / 1e3;
    format!(
        " {:<10} {:<14} {:<14.2} {:<12.2} {:<18.2} {:<14.2} {:<15.2} {:<22.2} {:.2}",
        point.message.0,
        latencies.count,
        us(latencies.min_ns),
        us(latencies.max_ns),
        us(latencies.median_ns),
        latencies.mean_ns / 1e3,
        latencies.deviation_ns / 1e3,
        us(latencies.p99_ns),
        us(latencies.p999_ns)
    )
}

/// CPU load, CPU time per message and clock at each end.
fn work(page: &mut Page, run: &Run) {
    let columns = |end: &str| format!("{end:>12} busy   us/message   MHz");
    let heading = format!("bytes     {}{}", columns("client"), columns("server"));
    page.line(&page.paint(BOLD, &heading));
    for point in &run.points {
        let Ends { client, server } = &point.work;
        let (client, server) = (did(run, point, client), did(run, point, server));
        page.line(&format!("{:<10}{client}{server}", point.message.0));
    }
}

fn did(run: &Run, point: &Point, work: &[Work]) -> String {
    let clock = slowest_hz(work).map_or("-".to_owned(), |it| format!("{:.0}", it / 1e6));
    let each = cpu_us_each(run, point, work).map_or("-".to_owned(), |it| format!("{it:.2}"));
    format!("{:>15.0} %{each:>13}{clock:>6}", 100.0 * busiest(work))
}

/// Bars of throughput or latency by message size.
fn chart(page: &mut Page, run: &Run) {
    let (name, what): (&str, fn(&Point) -> u64) = match run.task.test {
        Test::WriteBw | Test::ReadBw | Test::SendBw => ("MiB/sec", |it| match &it.figure {
            Figure::Throughput(moved) => moved.bandwidth(it.message).average.0,
            Figure::Latencies(_) => 0,
        }),
        Test::Latency => ("usec", |it| match &it.figure {
            Figure::Latencies(latencies) => latencies.median_ns,
            Figure::Throughput(_) => 0,
        }),
    };
    let values: Vec<u64> = run.points.iter().map(what).collect();
    let scale = Bars::of(&values);
    let ends = scale.ends(|it| match run.task.test {
        Test::Latency => format!("{} us", significant(it / 1e3)),
        _ => format!("{} MiB/s", significant(it / 1_048_576.0)),
    });
    page.line(&page.paint(BOLD, &format!("bytes     {name:>10}  {ends}")));
    for point in &run.points {
        let value = what(point);
        let shown = match &point.figure {
            Figure::Throughput(_) => BytesPerSecond(value).mebibytes(),
            Figure::Latencies(_) => value as f64 / 1e3,
        };
        page.line(&format!("{:<10}{shown:>10.2}  {}", point.message.0, scale.bar(value)));
    }
}

/// A heading and one line per message size. `fullclock net curve` reads those of throughput.
pub fn csv(run: &Run) -> String {
    let ends = |end: &str| format!("{end}_busy,{end}_cpu_us_per_message,{end}_mhz");
    let figures = match run.task.test {
        Test::WriteBw | Test::ReadBw | Test::SendBw => {
            "bw_peak_mib_s,bw_average_mib_s,msg_rate_mpps"
        }
        Test::Latency => "t_min_us,t_max_us,t_typical_us,t_avg_us,t_stdev_us,p99_us,p999_us",
    };
    let mut lines =
        vec![format!("bytes,iterations,{figures},{},{}", ends("client"), ends("server"))];
    for point in &run.points {
        let figures = match &point.figure {
            Figure::Throughput(moved) => moved_cells(point, moved),
            Figure::Latencies(latencies) => latency_cells(latencies),
        };
        let [client, server] = point.work.named().map(|(_, work)| {
            let clock = slowest_hz(work).map_or(String::new(), |it| format!("{:.0}", it / 1e6));
            let each = cpu_us_each(run, point, work).map_or(String::new(), |it| format!("{it:.3}"));
            format!("{:.4},{each},{clock}", busiest(work))
        });
        let messages = point.figure.messages(point.message);
        lines.push(format!("{},{messages},{figures},{client},{server}", point.message.0));
    }
    lines.join("\n") + "\n"
}

fn moved_cells(point: &Point, moved: &Throughput) -> String {
    let line = moved.bandwidth(point.message);
    let (peak, average) = (moved.peak.mebibytes(), line.average.mebibytes());
    format!("{peak:.2},{average:.2},{:.6}", line.messages().0 as f64 / 1e6)
}

fn latency_cells(latencies: &Latencies) -> String {
    let Latencies { min_ns, max_ns, median_ns, p99_ns, p999_ns, mean_ns, deviation_ns, .. } =
        latencies;
    let whole = |ns: &u64| *ns as f64;
    let cells = [
        whole(min_ns),
        whole(max_ns),
        whole(median_ns),
        *mean_ns,
        *deviation_ns,
        whole(p99_ns),
        whole(p999_ns),
    ];
    cells.map(|ns| format!("{:.3}", ns / 1e3)).join(",")
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use facts::links::perftest::{Curve, Figures};

    const PLAIN: Style = Style { color: false, width: 100 };

    #[test]
    fn throughput_is_a_table_that_curve_reads_back() {
        let run = fixture::bandwidth();
        let text = text(&run, PLAIN);
        insta::assert_snapshot!(text);
        let of_text = Curve::parse(&text).unwrap();
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
    fn latency_is_a_table_that_curve_reads_back() {
        let run = fixture::latency();
        let text = text(&run, PLAIN);
        insta::assert_snapshot!(text);
        let curve = Curve::parse(&text).unwrap();
        let Figures::Latency(lines) = curve.figures else { panic!("{curve:?}") };
        let us = |it: std::time::Duration| it.as_nanos();
        assert_eq!(lines[0].iterations, Some(1000));
        assert_eq!((lines[0].min.map(us), us(lines[0].typical)), (Some(9000), 9500));
        assert_eq!(lines[0].max.map(us), Some(90_000));
    }

    #[test]
    fn over_rdma_no_thread_is_said_to_be_limited_because_it_is_busy() {
        insta::assert_snapshot!(text(&fixture::rdma(), PLAIN));
    }

    #[test]
    fn csv_has_as_many_cells_as_names() {
        for run in [fixture::bandwidth(), fixture::latency(), fixture::rdma()] {
            let text = csv(&run);
            let n_cells: Vec<usize> = text.lines().map(|it| it.split(',').count()).collect();
            assert!(n_cells.iter().all(|it| *it == n_cells[0]), "{text}");
        }
    }
}
