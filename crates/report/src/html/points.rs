//! Every trial as a point, a row for each arm, with the median of the arm.

use super::chart;
use super::markup::Markup;
use super::scale::{self, Scale};
use crate::bench::quantity;

/// More points of their full size would cover each other.
const MOST_APART: usize = 60;

/// The trials of an arm.
pub(crate) struct Row<'a> {
    /// What the arm is called.
    pub label: String,
    /// The middle figure; `None` where every trial failed.
    pub median: Option<f64>,
    /// How many trials have no figure.
    pub failed: u32,
    /// The numbers of the trials and their figures.
    pub points: &'a [(u32, f64)],
}

/// Nothing where every trial failed.
pub(crate) fn chart(about: &str, unit: &str, rows: &[Row<'_>]) -> Markup {
    let values = rows.iter().flat_map(|it| it.points.iter().map(|(_, value)| *value));
    let Some(scale) = Scale::around(values) else { return Markup::default() };
    let axis = chart::axis(&scale, |ticks| scale::labels(ticks, unit));
    let rows = rows.iter().map(|it| row(it, unit, &scale));
    chart::figure("Every trial", about, rows.chain([axis]))
}

fn row(row: &Row<'_>, unit: &str, scale: &Scale) -> Markup {
    let Row { label, median, failed, points } = row;
    let shown = |value: f64| quantity(value, unit, None);
    let middle = median.map_or_else(|| "no figure".to_owned(), shown);
    let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
    let description = format!("{label}: {} trials{failed}, median {middle}", points.len());
    let class = match chart::density(points.len(), MOST_APART) {
        "dense" => "trial dense",
        _ => "trial",
    };
    let circles = points.iter().map(|(number, value)| {
        let words = format!("trial {number}: {}", shown(*value));
        let (x, y) = (scale.percent(*value), height(*number));
        let attributes = [("class", class), ("cx", &*x), ("cy", &y)];
        Markup::element("circle", &attributes, [chart::hint(&words)])
    });
    let mark = median.map(|it| chart::upright("median", scale, it));
    let marks = [chart::grid(scale)].into_iter().chain(circles).chain(mark);
    chart::row(label, &format!("{middle}{failed}"), &description, marks)
}

/// Points at different heights do not hide each other; the same trial is at the same one every time.
fn height(number: u32) -> String {
    // Multiples of the golden ratio lie far from each other, whichever are taken.
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let step = (f64::from(number) * GOLDEN).fract();
    format!("{:.0}%", 20.0 + 60.0 * step)
}
