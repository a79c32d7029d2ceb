//! What changed from boot to boot, and what that did to the speed.

use super::words::{day, n_boots, notes, said, sentence, value};
use super::{Boots, Report, Window};
use crate::document::{Align, Block, Document, Table, Text};
use crate::wording::capital;
use facts::baseline::Changed;
use lab::baseline::{Change, Judged};

/// Every change of this time, the last first; without a time the last one.
pub fn document(report: &Report<'_>, window: Option<Window<'_>>) -> Document {
    let boots = Boots::of(report.history);
    let changes = boots.changes(window);
    let mut document = Document::new("fullclock baseline diff");
    document.paragraph(Text::strong(verdict(report, &boots, &changes, window)));
    let is_alone = changes.len() == 1;
    for change in changes.iter().rev() {
        if !is_alone {
            document.heading(sentence(change));
        }
        section(&mut document, change);
    }
    let n = changes.iter().map(|it| it.parts.len()).sum::<usize>();
    if n > 1 {
        document.note(format!("Intervals hold with 99 % for all {n} together."));
    }
    if changes.is_empty() && !boots.all.is_empty() {
        document.note(Text::sentence("`fullclock baseline list` shows each boot."));
    }
    notes(&mut document, report);
    document
}

fn verdict(
    report: &Report<'_>,
    boots: &Boots<'_>,
    changes: &[Change<'_>],
    window: Option<Window<'_>>,
) -> String {
    match changes {
        [change] => capital(&sentence(change)),
        [] => nothing(report, boots, window),
        changes => {
            let since = window.map_or(String::new(), |it| format!(" since {}", it.text));
            let is_slower = |it: &&Change<'_>| it.parts.iter().any(Judged::is_slower);
            let slower = match changes.iter().filter(is_slower).count() {
                0 => "none is shown to have made the machine slower".to_owned(),
                1 => "1 made the machine slower".to_owned(),
                n => format!("{n} made the machine slower"),
            };
            format!("{} changes{since}: {slower}.", changes.len())
        }
    }
}

fn nothing(report: &Report<'_>, boots: &Boots<'_>, window: Option<Window<'_>>) -> String {
    let Some(first) = report.history.entries.first() else {
        return "No baselines are kept: fullclock baseline takes one of this boot.".to_owned();
    };
    let since = window.map_or_else(|| day(first), |it| it.text.to_owned());
    let n = boots.n_measured();
    // What two boots of the same differ by is known of three.
    let is_known = n >= 3;
    let told = match is_known {
        true => "no difference of speed is shown",
        false => "too few for a difference of speed to be shown: 3 are needed",
    };
    let speed = format!("{} with a speed, {told}", n_boots(n));
    format!("Nothing changed since {since}: {speed}.")
}

fn section(document: &mut Document, change: &Change<'_>) {
    let [before, after] = [change.before.last(), change.after.first()];
    document
        .labelled("before", sides(&day(before), before.record.number, change.n_before, "up to"));
    document.labelled("after", sides(&day(after), after.record.number, change.n_after, "from"));
    let columns =
        [("", Align::Left), ("before", Align::Right), ("after", Align::Right), ("", Align::Left)];
    let row = |it: &Judged| {
        let [before, after] = [it.before, it.after].map(|of| Text::from(value(it.part, of)));
        let said = if it.is_slower() { Text::strong(said(it)) } else { Text::from(said(it)) };
        vec![Text::from(it.part.quantity()), before, after, said]
    };
    if !change.parts.is_empty() {
        document.push(Block::Table(Table::new(&columns, change.parts.iter().map(row))));
    }
    let columns = [("setting", Align::Left), ("before", Align::Left), ("after", Align::Left)];
    let row = |it: &Changed| {
        let values = [&it.before, &it.after].map(|it| it.as_deref().unwrap_or("unknown"));
        let [before, after] = values.map(Text::from);
        vec![Text::from(&*it.name), before, after]
    };
    if !change.changed.is_empty() {
        document.push(Block::Table(Table::new(&columns, change.changed.iter().map(row))));
    }
}

/// `12 boots, up to baseline 40 of 2026-05-03`.
fn sides(day: &str, number: u64, n: usize, which: &str) -> String {
    format!("{}, {which} baseline {number} of {day}", n_boots(n))
}
