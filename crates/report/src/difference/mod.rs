//! In what two machines differ, or one before and after: firmware, kernel, findings, settings, facts.

mod json;
#[cfg(test)]
mod tests;

pub(crate) use json::DiffDocument;
pub use json::json;

use crate::bench::{grouped, quantity};
use crate::document::{Align, Block, Document, Table, Text};
use crate::fleet::words;
use crate::wording::fixed_change;
use fleet::{Comparison, Difference, Figure, Kind, Machine, Measured, Untold};
use std::sync::Arc;

/// Two machines, or one at two times.
pub struct Report<'a> {
    /// What A and B are called.
    pub names: [&'a str; 2],
    /// What is known of each.
    pub machines: [&'a Machine; 2],
    /// What differs between them.
    pub comparison: &'a Comparison,
    /// What has to be said of them, a sentence each.
    pub notes: &'a [String],
    /// Whether every fact is listed.
    pub all: bool,
}

/// So many facts are shown.
const SHOWN: usize = 20;
/// So many names stand in a sentence.
const NAMED: usize = 5;

/// What differences of each kind are called, in the order in which they are shown: one, several, and the heading.
const KINDS: [(Kind, &str, &str, &str); 4] = [
    (Kind::Label, "label", "labels", "Model, firmware and kernel"),
    (Kind::Finding, "finding", "findings", "Findings"),
    (Kind::Setting, "setting", "settings", "Settings"),
    (Kind::Fact, "fact", "facts", "Facts"),
];

/// The whole document.
pub fn document(report: &Report<'_>) -> Document {
    let found = &report.comparison.differences;
    let mut document = Document::new("fullclock diff");
    document.paragraph(Text::strong(verdict(report, found)));
    for (label, name) in ["A", "B"].into_iter().zip(report.names) {
        document.labelled(label, name);
    }
    for Both { figure, values: [a, b], result } in figures(report) {
        let change = format!("{} %", fixed_change((b / a - 1.0) * 100.0, 1));
        let [a, b] = [a, b].map(|it| match result {
            Some(result) => quantity(it, &result.unit, None),
            None => words::value(figure, None, it),
        });
        let label = result.map_or(figure_label(figure), |it| &*it.workload);
        let better =
            result.map_or_else(String::new, |it| format!(", {} is better", words::better(it)));
        document.labelled(label.to_owned(), format!("{a} in A, {b} in B ({change}{better})"));
    }
    for (kind, _, _, heading) in KINDS {
        let of_kind: Vec<&Difference> = found.iter().filter(|it| it.kind == kind).collect();
        section(&mut document, report, heading, &of_kind);
    }
    for it in &report.comparison.untold {
        document.note(untold(report, it));
    }
    if let [Some(a), Some(b)] = report.machines.map(|it| it.result.as_ref())
        && a != b
    {
        document.note(format!(
            "The result of A is {}, that of B {}: they cannot be compared.",
            result_words(a),
            result_words(b)
        ));
    }
    if let Some(words) = unaudited(report) {
        document.note(words);
    }
    report.notes.iter().for_each(|it| document.note(Text::sentence(it)));
    document
}

/// `elapsed (s) of cpu-loop`.
fn result_words(it: &Measured) -> String {
    format!("{} ({}) of {}", it.name, it.unit, it.workload)
}

/// Which of them was not audited; `None` where both were.
fn unaudited(report: &Report<'_>) -> Option<&'static str> {
    match report.machines.map(|it| it.audit.is_made()) {
        [true, true] => None,
        [false, true] => Some("A was not audited, so findings are not compared."),
        [true, false] => Some("B was not audited, so findings are not compared."),
        [false, false] => Some("Neither was audited, so findings are not compared."),
    }
}

/// `Not compared, as they are unknown of A: 3 labels that B has, board, governor, rack.`
fn untold(report: &Report<'_>, it: &Untold) -> String {
    let (silent, other) = if it.by_first { ("A", "B") } else { ("B", "A") };
    let what = counted(it.kind, it.names.len());
    let n_shown = if report.all { it.names.len() } else { NAMED.min(it.names.len()) };
    let shown = it.names.get(..n_shown).unwrap_or_default().join(", ");
    let more = match it.names.len() - n_shown {
        0 => String::new(),
        n => format!(" and {} more", grouped(n as u64)),
    };
    format!("Not compared, as unknown of {silent}: {what} that {other} has, {shown}{more}.")
}

/// `1 label`, `3 labels`.
fn counted(kind: Kind, n: usize) -> String {
    let (one, several) =
        KINDS.iter().find(|it| it.0 == kind).map_or(("value", "values"), |it| (it.1, it.2));
    let noun = if n == 1 { one } else { several };
    format!("{} {noun}", grouped(n as u64))
}

/// In how many of what they differ.
fn verdict(report: &Report<'_>, found: &[Difference]) -> String {
    if found.is_empty() {
        let n = report.machines.iter().map(|it| it.attributes.len()).min().unwrap_or(0);
        return match n {
            0 => "Nothing can be compared: nothing is known of one of them.".to_owned(),
            1 => "Nothing differs: 1 value was compared.".to_owned(),
            n => format!("Nothing differs: {} values were compared.", grouped(n as u64)),
        };
    }
    let counts = KINDS.iter().filter_map(|(kind, ..)| {
        let n = found.iter().filter(|it| it.kind == *kind).count();
        (n > 0).then(|| counted(*kind, n))
    });
    let counts: Vec<String> = counts.collect();
    let words: Vec<&str> = counts.iter().map(|it| &**it).collect();
    format!("They differ in {}.", crate::wording::listed(&words, "and"))
}

/// What both are measured by.
struct Both<'a> {
    figure: Figure,
    /// In its own unit.
    values: [f64; 2],
    /// What was measured, where it is a result.
    result: Option<&'a Measured>,
}

/// The figures that both have. Results of two workloads are none.
fn figures<'a>(report: &Report<'a>) -> Vec<Both<'a>> {
    let [a, b] = report.machines;
    let both = a.figures.iter().filter_map(|(figure, value)| {
        let other = b.figures.iter().find(|it| it.0 == *figure)?.1;
        let is_result = *figure == Figure::Result;
        if is_result && a.result != b.result {
            return None;
        }
        let result = a.result.as_ref().filter(|_| is_result);
        let own = |value| result.map_or(value, |it| it.turned(value));
        Some(Both { figure: *figure, values: [own(*value), own(other)], result })
    });
    both.collect()
}

fn figure_label(figure: Figure) -> &'static str {
    match figure {
        Figure::Clock => "busy clock",
        Figure::Speed => "speed",
        Figure::Result => "result",
    }
}

/// The differences of a kind, and what fixes findings.
fn section(document: &mut Document, report: &Report<'_>, heading: &str, of: &[&Difference]) {
    if of.is_empty() {
        return;
    }
    document.heading(heading);
    let n_shown = if report.all { of.len() } else { SHOWN.min(of.len()) };
    let shown = of.get(..n_shown).unwrap_or_default();
    let columns = [("", Align::Left), ("A", Align::Left), ("B", Align::Left)];
    let row = |it: &&Difference| {
        let name = if it.kind == Kind::Label { words::label(&it.name) } else { &it.name };
        let [a, b] = [&it.first, &it.second].map(|value| value_of(it.kind, value.as_ref()));
        vec![name.into(), a, b]
    };
    document.push(Block::Table(Table::new(&columns, shown.iter().map(row))));
    if n_shown < of.len() {
        let n = grouped((of.len() - n_shown) as u64);
        document.note(Text::sentence(&format!("{n} more: `--all`.")));
    }
    for it in shown.iter().filter(|it| it.kind == Kind::Finding) {
        document.labelled(it.name.to_string(), words::fix(&it.name));
    }
}

/// A finding that is a difference and is not there is known to be absent.
fn value_of(kind: Kind, value: Option<&Arc<str>>) -> Text {
    match value {
        Some(value) if value.is_empty() => Text::quiet("empty"),
        Some(value) => crate::fleet::short(value).into_owned().into(),
        None if kind == Kind::Finding => Text::quiet("none"),
        None => Text::quiet("unknown"),
    }
}
