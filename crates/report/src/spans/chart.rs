//! What a recording shows over time: the client's number, who ran and who waited, one under the other on one axis.

use super::{Course, Tasks, client_heading, number, percent, side};
use crate::chart::parts::{self, EXTENT};
use crate::chart::scale::Scale;
use crate::document::Chart;
use maud::{Markup, html};
use rules::spans::{Span, Who};

/// Labels at the side of a panel.
const MOST_LEVELS: usize = 4;

/// Colours that a line of a panel can have.
const CLASSES: [&str; 6] = ["series-0", "series-1", "series-2", "series-3", "series-4", "series-5"];

/// One line of a panel: its name, and a value for each piece where it is known.
struct Line {
    name: String,
    values: Vec<Option<f64>>,
}

struct Panel {
    title: String,
    lines: Vec<Line>,
    shown: fn(f64) -> String,
}

/// `None` for a recording of one piece, which has no course.
pub(super) fn chart(course: &Course<'_>, columns: &[Tasks]) -> Option<Chart> {
    let [first, .., last] = course.spans else { return None };
    let seconds = last.to.raw_ns.saturating_sub(first.from.raw_ns) as f64 / 1e9;
    let times = Scale::between(0.0, seconds)?;
    let panels = panels(course, columns);
    let drawing = html! {
        @for panel in &panels { (drawn(course, panel, &times)) }
        (parts::axis_of(&times, parts::Quantity { name: "time since the beginning", unit: "s" }))
    };
    Some(Chart {
        title: "Over time".to_owned(),
        about: "Lines are means of each piece; vertical lines are the client's marks.".to_owned(),
        drawing,
        values: None,
    })
}

fn panels(course: &Course<'_>, columns: &[Tasks]) -> Vec<Panel> {
    let line = |name: String, value: &dyn Fn(&Span) -> Option<f64>| Line {
        name,
        values: course.spans.iter().map(value).collect(),
    };
    let client = course.metric.map(|metric| Panel {
        title: client_heading(metric),
        lines: vec![line(metric.name().to_owned(), &|it| it.client.clone().ok())],
        shown: number,
    });
    let idle = line("idle".to_owned(), &|it| it.share("idle").ok());
    let tasks = busiest(course, columns).into_iter().map(|tasks| {
        line(tasks.heading(columns), &|span| span.ran(|it| tasks.has(it, columns)).ok())
    });
    let ran = Panel {
        title: "share of the CPUs' time (%)".to_owned(),
        lines: std::iter::once(idle).chain(tasks).collect(),
        shown: |it| percent(&it),
    };
    let waits = |who: Who| line(side(who).to_owned(), &|span| span.waited(|it| it.who == who).ok());
    let waited = Panel {
        title: "waiting for a CPU (s in each second)".to_owned(),
        lines: course.sides().into_iter().map(waits).collect(),
        shown: |it| format!("{it:.2}"),
    };
    client.into_iter().chain([ran, waited]).filter(|it| !it.lines.is_empty()).collect()
}

/// As many columns as have a colour beside idle: those that ever had the largest shares, in their order.
fn busiest<'a>(course: &Course<'_>, columns: &'a [Tasks]) -> Vec<&'a Tasks> {
    let largest = |tasks: &Tasks| {
        let shares = course.spans.iter().filter_map(|it| it.ran(|it| tasks.has(it, columns)).ok());
        shares.fold(0.0, f64::max)
    };
    let mut by_share: Vec<(usize, f64)> = columns.iter().map(largest).enumerate().collect();
    by_share.sort_by(|a, b| b.1.total_cmp(&a.1));
    by_share.truncate(CLASSES.len() - 1);
    by_share.sort_by_key(|it| it.0);
    by_share.into_iter().filter_map(|it| columns.get(it.0)).collect()
}

fn drawn(course: &Course<'_>, panel: &Panel, times: &Scale) -> Markup {
    let values = panel.lines.iter().flat_map(|it| it.values.iter().flatten().copied());
    let Some(heights) = Scale::from_zero(values) else { return html! {} };
    let levels: Vec<(f64, String)> = heights
        .ticks(MOST_LEVELS)
        .into_iter()
        .map(|it| (1.0 - heights.share(it), (panel.shown)(it)))
        .collect();
    let names: Vec<&str> = panel.lines.iter().map(|it| &*it.name).collect();
    let legend: Vec<(String, &str)> =
        CLASSES.iter().zip(&names).map(|(class, name)| ((*class).to_owned(), *name)).collect();
    let marks = html! {
        (parts::levels(&levels))
        @for at in marks(course) { (parts::upright("mark", times, at)) }
        (parts::stretched(&html! {
            @for (class, line) in CLASSES.iter().zip(&panel.lines) {
                path.curve.(class) d=(path(course, line, times, &heights)) {}
            }
        }))
    };
    let description = format!("{} over time: {}", panel.title, names.join(", "));
    html! {
        (parts::legend(&legend))
        (parts::panel(&panel.title, false, &description, &marks))
    }
}

/// Steps: a value holds for all of its piece.
fn path(course: &Course<'_>, line: &Line, times: &Scale, heights: &Scale) -> String {
    let (mut path, mut is_drawing) = (String::new(), false);
    for (span, value) in course.spans.iter().zip(&line.values) {
        let Some(value) = value else {
            is_drawing = false;
            continue;
        };
        let y = (1.0 - heights.share(*value)) * EXTENT[1];
        for raw_ns in [span.from.raw_ns, span.to.raw_ns] {
            let x = times.share(seconds(course, raw_ns)) * EXTENT[0];
            let step = if is_drawing { 'L' } else { 'M' };
            path.extend([format!("{step}{x:.0} {y:.0}")]);
            is_drawing = true;
        }
    }
    path
}

fn marks(course: &Course<'_>) -> Vec<f64> {
    let marks = course.spans.iter().flat_map(|it| &it.marks);
    marks.map(|it| seconds(course, it.at)).collect()
}

fn seconds(course: &Course<'_>, raw_ns: u64) -> f64 {
    let first = course.spans.first().map_or(0, |it| it.from.raw_ns);
    raw_ns.saturating_sub(first) as f64 / 1e9
}
