//! The cell under the cursor: its value, or why there is none, and how it moved.

use super::layout::{cut, left, width};
use super::state::State;
use super::theme::{ASIDE, Theme};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use rules::watch::{Cell, Reading, Row, Shown, number, reason};

/// Draws the cell's value on the first line of `area`, its explanation on the second, and the chart on the others.
pub(super) fn draw(state: &State, reading: &Reading, area: Rect, frame: &mut Frame) {
    let columns = state.columns(reading);
    let rows = state.rows(reading, &columns);
    let Some(column) = columns.get(state.column_at(&columns)) else { return };
    let row = rows.get(state.row_at(&rows)).copied().unwrap_or(Row::Host);
    let columns_of_area = usize::from(area.width);
    let [value, reason] = value_and_reason(state, reading, column, row);
    let n_chart_lines = usize::from(area.height).saturating_sub(2);
    let mut lines = vec![Line::raw(cut(&value, columns_of_area))];
    lines.push(Line::styled(cut(&reason, columns_of_area), ASIDE));
    let chart = chart(state, (column, row), columns_of_area, n_chart_lines);
    lines.extend(chart.into_iter().map(Line::raw));
    for (line, y) in lines.iter().zip(area.y..area.bottom()) {
        frame.buffer_mut().set_line(area.x, y, line, area.width);
    }
}

fn value_and_reason(state: &State, reading: &Reading, column: &Shown, row: Row) -> [String; 2] {
    let metric = column.metric;
    let name = column.name();
    let of = state.machine.describe(row, &reading.cpus);
    match column.cell(row, &state.machine, reading) {
        Cell::Known { value, without } => {
            let value = number(metric.unit, value);
            let value =
                format!("{name} of {of}: {value} {}, {}", metric.unit.symbol(), metric.title);
            [
                value,
                without.map_or_else(
                    || metric.help.to_owned(),
                    |it| format!("* without what is unknown: {}", reason(&it)),
                ),
            ]
        }
        Cell::Missing(missing) => [format!("{name} of {of}: unknown"), reason(&missing)],
        Cell::Blank => [format!("{name} of {of}: none"), elsewhere(row)],
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

/// A chart of the last intervals, as many as fit next to the labels of its scale.
fn chart(state: &State, (column, row): (&Shown, Row), columns: usize, lines: usize) -> Vec<String> {
    const LABEL: usize = 22;
    if lines == 0 {
        return Vec::new();
    }
    let room = columns.saturating_sub(LABEL);
    let of = (column.metric, &column.part);
    let values = state.history.of(of, row, &state.machine, (room, state.n_behind()));
    let Some(scale) = Scale::of(&values) else {
        return vec!["no value in any interval so far".to_owned()];
    };
    let unit = column.metric.unit;
    let [low, high] = [scale.low, scale.high].map(|it| number(unit, it));
    let label = |line: usize| match line {
        0 if lines == 1 => format!("{low} to {high} {}", unit.symbol()),
        0 => format!("{high} {}", unit.symbol()),
        it if it + 1 == lines => format!("{low} {}, last {}", unit.symbol(), values.len()),
        _ => String::new(),
    };
    let chart = sparkline(&values, scale, lines, state.theme);
    let line = |(at, chart): (usize, String)| format!("{}{chart}", left(&label(at), LABEL));
    let drawn: Vec<String> = chart.into_iter().enumerate().map(line).collect();
    debug_assert!(drawn.iter().all(|it| width(it) <= columns), "the chart fits");
    drawn
}

/// The lowest and highest value that a chart shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// Drawn as the lowest level.
    pub(super) low: f64,
    /// Drawn as the highest.
    pub(super) high: f64,
}

impl Scale {
    /// From the lowest value to the highest; nothing where there is none.
    pub(super) fn of(values: &[Option<f64>]) -> Option<Scale> {
        let known = || values.iter().flatten().copied();
        known().next()?;
        let low = known().fold(f64::INFINITY, f64::min);
        let high = known().fold(f64::NEG_INFINITY, f64::max);
        Some(Scale { low, high })
    }
}

/// The chart, `lines` high and one column for each value; a blank where there is none.
///
/// A value that never moves is drawn at half height: neither full nor empty.
pub(super) fn sparkline(
    values: &[Option<f64>],
    scale: Scale,
    lines: usize,
    theme: Theme,
) -> Vec<String> {
    let levels = theme.levels();
    let n_steps = levels.len() * lines;
    let span = scale.high - scale.low;
    let step = |value: f64| {
        let share = if span > 0.0 { (value - scale.low) / span } else { 0.5 };
        1 + (share * (n_steps - 1) as f64).round() as usize
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
    use super::*;

    const THEME: Theme = Theme { color: false, unicode: true };

    fn drawn(values: &[Option<f64>], lines: usize) -> Vec<String> {
        sparkline(values, Scale::of(values).unwrap(), lines, THEME)
    }

    #[test]
    fn a_chart_reaches_from_the_lowest_to_the_highest_value() {
        let values = [Some(4200.0), Some(4350.0), None, Some(4500.0)];
        assert_eq!(drawn(&values, 1), ["▁▅ █"]);
        assert_eq!(drawn(&values, 2), [" ▁ █", "▁█ █"]);
    }

    #[test]
    fn what_does_not_move_is_at_half_height() {
        assert_eq!(drawn(&[Some(7.0); 3], 1), ["▅▅▅"]);
    }

    #[test]
    fn without_a_value_there_is_no_scale() {
        assert_eq!(Scale::of(&[None, None]), None);
    }
}
