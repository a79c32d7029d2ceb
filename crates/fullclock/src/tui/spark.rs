//! A chart of one cell over time, one column for each interval.

use super::theme::Theme;

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
pub(super) fn chart(
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
        chart(values, Scale::of(values).unwrap(), lines, THEME)
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
