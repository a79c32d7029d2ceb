//! Every line of the ledger, with its source.

use super::super::text::{left, right, width, wrap};
use super::{hanging, wrapped};
use rules::watch::{Reading, Share, Shares, reason};

pub(super) fn lines(reading: &Reading, columns: usize) -> Vec<String> {
    let shares = match &reading.shares {
        Ok(shares) => shares,
        Err(missing) => return wrapped(&[format!("No ledger: {}", reason(missing))], columns),
    };
    let percent = |ns: i64| right(&format!("{:.2}", shares.percent(ns)), 7);
    // Parts come largest first; those that round to nothing are many.
    let is_shown = |it: &&Share| {
        it.part.is_empty() || it.ns.as_ref().is_ok_and(|ns| shares.percent(*ns).abs() >= 0.005)
    };
    let shown: Vec<&Share> = shares.lines.iter().filter(is_shown).collect();
    let room = title_columns(&shown, columns);
    let mut text = vec!["Where the time of all CPUs went, in % of it".to_owned(), String::new()];
    for share in &shown {
        text.extend(row(&title(share), &value(share, shares), room, columns));
    }
    text.extend(row("unexplained", &percent(shares.unexplained_ns), room, columns));
    text.push(String::new());
    let n_hidden = shares.lines.len() - shown.len();
    let mut notes = Vec::new();
    match n_hidden {
        0 => {}
        1 => notes.push("1 part of less than 0.005 % is left out".to_owned()),
        n => notes.push(format!("{n} parts of less than 0.005 % are left out")),
    }
    notes.extend(shares.notes.iter().cloned());
    text.extend(wrapped(&notes, columns));
    text
}

/// Percent, how far off that may be and where it comes from; or why it is unknown.
fn value(share: &Share, shares: &Shares) -> String {
    let Share { ns, uncertainty_ns, method, source, .. } = share;
    let percent = |ns: i64| right(&format!("{:.2}", shares.percent(ns)), 7);
    let uncertainty = shares.percent(i64::try_from(*uncertainty_ns).unwrap_or(i64::MAX));
    match ns {
        Err(missing) => format!("{}  {}", right("-", 7), reason(missing)),
        Ok(ns) if source.is_empty() => percent(*ns),
        Ok(ns) => format!("{} +-{uncertainty:.2}  {}: {source}", percent(*ns), method.name()),
    }
}

fn title(share: &Share) -> String {
    let part = &share.part;
    if part.is_empty() { share.title.to_owned() } else { format!("{}: {part}", share.title) }
}

/// The columns of the titles: those of the longest, within what the values leave.
fn title_columns(shown: &[&Share], columns: usize) -> usize {
    /// The longest title of a line without parts, and of values that are not wrapped in pieces.
    const LEAST: usize = 28;
    const VALUE: usize = 40;
    let longest = shown.iter().map(|it| width(&title(it))).max().unwrap_or(0);
    longest.clamp(LEAST, columns.saturating_sub(VALUE).max(LEAST))
}

/// A title and its value; either goes on in lines of its own where it is too long.
fn row(title: &str, value: &str, room: usize, columns: usize) -> Vec<String> {
    let mut lines = wrap(title, room, "");
    let last = lines.pop().unwrap_or_default();
    // What is left of the value must not look like a row.
    let at_value = room + 1 + value.len() - value.trim_start().len();
    let indent = if columns > at_value * 2 { at_value } else { 4 };
    lines.extend(hanging(&format!("{} {value}", left(&last, room)), indent, columns));
    lines
}
