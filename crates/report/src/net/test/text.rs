//! What a network test says in labelled sentences, its results in perftest's columns, and as CSV. `fullclock net curve` reads both.
//!
//! The columns are perftest's (src/perftest_parameters.h: RESULT_FMT, RESULT_FMT_LAT).

use super::guard::spans;
use super::{cpu_us_each, guard, ledger, placement, with_ceiling};
use crate::net::Statements;
use crate::net::curve;
use facts::BytesPerSecond;
use facts::links::perftest::Bandwidth;
use lab::net::protocol::Test;
use lab::net::{Figure, Latencies, Point, Run, Throughput, busiest, slowest_hz};

/// A rule as wide as perftest's.
const RULE: &str =
    "---------------------------------------------------------------------------------------";

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

/// What perftest would print of the results.
pub(super) fn as_perftest(run: &Run) -> String {
    let mut lines = banner(run);
    lines.extend(table(run));
    lines.push(RULE.to_owned());
    lines.join("\n") + "\n"
}

fn banner(run: &Run) -> Vec<String> {
    let mut lines = vec![
        RULE.to_owned(),
        format!("                    {}", run.title()),
        format!(" Server          : {}", run.server),
        format!(" Streams         : {}", run.task.streams),
    ];
    if let Some(sizes) = uncopied(run) {
        lines.push(format!(" Zero copy       : {sizes} bytes"));
    }
    lines.push(RULE.to_owned());
    lines
}

/// The sizes that were sent without a copy.
pub(super) fn uncopied(run: &Run) -> Option<String> {
    let uncopied: Vec<&Point> = run.points.iter().filter(|it| it.zero_copy).collect();
    (!uncopied.is_empty()).then(|| spans(&run.points, &uncopied))
}

fn table(run: &Run) -> Vec<String> {
    let heading = match run.task.test {
        Test::WriteBw | Test::ReadBw | Test::SendBw => {
            " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]"
        }
        Test::Latency => {
            " #bytes     #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   \
             99% percentile[usec]   99.9% percentile[usec]"
        }
    };
    let row = |point: &Point| match &point.figure {
        Figure::Throughput(moved) => bandwidth(&moved.bandwidth(point.message)),
        Figure::Latencies(latencies) => latency(point, latencies),
    };
    std::iter::once(heading.to_owned()).chain(run.points.iter().map(row)).collect()
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

    #[test]
    fn csv_has_as_many_cells_as_names() {
        for run in [fixture::bandwidth(), fixture::latency(), fixture::rdma()] {
            let text = csv(&run);
            let n_cells: Vec<usize> = text.lines().map(|it| it.split(',').count()).collect();
            assert!(n_cells.iter().all(|it| *it == n_cells[0]), "{text}");
        }
    }
}
