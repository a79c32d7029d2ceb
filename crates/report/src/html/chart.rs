//! Parts of charts: rows with a label and a drawing, an axis, a legend; and the chart of every trial by arm.

use super::markup::{Attribute, Markup};
use super::scale::{self, Scale};
use crate::bench::quantity;

/// With more ticks, axis labels overlap on a phone.
const MOST_TICKS: usize = 5;

/// A chart with a heading and a one-sentence caption.
pub(crate) fn figure(
    heading: &str,
    about: &str,
    content: impl IntoIterator<Item = Markup>,
) -> Markup {
    let caption = Markup::element(
        "figcaption",
        &[],
        [
            Markup::element("h3", &[], [Markup::text(heading)]),
            Markup::element("p", &[("class", "quiet")], [Markup::text(about)]),
        ],
    );
    Markup::element("figure", &[], std::iter::once(caption).chain(content))
}

/// A row: a label, a value and a drawing with a description for screen readers.
pub(crate) fn row(
    label: &str,
    value: &str,
    description: &str,
    marks: impl IntoIterator<Item = Markup>,
) -> Markup {
    labelled(label, value, drawing("marks", description, marks))
}

/// The class of points: smaller ones if too many to be drawn apart.
pub(crate) fn density(n_points: usize, most_apart: usize) -> &'static str {
    if n_points > most_apart { "dense" } else { "sparse" }
}

/// A row with room for a vertical scale.
pub(crate) fn panel(
    label: &str,
    value: &str,
    description: &str,
    marks: impl IntoIterator<Item = Markup>,
) -> Markup {
    labelled(label, value, drawing("panel", description, marks))
}

/// A row as tall as a chart of its own.
pub(crate) fn tall_panel(
    label: &str,
    value: &str,
    description: &str,
    marks: impl IntoIterator<Item = Markup>,
) -> Markup {
    labelled(label, value, drawing("panel tall", description, marks))
}

fn labelled(label: &str, value: &str, plot: Markup) -> Markup {
    let label = Markup::element(
        "div",
        &[("class", "label")],
        [
            Markup::element("span", &[], [Markup::text(label)]),
            Markup::element("span", &[("class", "value")], [Markup::text(value)]),
        ],
    );
    Markup::element("div", &[("class", "row")], [label, plot])
}

fn drawing(class: &str, description: &str, marks: impl IntoIterator<Item = Markup>) -> Markup {
    let attributes = [("class", class), ("role", "img"), ("aria-label", description)];
    let drawing = Markup::element("svg", &attributes, marks);
    // The enclosing element leaves room for marks and text at the edge.
    Markup::element("div", &[("class", "plot")], [drawing])
}

/// Vertical lines at the ticks, in every row.
pub(crate) fn grid(scale: &Scale) -> Markup {
    Markup::all(scale.ticks(MOST_TICKS).iter().map(|it| upright("grid", scale, *it)))
}

/// A vertical line over the full height.
pub(crate) fn upright(class: &str, scale: &Scale, value: f64) -> Markup {
    let x = scale.percent(value);
    line(&[("class", class), ("x1", &x), ("x2", &x), ("y1", "0"), ("y2", "100%")])
}

/// The numbers below the rows.
pub(crate) fn axis(scale: &Scale, label: impl Fn(&[f64]) -> Vec<String>) -> Markup {
    let ticks = scale.ticks(MOST_TICKS);
    let number = |(tick, label): (&f64, &String)| {
        let x = scale.percent(*tick);
        Markup::element("text", &[("x", &x), ("y", "1em")], [Markup::text(label)])
    };
    let labels = label(&ticks);
    let numbers = ticks.iter().zip(&labels).map(number);
    let drawing = Markup::element("svg", &[("class", "axis"), ("aria-hidden", "true")], numbers);
    let plot = Markup::element("div", &[("class", "plot")], [drawing]);
    Markup::element("div", &[("class", "row")], [Markup::default(), plot])
}

/// Classes of marks and what they mean.
pub(crate) fn legend(entries: &[(&str, &str)]) -> Markup {
    let entry = |(class, words): &(&str, &str)| {
        let class = format!("swatch {class}");
        let swatch = Markup::element("span", &[("class", &class)], []);
        Markup::element("li", &[], [swatch, Markup::text(words)])
    };
    Markup::element("ul", &[("class", "legend")], entries.iter().map(entry))
}

/// The tooltip of a mark.
pub(crate) fn hint(words: &str) -> Markup {
    Markup::element("title", &[], [Markup::text(words)])
}

pub(crate) fn line(attributes: &[Attribute<'_>]) -> Markup {
    Markup::empty("line", attributes)
}

/// Shares as percentages, with signs if any is negative.
pub(crate) fn share_labels(ticks: &[f64]) -> Vec<String> {
    let is_signed = ticks.iter().any(|it| *it < 0.0);
    let hundredfold: Vec<f64> = ticks.iter().map(|it| it * 100.0).collect();
    let sign = |it: &f64| if is_signed && *it > 0.0 { "+" } else { "" };
    let labels = scale::labels(&hundredfold, "%");
    ticks.iter().zip(labels).map(|(tick, label)| [sign(tick), &label].concat()).collect()
}

/// Above this number, points of full size overlap.
const MOST_APART: usize = 60;

/// The trials of an arm.
pub(crate) struct ArmTrials<'a> {
    /// The name of the arm.
    pub label: String,
    /// The median result; `None` if all trials failed.
    pub median: Option<f64>,
    /// The number of trials without a result.
    pub failed: u32,
    /// The numbers of the trials and their results.
    pub points: &'a [(u32, f64)],
}

/// Every trial as a point, one row per arm, with the median of the arm; empty if all trials failed.
pub(crate) fn trials(about: &str, unit: &str, rows: &[ArmTrials<'_>]) -> Markup {
    let values = rows.iter().flat_map(|it| it.points.iter().map(|(_, value)| *value));
    let Some(scale) = Scale::around(values) else { return Markup::default() };
    let axis = axis(&scale, |ticks| scale::labels(ticks, unit));
    let rows = rows.iter().map(|it| arm_row(it, unit, &scale));
    figure("Every trial", about, rows.chain([axis]))
}

fn arm_row(arm: &ArmTrials<'_>, unit: &str, scale: &Scale) -> Markup {
    let ArmTrials { label, median, failed, points } = arm;
    let shown = |value: f64| quantity(value, unit, None);
    let middle = median.map_or_else(|| "no figure".to_owned(), shown);
    let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
    let description = format!("{label}: {} trials{failed}, median {middle}", points.len());
    let class = match density(points.len(), MOST_APART) {
        "dense" => "trial dense",
        _ => "trial",
    };
    let circles = points.iter().map(|(number, value)| {
        let words = format!("trial {number}: {}", shown(*value));
        let (x, y) = (scale.percent(*value), height(*number));
        let attributes = [("class", class), ("cx", &*x), ("cy", &y)];
        Markup::element("circle", &attributes, [hint(&words)])
    });
    let mark = median.map(|it| upright("median", scale, it));
    let marks = [grid(scale)].into_iter().chain(circles).chain(mark);
    row(label, &format!("{middle}{failed}"), &description, marks)
}

/// The height of a trial's point: varied so that points do not hide each other, and the same on every page.
fn height(number: u32) -> String {
    // Fractional parts of multiples of the golden ratio are evenly spread for any run of numbers.
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let step = (f64::from(number) * GOLDEN).fract();
    format!("{:.0}%", 20.0 + 60.0 * step)
}
