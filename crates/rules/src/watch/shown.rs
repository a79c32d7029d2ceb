//! Which columns a table shows: a metric's parts side by side, or as one sum.

use super::cell::{self, Cell, cell, parts_add_up};
use super::{Column, Machine, Reading, Row};
use crate::metric::Metric;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One column of the table.
pub struct Shown<'a> {
    /// The metric that the column shows.
    pub metric: &'static Metric,
    /// Which part of it.
    pub part: Part,
    /// What it is made of: one, but for a sum; none for a part that nothing has happened to.
    columns: Vec<&'a Column>,
    /// Another part of the metric, which says of which rows there is a value.
    sibling: Option<&'a Column>,
}

/// What of a metric a column shows. Identifies the column from one reading to the next, with the metric's id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// All of it: a metric that is one thing, or the sum of its parts.
    Whole,
    /// One part, by name.
    Named(String),
}

impl<'a> Shown<'a> {
    /// The column that shows `part` of a metric; nothing where the reading has none.
    pub fn find(reading: &'a Reading, metric: &'static Metric, part: &Part) -> Option<Shown<'a>> {
        let of_metric = || reading.columns.iter().filter(|it| it.metric.id == metric.id);
        let is_it = |it: &&Column| match part {
            Part::Whole => it.part().is_empty() || parts_add_up(metric),
            Part::Named(name) => it.part() == name,
        };
        let columns: Vec<&Column> = of_metric().filter(is_it).collect();
        // A part that nothing has happened to is left out of a reading.
        let sibling = of_metric().next().filter(|_| parts_add_up(metric));
        (!columns.is_empty() || sibling.is_some()).then(|| Shown {
            metric,
            part: part.clone(),
            columns,
            sibling,
        })
    }

    /// What the column says of a row of the reading it is of.
    pub fn cell(&self, row: Row, machine: &Machine, reading: &Reading) -> Cell {
        let of = |it: &&Column| cell(it, row, machine, &reading.cpus);
        match self.columns[..] {
            [] => match self.sibling.as_ref().map_or(Cell::Blank, of) {
                Cell::Known { .. } => Cell::Known { value: 0.0, without: None },
                other => other,
            },
            [column] => of(&column),
            _ => cell::sum(self.columns.iter().map(of)),
        }
    }

    /// The column's heading; a plus says that it opens into parts.
    pub fn heading(&self) -> Cow<'static, str> {
        match &self.part {
            Part::Whole if self.has_parts() => format!("{}+", self.metric.column).into(),
            Part::Whole => self.metric.column.into(),
            Part::Named(part) => self.metric.heading(part).into(),
        }
    }

    /// The column's name in a sentence: `interrupts LOC`.
    pub fn name(&self) -> String {
        match &self.part {
            Part::Whole if self.has_parts() => {
                format!("{}, the sum of {} parts", self.metric.id, self.columns.len())
            }
            Part::Whole => self.metric.id.to_owned(),
            Part::Named(part) => format!("{} {part}", self.metric.id),
        }
    }

    /// Whether it is a sum that can be opened.
    pub fn has_parts(&self) -> bool {
        self.part == Part::Whole && self.columns.iter().any(|it| !it.part().is_empty())
    }

    /// Whether some row has a value, or may have one in the next interval.
    pub fn is_known(&self) -> bool {
        self.columns.iter().chain(&self.sibling).any(|it| it.missing().is_none())
    }
}

/// Metrics whose parts stand side by side, with the parts that have been seen.
pub type Expanded = BTreeMap<&'static str, Vec<String>>;

/// The columns to show of `reading`: the parts of a metric as one sum where they add up, side by side where they
/// do not or the metric is expanded.
pub fn shown_columns<'a>(reading: &'a Reading, expanded: &Expanded) -> Vec<Shown<'a>> {
    let mut shown: Vec<Shown> = Vec::new();
    for column in &reading.columns {
        let metric = column.metric;
        let is_first = shown.last().is_none_or(|it| it.metric.id != metric.id);
        match expanded.get(metric.id) {
            Some(parts) if is_first => {
                let named = parts.iter().map(|it| Part::Named(it.clone()));
                shown.extend(named.filter_map(|it| Shown::find(reading, metric, &it)));
            }
            Some(_) => {}
            None if parts_add_up(metric) || column.part().is_empty() => {
                if is_first {
                    shown.extend(Shown::find(reading, metric, &Part::Whole));
                }
            }
            None => {
                let part = Part::Named(column.part().to_owned());
                shown.push(Shown { metric, part, columns: vec![column], sibling: None });
            }
        }
    }
    shown
}

/// Adds the parts of `reading` that an expanded metric has not had yet.
pub fn see_parts(expanded: &mut Expanded, reading: &Reading) {
    /// The names of kernel threads have no end.
    const MOST: usize = 64;
    for column in &reading.columns {
        let Some(parts) = expanded.get_mut(column.metric.id) else { continue };
        let part = column.part();
        if !part.is_empty() && parts.len() < MOST && parts.iter().all(|it| it != part) {
            parts.push(part.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::fake;

    fn shown(reading: &Reading, expanded: &Expanded) -> Vec<String> {
        shown_columns(reading, expanded).iter().map(|it| it.heading().into_owned()).collect()
    }

    #[test]
    fn parts_that_add_up_are_one_column_until_they_are_expanded() {
        let reading = fake::reading(2, 0);
        assert!(shown(&reading, &Expanded::new()).contains(&"IRQ/s+".to_owned()));
        let mut expanded = Expanded::from([("interrupts", Vec::new())]);
        see_parts(&mut expanded, &reading);
        assert!(shown(&reading, &expanded).contains(&"IRQ/s:LOC".to_owned()));
    }

    #[test]
    fn a_part_that_nothing_happened_to_keeps_its_column_and_has_none() {
        let mut reading = fake::reading(2, 0);
        let mut expanded = Expanded::from([("interrupts", Vec::new())]);
        see_parts(&mut expanded, &reading);
        reading.columns.retain(|it| it.part() != "LOC");
        let columns = shown_columns(&reading, &expanded);
        let column = columns.iter().find(|it| it.heading() == "IRQ/s:LOC").unwrap();
        let cell = |row| column.cell(row, &Machine::fake(1, 2), &reading).value();
        assert_eq!((cell(Row::Host), cell(Row::Cpu(1))), (Some(0.0), Some(0.0)));
    }
}
