//! A ledger as CSV: of each line a row for all CPUs together, whose `cpu` is empty, and then a row for each CPU.
//!
//! `share` is of the time of what the row is about: of all CPUs, or of that CPU. The rows of one CPU add up to its time, and the rows
//! without a CPU to the time of all, with `unexplained`, the last line. Unknown values are empty, and `missing` says why.

use crate::harmless::{csv_cell, csv_line};
use facts::Missing;
use rules::ledger::{Ledger, Line};

const HEADING: &str = "loss,part,kind,cpu,time_s,share,uncertainty_s,method,source,missing\n";

/// Every line, in display order.
pub fn csv(ledger: &Ledger) -> String {
    let rows = ledger.lines.iter().flat_map(|it| rows(ledger, it));
    let lines: String = rows.chain(unexplained(ledger)).map(Row::line).collect();
    HEADING.to_owned() + &lines
}

/// What is `None` or empty stays empty.
#[derive(Default)]
struct Row<'a> {
    names: [&'a str; 3],
    cpu: Option<u32>,
    ns: Option<i64>,
    /// The time that its share is of, in nanoseconds.
    whole_ns: f64,
    uncertainty_ns: Option<u64>,
    method: &'static str,
    source: &'a str,
    missing: Option<&'a Missing>,
}

impl Row<'_> {
    fn line(self) -> String {
        let [loss, part, kind] = self.names.map(str::to_owned);
        csv_line(&[
            loss,
            part,
            kind,
            csv_cell(self.cpu),
            csv_cell(self.ns.map(|it| it as f64 / 1e9)),
            csv_cell(self.ns.map(|it| it as f64 / self.whole_ns.max(1.0))),
            csv_cell(self.uncertainty_ns.map(|it| it as f64 / 1e9)),
            self.method.to_owned(),
            self.source.to_owned(),
            csv_cell(self.missing),
        ])
    }
}

/// Of all CPUs, of each that has some of it, and of each of which it is unknown.
fn rows<'a>(ledger: &Ledger, line: &'a Line) -> impl Iterator<Item = Row<'a>> {
    let names = [line.loss.id, &*line.part, line.loss.kind.name()];
    let of_all = Row {
        names,
        ns: line.ns.as_ref().ok().copied(),
        whole_ns: ledger.capacity_ns() as f64,
        uncertainty_ns: line.ns.is_ok().then_some(line.uncertainty_ns),
        method: line.method.name(),
        source: &line.source,
        missing: line.ns.as_ref().err(),
        ..Row::default()
    };
    let whole_ns = ledger.wall_ns as f64;
    let known = line.cpus.iter().map(move |&(cpu, ns)| Row {
        names,
        cpu: Some(cpu),
        ns: Some(ns),
        whole_ns,
        ..Row::default()
    });
    let missing = line.missing.iter().map(move |(cpu, missing)| Row {
        names,
        cpu: Some(*cpu),
        missing: Some(missing),
        ..Row::default()
    });
    std::iter::once(of_all).chain(known).chain(missing)
}

fn unexplained(ledger: &Ledger) -> impl Iterator<Item = Row<'_>> {
    let row = |cpu, ns, whole_ns| Row {
        names: ["unexplained", "", ""],
        cpu,
        ns: Some(ns),
        whole_ns,
        ..Row::default()
    };
    let whole_ns = ledger.wall_ns as f64;
    let of_each = ledger.unexplained.iter();
    let of_each = of_each.map(move |&(cpu, ns)| row(Some(cpu), ns, whole_ns));
    std::iter::once(row(None, ledger.unexplained_ns, ledger.capacity_ns() as f64)).chain(of_each)
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::{Missing, PerCpu};
    use rules::loss::Method;
    use rules::losses::LOSSES;

    fn line(id: &str, part: &str, cpus: &[(u32, i64)]) -> Line {
        let loss = LOSSES.iter().find(|it| it.id == id).unwrap();
        Line {
            loss,
            part: part.to_owned(),
            ns: Ok(cpus.iter().map(|it| it.1).sum()),
            method: Method::Counter,
            source: "/proc/schedstat".to_owned(),
            uncertainty_ns: 1_000_000,
            interrupted_ns: None,
            on_top_of: Vec::new(),
            party: None,
            cpus: cpus.to_vec(),
            missing: Vec::new(),
            findings: Vec::new(),
        }
    }

    #[test]
    fn each_line_has_a_row_for_all_cpus_and_one_for_each() {
        let mut unknown = line("idle-exits", "", &[]);
        unknown.ns = Err(Missing::denied("perf event power:cpu_idle"));
        let mut stolen = line("stolen", "", &[(0, 100_000_000)]);
        stolen.missing.push((1, Missing::absent("/proc/stat, cpu1")));
        let ledger = Ledger {
            cpus: [0, 1].into_iter().collect(),
            wall_ns: 1_000_000_000,
            reference: Err(Missing::absent("a clock")),
            references: PerCpu::default(),
            lines: vec![
                line("useful", "=cmd, x", &[(0, 700_000_000), (1, 1_000_000_000)]),
                stolen,
                unknown,
            ],
            unexplained_ns: 200_000_000,
            unexplained: vec![(0, 200_000_000), (1, 0)],
            waiting: None,
            loads: None,
            notes: Vec::new(),
        };
        insta::assert_snapshot!(csv(&ledger));
    }
}
