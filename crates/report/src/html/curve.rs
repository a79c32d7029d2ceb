//! Values by message size, each size a step to the right: sizes are powers of two, and the smallest lie as far apart as the
//! largest.

use super::chart;
use super::markup::Markup;
use super::scale::{Scale, percent};

/// Values whose largest is more than so many times the smallest are shown by powers of ten: else the small ones would lie on
/// the axis.
const WIDE: f64 = 20.0;

/// The width and height that lines are drawn in.
const EXTENT: [f64; 2] = [10_000.0, 1_000.0];

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
    /// From zero, or by powers of ten.
    Values,
    /// Just around the values: their differences count.
    Differences,
    /// From zero to one.
    Share,
}

pub(crate) struct Curves<'a> {
    pub title: &'a str,
    /// What it shows, in a sentence.
    pub about: &'a str,
    /// At least one.
    pub lines: Vec<Line<'a>>,
    pub levels: Vec<Level>,
    /// Places on the first line that are marked, by size, and what for.
    pub marks: Vec<(u64, String)>,
    /// Where the scale begins and ends.
    pub reach: Reach,
    /// A value in words.
    pub shown: fn(f64) -> String,
    /// Whether it has the room of the most important one.
    pub is_tall: bool,
}

/// From a value to its height, and back.
struct Heights {
    scale: Scale,
    is_by_tens: bool,
}

/// Nothing where no value is known.
pub(crate) fn chart(curves: &Curves<'_>) -> Markup {
    let sizes = curves.lines.iter().flat_map(|it| &it.points).map(|it| exponent(it.0));
    let (Some(places), Some(heights)) = (Scale::around(sizes), heights(curves)) else {
        return Markup::default();
    };
    let levels = levels(curves, &heights);
    let limits = curves.levels.iter().map(|it| limit(it, &heights));
    let lines = curves.lines.iter().map(|it| drawn(it, &places, &heights));
    let spots = curves.lines.iter().flat_map(|it| spots(it, curves, &places, &heights));
    let marks = curves.marks.iter().filter_map(|it| mark(it, curves, &places, &heights));
    let names: Vec<&str> = curves.lines.iter().map(|it| it.name).collect();
    let description = format!("{} by message size: {}", curves.title, names.join(", "));
    let all: Vec<Markup> =
        levels.into_iter().chain(limits).chain(lines).chain(spots).chain(marks).collect();
    let by = if heights.is_by_tens { "upwards by powers of ten" } else { "" };
    let panel = if curves.is_tall { chart::tall_panel } else { chart::panel };
    let content = [legend(curves), panel("by message size", by, &description, all), axis(&places)];
    chart::figure(curves.title, curves.about, content)
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
    let is_by_tens = curves.reach == Reach::Values && least > 0.0 && most > WIDE * least;
    let scale = match curves.reach {
        Reach::Values if is_by_tens => Scale::around([least.log10(), most.log10()]),
        Reach::Values => Scale::between(0.0, most * 1.08),
        Reach::Differences => Scale::around(values),
        Reach::Share => Scale::between(0.0, most.max(1.0)),
    };
    scale.map(|scale| Heights { scale, is_by_tens })
}

impl Heights {
    fn share(&self, value: f64) -> f64 {
        1.0 - self.scale.share(if self.is_by_tens { value.log10() } else { value })
    }

    fn ticks(&self) -> Vec<f64> {
        let ticks = self.scale.ticks(MOST_LEVELS);
        if !self.is_by_tens {
            return ticks;
        }
        // Only whole powers are round.
        ticks.into_iter().filter(|it| it.fract().abs() < 1e-9).map(|it| 10_f64.powf(it)).collect()
    }
}

fn levels(curves: &Curves<'_>, heights: &Heights) -> Vec<Markup> {
    let level = |tick: &f64| {
        let y = percent(heights.share(*tick));
        let label = Markup::text(&(curves.shown)(*tick));
        Markup::all([
            chart::line(&[("class", "grid"), ("x1", "0"), ("x2", "100%"), ("y1", &y), ("y2", &y)]),
            Markup::element("text", &[("class", "level"), ("x", "0"), ("y", &y)], [label]),
        ])
    };
    heights.ticks().iter().map(level).collect()
}

fn limit(level: &Level, heights: &Heights) -> Markup {
    let (y, class) = (percent(heights.share(level.value)), format!("limit {}", level.class));
    chart::line(&[("class", &class), ("x1", "0"), ("x2", "100%"), ("y1", &y), ("y2", &y)])
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
    let class = format!("curve {}", line.class);
    let path = Markup::empty("path", &[("class", &class), ("d", &path)]);
    let box_of = format!("0 0 {} {}", EXTENT[0], EXTENT[1]);
    let attributes = [
        ("viewBox", &*box_of),
        ("preserveAspectRatio", "none"),
        ("width", "100%"),
        ("height", "100%"),
    ];
    Markup::element("svg", &attributes, [path])
}

fn spots(line: &Line<'_>, curves: &Curves<'_>, places: &Scale, heights: &Heights) -> Vec<Markup> {
    let class = format!("spot {}", line.class);
    let spot = |(size, value): &(u64, Option<f64>)| {
        let value = (*value)?;
        let words = format!("{}, {}: {}", size_words(*size), line.name, (curves.shown)(value));
        let x = places.percent(exponent(*size));
        let y = percent(heights.share(value));
        let attributes = [("class", &*class), ("cx", &x), ("cy", &y)];
        Some(Markup::element("circle", &attributes, [chart::hint(&words)]))
    };
    line.points.iter().filter_map(spot).collect()
}

fn mark(
    (size, words): &(u64, String),
    curves: &Curves<'_>,
    places: &Scale,
    heights: &Heights,
) -> Option<Markup> {
    let points = &curves.lines.first()?.points;
    let value = points.iter().find(|it| it.0 == *size)?.1?;
    let (x, y) = (places.percent(exponent(*size)), percent(heights.share(value)));
    let attributes = [("class", "dip"), ("cx", &*x), ("cy", &y)];
    Some(Markup::element("circle", &attributes, [chart::hint(words)]))
}

fn legend(curves: &Curves<'_>) -> Markup {
    let lines = curves.lines.iter().map(|it| (it.class.to_owned(), it.name));
    let levels = curves.levels.iter().map(|it| (format!("ceiling {}", it.class), &*it.name));
    let marks = curves.marks.first().map(|_| ("mark".to_owned(), "dip"));
    let entries: Vec<(String, &str)> = lines.chain(levels).chain(marks).collect();
    let entries: Vec<(&str, &str)> = entries.iter().map(|(class, it)| (&**class, *it)).collect();
    chart::legend(&entries)
}

/// Sizes that are no power of two have no label.
fn axis(places: &Scale) -> Markup {
    let label = |tick: &f64| {
        let is_whole = tick.fract().abs() < 1e-9 && (0.0..=62.0).contains(tick);
        if is_whole { size_words(1 << *tick as u64) } else { String::new() }
    };
    chart::axis(places, |ticks| ticks.iter().map(label).collect())
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
            about: "",
            lines: vec![line],
            levels: vec![Level { class: "series-1", name: "ceiling".to_owned(), value: 1000.0 }],
            marks: vec![(64, "a dip".to_owned())],
            reach: Reach::Values,
            shown: |it| format!("{it}"),
            is_tall: false,
        })
        .into_string()
    }

    #[test]
    fn what_spans_decades_is_shown_by_powers_of_ten_and_has_a_gap_where_nothing_is_known() {
        let text = curves(&[Some(1.0), None, Some(900.0)]);
        assert!(text.contains("by powers of ten"), "{text}");
        assert_eq!(
            (text.matches("class=\"spot").count(), text.matches("class=\"dip").count()),
            (2, 0)
        );
        for label in [">1</text>", ">10</text>", ">100</text>", ">1000</text>"] {
            assert!(text.contains(label), "{label}: {text}");
        }
    }

    #[test]
    fn what_lies_close_begins_at_zero_and_its_dip_is_marked() {
        let text = curves(&[Some(800.0), Some(700.0), Some(900.0)]);
        assert!(!text.contains("by powers of ten") && text.contains(">0</text>"), "{text}");
        assert_eq!(text.matches("class=\"dip").count(), 1);
    }

    #[test]
    fn without_values_there_is_no_chart() {
        let none = Curves {
            title: "",
            about: "",
            lines: vec![Line { class: "", name: "", points: vec![(2, None)] }],
            levels: Vec::new(),
            marks: Vec::new(),
            reach: Reach::Values,
            shown: |it| format!("{it}"),
            is_tall: false,
        };
        assert_eq!(chart(&none).into_string(), "");
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!([2, 8192, 8 << 20].map(size_words), ["2\u{a0}B", "8\u{a0}KiB", "8\u{a0}MiB"]);
    }
}
