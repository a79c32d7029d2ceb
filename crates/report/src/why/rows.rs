//! The numbers of both recordings: of the table and of JSON.

use super::{over_s, unit_of_work};
use crate::bench::grouped;
use crate::document::{Align, Table, Text};
use crate::wording::{fixed, fixed_change, four_digits};
use facts::{Fact, Missing};
use lab::why::{LoadTimes, Loads, Task, Totals, Why};
use rules::spans::Who;

/// One number of both recordings.
pub(super) struct Row {
    /// What it is.
    pub(super) quantity: Quantity,
    /// What it is called.
    pub(super) label: String,
    /// Of A and of B.
    pub(super) values: [Fact<f64>; 2],
}

/// What a number is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// The client's number.
    Rate,
    /// CPU time for a unit of work, in ms.
    Cost,
    /// A share of the time of all CPUs.
    Share,
    /// Waiting for a CPU: seconds of all tasks together in each second.
    Wait,
    /// The time of a load, in ns.
    Load,
}

/// Tasks that never took as large a share have no row.
const SMALLEST: f64 = 0.001;

/// All rows, in the order of the table.
pub(super) fn rows(why: &Why) -> Vec<Row> {
    let row = |quantity, label: String, of: &dyn Fn(&Totals) -> Fact<f64>| Row {
        quantity,
        label,
        values: why.totals.each_ref().map(of),
    };
    let unit = if why.metric.unit.is_empty() { "client's number" } else { &why.metric.unit };
    let work = unit_of_work(why);
    let mut rows = vec![row(Quantity::Rate, unit.to_owned(), &|it| Ok(it.number()))];
    let is_work = |it: &Task| why.work.has(it);
    let per = format!("CPU time per {work}");
    rows.push(row(Quantity::Cost, per.clone(), &|it| cost_ms(why, it, is_work)));
    for (who, name) in names(why, is_work) {
        let label = format!("{per}: {}", named(who, &name));
        let is_it = |task: &Task| task.who == who && task.name == name;
        rows.push(row(Quantity::Cost, label, &|it| cost_ms(why, it, is_it)));
    }
    rows.push(row(Quantity::Share, "idle".to_owned(), &|it| share(it, &it.lines.idle)));
    for (who, name) in names(why, |it| !is_work(it)) {
        let is_it = |task: &Task| task.who == who && task.name == name;
        let label = format!("other tasks: {name}");
        rows.push(row(Quantity::Share, label, &|it| Ok(it.ran(is_it)? / it.cpus())));
    }
    for (who, label) in [(Who::Client, "client"), (Who::Server, "server")] {
        if why.totals.iter().any(|it| it.tasks.iter().flatten().any(|it| it.who == who)) {
            let label = format!("{label} waits for a CPU");
            rows.push(row(Quantity::Wait, label, &|it| it.waited(|task| task.who == who)));
        }
    }
    let quota = "idle by a CPU quota".to_owned();
    rows.push(row(Quantity::Share, quota, &|it| share(it, &it.lines.quota)));
    rows.push(row(Quantity::Share, "slow clock".to_owned(), &|it| share(it, &it.lines.slow)));
    rows.push(row(Quantity::Share, "stolen".to_owned(), &|it| share(it, &it.lines.stolen)));
    for (from, times) in kinds_of_loads(&why.loads) {
        let values =
            [0, 1].map(|it| times.as_ref().map(|times| times.ns[it]).map_err(Missing::clone));
        rows.push(Row { quantity: Quantity::Load, label: format!("load from {from}"), values });
    }
    rows
}

/// `PostgreSQL backend`, `client pgbench`.
fn named(who: Who, name: &str) -> String {
    if who == Who::Client { format!("client {name}") } else { name.to_owned() }
}

/// The names of tasks that are not negligible in both, those of A first.
fn names(why: &Why, is_wanted: impl Fn(&Task) -> bool) -> Vec<(Who, String)> {
    let mut names = Vec::new();
    for totals in &why.totals {
        for task in totals.tasks.iter().flatten().filter(|it| is_wanted(it)) {
            let name = (task.who, task.name.clone());
            if task.run_s >= SMALLEST * totals.capacity_s && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// CPU time of tasks for each unit of work, in ms.
pub(super) fn cost_ms(why: &Why, of: &Totals, is_wanted: impl Fn(&Task) -> bool) -> Fact<f64> {
    Ok(of.ran(is_wanted)? / (of.number() / over_s(why)) * 1e3)
}

/// Loads by where they came from.
pub(super) fn kinds_of_loads(loads: &Loads) -> [(&'static str, &Fact<LoadTimes>); 2] {
    [("memory", &loads.memory), ("the last-level cache", &loads.last_level)]
}

/// CPU seconds of a line as a share of the time of all CPUs.
pub(super) fn share(of: &Totals, line: &Fact<f64>) -> Fact<f64> {
    line.as_ref().map(|it| it / of.capacity_s).map_err(Missing::clone)
}

pub(super) fn table(rows: &[Row]) -> Table {
    let columns =
        [("", Align::Left), ("A", Align::Right), ("B", Align::Right), ("change", Align::Right)];
    let row = |row: &Row| {
        let [a, b] = row.values.each_ref().map(|it| match it {
            Ok(value) => Text::from(row.quantity.shown(*value)),
            Err(_) => Text::quiet("unknown"),
        });
        vec![crate::harmless::harmless(&row.label).into_owned().into(), a, b, row.change().into()]
    };
    Table::new(&columns, rows.iter().map(row))
}

impl Row {
    fn change(&self) -> String {
        let [Ok(a), Ok(b)] = &self.values else { return String::new() };
        match self.quantity {
            Quantity::Rate | Quantity::Cost | Quantity::Load if *a > 0.0 => {
                format!("{} %", fixed_change((b / a - 1.0) * 100.0, 1))
            }
            Quantity::Rate | Quantity::Cost | Quantity::Load => String::new(),
            Quantity::Share => format!("{} points", fixed_change((b - a) * 100.0, 1)),
            Quantity::Wait => format!("{} s/s", fixed_change(b - a, 2)),
        }
    }
}

impl Quantity {
    pub(super) fn shown(self, value: f64) -> String {
        match self {
            Quantity::Rate => rate(value),
            Quantity::Cost => cost(value),
            Quantity::Share => format!("{} %", fixed(value * 100.0, 1)),
            Quantity::Wait => format!("{} s/s", fixed(value, 2)),
            Quantity::Load => format!("{value:.1} ns"),
        }
    }
}

/// A time in ms, in the unit that leaves it digits: of a load or a hash it is less than a microsecond.
fn cost(ms: f64) -> String {
    match ms.abs() {
        0.0 => "0 ms".to_owned(),
        0.01.. => format!("{} ms", four_digits(ms)),
        0.000_01.. => format!("{} us", four_digits(ms * 1e3)),
        _ => format!("{} ns", four_digits(ms * 1e6)),
    }
}

/// `43,391`, `61.04`: whole from a thousand on.
pub(super) fn rate(value: f64) -> String {
    if value < 1000.0 { four_digits(value) } else { grouped(value.round() as u64) }
}
