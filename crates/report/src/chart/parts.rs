//! Parts of charts: rows with a label and a drawing, panels with a vertical scale, axes, legends.

use super::scale::{Scale, Ticks, percent};
use crate::document::words;
use crate::harmless::harmless;
use maud::{Markup, html};

/// With more ticks, axis labels overlap on a phone.
pub(crate) const MOST_TICKS: usize = 5;

/// The width and height that lines and points are placed in where they are drawn as one path.
pub(crate) const EXTENT: [f64; 2] = [10_000.0, 1_000.0];

/// What the numbers of an axis are.
#[derive(Clone, Copy)]
pub(crate) struct Quantity<'a> {
    /// `elapsed time`
    pub name: &'a str,
    /// `s`; empty where a number has none.
    pub unit: &'a str,
}

impl Quantity<'_> {
    /// The title of its axis, with the unit that the ticks are in.
    pub(crate) fn title(&self, unit: &str) -> String {
        if unit.is_empty() { self.name.to_owned() } else { format!("{} ({unit})", self.name) }
    }
}

/// Rows below each other, which share a horizontal axis.
pub(crate) fn rows(rows: impl IntoIterator<Item = Markup>, axis: &Markup) -> Markup {
    html! { div.rows { @for row in rows { (row) } (axis) } }
}

/// A row: a label, a value and a drawing with a description for screen readers.
pub(crate) fn row(label: &str, value: &str, description: &str, marks: &Markup) -> Markup {
    html! {
        div.row {
            div.label {
                span { (words(label)) }
                span.value { (words(value)) }
            }
            (plot(description, marks))
        }
    }
}

/// A drawing with room for a vertical scale, whose title stands above it; a tall one is a chart of its own.
pub(crate) fn panel(title: &str, is_tall: bool, description: &str, marks: &Markup) -> Markup {
    html! {
        div.panel.tall[is_tall] {
            div.title { (words(title)) }
            (plot(description, marks))
        }
    }
}

fn plot(description: &str, marks: &Markup) -> Markup {
    // The enclosing element leaves room for marks and text at the edge.
    html! { div.plot { svg role="img" aria-label=(harmless(description)) { (marks) } } }
}

/// The numbers and the title below rows or a panel.
pub(crate) fn axis(scale: &Scale, title: &str, ticks: &Ticks) -> Markup {
    let number = |(value, label): (&f64, &String)| {
        html! { text x=(scale.percent(*value)) y="1em" { (words(label)) } }
    };
    html! {
        div.axis {
            div.plot {
                svg aria-hidden="true" {
                    @for it in ticks.values.iter().zip(&ticks.labels) { (number(it)) }
                }
                div.title { (words(title)) }
            }
        }
    }
}

/// The axis of a quantity, in the unit that fits.
pub(crate) fn axis_of(scale: &Scale, quantity: Quantity<'_>) -> Markup {
    let ticks = scale.labelled(MOST_TICKS, quantity.unit);
    axis(scale, &quantity.title(&ticks.unit), &ticks)
}

/// The axis of shares, as percentages, with signs if any is negative.
pub(crate) fn axis_of_shares(scale: &Scale, name: &str) -> Markup {
    let mut ticks = scale.times(100.0).labelled(MOST_TICKS, "%");
    let is_signed = ticks.values.iter().any(|it| *it < 0.0);
    for (value, label) in ticks.values.iter_mut().zip(&mut ticks.labels) {
        if is_signed && *value > 0.0 {
            label.insert(0, '+');
        }
        *value /= 100.0;
    }
    axis(scale, &format!("{name} (%)"), &ticks)
}

/// Vertical lines at the ticks of an axis, for every row.
pub(crate) fn grid(scale: &Scale) -> Markup {
    html! { @for it in scale.ticks(MOST_TICKS) { (upright("grid", scale, it)) } }
}

/// A vertical line over the full height.
pub(crate) fn upright(class: &str, scale: &Scale, value: f64) -> Markup {
    let x = scale.percent(value);
    html! { line.(class) x1=(x) x2=(x) y2="100%" {} }
}

/// A horizontal line over the full width, at a share of the height from above.
pub(crate) fn level(class: &str, share: f64) -> Markup {
    let y = percent(share);
    html! { line.(class) x2="100%" y1=(y) y2=(y) {} }
}

/// The levels of a vertical scale and their numbers, each at a share of the height.
pub(crate) fn levels(levels: &[(f64, String)]) -> Markup {
    html! {
        @for (share, label) in levels {
            (level("grid", *share))
            text.level y=(percent(*share)) { (words(label)) }
        }
    }
}

/// A path in a box of [`EXTENT`], which is stretched to the plot.
pub(crate) fn stretched(paths: &Markup) -> Markup {
    let view = format!("0 0 {} {}", EXTENT[0], EXTENT[1]);
    html! { svg viewBox=(view) preserveAspectRatio="none" width="100%" height="100%" { (paths) } }
}

/// Classes of marks and what they mean.
pub(crate) fn legend(entries: &[(String, &str)]) -> Markup {
    html! {
        ul.legend {
            @for (class, meaning) in entries {
                li { span.swatch.(class) {} (words(meaning)) }
            }
        }
    }
}

/// The tooltip of a mark.
pub(crate) fn hint(text: &str) -> Markup {
    html! { title { (words(text)) } }
}
