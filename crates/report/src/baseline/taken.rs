//! One baseline, when it has been taken.

use super::words::{n_boots, notes, sentence, value};
use super::{Boots, Kept, Report};
use crate::document::{Document, Text};
use crate::wording::capital;
use facts::baseline::Part;
use facts::quantity::counted_all;
use lab::baseline::{Entry, Judged};

/// What was kept of this boot, and what the machine lost in speed since earlier ones.
pub fn document(report: &Report<'_>, kept: Kept<'_>) -> Document {
    let mut document = Document::new("fullclock baseline");
    let Some(entry) = report.history.entries.last() else { return document };
    document.paragraph(Text::sentence(&opening(entry, kept)));
    for part in Part::ALL {
        if let Some(words) = speed(entry, part) {
            document.labelled(part.quantity(), words);
        }
    }
    let boots = Boots::of(report.history);
    let changes = boots.changes(None);
    let n = boots.n_measured();
    match changes.last() {
        Some(change) if change.parts.iter().any(Judged::is_slower) => {
            document.paragraph(Text::strong(capital(&sentence(change))));
        }
        Some(change) => document.paragraph(format!("The last change: {}", sentence(change))),
        None if n < 3 => document.paragraph(format!(
            "Of {} the speed is known; from 3 with the same settings on it is known what boots differ by.",
            n_boots(n)
        )),
        None => document.paragraph(format!("No change in {}.", n_boots(n))),
    }
    if !changes.is_empty() {
        document.note(Text::sentence("`fullclock baseline diff` says more."));
    }
    notes(&mut document, report);
    document
}

fn opening(entry: &Entry, kept: Kept<'_>) -> String {
    let number = entry.record.number;
    match kept {
        Kept::Now => format!("Kept as baseline {number}."),
        Kept::Before => format!("This boot has baseline {number}; `--again` takes another one."),
        Kept::WithoutSpeed(why) => format!(
            "Not measured: {why}. The settings of the machine are kept as baseline {number}; run this again when it is idle, or give it longer with `--wait`."
        ),
    }
}

/// `2713 M/s (8 trials)`, or why there are none.
fn speed(entry: &Entry, part: Part) -> Option<String> {
    let known = entry.record.speed.value()?.0.get(&part)?;
    Some(match known.value() {
        Some(trials) => {
            let typical = entry.typical(part)?;
            format!("{} ({})", value(part, typical), counted_all(trials, "trial"))
        }
        None => format!("not measured: {}", known.reason().unwrap_or_default()),
    })
}
