//! What CPUs lost as CSV (RFC 4180, with lines that end as Unix has it), a line for each value.
//!
//! `row` says what a line is: `watched`, `lost`, `own`, `step`, `floor`, a `percentile` of the lengths of gaps, a
//! `cause`, one of the `longest` gaps, a `bucket` of the histogram, or `unwatched` of a CPU that has none of these. In a line of `longest` `from_ns`
//! and `to_ns` are counted from when the first CPU was watched; in one of `bucket` they are lengths.

use super::Report;
use crate::harmless::csv_field;
use rules::noise::CpuNoise;

const HEADER: &str = "cpu,row,name,from_ns,to_ns,count,ns,share,missing\n";

/// Of the whole report.
pub fn noise(report: &Report<'_>) -> String {
    let mut text = HEADER.to_owned();
    for cpu in &report.noise.cpus {
        put_cpu(&mut text, report, cpu);
    }
    for (cpu, missing) in &report.noise.unwatched {
        let missing = missing.to_string();
        Line { row: "unwatched", missing: &missing, ..Line::default() }.put(&mut text, *cpu);
    }
    text
}

/// One line; what is `None` or empty stays empty.
#[derive(Clone, Copy, Default)]
struct Line<'a> {
    row: &'static str,
    name: &'a str,
    from_ns: Option<u64>,
    to_ns: Option<u64>,
    count: Option<u64>,
    ns: Option<f64>,
    share: Option<f64>,
    missing: &'a str,
}

impl Line<'_> {
    fn put(&self, text: &mut String, cpu: u32) {
        let whole = |number: Option<u64>| number.map(|it| it.to_string()).unwrap_or_default();
        let ns = self.ns.map(|it| format!("{}", (it * 10.0).round() / 10.0)).unwrap_or_default();
        let share = self.share.map(|it| format!("{it:.9}")).unwrap_or_default();
        let (name, missing) = (csv_field(self.name), csv_field(self.missing));
        let (from_ns, to_ns, count) = (whole(self.from_ns), whole(self.to_ns), whole(self.count));
        let fields = [&*name, &from_ns, &to_ns, &count, &ns, &share, &missing].join(",");
        text.extend([&cpu.to_string(), ",", self.row, ",", &fields, "\n"]);
    }
}

fn put_cpu(text: &mut String, report: &Report<'_>, cpu: &CpuNoise) {
    let mut put = |line: Line<'_>| line.put(text, cpu.cpu);
    let ns = |ns: u64| Some(ns as f64);
    let share = |ns| Some(cpu.share(ns));
    put(Line { row: "watched", ns: ns(cpu.wall_ns), ..Line::default() });
    let (lost_ns, own_ns) = (cpu.lost_ns, cpu.own_ns);
    let count = Some(cpu.n_gaps);
    put(Line { row: "lost", count, ns: ns(lost_ns), share: share(lost_ns), ..Line::default() });
    put(Line { row: "own", ns: ns(own_ns), share: share(own_ns), ..Line::default() });
    let missing = cpu.step_ns.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let step_ns = cpu.step_ns.as_ref().ok().copied();
    put(Line { row: "step", ns: step_ns, missing: &missing, ..Line::default() });
    put(Line { row: "floor", ns: ns(cpu.floor_ns), ..Line::default() });
    match &cpu.percentiles {
        Ok(all) => all.named().into_iter().for_each(|(name, length_ns)| {
            put(Line { row: "percentile", name, ns: ns(length_ns), ..Line::default() });
        }),
        Err(why) => {
            put(Line { row: "percentile", missing: &why.to_string(), ..Line::default() });
        }
    }
    for part in &cpu.parts {
        let (name, taken) = (part.taker.to_string(), part.taken);
        let count = Some(taken.count).filter(|it| *it > 0);
        let share = share(taken.ns);
        put(Line { row: "cause", name: &name, count, ns: ns(taken.ns), share, ..Line::default() });
    }
    put_gaps(text, report, cpu);
}

fn put_gaps(text: &mut String, report: &Report<'_>, cpu: &CpuNoise) {
    for gap in &cpu.longest {
        let from_ns = report.since_start_ns(gap.at_ns);
        let takers = gap.takers.as_deref().unwrap_or_default();
        let name = takers.first().map(|(taker, _)| taker.to_string()).unwrap_or_default();
        let missing = if gap.takers.is_none() { "nothing was traced" } else { "" };
        let line = Line {
            row: "longest",
            name: &name,
            from_ns: Some(from_ns),
            to_ns: Some(from_ns.saturating_add(gap.length_ns)),
            ns: Some(gap.length_ns as f64),
            share: Some(cpu.share(gap.length_ns)),
            missing,
            ..Line::default()
        };
        line.put(text, cpu.cpu);
    }
    for bucket in cpu.histogram.buckets() {
        let line = Line {
            row: "bucket",
            from_ns: Some(bucket.from_ns),
            to_ns: bucket.below_ns,
            count: Some(bucket.count),
            ns: Some(bucket.ns as f64),
            share: Some(cpu.share(bucket.ns)),
            ..Line::default()
        };
        line.put(text, cpu.cpu);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn every_value_has_a_line_and_a_cpu_that_was_not_watched_its_reason() {
        let text = fixture::with_report(noise);
        assert_eq!(
            text,
            "\
cpu,row,name,from_ns,to_ns,count,ns,share,missing
1,watched,,,,,1000000000,,
1,lost,,,,3,23000,0.000023000,
1,own,,,,,50000,0.000050000,
1,step,,,,,18.2,,
1,floor,,,,,40,,
1,percentile,p50,,,,2000,,
1,percentile,p90,,,,50000,,
1,percentile,p99,,,,50000,,
1,percentile,p99.9,,,,50000,,
1,percentile,longest,,,,50000,,
1,cause,fullclock itself,,,1,50000,0.000050000,
1,cause,task evil\u{fffd} (40),,,1,21000,0.000021000,
1,cause,timer tick,,,1,2000,0.000002000,
1,longest,fullclock itself,4000000,4050000,,50000,0.000050000,
1,longest,,5000000,5021000,,21000,0.000021000,nothing was traced
1,bucket,,2000,5000,1,2000,0.000002000,
1,bucket,,5000,10000,0,0,0.000000000,
1,bucket,,10000,20000,0,0,0.000000000,
1,bucket,,20000,50000,1,21000,0.000021000,
1,bucket,,50000,100000,1,50000,0.000050000,
7,unwatched,,,,,,,CPU 7 does not exist
"
        );
    }
}
