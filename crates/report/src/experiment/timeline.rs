//! The clock and what else may move a clock, trial by trial: drifts and steps show here.

use crate::chart::parts::{self, EXTENT, Quantity};
use crate::chart::scale::Scale;
use crate::document::Chart;
use crate::experiment::Study;
use lab::experiment::analysis::{Effect, WorkloadAnalysis};
use lab::trial::{Trial, TrialClock};
use maud::{Markup, html};
use rules::metric::Unit;
use rules::metrics;
use std::collections::BTreeSet;

/// Of the metrics of `fullclock watch`, those that belong to a clock.
const METRICS: [&str; 4] = ["core-residency", "package-residency", "temperature", "watts"];

/// A processor has a dozen idle states; beyond them nobody reads on.
const MOST_PANELS: usize = 12;

/// As many colours as the style sheet has.
const MOST_SERIES: usize = 6;

/// More points of their full size would cover each other.
const MOST_APART: usize = 500;

/// Something that every trial may have a value of.
struct Panel {
    /// `clock, by the probe`
    name: String,
    unit: &'static str,
    /// By the place of the trial among those of the workload.
    values: Vec<Option<f64>>,
}

/// `None` where nothing was measured around the trials.
pub(super) fn chart(study: &Study<'_>, workload: &WorkloadAnalysis) -> Option<Chart> {
    let arms: BTreeSet<usize> = workload.arms.iter().map(|it| it.arm).collect();
    let trials: Vec<&Trial> =
        study.record.trials.iter().filter(|it| arms.contains(&it.arm)).collect();
    let factor = telling_factor(study, workload);
    let level = |it: &&Trial| study.levels(it.arm).get(factor).copied().unwrap_or(0);
    let series: Vec<usize> = trials.iter().map(|it| level(it).min(MOST_SERIES - 1)).collect();
    let panels: Vec<Markup> =
        panels(&trials).iter().filter_map(|it| drawn(it, &series, trials.len())).collect();
    if panels.is_empty() {
        return None;
    }
    let about = format!(
        "Around each trial, in the order in which they ran; colours are levels of {}.",
        study.factor_name(factor)
    );
    let order = Scale::between(1.0, trials.len() as f64);
    let drawing = html! {
        (legend(study, factor))
        @for it in &panels { (it) }
        @if let Some(order) = order {
            (parts::axis_of(&order, Quantity { name: "number of the trial", unit: "" }))
        }
    };
    Some(Chart { title: "From trial to trial".to_owned(), about, drawing, values: None })
}

/// The one whose levels lie furthest apart in clock, so that colours mean something.
fn telling_factor(study: &Study<'_>, workload: &WorkloadAnalysis) -> usize {
    let by_clock = |it: &&Effect| it.by_clock.value().map_or(0.0, |it| it.abs());
    let most = workload.effects.iter().max_by(|a, b| by_clock(a).total_cmp(&by_clock(b)));
    most.map_or(0, |it| it.factor).min(study.design().factors.len().saturating_sub(1))
}

fn legend(study: &Study<'_>, factor: usize) -> Markup {
    let levels = study.design().factors.get(factor).map_or(&[][..], |it| &it.levels);
    let is_last = |at: usize| at + 1 == MOST_SERIES && levels.len() > MOST_SERIES;
    let mut entries: Vec<(String, &str)> = Vec::new();
    for (at, level) in levels.iter().take(MOST_SERIES).enumerate() {
        entries.push((format!("series-{at}"), if is_last(at) { "others" } else { level }));
    }
    parts::legend(&entries)
}

/// The clock first, then metrics in their order.
fn panels(trials: &[&Trial]) -> Vec<Panel> {
    let hertz = |it: &&Trial| it.clock.value().map(TrialClock::mean_hz);
    let clock = Panel {
        name: "clock, by the probe".to_owned(),
        unit: "Hz",
        values: trials.iter().map(hertz).collect(),
    };
    let mut parts: Vec<(&'static str, &str)> = Vec::new();
    for trial in trials {
        for reading in trial.surroundings.value().iter().flat_map(|it| &it.metrics) {
            let metric = METRICS.into_iter().find(|it| *it == reading.metric);
            let Some(metric) = metric.filter(|_| reading.value.value().is_some()) else { continue };
            if !parts.contains(&(metric, reading.part)) {
                parts.push((metric, reading.part));
            }
        }
    }
    parts.sort_by_key(|(metric, _)| METRICS.iter().position(|it| it == metric));
    let of_part = |(metric, part): (&'static str, &str)| panel(trials, metric, part);
    std::iter::once(clock).chain(parts.into_iter().map(of_part)).take(MOST_PANELS).collect()
}

fn panel(trials: &[&Trial], id: &'static str, part: &str) -> Panel {
    let value = |it: &&Trial| {
        let readings = &it.surroundings.value()?.metrics;
        let reading = readings.iter().find(|it| it.metric == id && it.part == part)?;
        reading.value.value().copied()
    };
    let metric = metrics::METRICS.iter().find(|it| it.id == id);
    let unit = match metric.map(|it| it.unit) {
        Some(Unit::Percent) => "%",
        Some(Unit::Megahertz) => "MHz",
        Some(Unit::PerSecond) => "/s",
        Some(Unit::Watts) => "W",
        Some(Unit::Celsius) => "°C",
        Some(Unit::MillisecondsPerSecond) => "ms/s",
        None => "",
    };
    let title = metric.map_or(id, |it| it.title);
    let name = if part.is_empty() { title.to_owned() } else { format!("{part}: {title}") };
    Panel { name, unit, values: trials.iter().map(value).collect() }
}

fn drawn(panel: &Panel, series: &[usize], n_trials: usize) -> Option<Markup> {
    let known = || panel.values.iter().flatten().copied();
    let scale = Scale::around(known())?;
    let ticks = scale.labelled(3, panel.unit);
    let heights = ticks.values.iter().map(|it| 1.0 - scale.share(*it));
    let levels: Vec<(f64, String)> = heights.zip(ticks.labels).collect();
    let marks = html! {
        (parts::levels(&levels))
        (parts::stretched(&html! { @for it in 0..MOST_SERIES { (path(panel, series, it, &scale)) } }))
    };
    let n = known().count();
    let unknown = if n < n_trials { format!(", {} unknown", n_trials - n) } else { String::new() };
    let title = Quantity { name: &panel.name, unit: panel.unit }.title(&ticks.unit) + &unknown;
    let description = format!("{}: {n} trials{unknown}", panel.name);
    Some(parts::panel(&title, false, &description, &marks))
}

/// Strokes without length, which round ends make points of: a tenth of the text that circles would take.
fn path(panel: &Panel, series: &[usize], of: usize, scale: &Scale) -> Markup {
    let last = panel.values.len().max(2) - 1;
    let mut points = String::new();
    for (at, value) in panel.values.iter().enumerate() {
        let Some(value) = value.filter(|_| series.get(at) == Some(&of)) else { continue };
        let x = at as f64 / last as f64 * EXTENT[0];
        let y = (1.0 - scale.share(value)) * EXTENT[1];
        points.push_str(&[format!("M{x:.0} {y:.0}"), "h0".to_owned()].concat());
    }
    let density = if panel.values.len() > MOST_APART { "dense" } else { "sparse" };
    let class = format!("points {density} series-{of}");
    html! { @if !points.is_empty() { path class=(class) d=(points) {} } }
}
