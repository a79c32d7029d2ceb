//! A table as turbostat prints it: for each interval the headings, a line for the machine, for each package and for
//! each CPU.

use super::selection::{Key, Selection};
use crate::harmless::harmless;
use facts::Missing;
use facts::utc::clock_time;
use rules::watch::{Cell, Machine, Part, Reading, Row, Shown, number, reason};

/// A table that grows by an interval at a time. Its columns are those of the first.
pub struct Table {
    machine: Machine,
    selection: Selection,
    columns: Option<Vec<Printed>>,
}

/// A column from one interval to the next.
struct Printed {
    key: Key,
    heading: String,
    width: usize,
}

impl Table {
    /// A table without a line yet.
    pub fn new(machine: Machine, selection: Selection) -> Table {
        Table { machine, selection, columns: None }
    }

    /// The lines of one more interval.
    pub fn lines(&mut self, reading: &Reading) -> String {
        let printed = || self.selection.columns(reading).into_iter().map(Printed::of).collect();
        let columns = self.columns.get_or_insert_with(printed);
        let shown: Vec<Option<Shown>> =
            columns.iter().map(|it| Shown::find(reading, it.key.0, &it.key.1)).collect();
        let mut text = String::from("Time     CPU  ");
        for Printed { heading, width, .. } in columns.iter() {
            push(&mut text, heading, *width);
        }
        text.push('\n');
        let time = clock_time(reading.at.real_ns);
        let mut rows = vec![Row::Host];
        rows.extend(self.machine.packages(&reading.cpus));
        rows.extend(reading.cpus.iter().map(Row::Cpu));
        for row in rows {
            let label = format!("{time} {:<5}", row.label());
            text.push_str(&label);
            for (column, it) in columns.iter().zip(&shown) {
                push(&mut text, &cell(it.as_ref(), row, &self.machine, reading), column.width);
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }

    /// What is missing of the first reading, and so has no column: the ids, by reason.
    pub fn left_out(&self, first: &Reading) -> Vec<String> {
        let mut reasons: Vec<(&Missing, Vec<&str>)> = Vec::new();
        let is_shown = |id: &str| {
            self.selection.is_explicit()
                && self.selection.columns(first).iter().all(|it| it.0.id != id)
        };
        for column in first.columns.iter().filter(|it| !is_shown(it.metric.id)) {
            let Some(missing) = column.missing() else { continue };
            match reasons.iter_mut().find(|(reason, _)| *reason == missing) {
                Some((_, ids)) => ids.push(column.metric.id),
                None => reasons.push((missing, vec![column.metric.id])),
            }
        }
        let line = |(missing, ids): (&Missing, Vec<&str>)| {
            format!("not known here: {}: {}", ids.join(", "), reason(missing))
        };
        reasons.into_iter().map(line).collect()
    }
}

impl Printed {
    fn of(key: Key) -> Printed {
        /// As turbostat's columns are.
        const NARROWEST: usize = 7;
        let heading = heading(&key);
        Printed { width: heading.chars().count().max(NARROWEST), heading, key }
    }
}

fn cell(column: Option<&Shown>, row: Row, machine: &Machine, reading: &Reading) -> String {
    match column.map(|it| (it, it.cell(row, machine, reading))) {
        None | Some((_, Cell::Missing(_))) => "-".to_owned(),
        Some((_, Cell::Blank)) => String::new(),
        Some((column, Cell::Known { value, without })) => {
            let mark = if without.is_some() { "*" } else { "" };
            format!("{}{mark}", number(column.metric.unit, value))
        }
    }
}

/// Appends a cell of at least this width.
fn push(line: &mut String, cell: &str, width: usize) {
    let fill = width.saturating_sub(cell.chars().count());
    line.extend(std::iter::repeat_n(' ', fill + 1));
    line.push_str(cell);
}

/// Of a part, no more than a table has room for; it holds no blank, so that awk and cut count columns right.
fn heading((metric, part): &Key) -> String {
    let heading = match part {
        Part::Whole => metric.heading(""),
        Part::Named(part) => metric.heading(part),
    };
    harmless(&heading).replace(char::is_whitespace, "_")
}
