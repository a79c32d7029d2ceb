//! What was lost in each arm, a bar for each: one loss behind the other, as shares of the CPUs' time.
//!
//! Work and idle time are numbers beside the bars: they would leave no room for what is lost.

use super::chart;
use super::markup::Markup;
use super::scale::{Scale, percent as place};
use crate::bench::percent;
use rules::losses::LOSSES;

/// An arm and its ledger: each line's id, its part, and its share of the CPUs' time.
pub(crate) struct Bar<'a> {
    /// What the arm is called.
    pub label: String,
    /// Empty where no ledger was kept.
    pub ledger: &'a [(String, String, f64)],
}

/// A loss of an arm: its place among all losses, and its share.
type Loss = (usize, f64);

/// What no line accounts for has the place behind all of them.
const UNEXPLAINED: usize = LOSSES.len();

/// Losses below a thousandth say nothing that a trial could show.
const LEAST: f64 = 0.001;

/// Of trials: nothing where no ledger was kept; `key` says what the labels of the bars are.
pub(crate) fn chart(key: &str, bars: &[Bar<'_>]) -> Markup {
    let about = format!(
        "What the CPUs lost from about a second before each trial to its end, as a share of their time, {key}."
    );
    drawn(&about, bars)
}

/// The same of anything else; `about` says in a sentence what is shown.
pub(crate) fn drawn(about: &str, bars: &[Bar<'_>]) -> Markup {
    let arms: Vec<(&Bar<'_>, Vec<Loss>)> = bars.iter().map(|it| (it, losses(it))).collect();
    // A sum of nothing has a sign, which a fold from 0 has not.
    let total = |losses: &[Loss]| losses.iter().fold(0.0, |sum, (_, share)| sum + share);
    let Some(scale) = Scale::from_zero(arms.iter().map(|(_, losses)| total(losses))) else {
        return Markup::default();
    };
    let present: Vec<usize> = (0..=UNEXPLAINED)
        .filter(|place| arms.iter().any(|(_, it)| it.iter().any(|it| it.0 == *place)))
        .collect();
    let entries: Vec<(String, &str)> = present.iter().map(|it| (class(*it), title(*it))).collect();
    let entries: Vec<(&str, &str)> = entries.iter().map(|(class, it)| (&**class, *it)).collect();
    let rows = arms.iter().map(|(bar, losses)| row(bar, losses, total(losses), &scale));
    let axis = chart::axis(&scale, chart::share_labels);
    chart::figure(
        "Where the time went",
        about,
        [chart::legend(&entries)].into_iter().chain(rows).chain([axis]),
    )
}

fn row(bar: &Bar<'_>, losses: &[Loss], total: f64, scale: &Scale) -> Markup {
    let mut from = 0.0;
    let bars = losses.iter().map(|(loss, share)| {
        let (start, end) = (scale.share(from), scale.share(from + share));
        from += share;
        let class = format!("loss {}", class(*loss));
        let (x, width) = (place(start), place(end - start));
        let attributes =
            [("class", &*class), ("x", &x), ("width", &width), ("y", "15%"), ("height", "70%")];
        let hint =
            chart::hint(&format!("{} {} %{}", title(*loss), percent(*share), parts(bar, *loss)));
        Markup::element("rect", &attributes, [hint])
    });
    let bars: Vec<Markup> = bars.collect();
    let words: Vec<String> = losses
        .iter()
        .map(|(loss, share)| format!("{} {} %", title(*loss), percent(*share)))
        .collect();
    let useful = share_of(bar, "useful");
    let useful = useful.map_or_else(String::new, |it| format!(", useful {} %", percent(it)));
    let value = match bar.ledger.len() {
        0 => "no ledger".to_owned(),
        _ => format!("lost {} %{useful}", percent(total)),
    };
    let label = &bar.label;
    let description = format!("{label}: {value}: {}", words.join(", "));
    chart::row(label, &value, &description, [chart::grid(scale)].into_iter().chain(bars))
}

/// In the order of the ledger.
fn losses(bar: &Bar<'_>) -> Vec<Loss> {
    let lines = LOSSES.iter().enumerate().filter(|(_, it)| it.kind == rules::loss::Kind::Lost);
    let mut found: Vec<Loss> =
        lines.filter_map(|(place, it)| Some((place, share_of(bar, it.id)?))).collect();
    // The lines sum to all of the time, unless some could not be measured: then nobody knows what is left.
    if share_of(bar, "useful").is_some() {
        let all: f64 = bar.ledger.iter().map(|it| it.2).sum();
        found.push((UNEXPLAINED, 1.0 - all));
    }
    found.retain(|(_, share)| *share >= LEAST);
    found
}

/// Of all parts of a loss.
fn share_of(bar: &Bar<'_>, loss: &str) -> Option<f64> {
    let mut parts = bar.ledger.iter().filter(|it| it.0 == loss).map(|it| it.2).peekable();
    parts.peek()?;
    Some(parts.sum())
}

/// The names of its largest parts, where it has some.
fn parts(bar: &Bar<'_>, loss: usize) -> String {
    const MOST: usize = 5;
    let id = LOSSES.get(loss).map_or("", |it| it.id);
    let mut parts: Vec<(&str, f64)> = bar
        .ledger
        .iter()
        .filter(|it| it.0 == id && !it.1.is_empty())
        .map(|it| (&*it.1, it.2))
        .collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let parts: Vec<String> = parts
        .iter()
        .take(MOST)
        .map(|(name, share)| format!("{name} {} %", percent(*share)))
        .collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

fn title(loss: usize) -> &'static str {
    LOSSES.get(loss).map_or("unexplained", |it| it.title)
}

fn class(loss: usize) -> String {
    format!("of-{}", LOSSES.get(loss).map_or("unexplained", |it| it.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loss_has_a_colour() {
        let sheet = include_str!("style.css");
        for loss in 0..=UNEXPLAINED {
            let is_lost = LOSSES.get(loss).is_none_or(|it| it.kind == rules::loss::Kind::Lost);
            assert!(!is_lost || sheet.contains(&format!(".{} ", class(loss))), "{}", class(loss));
        }
    }
}
