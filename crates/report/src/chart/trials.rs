//! The chart of every trial, a row for each arm.

use super::parts::{self, Quantity};
use super::scale::{Scale, percent};
use crate::bench::quantity;
use crate::document::Chart;
use maud::{Markup, html};

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

/// Every trial as a point, with the median of its arm; `None` if all trials failed.
pub(crate) fn chart(
    about: String,
    measured: Quantity<'_>,
    arms: &[ArmTrials<'_>],
) -> Option<Chart> {
    let values = arms.iter().flat_map(|it| it.points.iter().map(|(_, value)| *value));
    let scale = Scale::around(values)?;
    let grid = parts::grid(&scale);
    let rows = arms.iter().map(|it| row(it, measured.unit, &scale, &grid));
    Some(Chart {
        title: "Every trial".to_owned(),
        about,
        drawing: parts::rows(rows, &parts::axis_of(&scale, measured)),
        values: None,
    })
}

fn row(arm: &ArmTrials<'_>, unit: &str, scale: &Scale, grid: &Markup) -> Markup {
    let ArmTrials { label, median, failed, points } = arm;
    let shown = |value: f64| quantity(value, unit, None);
    let middle = median.map_or_else(|| "no result".to_owned(), shown);
    let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
    let description = format!("{label}: {} trials{failed}, median {middle}", points.len());
    let density = if points.len() > MOST_APART { "dense" } else { "sparse" };
    let marks = html! {
        (grid)
        g.trials.(density) {
            @for (number, value) in *points {
                circle cx=(scale.percent(*value)) cy=(height(*number)) {
                    (parts::hint(&format!("trial {number}: {}", shown(*value))))
                }
            }
        }
        @if let Some(it) = median { (parts::upright("median", scale, *it)) }
    };
    parts::row(label, &format!("{middle}{failed}"), &description, &marks)
}

/// The height of a trial's point: varied so that points do not hide each other, and the same on every page.
fn height(number: u32) -> String {
    // Fractional parts of multiples of the golden ratio are evenly spread for any run of numbers.
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let step = (f64::from(number) * GOLDEN).fract();
    percent((20.0 + 60.0 * step).round() / 100.0)
}
