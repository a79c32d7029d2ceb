//! In what two machines differ, or one before and after: firmware, kernel, findings, settings, facts.

mod json;
#[cfg(test)]
mod tests;

pub(crate) use json::DiffDocument;
pub use json::json;

use crate::bench::grouped;
use crate::document::{Align, Block, Document, Table, Text};
use crate::fleet::words;
use crate::wording::fixed_change;
use fleet::{Comparison, Difference, Figure, Kind, Machine, Untold};
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
    for (figure, [a, b]) in figures(report) {
        let change = format!("{} %", fixed_change((b / a - 1.0) * 100.0, 1));
        let [a, b] = [a, b].map(|it| words::value(figure, it));
        document.labelled(figure_label(figure), format!("{a} in A, {b} in B ({change})"));
    }
    for (kind, _, _, heading) in KINDS {
        let of_kind: Vec<&Difference> = found.iter().filter(|it| it.kind == kind).collect();
        section(&mut document, report, heading, &of_kind);
    }
    for it in &report.comparison.untold {
        document.note(untold(report, it));
    }
    report.notes.iter().for_each(|it| document.note(Text::sentence(it)));
    document
}

/// `A does not tell 3 labels that B has: board, governor, rack; they are not compared.`
fn untold(report: &Report<'_>, it: &Untold) -> String {
    let (silent, other) = if it.by_first { ("A", "B") } else { ("B", "A") };
    let what = counted(it.kind, it.names.len());
    let n_shown = if report.all { it.names.len() } else { NAMED.min(it.names.len()) };
    let shown = it.names.get(..n_shown).unwrap_or_default().join(", ");
    let more = match it.names.len() - n_shown {
        0 => String::new(),
        n => format!(" and {} more", grouped(n as u64)),
    };
    format!(
        "{silent} does not tell {what} that {other} has, so that is not compared: {shown}{more}."
    )
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
            0 => "Nothing can be compared: one of them tells nothing.".to_owned(),
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
fn figures(report: &Report<'_>) -> Vec<(Figure, [f64; 2])> {
    let [a, b] = report.machines;
    let both = a.figures.iter().filter_map(|(figure, value)| {
        let other = b.figures.iter().find(|it| it.0 == *figure)?.1;
        Some((*figure, [*value, other]))
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

/// A finding that is not there was not made: the check is clean there, or could not be judged.
fn value_of(kind: Kind, value: Option<&Arc<str>>) -> Text {
    match value {
        Some(value) if value.is_empty() => Text::quiet("empty"),
        Some(value) => crate::fleet::short(value).into_owned().into(),
        None if kind == Kind::Finding => Text::quiet("-"),
        None => Text::quiet("unknown"),
    }
}
