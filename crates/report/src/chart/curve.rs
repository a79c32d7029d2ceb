//! Values by message size, each size a step to the right: sizes are powers of two, and the smallest lie as far apart as the
//! largest.

use super::parts::{self, EXTENT, Quantity};
use super::scale::{Scale, Ticks, percent};
use crate::bench::quantity;
use crate::document::Chart;
use maud::{Markup, html};

/// If the largest value is more than this many times the smallest, the scale is logarithmic: on a linear one the small values
/// would lie on the axis.
const WIDE: f64 = 20.0;

/// Labels at the side.
const MOST_LEVELS: usize = 6;

pub(crate) struct Line<'a> {
    /// `series-0`.
    pub class: &'static str,
    /// What it is of.
    pub name: &'a str,
    /// Sizes in bytes, ascending, and values; a gap where a value is not known.
    pub points: Vec<(u64, Option<f64>)>,
}

/// A level to compare with, drawn over the whole width.
pub(crate) struct Level {
    /// The class of what it belongs to.
    pub class: &'static str,
    pub name: String,
    pub value: f64,
}

/// Where a scale begins and ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reach {
    /// From zero, or logarithmic.
    Values,
    /// Just around the values: their differences count.
    Differences,
    /// From zero to a hundred.
    Percent,
}

pub(crate) struct Curves<'a> {
    pub title: &'a str,
    /// What it shows, in a sentence.
    pub about: String,
    /// What the values are.
    pub measured: Quantity<'a>,
    /// At least one.
    pub lines: Vec<Line<'a>>,
    pub levels: Vec<Level>,
    /// Places on the first line that are marked, by size, and what for.
    pub marks: Vec<(u64, String)>,
    /// Where the scale begins and ends.
    pub reach: Reach,
    /// Whether it has the room of the most important one.
    pub is_tall: bool,
}

/// From a value to its height, and back.
struct Heights {
    scale: Scale,
    is_logarithmic: bool,
}

/// `None` where no value is known.
pub(crate) fn chart(curves: &Curves<'_>) -> Option<Chart> {
    let sizes = curves.lines.iter().flat_map(|it| &it.points).map(|it| exponent(it.0));
    let places = Scale::around(sizes)?;
    let heights = heights(curves)?;
    let names: Vec<&str> = curves.lines.iter().map(|it| it.name).collect();
    let description = format!("{} by message size: {}", curves.title, names.join(", "));
    let Ticks { values, labels, unit } = heights.ticks(curves.measured.unit);
    let levels: Vec<(f64, String)> =
        values.into_iter().map(|it| heights.share(it)).zip(labels).collect();
    let marks = html! {
        (parts::levels(&levels))
        @for it in &curves.levels {
            (parts::level(&format!("limit {}", it.class), heights.share(it.value)))
        }
        (parts::stretched(&html! { @for it in &curves.lines { (drawn(it, &places, &heights)) } }))
        @for it in &curves.lines { (spots(it, curves, &places, &heights)) }
        @for it in &curves.marks { (mark(it, curves, &places, &heights)) }
    };
    let logarithmic = if heights.is_logarithmic { ", logarithmic scale" } else { "" };
    let title = curves.measured.title(&unit) + logarithmic;
    let drawing = html! {
        (legend(curves))
        (parts::panel(&title, curves.is_tall, &description, &marks))
        (axis(&places))
    };
    let title = curves.title.to_owned();
    Some(Chart { title, about: curves.about.clone(), drawing, values: None })
}

fn exponent(size: u64) -> f64 {
    (size.max(1) as f64).log2()
}

fn heights(curves: &Curves<'_>) -> Option<Heights> {
    let measured = curves.lines.iter().flat_map(|it| &it.points).filter_map(|it| it.1);
    let all = measured.chain(curves.levels.iter().map(|it| it.value));
    let values: Vec<f64> = all.filter(|it| it.is_finite() && *it >= 0.0).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let is_logarithmic = curves.reach == Reach::Values && least > 0.0 && most > WIDE * least;
    let scale = match curves.reach {
        Reach::Values if is_logarithmic => Scale::around([least.log10(), most.log10()]),
        Reach::Values => Scale::between(0.0, most * 1.08),
        Reach::Differences => Scale::around(values),
        Reach::Percent => Scale::between(0.0, most.max(100.0)),
    };
    scale.map(|scale| Heights { scale, is_logarithmic })
}

impl Heights {
    fn share(&self, value: f64) -> f64 {
        1.0 - self.scale.share(if self.is_logarithmic { value.log10() } else { value })
    }

    fn ticks(&self, unit: &str) -> Ticks {
        if !self.is_logarithmic {
            return self.scale.labelled(MOST_LEVELS, unit);
        }
        // Only whole powers are round.
        let powers: Vec<f64> = self.scale.ticks(MOST_LEVELS);
        let powers = powers.into_iter().filter(|it| it.fract().abs() < 1e-9);
        let ticks = powers.map(|power| {
            let (value, places) = (10_f64.powf(power), (-power).max(0.0) as usize);
            (value, format!("{value:.places$}"))
        });
        let (values, labels) = ticks.unzip();
        Ticks { values, labels, unit: unit.to_owned() }
    }
}

fn drawn(line: &Line<'_>, places: &Scale, heights: &Heights) -> Markup {
    let (mut path, mut is_drawing) = (String::new(), false);
    for (size, value) in &line.points {
        let Some(value) = value else {
            is_drawing = false;
            continue;
        };
        let x = places.share(exponent(*size)) * EXTENT[0];
        let y = heights.share(*value) * EXTENT[1];
        let step = if is_drawing { 'L' } else { 'M' };
        path.extend([format!("{step}{x:.0} {y:.0}")]);
        is_drawing = true;
    }
    html! { path.curve.(line.class) d=(path) {} }
}

fn spots(line: &Line<'_>, curves: &Curves<'_>, places: &Scale, heights: &Heights) -> Markup {
    let known = line.points.iter().filter_map(|(size, value)| Some((*size, (*value)?)));
    html! {
        g.spots.(line.class) {
            @for (size, value) in known {
                circle cx=(places.percent(exponent(size))) cy=(percent(heights.share(value))) {
                    (parts::hint(&format!("{}, {}: {}", size_words(size), line.name, curves.shown(value))))
                }
            }
        }
    }
}

fn mark(
    (size, why): &(u64, String),
    curves: &Curves<'_>,
    places: &Scale,
    heights: &Heights,
) -> Markup {
    let points = curves.lines.first().map_or(&[][..], |it| &it.points);
    let value = points.iter().find(|it| it.0 == *size).and_then(|it| it.1);
    html! {
        @if let Some(value) = value {
            circle.dip cx=(places.percent(exponent(*size))) cy=(percent(heights.share(value))) {
                (parts::hint(why))
            }
        }
    }
}

impl Curves<'_> {
    fn shown(&self, value: f64) -> String {
        quantity(value, self.measured.unit, None)
    }
}

fn legend(curves: &Curves<'_>) -> Markup {
    let lines = curves.lines.iter().map(|it| (it.class.to_owned(), it.name));
    let levels = curves.levels.iter().map(|it| (format!("ceiling {}", it.class), &*it.name));
    let marks = curves.marks.first().map(|_| ("mark".to_owned(), "dip"));
    parts::legend(&lines.chain(levels).chain(marks).collect::<Vec<_>>())
}

/// Sizes that are no power of two have no label.
fn axis(places: &Scale) -> Markup {
    let label = |tick: &f64| {
        let is_whole = tick.fract().abs() < 1e-9 && (0.0..=62.0).contains(tick);
        if is_whole { size_words(1 << *tick as u64) } else { String::new() }
    };
    let values = places.ticks(parts::MOST_TICKS);
    let labels = values.iter().map(label).collect();
    let ticks = Ticks { values, labels, unit: String::new() };
    parts::axis(places, "message size, logarithmic scale", &ticks)
}

/// `64 B`, `8 KiB`, `1 MiB`: short enough for an axis.
pub(crate) fn size_words(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes}\u{a0}B"),
        1024..1_048_576 => format!("{}\u{a0}KiB", bytes / 1024),
        _ => format!("{}\u{a0}MiB", bytes / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves(values: &[Option<f64>]) -> String {
        let sizes = [2, 64, 8_388_608];
        let points = sizes.iter().copied().zip(values.iter().copied()).collect();
        let line = Line { class: "series-0", name: "average", points };
        chart(&Curves {
            title: "Throughput",
            about: String::new(),
            measured: Quantity { name: "throughput", unit: "MB/s" },
            lines: vec![line],
            levels: vec![Level { class: "series-1", name: "ceiling".to_owned(), value: 1000.0 }],
            marks: vec![(64, "a dip".to_owned())],
            reach: Reach::Values,
            is_tall: false,
        })
        .unwrap()
        .drawing
        .into_string()
    }

    #[test]
    fn what_spans_decades_is_shown_by_powers_of_ten_and_has_a_gap_where_nothing_is_known() {
        let text = curves(&[Some(1.0), None, Some(900.0)]);
        assert!(text.contains("logarithmic scale</div><div class=\"plot\">"), "{text}");
        assert_eq!(
            (text.matches("<circle cx").count(), text.matches("class=\"dip").count()),
            (2, 0)
        );
        for label in [">1</text>", ">10</text>", ">100</text>", ">1000</text>"] {
            assert!(text.contains(label), "{label}: {text}");
        }
    }

    #[test]
    fn what_lies_close_begins_at_zero_and_its_dip_is_marked() {
        let text = curves(&[Some(800.0), Some(700.0), Some(900.0)]);
        assert!(text.contains("throughput (MB/s)</div>") && text.contains(">0</text>"), "{text}");
        assert_eq!(text.matches("class=\"dip").count(), 1);
    }

    #[test]
    fn without_values_there_is_no_chart() {
        let none = Curves {
            title: "",
            about: String::new(),
            measured: Quantity { name: "throughput", unit: "MB/s" },
            lines: vec![Line { class: "", name: "", points: vec![(2, None)] }],
            levels: Vec::new(),
            marks: Vec::new(),
            reach: Reach::Values,
            is_tall: false,
        };
        assert!(chart(&none).is_none());
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!([2, 8192, 8 << 20].map(size_words), ["2\u{a0}B", "8\u{a0}KiB", "8\u{a0}MiB"]);
    }
}
