//! Every baseline in a line.

use super::Report;
use super::words::{minute, notes, value};
use crate::document::{Align, Block, Document, Table, Text};
use facts::baseline::{Changed, Part, listed};
use facts::quantity::{counted_all, span};
use lab::baseline::{Entry, boots};
use std::time::Duration;

/// The last so many baselines, the last first.
pub fn document(report: &Report<'_>, most: usize) -> Document {
    let entries = &report.history.entries;
    let mut document = Document::new("fullclock baseline list");
    document.paragraph(match entries.len() {
        0 => Text::sentence("No baselines. `fullclock baseline` takes one of this boot."),
        _ => Text::from(format!("{}, the latest first", counted_all(entries, "baseline"))),
    });
    if !entries.is_empty() {
        let mut columns = vec![
            ("baseline", Align::Right),
            ("taken (UTC)", Align::Left),
            ("unseen", Align::Right),
        ];
        let parts = ["single-core", "all-core", "wake-up", "memory"];
        columns.extend(parts.map(|it| (it, Align::Right)));
        columns.push(("changed", Align::Left));
        let rows = (0..entries.len()).rev().take(most).map(|at| row(report, at));
        document.push(Block::Table(Table::new(&columns, rows)));
        document.note("unseen: the time from the baseline before to the start of the boot. The machine was up for some of it, or down.");
        if entries.len() > most {
            document.note(Text::sentence("`-n COUNT` lists more."));
        }
    }
    notes(&mut document, report);
    document
}

fn row(report: &Report<'_>, at: usize) -> Vec<Text> {
    let entries = &report.history.entries;
    let entry = &entries[at];
    let mut row = vec![
        Text::from(entry.record.number.to_string()),
        Text::from(minute(entry)),
        Text::from(unseen(report, at).map_or("-".to_owned(), span)),
    ];
    let of = |part: Part| {
        let typical = entry.typical(part);
        Text::from(typical.map_or("-".to_owned(), |it| value(part, it)))
    };
    row.extend(Part::ALL.map(of));
    row.push(Text::from(remark(entries, at)));
    row
}

/// What changed since the baseline before, and why nothing was measured.
fn remark(entries: &[Entry], at: usize) -> String {
    let entry = &entries[at];
    let changed = cell(&changed(entries, at));
    let lost = entry.settings.is_none().then(|| "settings lost".to_owned());
    let why = entry.record.speed.reason().map(|why| format!("not measured: {why}"));
    let words = [Some(changed).filter(|it| !it.is_empty()), lost, why];
    words.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The settings that are known to differ from those of the baseline before.
pub(super) fn changed(entries: &[Entry], at: usize) -> Vec<Changed> {
    let Some(before) = at.checked_sub(1) else { return Vec::new() };
    let pair = boots(&entries[before..=at]);
    match &pair[..] {
        [before, after] => after.changed_since(before),
        _ => Vec::new(),
    }
}

/// What changed in a cell of its own: empty where nothing did that is recorded.
pub(super) fn cell(changed: &[Changed]) -> String {
    if changed.is_empty() { String::new() } else { listed(changed) }
}

/// From the baseline before to the start of the boot: nothing is known of it. `None`, too, where one of both times is later than one that came
/// after it, or than now.
pub(super) fn unseen(report: &Report<'_>, at: usize) -> Option<Duration> {
    let entries = &report.history.entries;
    let (before, entry) = (&entries[at.checked_sub(1)?], &entries[at]);
    if before.record.boot == entry.record.boot {
        return None;
    }
    let later = entries[at + 1..].iter().filter_map(Entry::taken_ns);
    let end = later.fold(report.now_ns, u64::min);
    let began = entry.boot_began_ns().filter(|_| entry.taken_ns().is_some_and(|it| it <= end))?;
    Some(Duration::from_nanos(began.checked_sub(before.taken_ns()?)?))
}
