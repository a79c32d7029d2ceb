//! What was lost in each arm, a bar for each: one loss behind the other, as shares of the CPUs' time.
//!
//! Work and idle time are numbers beside the bars: as bars they would leave too little width for the losses.

use super::parts;
use super::scale::{Scale, percent as place};
use crate::bench::percent;
use crate::document::{Align, Chart, Table, Text};
use maud::{Markup, html};
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

/// As many losses of an arm are named in a table.
const MOST_LISTED: usize = 3;

/// Of trials: `None` where no ledger was kept. `of` says what the labels of the bars are, and `key` how to read them.
pub(crate) fn chart(of: &str, key: &str, bars: &[Bar<'_>]) -> Option<Chart> {
    let about = format!(
        "What the CPUs lost from about a second before each trial to its end, as a share of their time, {key}."
    );
    drawn(of, about, bars)
}

/// The same of anything else; `about` says in a sentence what is shown.
pub(crate) fn drawn(of: &str, about: String, bars: &[Bar<'_>]) -> Option<Chart> {
    let arms: Vec<Arm<'_>> = bars.iter().map(|bar| Arm { bar, losses: losses(bar) }).collect();
    let scale = Scale::from_zero(arms.iter().map(Arm::lost))?;
    let present = (0..=UNEXPLAINED)
        .filter(|place| arms.iter().any(|it| it.losses.iter().any(|it| it.0 == *place)));
    let entries: Vec<(String, &str)> = present.map(|it| (class(it), title(it))).collect();
    let grid = parts::grid(&scale);
    let rows = arms.iter().map(|it| it.row(&scale, &grid));
    let axis = parts::axis_of_shares(&scale, "share of the CPUs' time");
    let drawing = html! { (parts::legend(&entries)) (parts::rows(rows, &axis)) };
    let columns = [
        (of, Align::Left),
        ("useful", Align::Right),
        ("lost", Align::Right),
        ("most of it", Align::Left),
    ];
    let values = Table::new(&columns, arms.iter().map(Arm::cells));
    Some(Chart { title: "Where the time went".to_owned(), about, drawing, values: Some(values) })
}

/// An arm and its losses in the order of the ledger.
struct Arm<'a> {
    bar: &'a Bar<'a>,
    losses: Vec<Loss>,
}

impl Arm<'_> {
    fn lost(&self) -> f64 {
        // A sum of nothing has a sign, which a fold from 0 has not.
        self.losses.iter().fold(0.0, |sum, (_, share)| sum + share)
    }

    fn row(&self, scale: &Scale, grid: &Markup) -> Markup {
        let Arm { bar, losses } = self;
        let useful = share_of(bar, "useful");
        let useful = useful.map_or_else(String::new, |it| format!(", useful {} %", percent(it)));
        let value = match bar.ledger.len() {
            0 => "no ledger".to_owned(),
            _ => format!("lost {} %{useful}", percent(self.lost())),
        };
        let description = format!("{}: {value}: {}", bar.label, self.listed(usize::MAX));
        let mut from = 0.0;
        let placed = losses.iter().map(|(loss, share)| {
            let (start, end) = (scale.share(from), scale.share(from + share));
            from += share;
            let hint = format!("{} {} %{}", title(*loss), percent(*share), parts_of(bar, *loss));
            (class(*loss), place(start), place(end - start), hint)
        });
        let marks = html! {
            (grid)
            @for (class, x, width, hint) in placed {
                rect.loss.(class) x=(x) width=(width) y="15%" height="70%" { (parts::hint(&hint)) }
            }
        };
        parts::row(&bar.label, &value, &description, &marks)
    }

    fn cells(&self) -> Vec<Text> {
        let shown = |it: f64| format!("{} %", percent(it));
        let useful = share_of(self.bar, "useful").map_or_else(String::new, shown);
        let (lost, most) = match self.bar.ledger.len() {
            0 => (String::new(), "no ledger".to_owned()),
            _ => (shown(self.lost()), self.listed(MOST_LISTED)),
        };
        vec![self.bar.label.clone().into(), useful.into(), lost.into(), most.into()]
    }

    /// The largest losses, at most this many.
    fn listed(&self, most: usize) -> String {
        let mut losses = self.losses.clone();
        losses.sort_by(|a, b| b.1.total_cmp(&a.1));
        let words = losses
            .iter()
            .take(most)
            .map(|(loss, share)| format!("{} {} %", title(*loss), percent(*share)));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// In the order of the ledger.
fn losses(bar: &Bar<'_>) -> Vec<Loss> {
    let lines = LOSSES.iter().enumerate().filter(|(_, it)| it.kind == rules::loss::Kind::Lost);
    let mut found: Vec<Loss> =
        lines.filter_map(|(place, it)| Some((place, share_of(bar, it.id)?))).collect();
    // If every line was measured, the lines and the rest are all of the time; otherwise the rest is unknown.
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
fn parts_of(bar: &Bar<'_>, loss: usize) -> String {
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
        let sheet = include_str!("../document/style.css");
        for loss in 0..=UNEXPLAINED {
            let is_lost = LOSSES.get(loss).is_none_or(|it| it.kind == rules::loss::Kind::Lost);
            assert!(!is_lost || sheet.contains(&format!(".{} ", class(loss))), "{}", class(loss));
        }
    }
}
