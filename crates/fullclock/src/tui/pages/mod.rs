//! Pages of text instead of the table: every line of the ledger, findings, a column, what is unknown here, the keys.

mod help;
mod ledger;

use super::findings::Findings;
use super::message::Page;
use super::order::Level;
use super::text::wrap;
use facts::Missing;
use rules::metric::Metric;
use rules::watch::{Column, Reading, reason};

/// What pages are about.
pub(super) struct Subject<'a> {
    pub(super) reading: Option<&'a Reading>,
    pub(super) findings: Option<&'a Findings>,
    /// The metric of the column under the cursor.
    pub(super) metric: Option<&'static Metric>,
    /// How fine rows can be here.
    pub(super) levels: Vec<Level>,
}

/// The lines of a page, no longer than `columns` where its words allow it.
pub(super) fn lines(page: Page, subject: &Subject, columns: usize) -> Vec<String> {
    let reading = subject.reading;
    match page {
        Page::Table => Vec::new(),
        Page::Help => help::lines(&subject.levels, columns),
        Page::Missing => wrapped(&reading.map(missing).unwrap_or_default(), columns),
        Page::Ledger => reading.map(|it| ledger::lines(it, columns)).unwrap_or_default(),
        Page::Metric => subject.metric.map(|it| metric(it, columns)).unwrap_or_default(),
        Page::Findings => match subject.findings {
            // Commands and paths are longer than the screen.
            Some(it) => {
                it.page(columns).iter().flat_map(|it| hanging(it, FINDING, columns)).collect()
            }
            None => vec!["auditing ...".to_owned()],
        },
    }
}

/// Lines that are too long go on below where they begin.
fn wrapped(lines: &[String], columns: usize) -> Vec<String> {
    let wrap = |line: &String| hanging(line, line.len() - line.trim_start().len(), columns);
    lines.iter().flat_map(wrap).collect()
}

/// A line that goes on at column `indent`, where there is room for that.
fn hanging(line: &str, indent: usize, columns: usize) -> Vec<String> {
    wrap(line, columns, &" ".repeat(indent.min(columns / 2)))
}

/// Where the text of a finding stands.
const FINDING: usize = 11;

/// Longer lines are hard to read.
const WIDEST_TEXT: usize = 100;

/// What a column is, at length.
fn metric(metric: &Metric, columns: usize) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", metric.id, metric.title), String::new()];
    lines.extend(metric.documentation().lines().map(str::to_owned));
    lines.extend(metric.limits.describe(metric.unit).map(|it| format!("\n{it}")));
    let lines: Vec<String> =
        lines.iter().flat_map(|it| it.split('\n').map(str::to_owned)).collect();
    wrapped(&lines, columns.min(WIDEST_TEXT))
}

/// Metrics without a value, together where they have the same reason.
fn missing(reading: &Reading) -> Vec<String> {
    let mut reasons: Vec<(&Missing, Vec<String>)> = Vec::new();
    for column in &reading.columns {
        let Some(missing) = column.missing() else { continue };
        let name = name(column);
        match reasons.iter_mut().find(|(reason, _)| *reason == missing) {
            Some((_, names)) => names.push(name),
            None => reasons.push((missing, vec![name])),
        }
    }
    if reasons.is_empty() {
        return vec!["Every metric has a value here.".to_owned()];
    }
    let mut lines = vec!["Metrics without a value on this machine".to_owned(), String::new()];
    for (missing, names) in reasons {
        lines.push(names.join(", "));
        lines.push(format!("    {}", reason(missing)));
    }
    lines
}

fn name(column: &Column) -> String {
    format!("{} {}", column.metric.id, column.part()).trim_end().to_owned()
}
