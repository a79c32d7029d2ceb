//! What is said of a part, of a change and of what is odd in a history.

use super::Report;
use crate::bench::differs::{Kind, percents, signed};
use crate::document::{Document, Text};
use facts::baseline::{Part, listed};
use facts::quantity::{counted, span};
use facts::utc;
use lab::baseline::{Change, Damage, Entry, Judged, Oddity};
use lab::stats::Interval;
use lab::verdict::{Ratio, Verdict};
use std::path::Path;

fn kind(part: Part) -> Kind {
    if part.is_rate() { Kind::Value } else { Kind::Time }
}

/// `19 % lower (18 to 20 %)`, `equal within 1 % (-0.4 to +0.3 %)`, and what cannot be said.
pub(super) fn said(judged: &Judged) -> String {
    let kind = kind(judged.part);
    match &judged.verdict {
        Verdict::Claimed(ratio) => claimed(kind, ratio),
        Verdict::Same { ratio, margin } => {
            let [_, low, high] = signed(ratio);
            format!("equal within {:.0} % ({low} to {high} %)", 100.0 * margin)
        }
        Verdict::NotShown(ratio) => format!("no difference shown: {}", between(kind, ratio)),
        Verdict::TooNoisy(ratio) => format!("too noisy to say: {}", between(kind, ratio)),
        Verdict::NotClear { ratio, allowance } => {
            let limit = 100.0 * allowance.total().exp_m1();
            format!(
                "{}, which two boots of the same may differ by ({limit:.1} %)",
                claimed(kind, ratio)
            )
        }
        Verdict::TooFew { have, needed, so_far } => {
            let so_far = so_far.map_or(String::new(), |it| {
                let by = 100.0 * it.low.exp_m1();
                format!("so far {:.0} % {}; ", by.abs(), kind.way(by < 0.0))
            });
            format!("{so_far}too few boots to say: {have} of {needed} with the same settings")
        }
    }
}

fn claimed(kind: Kind, ratio: &Ratio) -> String {
    if ratio.is_large() && ratio.log > 0.0 {
        let (times, interval) = ratio.times();
        let decimals = ratio.decimals_of_times();
        let [times, low, high] =
            [times, interval.low, interval.high].map(|it| format!("{it:.decimals$}"));
        return format!("{times} times as {} ({low} to {high})", as_much(kind));
    }
    let (change, Interval { low, high }) = ratio.change();
    let [near, far] = if change < 0.0 { [high, low] } else { [low, high] };
    let [change_percent, near, far] = percents([change, near, far], ratio);
    format!("{change_percent} % {} ({near} to {far} %)", kind.way(change < 0.0))
}

fn as_much(kind: Kind) -> &'static str {
    match kind {
        Kind::Time | Kind::Elapsed => "long",
        Kind::Rate | Kind::Value => "high",
    }
}

fn between(kind: Kind, ratio: &Ratio) -> String {
    kind.between(ratio).unwrap_or_else(|| "none at all".to_owned())
}

/// `BIOS 2.1 -> 2.3 on 2026-05-12: single-core speed 19 % lower (18 to 20 %), all-core speed equal within 1 % (...)`.
pub(super) fn sentence(change: &Change<'_>) -> String {
    let day = day(change.after.first());
    let what = match (change.is_lost, change.changed.is_empty()) {
        (true, _) => format!("settings unknown, as their line is lost, on {day}"),
        (_, true) => format!("nothing that is recorded changed on {day}"),
        (_, false) => format!("{} on {day}", listed(&change.changed)),
    };
    if change.parts.is_empty() {
        return format!("{what}: no speed is known of the boots after it.");
    }
    let of = |it: &Judged| format!("{} {}", it.part.quantity(), said(it));
    let shown: Vec<&Judged> = change.parts.iter().filter(|it| it.verdict.is_claimed()).collect();
    // Where something is claimed, the rest is in the table.
    let first = change.parts.iter().take(2).filter(|it| !it.verdict.is_claimed());
    let shown = if shown.is_empty() { first.collect() } else { shown };
    let parts: Vec<String> = shown.into_iter().map(of).collect();
    format!("{what}: {}.", parts.join(", "))
}

/// The day of a baseline: `2026-05-12`.
pub(super) fn day(entry: &Entry) -> String {
    entry.record.day().unwrap_or_else(|| "a day that is unknown".to_owned())
}

/// `2026-05-12 08:00`, in UTC.
pub(super) fn minute(entry: &Entry) -> String {
    let at = entry.taken_ns().map(utc::timestamp);
    let at = at.as_deref().and_then(|it| it.get(..16)).map(|it| it.replace('T', " "));
    at.unwrap_or_else(|| "unknown".to_owned())
}

/// A value of a part with four digits and its unit.
pub(super) fn value(part: Part, value: f64) -> String {
    crate::bench::quantity(value, part.unit(), None)
}

/// What is odd in the history, a note each.
pub(super) fn notes(document: &mut Document, report: &Report<'_>) {
    for oddity in odd(report) {
        document.note(Text::from(oddity));
    }
}

/// So many damaged lines are told with what is wrong with each.
const TOLD: usize = 5;

/// At most this many numbers of further lines, or ranges of them, are listed.
const LISTED: usize = 20;

/// The same as sentences.
pub(super) fn odd(report: &Report<'_>) -> Vec<String> {
    let file = report.file.display();
    let (damaged, others): (Vec<Oddity>, Vec<Oddity>) = report
        .history
        .oddities(report.now_ns)
        .into_iter()
        .partition(|it| matches!(it, Oddity::Damaged(_)));
    let mut all: Vec<String> =
        damaged.iter().take(TOLD).map(|it| sentence_of(it, report.file)).collect();
    if damaged.len() > TOLD {
        let lines: Vec<usize> = report.history.damage[TOLD..].iter().map(|it| it.line).collect();
        all.push(format!(
            "{} more lines of {file} cannot be read: {}.",
            lines.len(),
            ranges(&lines)
        ));
    }
    all.extend(others.iter().map(|it| sentence_of(it, report.file)));
    all
}

fn sentence_of(oddity: &Oddity, file: &Path) -> String {
    let file = file.display();
    match oddity {
        Oddity::Damaged(Damage { line, why }) => format!(
            "Line {line} of {file} cannot be read: {why}. It stays as it is, and the lines after it count."
        ),
        Oddity::Missing { first, last } if first == last => {
            format!("Baseline {first} is missing in {file}.")
        }
        Oddity::Missing { first, last } => {
            format!("Baselines {first} to {last} are missing in {file}.")
        }
        Oddity::Repeated { number, line } => {
            format!("Line {line} of {file} is another baseline {number}: both count.")
        }
        Oddity::Unordered { number, line } => format!(
            "Line {line} of {file} is baseline {number} after a later one: the order is that of the lines."
        ),
        Oddity::Untimed { number, line } => format!(
            "Baseline {number} (line {line} of {file}) has no time that can be: when it was taken is unknown."
        ),
        Oddity::WentBack { number, by } => format!(
            "The clock of the machine went back by {} before baseline {number}: the order is that of the lines.",
            span(*by)
        ),
        Oddity::Ahead { number, by } => format!(
            "The time of baseline {number} is {} ahead of this machine's clock: one of both is wrong.",
            span(*by)
        ),
    }
}

/// `12, 15 to 40, 52`, and how many more.
fn ranges(lines: &[usize]) -> String {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for line in lines {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == *line => *last = *line,
            _ => found.push((*line, *line)),
        }
    }
    let one = |(first, last): &(usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    };
    let shown: Vec<String> = found.iter().take(LISTED).map(one).collect();
    let left: usize = found.iter().skip(LISTED).map(|(first, last)| last - first + 1).sum();
    match left {
        0 => shown.join(", "),
        n => format!("{} and {n} more", shown.join(", ")),
    }
}

/// `40 boots`.
pub(super) fn n_boots(n: usize) -> String {
    counted(n as u64, "boot")
}
