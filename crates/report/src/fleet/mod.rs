//! Which machines of a fleet are slow: the verdict, what explains them, what they have that their peers lack, and what is unknown.

mod csv;
#[cfg(test)]
mod fixture;
pub mod json;
mod losses;
mod minorities;
mod peers;
mod rows;
#[cfg(test)]
mod tests;
pub(crate) mod words;

pub use csv::csv;

use crate::bench::grouped;
use crate::document::{Block, Document, Text};
use fleet::{Answer, Explanation, Figure, Kind, Machine, Measured, Subject};
use losses::Losses;
use peers::{Findings, findings_of, telling};
use std::borrow::Cow;

/// What there is to say of a fleet.
pub struct Report<'a> {
    /// Where its machines come from, in a few words.
    pub source: &'a str,
    /// The machines, as they were judged.
    pub machines: &'a [Machine],
    /// The judgement.
    pub answer: &'a Answer,
    /// What was named and holds no machine.
    pub skipped: &'a [Skipped<'a>],
    /// What has to be said of the source, a sentence each.
    pub notes: &'a [String],
    /// Whether every machine and group is listed.
    pub all: bool,
    /// Who reads it.
    pub reader: Reader,
}

/// Who reads a report, and what they can do to see more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The user who gave the command, and can give another one.
    Command,
    /// A visitor of a server's page, whose options somebody else gave.
    Page,
}

/// A file or a host that is no machine of the fleet.
pub struct Skipped<'a> {
    /// Its name.
    pub name: &'a str,
    /// Why.
    pub why: &'a str,
}

/// So many of a list are shown, the worst.
const SHOWN: usize = 20;
/// So many names stand in a sentence.
const NAMED: usize = 5;

/// The whole document.
pub fn document(report: &Report<'_>) -> Document {
    let n = words::machines(report.machines.len());
    let mut document = Document::new(format!("fullclock fleet: {n} of {}", report.source));
    let losses = Losses::of(report.answer);
    document.paragraph(Text::strong(words::verdict(report, &losses)));
    let explained = losses.explained.iter().copied().chain(std::iter::repeat(0.0));
    for ((at, it), explained) in report.answer.explanations.iter().enumerate().zip(explained) {
        explanation(&mut document, report, (at, it), explained);
    }
    rows::alone(&mut document, report);
    rows::slow(&mut document, report, &Findings::of(report));
    rows::suspects(&mut document, report);
    minorities::minorities(&mut document, report);
    rows::too_few(&mut document, report);
    rows::groups(&mut document, report);
    silent(&mut document, report);
    rows::skipped(&mut document, report);
    notes(&mut document, report);
    document
}

/// One explanation: a sentence, its shares, its loss, what goes with it, and what fixes it.
fn explanation(
    document: &mut Document,
    report: &Report<'_>,
    (at, it): (usize, &Explanation),
    explained: f64,
) {
    document.heading(format!("{}. {}", at + 1, words::attributes(&it.attributes)));
    document.paragraph(words::explanation(report, it));
    document.labelled("lost", words::lost(it, explained));
    document.labelled("slow", words::shares(it));
    for same in bounded(report, &it.same).0 {
        document.labelled("also", words::same(same));
    }
    let telling = telling(report.answer, Subject::Explanation(at));
    for it in telling {
        document.labelled("have", words::telling(it));
    }
    for id in findings_of(it, telling).iter().take(NAMED) {
        document.labelled("fix", words::fix(id));
    }
    document.labelled("machines", report.names(&it.inside));
}

/// Machines without the figure, or with one that no speed can have.
fn silent(document: &mut Document, report: &Report<'_>) {
    let Answer { silent, unusable, figure, .. } = report.answer;
    if silent.is_empty() && unusable.is_empty() {
        return;
    }
    document.heading("Machines that were not compared");
    let figure = words::figure(*figure);
    for (of, what) in [
        (silent, format!("without {figure}")),
        (unusable, format!("with a value of {figure} that no machine has: 0, negative or NaN")),
    ] {
        if !of.is_empty() {
            let n = words::machines(of.len());
            document.paragraph(format!("{n} {what}: {}.", report.names(of)));
        }
    }
    let is_all = silent.len() == report.machines.len();
    let is_of_captures = || {
        let mut all = report.machines.iter().flat_map(|it| &it.attributes);
        all.any(|it| it.kind == Kind::Fact)
    };
    if is_all && report.answer.figure == Figure::Clock && is_of_captures() {
        document.note(Text::sentence(
            "A capture knows the clock of CPUs that were busy while it was taken: take captures while the machines work, or compare results \
             of `fullclock bench`.",
        ));
    }
}

/// How often a machine is called slow that is not, and what has to be said of the source.
fn notes(document: &mut Document, report: &Report<'_>) {
    let Answer { false_share, tested, peers_by, searched, namesakes, .. } = report.answer;
    if *tested > 0 {
        document.note(format!(
            "Of the machines that are called slow at most {} are expected to be healthy, on average; {} tested.",
            words::percent(*false_share),
            words::were(*tested),
        ));
    }
    if *searched > 0 {
        document.note(format!(
            "{} values and pairs of values were searched; in a fleet without a cause, at most one search in 100 finds an explanation by chance.",
            grouped(*searched as u64),
        ));
    }
    if *namesakes > 0 {
        let n = words::machines(*namesakes);
        document.note(format!("{n} have the name of another one; each is judged by itself."));
    }
    let by: Vec<&str> = peers_by.iter().map(|it| &**it).collect();
    let all = if by.is_empty() {
        "Peers are all machines.".to_owned()
    } else {
        format!("Peers are machines of the same {}.", by.join(", "))
    };
    document.note(match report.reader {
        Reader::Command => Text::sentence(&format!("{all} `--by LABEL,...` compares others.")),
        Reader::Page => Text::from(all),
    });
    if let Some(it) = report.measured() {
        document.note(words::measured(it));
    }
    if let Some(words) = words::unaudited(report) {
        document.note(words);
    }
    report.notes.iter().for_each(|it| document.note(Text::sentence(it)));
}

/// As many as are shown, and how many are not.
fn bounded<'a, T>(report: &Report<'_>, all: &'a [T]) -> (&'a [T], usize) {
    let shown = if report.all { all } else { all.get(..SHOWN).unwrap_or(all) };
    (shown, all.len() - shown.len())
}

impl Report<'_> {
    /// The name of a machine.
    fn name(&self, machine: usize) -> Option<&str> {
        self.machines.get(machine).map(|it| &*it.name)
    }

    /// The result that the machines are compared by, where it is one.
    fn measured(&self) -> Option<&Measured> {
        if self.answer.figure != Figure::Result {
            return None;
        }
        self.machines.iter().find_map(|it| it.result.as_ref())
    }

    /// What is compared, in its own unit.
    fn own(&self, value: f64) -> f64 {
        self.measured().map_or(value, |it| it.turned(value))
    }

    /// The same in words.
    fn value(&self, value: f64) -> String {
        words::value(self.answer.figure, self.measured(), value)
    }

    /// Where what is left out of a list can be seen.
    fn more(&self, n: usize) -> Text {
        let n = grouped(n as u64);
        Text::sentence(&match self.reader {
            Reader::Command => format!("{n} more: `--all`."),
            Reader::Page => format!("{n} more: `/api/v1/fleet` of this server has all."),
        })
    }

    /// The names of machines, in a sentence: the first ones, unless all are listed.
    fn names(&self, machines: &[usize]) -> String {
        let n_shown = if self.all { machines.len() } else { NAMED.min(machines.len()) };
        let shown = machines.get(..n_shown).unwrap_or_default();
        let shown: Vec<&str> = shown.iter().filter_map(|it| self.name(*it)).collect();
        let shown = shown.join(", ");
        match (machines.len() - n_shown, self.reader) {
            (0, _) => shown,
            (n, Reader::Command) => format!("{shown} and {} more (--all)", grouped(n as u64)),
            (n, Reader::Page) => format!("{shown} and {} more", grouped(n as u64)),
        }
    }
}

/// A list of blocks under a heading, with how many are left out; nothing without blocks.
fn section(
    document: &mut Document,
    report: &Report<'_>,
    heading: &str,
    (blocks, n_more): (Vec<Block>, usize),
) {
    if blocks.is_empty() {
        return;
    }
    document.heading(heading);
    document.extend(blocks);
    if n_more > 0 {
        document.note(report.more(n_more));
    }
}

/// A value that is shown in a line, whatever its length.
pub(crate) fn short(value: &str) -> Cow<'_, str> {
    const LONGEST: usize = 60;
    match value.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", value.get(..end).unwrap_or_default()).into(),
        None => value.into(),
    }
}
