//! From values to places in a chart, and round numbers to put beside it.

use crate::bench::quantity;

/// Values from one side of a chart to the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// All of these that are finite, with some room on both sides; `None` where there are none.
    pub(crate) fn around(values: impl IntoIterator<Item = f64>) -> Option<Scale> {
        /// Points at the very edge would be cut off.
        const ROOM: f64 = 0.04;
        let finite = values.into_iter().filter(|it| it.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| {
            (low.min(it), high.max(it))
        });
        if low > high {
            return None;
        }
        // A single value stands in the middle.
        let extent = if high > low { high - low } else { low.abs().max(f64::MIN_POSITIVE) * 0.1 };
        let room = extent * ROOM;
        Some(Scale { low: low - room, high: high + room })
    }

    /// From one value to another.
    pub(crate) fn between(low: f64, high: f64) -> Option<Scale> {
        (low < high).then_some(Scale { low, high })
    }

    /// From zero to the largest of these; `None` where all are zero.
    pub(crate) fn from_zero(values: impl IntoIterator<Item = f64>) -> Option<Scale> {
        let high = values.into_iter().filter(|it| it.is_finite()).fold(0.0, f64::max);
        (high > 0.0).then_some(Scale { low: 0.0, high })
    }

    /// Where a value lies, 0 to 1; what lies outside is at the edge.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// The same as an attribute.
    pub(crate) fn percent(&self, value: f64) -> String {
        percent(self.share(value))
    }

    /// At most `most` round numbers, and at least one where there is a round number at all.
    pub(crate) fn ticks(&self, most: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / most.max(1) as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0, 20.0].map(|it| it * power);
        let ticks = |step: f64| -> Vec<f64> {
            let first = (self.low / step).ceil();
            let last = (self.high / step).floor();
            let n = if last >= first { (last - first) as usize + 1 } else { 0 };
            // A tick at zero has no sign.
            (0..n.min(100)).map(|it| (first + it as f64) * step + 0.0).collect()
        };
        let found = steps.into_iter().map(ticks).find(|it| it.len() <= most);
        found.unwrap_or_default()
    }
}

/// A share of the width as an attribute, to a hundredth of a percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{}%", (share * 1e4).round() / 100.0)
}

/// Round values along an axis, as numbers of one unit.
#[derive(Debug, PartialEq)]
pub(crate) struct Ticks {
    pub values: Vec<f64>,
    /// Each value, with the digits of their step and without the unit.
    pub labels: Vec<String>,
    /// That which fits the largest of them.
    pub unit: String,
}

impl Scale {
    /// The same in numbers that are `factor` times as large.
    pub(crate) fn times(&self, factor: f64) -> Scale {
        Scale { low: self.low * factor, high: self.high * factor }
    }

    /// At most `most` round numbers of a quantity in `unit`, shown in the unit that fits.
    pub(crate) fn labelled(&self, most: usize, unit: &str) -> Ticks {
        let values = self.ticks(most);
        let (labels, unit) = labels(&values, unit);
        Ticks { values, labels, unit }
    }
}

/// Ticks as numbers, and their unit.
fn labels(ticks: &[f64], unit: &str) -> (Vec<String>, String) {
    let largest = ticks.iter().fold(0.0_f64, |it, tick| it.max(tick.abs()));
    // Whatever a quantity of that size is shown in.
    let shown = quantity(largest, unit, None);
    let (number, unit) = shown.split_once(' ').unwrap_or((&shown, ""));
    let factor = number.parse::<f64>().ok().filter(|it| *it > 0.0).map_or(1.0, |it| {
        // The shown number is rounded; the factor between units is a power of ten.
        10_f64.powf((it / largest).log10().round())
    });
    let step = ticks.windows(2).map(|it| (it[1] - it[0]) * factor).next().unwrap_or(1.0);
    let places = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    let labels = ticks.iter().map(|it| format!("{:.places$}", it * factor)).collect();
    (labels, unit.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(low: f64, high: f64) -> Scale {
        Scale { low, high }
    }

    #[test]
    fn ticks_are_round_and_few() {
        let labels = |low, high| scale(low, high).labelled(5, "").labels;
        assert_eq!(labels(-0.7, 0.3), ["-0.6", "-0.4", "-0.2", "0.0", "0.2"]);
        assert_eq!(labels(12.31, 12.52), ["12.35", "12.40", "12.45", "12.50"]);
        assert_eq!(scale(0.0, 1.0).ticks(5), [0.0, 0.5, 1.0]);
        for (low, high) in [(0.0, 1e-9), (1e9, 3e9), (-5.0, 1000.0), (0.1, 0.100_001)] {
            let ticks = scale(low, high).ticks(5);
            assert!((1..=5).contains(&ticks.len()), "{low} {high} {ticks:?}");
            assert!(ticks.iter().all(|it| (low..=high).contains(it)), "{low} {high} {ticks:?}");
        }
    }

    #[test]
    fn labels_have_the_digits_of_their_step_and_one_unit() {
        let shown = |ticks: &[f64], unit| {
            let (labels, unit) = labels(ticks, unit);
            format!("{} {unit}", labels.join(", "))
        };
        assert_eq!(shown(&[0.0, 0.005, 0.01], "s"), "0, 5, 10 ms");
        assert_eq!(shown(&[12.35, 12.4], "s"), "12.35, 12.40 s");
        assert_eq!(shown(&[1e9, 1.5e9], "Hz"), "1.0, 1.5 GHz");
        assert_eq!(shown(&[100.0, 200.0], ""), "100, 200 ");
    }

    #[test]
    fn one_value_is_in_the_middle_and_none_has_no_scale() {
        assert_eq!(Scale::around([5.0]).unwrap().percent(5.0), "50%");
        assert_eq!(Scale::around([f64::NAN]), None);
        assert_eq!(Scale::around([0.0, 1.0]).unwrap().percent(9.0), "100%");
        assert_eq!(Scale::from_zero([0.0]), None);
    }
}
