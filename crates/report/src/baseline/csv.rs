//! Baselines and changes as CSV (RFC 4180 with Unix line ends). What is unknown is empty.

use super::list::{cell, changed};
use super::words::said;
use super::{Boots, Report, Window};
use crate::harmless::{csv_cell, csv_line};
use facts::baseline::Part;
use facts::utc;
use lab::baseline::Entry;

/// A line for each part of the last so many baselines, the latest first.
pub fn list(report: &Report<'_>, most: usize) -> String {
    let mut text = "baseline,taken,boot,part,unit,typical,trials,changed,missing\n".to_owned();
    let entries = &report.history.entries;
    for at in (0..entries.len()).rev().take(most) {
        let changed = cell(&changed(entries, at));
        for part in Part::ALL {
            text += &line(&entries[at], part, &changed);
        }
    }
    text
}

fn line(entry: &Entry, part: Part, changed: &str) -> String {
    let record = &entry.record;
    let known = record.speed.value().and_then(|it| it.0.get(&part));
    let missing = known.map_or(record.speed.reason(), |it| it.reason()).unwrap_or_default();
    csv_line(&[
        record.number.to_string(),
        taken(entry),
        record.boot.clone(),
        part.name().to_owned(),
        part.unit().to_owned(),
        csv_cell(entry.typical(part)),
        record.trials(part).len().to_string(),
        changed.to_owned(),
        missing.to_owned(),
    ])
}

/// When it was taken; empty where that is unknown.
fn taken(entry: &Entry) -> String {
    entry.taken_ns().map(utc::timestamp).unwrap_or_default()
}

/// A line for each part of each change of this time, the latest first.
pub fn diff(report: &Report<'_>, window: Option<Window<'_>>) -> String {
    let mut text =
        "baseline,taken,changed,part,unit,before,after,boots_before,boots_after,is_slower,verdict\n"
            .to_owned();
    let boots = Boots::of(report.history);
    for change in boots.changes(window).iter().rev() {
        let first = &change.after.first().record;
        for it in &change.parts {
            text += &csv_line(&[
                first.number.to_string(),
                taken(change.after.first()),
                cell(&change.changed),
                it.part.name().to_owned(),
                it.part.unit().to_owned(),
                csv_cell(Some(it.before)),
                csv_cell(Some(it.after)),
                change.n_before.to_string(),
                change.n_after.to_string(),
                it.is_slower().to_string(),
                said(it),
            ]);
        }
    }
    text
}
