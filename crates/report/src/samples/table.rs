//! Readings as a table in the format of turbostat: per interval a line for the machine, each package and each CPU, below headings
//! that come once, on a terminal again on each screen. Columns are those requested, or those that the first reading has.

use crate::harmless::harmless;
use anyhow::{Result, bail};
use facts::Missing;
use facts::utc::clock_time;
use rules::metric::{Metric, Unit};
use rules::metrics::METRICS;
use rules::watch::{
    Cell, Column, Machine, Part, Reading, Row, Shown, View, find_metric, number, reason,
    shown_columns,
};

/// A table that grows by an interval at a time. Its columns are those of the first.
pub struct Table {
    machine: Machine,
    selection: Selection,
    columns: Option<Vec<Printed>>,
    /// The heading of the client's column, where the first interval has a client.
    client: Option<String>,
    /// The lines of a screen; none where nobody scrolls.
    screen: Option<usize>,
    /// The lines since the headings.
    since: usize,
}

/// A column from one interval to the next.
struct Printed {
    key: Key,
    heading: String,
    width: usize,
}

impl Table {
    /// A table without a line yet, for a screen of so many lines.
    pub fn new(machine: Machine, selection: Selection, screen: Option<usize>) -> Table {
        Table { machine, selection, columns: None, client: None, screen, since: 0 }
    }

    /// The lines of one more interval.
    pub fn lines(&mut self, reading: &Reading) -> String {
        let is_first = self.columns.is_none();
        let printed = || self.selection.columns(reading).into_iter().map(Printed::of).collect();
        let columns = self.columns.get_or_insert_with(printed);
        if is_first {
            self.client = reading.client.as_ref().map(|it| one_word(&it.heading()));
        }
        let shown: Vec<Option<Shown>> =
            columns.iter().map(|it| Shown::find(reading, it.key.0, &it.key.1)).collect();
        let time = clock_time(reading.at.real_ns);
        let mut rows = vec![Row::Host];
        rows.extend(self.machine.packages(&reading.cpus));
        rows.extend(reading.cpus.iter().map(Row::Cpu));
        let mut text = String::new();
        let is_off_screen = self.screen.is_some_and(|it| self.since + rows.len() >= it);
        if is_first || is_off_screen {
            text.push_str("Time     CPU  ");
            for Printed { heading, width, .. } in columns.iter() {
                push(&mut text, heading, *width);
            }
            self.client.iter().for_each(|it| push(&mut text, it, NARROWEST));
            text.push('\n');
            self.since = 1;
        }
        self.since += rows.len();
        for row in rows {
            let label = format!("{time} {:<5}", row.label());
            text.push_str(&label);
            for (column, it) in columns.iter().zip(&shown) {
                push(&mut text, &cell(it.as_ref(), row, &self.machine, reading), column.width);
            }
            if let (Row::Host, Some(heading)) = (row, &self.client) {
                push(&mut text, &of_client(reading), heading.chars().count().max(NARROWEST));
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }

    /// Metrics without a column because the first reading lacks them: of those that were requested ids by reason, else how many
    /// there are.
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
        if !self.selection.is_explicit() && !reasons.is_empty() {
            let mut ids: Vec<&str> = reasons.into_iter().flat_map(|(_, ids)| ids).collect();
            ids.sort_unstable();
            ids.dedup();
            let of = if ids.len() == 1 { "metric is" } else { "metrics are" };
            return vec![format!(
                "{} {of} unknown here: `--json` has the reason of each",
                ids.len()
            )];
        }
        let line = |(missing, ids): (&Missing, Vec<&str>)| {
            format!("unknown here: {}: {}", ids.join(", "), reason(missing))
        };
        reasons.into_iter().map(line).collect()
    }
}

/// The width of turbostat's columns.
const NARROWEST: usize = 7;

impl Printed {
    fn of(key: Key) -> Printed {
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

/// The client's value in the interval.
fn of_client(reading: &Reading) -> String {
    let value = reading.client.as_ref().and_then(|it| it.value.as_ref().ok());
    value.map_or_else(|| "-".to_owned(), |it| number(Unit::PerSecond, *it))
}

/// Appends a cell of at least this width.
fn push(line: &mut String, cell: &str, width: usize) {
    let fill = width.saturating_sub(cell.chars().count());
    line.extend(std::iter::repeat_n(' ', fill + 1));
    line.push_str(cell);
}

/// A part's name, cut to fit and without blanks, so that awk and cut count columns correctly.
fn heading((metric, part): &Key) -> String {
    let heading = match part {
        Part::Whole => metric.heading(""),
        Part::Named(part) => metric.heading(part),
    };
    one_word(&heading)
}

fn one_word(heading: &str) -> String {
    harmless(heading).replace(char::is_whitespace, "_")
}

/// The requested columns.
#[derive(Debug)]
pub struct Selection(Vec<Chosen>);

/// A metric with all its parts, or one part of it.
struct Chosen {
    metric: &'static Metric,
    part: Option<String>,
}

impl std::fmt::Debug for Chosen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.metric.id, self.part)
    }
}

/// A column from one reading to the next.
pub(super) type Key = (&'static Metric, Part);

impl Selection {
    /// Parses ids of metrics in the order of columns; `interrupts:LOC` is one part of a metric. Without ids, all known metrics.
    ///
    /// Fails on an unknown id and suggests similar ones.
    pub fn parse(ids: &[String]) -> Result<Selection> {
        let chosen = |text: &String| {
            let (id, part) = match text.split_once(':') {
                Some((id, part)) => (id, Some(part.to_owned())),
                None => (text.as_str(), None),
            };
            match find_metric(id.trim()) {
                Some(metric) => Ok(Chosen { metric, part }),
                None => bail!("{}", nobody_knows(id.trim())),
            }
        };
        ids.iter().map(chosen).collect::<Result<Vec<_>>>().map(Selection)
    }

    /// The columns of a table that starts with this reading.
    pub(super) fn columns(&self, first: &Reading) -> Vec<Key> {
        let of = |it: &Shown| (it.metric, it.part.clone());
        let all = shown_columns(first, &Default::default());
        if self.0.is_empty() {
            return all.iter().filter(|it| it.is_known()).map(of).collect();
        }
        let chosen = |Chosen { metric, part }: &Chosen| match part {
            Some(part) => vec![(*metric, Part::Named(part.clone()))],
            None => all.iter().filter(|it| it.metric.id == metric.id).map(of).collect(),
        };
        self.0.iter().flat_map(chosen).collect()
    }

    /// The view of each interval that it needs; with a ledger if an observer is given ([`View::ledger`]).
    pub fn view(&self, ledger: Option<u32>) -> View {
        let is_chosen = |metric: &Metric| self.0.iter().any(|it| it.metric.id == metric.id);
        let view = View::of_metrics(|it| self.0.is_empty() || is_chosen(it));
        View { ledger, ..view }
    }

    /// Whether a column is selected.
    pub fn has(&self, column: &Column) -> bool {
        let is_it = |it: &Chosen| {
            it.metric.id == column.metric.id
                && it.part.as_deref().is_none_or(|part| part == column.part())
        };
        self.0.is_empty() || self.0.iter().any(is_it)
    }

    /// Whether the user has named columns.
    pub(super) fn is_explicit(&self) -> bool {
        !self.0.is_empty()
    }
}

/// The error for an unknown id.
fn nobody_knows(id: &str) -> String {
    let shown: String = id.chars().take(60).collect();
    let id = id.to_lowercase().replace('_', "-");
    let has_heading = |it: &&&Metric| it.column.to_lowercase().replace('_', "-") == id;
    let resembles = |it: &&&Metric| {
        it.id.split('-').any(|word| word.len() > 2 && id.contains(word))
            || (id.len() > 2 && it.id.contains(&id))
    };
    let mut near: Vec<&str> = METRICS.iter().filter(has_heading).map(|it| it.id).collect();
    if near.is_empty() {
        near = METRICS.iter().filter(resembles).map(|it| it.id).collect();
    }
    if near.is_empty() {
        return format!("there is no metric {shown:?}: `fullclock explain` lists the ids");
    }
    format!("there is no metric {shown:?}; did you mean {}?", near.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::watch::fake;

    fn refusal(id: &str) -> String {
        Selection::parse(&[id.to_owned()]).unwrap_err().to_string()
    }

    /// Which lines of four intervals of a machine with two CPUs are headings.
    fn headings(screen: Option<usize>) -> Vec<usize> {
        let mut table = Table::new(Machine::default(), Selection::parse(&[]).unwrap(), screen);
        let text: String = (0..4).map(|at| table.lines(&fake::reading(2, at))).collect();
        let lines = text.lines().enumerate();
        lines.filter(|(_, line)| line.starts_with("Time")).map(|(at, _)| at).collect()
    }

    #[test]
    fn headings_come_once_and_on_a_terminal_again_on_each_screen() {
        assert_eq!(headings(None), [0]);
        assert_eq!(headings(Some(8)), [0, 7]);
    }

    #[test]
    fn a_client_has_the_last_column_and_no_value_in_an_interval_without_one() {
        let mut table = Table::new(Machine::default(), Selection::parse(&[]).unwrap(), None);
        let mut last_cells = |client| {
            let text = table.lines(&Reading { client: Some(client), ..fake::reading(1, 0) });
            let last = |line: &str| line.split_whitespace().next_back().map(str::to_owned);
            text.lines().filter_map(last).collect::<Vec<_>>()
        };
        let known = last_cells(fake::client(Some(2616.04)));
        assert_eq!(known[..2], ["client_tps", "2616"]);
        assert_eq!(last_cells(fake::client(None))[0], "-");
    }

    #[test]
    fn what_is_unknown_is_counted_unless_it_was_requested() {
        let reading = fake::reading(2, 0);
        let left_out = |ids: &[&str]| {
            let ids: Vec<String> = ids.iter().map(|it| (*it).to_owned()).collect();
            let table = Table::new(Machine::default(), Selection::parse(&ids).unwrap(), None);
            table.left_out(&reading)
        };
        assert_eq!(left_out(&[]), ["2 metrics are unknown here: `--json` has the reason of each"]);
        let smi = "unknown here: smi: /dev/cpu/0/msr 0x34 may not be read (run as root)";
        assert_eq!(left_out(&["smi"]), [smi]);
    }

    #[test]
    fn an_unknown_id_names_those_that_are_near() {
        assert!(refusal("busy%").starts_with("there is no metric \"busy%\"; did you mean busy"));
        assert!(refusal("Bzy_MHz").contains("did you mean busy-mhz"));
        assert!(refusal("xyzzy").contains("`fullclock explain` lists the ids"));
    }
}
