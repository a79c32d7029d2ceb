//! The cell under the cursor: its value, or why there is none, and how it moved.

use super::axis::Axis;
use super::text::{capitalized, counted, rule, wrapped};
use super::theme::{ASIDE, Theme};
use super::view::View;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use rules::metric::Unit;
use rules::watch::{Cell, Row, Shown, number, reason};

/// Draws a rule with the cell's value, what it is in a few lines, and a chart of the last intervals on all others.
pub(super) fn draw(view: &View, area: Rect, buffer: &mut Buffer) {
    let Some(column) = view.column() else { return };
    if area.height == 0 {
        return;
    }
    let theme = view.state.theme;
    let (value, text) = value_and_text(view, column);
    let n_lines = lines_of_text(area.height);
    let more = format!("{} (i)", theme.ellipsis());
    let lines = wrapped(&text, area.width.into(), n_lines, &more);
    let n_lines = u16::try_from(lines.len()).unwrap_or(0);
    for (text, y) in lines.iter().zip(area.y + 1..area.bottom()) {
        buffer.set_line(area.x, y, &Line::styled(text.as_str(), ASIDE), area.width);
    }
    let chart =
        Rect { y: area.y + 1 + n_lines, height: area.height.saturating_sub(1 + n_lines), ..area };
    let n = if chart.height == 0 { None } else { draw_chart(view, column, chart, buffer) };
    let words: Vec<String> = [Some(value), n.map(|n| format!("last {}", counted(n, "interval")))]
        .into_iter()
        .flatten()
        .collect();
    let line = Line::styled(rule(&words, area.width, theme), ASIDE);
    buffer.set_line(area.x, area.y, &line, area.width);
}

/// How many of so many lines explain the value.
fn lines_of_text(height: u16) -> usize {
    match height {
        0..=4 => 1,
        5..=11 => 2,
        12..=19 => 4,
        _ => 6,
    }
}

/// The value, and what it is; or that it is unknown, and why.
fn value_and_text(view: &View, column: &Shown) -> (String, String) {
    let metric = column.metric;
    let row = view.row();
    let machine = &view.state.machine;
    let what = format!("{} of {}", column.name(), machine.describe(row, &view.reading.cpus));
    match column.cell(row, machine, view.reading) {
        Cell::Known { value, without } => {
            let value = format!("{what}: {} {}", number(metric.unit, value), metric.unit.symbol());
            let explained = format!("{}. {}", capitalized(metric.title), metric.help);
            let text = without
                .map_or(explained, |it| format!("* without what is unknown: {}", reason(&it)));
            (value, text)
        }
        Cell::Missing(missing) => (format!("{what}: unknown"), reason(&missing)),
        Cell::Blank => (format!("{what}: none"), elsewhere(row)),
    }
}

fn elsewhere(row: Row) -> String {
    match row {
        Row::Cpu(_) | Row::Core(_) => {
            "it is a value of the package or the machine: see the rows at the top"
        }
        Row::Package(_) => "it is a value of the machine: see the row `all`",
        Row::Host => "not asked",
    }
    .to_owned()
}

/// Draws the values of the last intervals, as many as fit; how many those are.
fn draw_chart(view: &View, column: &Shown, area: Rect, buffer: &mut Buffer) -> Option<usize> {
    let theme = view.state.theme;
    let unit = column.metric.unit;
    let (history, machine) = (&view.state.history, &view.state.machine);
    let window = (area.width.into(), view.state.n_behind());
    let values = history.of((column.metric, &column.part), view.row(), machine, window);
    let Some(scale) = Scale::of(unit, &values) else {
        let text = "no value in any interval so far";
        buffer.set_stringn(area.x, area.y, text, area.width.into(), ASIDE);
        return None;
    };
    let [top, bottom] = [scale.high, 0.0].map(|it| format!("{} {}", short(it), unit.symbol()));
    let labels = if area.height == 1 { vec![format!("0 to {top}")] } else { vec![top, bottom] };
    let axis = Axis::new(labels, theme);
    let plot = axis.plot(area, 0);
    axis.draw(plot, buffer);
    let n_older = values.len().saturating_sub(plot.width.into());
    let values = values.get(n_older..).unwrap_or_default();
    for (line, y) in chart(values, scale, plot.height.into(), theme).iter().zip(plot.y..) {
        buffer.set_stringn(plot.x, y, line, plot.width.into(), theme.curve());
    }
    Some(values.len())
}

/// Values as one line from zero to the highest; `None` where there is no value.
pub(super) fn sparkline(values: &[Option<f64>], theme: Theme) -> Option<String> {
    let scale = Scale::of(Unit::PerSecond, values)?;
    chart(values, scale, 1, theme).pop()
}

/// A round number without digits that say nothing.
fn short(value: f64) -> String {
    match value {
        it if it >= 1e9 => format!("{}G", it / 1e9),
        it if it >= 1e6 => format!("{}M", it / 1e6),
        it => it.to_string(),
    }
}

/// What a chart shows: from zero to its highest value.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    high: f64,
}

impl Scale {
    /// Shares are shown from 0 to 100 %, whatever they are; others up to the next round number. Nothing where there is no value.
    fn of(unit: Unit, values: &[Option<f64>]) -> Option<Scale> {
        let high = values.iter().flatten().copied().reduce(f64::max)?;
        let least = if unit == Unit::Percent { 100.0 } else { 0.0 };
        Some(Scale { high: if high <= least { least.max(1.0) } else { round_up(high) } })
    }
}

/// The lowest of 1, 2, 3, 4, 5, 6 and 8 times a power of ten that is no less than `value`.
fn round_up(value: f64) -> f64 {
    const STEPS: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    let power = value.log10().floor() as i32;
    // A division by a power of ten is exact where a product with its inverse is not: 3 / 10 prints as 0.3.
    let scaled = |step: f64| {
        if power < 0 { step / 10f64.powi(-power) } else { step * 10f64.powi(power) }
    };
    STEPS.into_iter().map(scaled).find(|it| *it >= value).unwrap_or(value)
}

/// The chart, `lines` high and one column for each value, from its first line to its last; a blank where there is none. A value of
/// zero is the lowest mark, so that it differs from an unknown one.
fn chart(values: &[Option<f64>], scale: Scale, lines: usize, theme: Theme) -> Vec<String> {
    let levels = theme.levels();
    let n_steps = levels.len() * lines;
    let step = |value: f64| {
        let share = (value / scale.high).clamp(0.0, 1.0);
        ((share * n_steps as f64).round() as usize).max(1)
    };
    let steps: Vec<Option<usize>> = values.iter().map(|it| it.map(step)).collect();
    let letter = |step: Option<usize>, below: usize| {
        let filled = step.unwrap_or(0).saturating_sub(below).min(levels.len());
        filled.checked_sub(1).and_then(|at| levels.get(at)).copied().unwrap_or(' ')
    };
    let line = |line: usize| {
        let below = (lines - 1 - line) * levels.len();
        steps.iter().map(|it| letter(*it, below)).collect()
    };
    (0..lines).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::theme::Colors;
    use super::*;

    const THEME: Theme = Theme { colors: Colors::None, unicode: true };

    fn drawn(unit: Unit, values: &[Option<f64>], lines: usize) -> Vec<String> {
        chart(values, Scale::of(unit, values).unwrap(), lines, THEME)
    }

    #[test]
    fn a_chart_of_shares_reaches_from_0_to_100() {
        let values = [Some(97.99), Some(100.0), None, Some(50.0), Some(0.0)];
        assert_eq!(drawn(Unit::Percent, &values, 1), ["██ ▄▁"]);
        assert_eq!(drawn(Unit::Percent, &values, 2), ["██   ", "██ █▁"]);
        assert_eq!(drawn(Unit::Percent, &[Some(25.0)], 1), ["▂"]);
    }

    #[test]
    fn every_other_chart_begins_at_zero_and_ends_at_a_round_number() {
        let scale = |values: &[f64]| {
            let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
            Scale::of(Unit::Megahertz, &values).unwrap().high
        };
        assert_eq!(scale(&[3601.0, 3675.0]), 4000.0);
        assert_eq!([scale(&[0.0]), scale(&[0.3]), scale(&[1.0])], [1.0, 0.3, 1.0]);
        assert_eq!([scale(&[4000.0]), scale(&[4001.0]), scale(&[91e6])], [4000.0, 5000.0, 1e8]);
        let values = [Some(2000.0), Some(3900.0)];
        assert_eq!(drawn(Unit::Megahertz, &values, 1), ["▄█"]);
    }

    #[test]
    fn a_sum_of_shares_may_be_more_than_100() {
        assert_eq!(Scale::of(Unit::Percent, &[Some(140.0)]), Some(Scale { high: 200.0 }));
    }

    #[test]
    fn without_a_value_there_is_no_scale() {
        assert_eq!(Scale::of(Unit::Percent, &[None, None]), None);
    }

    #[test]
    fn labels_have_no_digits_that_say_nothing() {
        assert_eq!([0.3, 100.0, 4000.0, 2e6, 5e9].map(short), ["0.3", "100", "4000", "2M", "5G"]);
    }
}
