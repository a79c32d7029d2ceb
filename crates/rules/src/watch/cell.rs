//! One column of the table, and one cell: what a column says of a row.

use super::{Machine, Row};
use crate::metric::{Kind, Metric, Series, Summary, Unit, Values};
use facts::{CpuSet, Fact, Missing, Why};

/// One metric, or one part of it.
#[derive(Clone)]
pub struct Column {
    /// The metric whose values the column shows.
    pub metric: &'static Metric,
    /// The values, or why there are none.
    pub series: Fact<Series>,
}

impl Column {
    /// Which part of the metric it is; empty where that is one thing.
    pub fn part(&self) -> &str {
        self.series.as_ref().map_or("", |it| &it.part)
    }

    /// Why there is no value in it and will be none; nothing where there is one or may be in the next interval, as
    /// the busy clock of a CPU that was idle.
    pub fn missing(&self) -> Option<&Missing> {
        let values = match &self.series {
            Err(missing) => return Some(missing),
            Ok(series) => &series.values,
        };
        match values {
            Values::Host(fact) => fact.as_ref().err().filter(|it| is_lasting(it)),
            _ => {
                let facts = values.rows()?;
                let is_hopeless = |fact: &Fact<f64>| fact.as_ref().is_err_and(is_lasting);
                facts.iter().all(|(_, it)| is_hopeless(it)).then(|| facts.missing()).flatten()
            }
        }
    }
}

/// Whether a reason is that of the host, and not of one interval.
fn is_lasting(missing: &Missing) -> bool {
    match missing.why {
        Why::Hidden(_) | Why::Absent | Why::Denied | Why::NotCollected => true,
        Why::NotHere(_) | Why::Failed(_) | Why::Malformed { .. } => false,
    }
}

/// Whether the sum of a metric's parts means something. Domains of power contain one another: `package-0/core` is in
/// `package-0`.
pub fn parts_add_up(metric: &Metric) -> bool {
    metric.kind == Kind::Sum && metric.unit != Unit::Watts
}

/// What stands where a row and a column meet.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// The value is known.
    Known {
        /// In the metric's unit.
        value: f64,
        /// Why something that should be part of it is not: one reason of possibly several.
        without: Option<Missing>,
    },
    /// Nobody knows, for this reason.
    Missing(Missing),
    /// The column says nothing of such rows: a package's watts in the row of a CPU.
    Blank,
}

impl Cell {
    /// The value, where it is known.
    pub fn value(&self) -> Option<f64> {
        match self {
            Cell::Known { value, .. } => Some(*value),
            Cell::Missing(_) | Cell::Blank => None,
        }
    }
}

/// What `column` says of `row`.
pub(super) fn cell(column: &Column, row: Row, machine: &Machine, cpus: &CpuSet) -> Cell {
    let series = match &column.series {
        Ok(series) => series,
        Err(missing) => return Cell::Missing(missing.clone()),
    };
    match (&series.values, row) {
        (Values::Host(fact), Row::Host) => one(fact),
        (Values::Host(_), _) | (Values::Packages(_), Row::Core(_) | Row::Cpu(_)) => Cell::Blank,
        (Values::Cpus(values) | Values::Cores(values), Row::Cpu(cpu)) => {
            values.get(cpu).map_or(Cell::Blank, one)
        }
        (values, _) => {
            let members = members(values, row, machine, cpus);
            if members.is_empty() {
                return Cell::Blank;
            }
            match series.over(&members, column.metric.kind) {
                Ok(summary) => several(summary, values, &members),
                Err(missing) => Cell::Missing(missing),
            }
        }
    }
}

fn one(fact: &Fact<f64>) -> Cell {
    match fact {
        Ok(value) => Cell::Known { value: *value, without: None },
        Err(missing) => Cell::Missing(missing.clone()),
    }
}

/// What has no value by nature (the busy clock of an idle CPU) is left out in silence; what is not known is named.
fn several(summary: Summary, values: &Values, members: &CpuSet) -> Cell {
    let unknown = || {
        let facts = members.iter().filter_map(|cpu| values.rows()?.get(cpu));
        facts.filter_map(|it| it.as_ref().err()).find(|it| !it.is_absence()).cloned()
    };
    let without = if summary.missing > 0 { unknown() } else { None };
    Cell::Known { value: summary.value, without }
}

/// The CPUs whose values make up those of `row`. Of a core or a package it is the one that was asked, whichever that
/// was.
fn members(values: &Values, row: Row, machine: &Machine, cpus: &CpuSet) -> CpuSet {
    let members = machine.cpus_of(row, cpus);
    let group = match values {
        Values::Cores(_) => Machine::core_of,
        Values::Packages(_) => Machine::package_of,
        Values::Cpus(_) | Values::Host(_) => return members,
    };
    let is_of_row =
        |cpu: &u32| members.contains(*cpu) || !group(machine, *cpu).and(&members).is_empty();
    let asked = values.rows().into_iter().flat_map(|it| it.iter().map(|(cpu, _)| cpu));
    asked.filter(is_of_row).collect()
}

/// Several parts as one sum, for metrics whose parts add up. A part that is not there adds nothing; one that is
/// not known leaves the sum short of it, and is named.
pub(super) fn sum(cells: impl Iterator<Item = Cell>) -> Cell {
    let (mut total, mut short_of, mut reason) = (None, None, None);
    for cell in cells {
        match cell {
            Cell::Known { value, without } => {
                total = Some(total.unwrap_or(0.0) + value);
                short_of = short_of.or(without);
            }
            Cell::Missing(missing) if missing.is_absence() => reason = reason.or(Some(missing)),
            Cell::Missing(missing) => short_of = short_of.or(Some(missing)),
            Cell::Blank => {}
        }
    }
    match (total, short_of) {
        (Some(value), without) => Cell::Known { value, without },
        (None, Some(missing)) => Cell::Missing(missing),
        (None, None) => reason.map_or(Cell::Blank, Cell::Missing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics;
    use facts::PerCpu;

    fn busy(values: Values) -> Column {
        let metric: &Metric = metrics::find("busy").unwrap();
        Column { metric, series: Ok(Series { part: String::new(), values }) }
    }

    fn facts(facts: &[Fact<f64>]) -> PerCpu<f64> {
        (0..).zip(facts.iter().cloned()).collect()
    }

    fn of(column: &Column, row: Row, cpus: std::ops::Range<u32>) -> Cell {
        cell(column, row, &Machine::fake(2, 4), &cpus.collect())
    }

    #[test]
    fn a_cpu_that_is_not_known_is_named_beside_the_value_of_the_others() {
        let denied = Missing::denied("/dev/cpu/1/msr");
        let column = busy(Values::Cpus(facts(&[Ok(2.0), Err(denied.clone())])));
        let expected = Cell::Known { value: 2.0, without: Some(denied) };
        assert_eq!(of(&column, Row::Host, 0..2), expected);
    }

    #[test]
    fn a_cpu_that_has_no_value_by_nature_is_left_out_in_silence() {
        let idle = Missing::not_here("a busy clock", "the CPU was not busy");
        let column = busy(Values::Cpus(facts(&[Ok(2.0), Err(idle.clone())])));
        assert_eq!(of(&column, Row::Core(0), 0..2), Cell::Known { value: 2.0, without: None });
        assert_eq!(of(&column, Row::Cpu(1), 0..2), Cell::Missing(idle));
    }

    #[test]
    fn a_package_has_its_value_whichever_of_its_cpus_was_asked() {
        let values: PerCpu<f64> = [(0, Ok(80.0)), (4, Ok(90.0))].into_iter().collect();
        let column = busy(Values::Packages(values));
        assert_eq!(of(&column, Row::Package(1), 6..8).value(), Some(90.0));
        assert_eq!(of(&column, Row::Host, 6..8).value(), Some(90.0));
        assert_eq!(of(&column, Row::Host, 0..8).value(), Some(85.0));
        assert_eq!(of(&column, Row::Cpu(4), 0..8), Cell::Blank);
    }

    #[test]
    fn a_sum_says_which_part_it_is_short_of() {
        let (denied, absent) = (Missing::denied("a"), Missing::absent("b"));
        let one = || Cell::Known { value: 1.0, without: None };
        let short = sum([Cell::Missing(denied.clone()), one(), one()].into_iter());
        assert_eq!(short, Cell::Known { value: 2.0, without: Some(denied) });
        assert_eq!(sum([Cell::Missing(absent.clone()), one()].into_iter()), one());
        assert_eq!(sum([Cell::Missing(absent.clone())].into_iter()), Cell::Missing(absent));
        assert_eq!(sum([Cell::Blank].into_iter()), Cell::Blank);
    }
}
