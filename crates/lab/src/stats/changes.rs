//! Where the distance of two nodes changed by itself, and which of them moved; where the level of one arm shifted.
//!
//! Binary segmentation (Scott and Knott, "A Cluster Analysis Method for Grouping Means in the Analysis of Variance", Biometrics 30
//! (1974); Vostrikova, "Detecting Disorder in Multidimensional Random Processes", Soviet Mathematics Doklady 24 (1981)) by the
//! largest standardised difference of means before and after (Hawkins, "Testing a Sequence of Observations for a Shift in Location",
//! JASA 72 (1977)). The limit grows with the number of places to look at, `sqrt(2 ln n)`, as that of Yao and Au, "Least-squares
//! Estimation of a Step Function", Sankhya A 51 (1989). Values are winsorised, so that a stall is no change, and the spread is
//! that of differences of neighbours (von Neumann, "Distribution of the Ratio of the Mean Square Successive Difference to the
//! Variance", Annals of Mathematical Statistics 12 (1941)) once the step itself is taken out.

use super::counts::at_least_half;
use super::{Counts, Sample, log_ratio, median, median_deviation, totals, winsorised};

/// The places of the first intervals after a change of `b / a`, ascending.
///
/// A change is a shift by 3 % at least that five intervals on either side show. What wanders for longer than a few intervals shows changes
/// as well: it did change, and would do so again.
pub fn changes(intervals: &[Counts]) -> Vec<usize> {
    let values: Vec<f64> = intervals.iter().map(|it| log_ratio(*it)).collect();
    let mut found = Vec::new();
    let whole = 0..values.len();
    let mut open = Vec::from([whole]);
    while let Some(part) = open.pop() {
        if found.len() >= MOST_CHANGES {
            break;
        }
        let Some(cut) = clearest(&values[part.clone()], limit(values.len())) else { continue };
        let at = part.start + settled(&values[part.clone()], cut);
        let [before, after] = [part.start..at, at..part.end].map(|it| totals(&intervals[it]));
        if (log_ratio(after) - log_ratio(before)).abs() >= LEAST_SHIFT {
            found.push(at);
            open.extend([part.start..at, at..part.end]);
        }
    }
    found.sort_unstable();
    found
}

/// The place of the first value after the clearest shift of the level, where one is as clear as a change of [`changes`]; five values on
/// either side have to show it.
///
/// Values that wander for longer than a few of them shift as well: they did move, and would do so again.
pub fn shift(sample: &Sample) -> Option<usize> {
    let values = sample.in_order();
    clearest(values, limit(values.len())).map(|cut| settled(values, cut))
}

/// So many make a race that never was steady, whatever else there is.
const MOST_CHANGES: usize = 100;

/// 3 %.
const LEAST_SHIFT: f64 = 0.03;

/// The fewest intervals on either side of a change.
const EDGE: usize = 5;

/// Beyond so many median deviations a value is a stall or a burst, and says little of the level.
const FAR: f64 = 4.0;

fn limit(n: usize) -> f64 {
    (2.0 * (n.max(2) as f64).ln()).sqrt() + 2.0
}

/// The place where means before and after differ most clearly, if they do so beyond `limit`.
fn clearest(values: &[f64], limit: f64) -> Option<usize> {
    if values.len() < 2 * EDGE {
        return None;
    }
    let near = winsorised(&Sample::new(values.to_vec()).ok()?, FAR);
    let sums = Sums::of(near.in_order());
    let (at, height) = (EDGE..=values.len() - EDGE)
        .map(|at| (at, sums.clearness(at)))
        .max_by(|left, right| left.1.total_cmp(&right.1))?;
    let spread = spread_without_shift(values, at)?;
    (height > limit * spread.max(f64::MIN_POSITIVE)).then_some(at)
}

/// The medians of the values before `cut` and from there on.
fn levels(values: &[f64], cut: usize) -> Option<[f64; 2]> {
    let (before, after) = values.split_at(cut);
    let level = |side: &[f64]| Some(median(&Sample::new(side.to_vec()).ok()?));
    Some([level(before)?, level(after)?])
}

/// The place from which the medians on either side of `cut` explain the values best, by the sum of distances: winsorised
/// values of a large shift do not show which level a stall next to it belongs to.
///
/// A distance counts at most as much as that of the two levels. A value beyond one of them, which a stall of either node may be, then
/// says less of where it belongs than one that is there (a bounded loss: Fearnhead and Rigaill, "Changepoint Detection in the
/// Presence of Outliers", JASA 114 (2019)).
fn settled(values: &[f64], cut: usize) -> usize {
    let Some([before, after]) = levels(values, cut) else { return cut };
    let distance = |it: f64, level: f64| (it - level).abs().min((after - before).abs());
    let gains = values.iter().scan(0.0, |gain, it| {
        *gain += distance(*it, after) - distance(*it, before);
        Some(*gain)
    });
    // After so many values, the gain of counting them as before.
    let places = (1..).zip(gains).filter(|(at, _)| (EDGE..=values.len() - EDGE).contains(at));
    places.max_by(|left, right| left.1.total_cmp(&right.1)).map_or(cut, |it| it.0)
}

/// Running sums, by which any mean is a difference.
struct Sums(Vec<f64>);

impl Sums {
    fn of(values: &[f64]) -> Sums {
        let mut sums = vec![0.0];
        // Distances from one of them: sums of large numbers would lose their digits.
        let origin = values.first().copied().unwrap_or_default();
        sums.extend(values.iter().scan(0.0, |sum, it| {
            *sum += it - origin;
            Some(*sum)
        }));
        Sums(sums)
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        (self.0[to] - self.0[from]) / (to - from) as f64
    }

    /// The difference of the means before and after `at`, in units in which the deviation of a value is its own.
    fn clearness(&self, at: usize) -> f64 {
        let n = self.0.len() - 1;
        let difference = self.mean(at, n) - self.mean(0, at);
        difference.abs() / (1.0 / at as f64 + 1.0 / (n - at) as f64).sqrt()
    }
}

/// [`spread`] of the values once each side of `cut` is taken as distances from its own median, and these are winsorised: next to a
/// large shift no stall is far, and a step is in some of the differences.
fn spread_without_shift(values: &[f64], cut: usize) -> Option<f64> {
    let [before, after] = levels(values, cut)?;
    let distances = (0..).zip(values).map(|(at, it)| it - if at < cut { before } else { after });
    let distances = winsorised(&Sample::new(distances.collect()).ok()?, FAR);
    Some(spread(distances.in_order()))
}

/// The deviation of a value as far as its mean over some intervals is concerned: the largest that neighbouring means of 1, 2, 3, 5
/// and 8 values show.
///
/// Means are taken from every place on: they overlap, and vary less than those that do not (Meketon and Schmeiser, "Overlapping
/// Batch Means: Something for Nothing?", Proceedings of the 1984 Winter Simulation Conference).
fn spread(values: &[f64]) -> f64 {
    let sums = Sums::of(values);
    let of_length = |length: usize| {
        if length > 1 && values.len() / length <= LEAST_MEANS {
            return None;
        }
        let difference = |from: usize| {
            let (middle, to) = (from + length, from + 2 * length);
            sums.mean(middle, to) - sums.mean(from, middle)
        };
        let n_differences = (values.len() + 1).saturating_sub(2 * length);
        let differences = Sample::new((0..n_differences).map(difference).collect()).ok()?;
        Some((length as f64 / 2.0).sqrt() * median_deviation(&differences))
    };
    LENGTHS.iter().filter_map(|it| of_length(*it)).fold(0.0, f64::max)
}

/// Of fewer means that have no value in common the deviation says little. With any number of them, 3 % of throttled nodes with
/// checkpoints are not found in a race of 60 s; with 8, none.
const LEAST_MEANS: usize = 8;

const LENGTHS: [usize; 5] = [1, 2, 3, 5, 8];

/// Which node moved at a change, as logarithms of its level after over that before; `None` where its own counts do not show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    /// The node that the other one is compared with.
    pub a: Option<f64>,
    /// The other one.
    pub b: Option<f64>,
}

/// Looks at each node alone at a place that [`changes`] found: `before` and `after` are the intervals from the change before it to the
/// one after it.
pub fn moved(before: &[Counts], after: &[Counts]) -> Moved {
    let of_node = |of: fn(&Counts) -> u64| {
        let logarithm = |it: &Counts| at_least_half(of(it)).ln();
        let logarithms: Vec<f64> = before.iter().chain(after).map(logarithm).collect();
        let values = winsorised(&Sample::new(logarithms.clone()).ok()?, FAR);
        let clearness = Sums::of(values.in_order()).clearness(before.len());
        let level = |intervals: &[Counts]| {
            let total = intervals.iter().map(of).fold(0, u64::saturating_add);
            at_least_half(total) / intervals.len() as f64
        };
        let by = (level(after) / level(before)).ln();
        let is_clear =
            clearness > limit(values.len()) * spread_without_shift(&logarithms, before.len())?;
        (is_clear && by.abs() >= LEAST_SHIFT).then_some(by)
    };
    if before.is_empty() || after.is_empty() {
        return Moved { a: None, b: None };
    }
    Moved { a: of_node(|it| it.a), b: of_node(|it| it.b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::race;

    #[test]
    fn a_node_that_is_throttled_half_way_changed_there_and_the_other_did_not() {
        let race = race(60, |at| if at < 23 { 12_000 } else { 3000 });
        assert_eq!(changes(&race), [23]);
        let found = moved(&race[..23], &race[23..]);
        assert_eq!(found.a, None);
        assert!((found.b.unwrap() - 0.25_f64.ln()).abs() < 0.06, "{found:?}");
    }

    #[test]
    fn what_is_steady_does_not_change_whether_it_stalls_or_differs() {
        assert_eq!(changes(&race(120, |_| 8000)), [0; 0]);
        assert_eq!(changes(&race(120, |at| if at.is_multiple_of(6) { 800 } else { 8000 })), [0; 0]);
        assert_eq!(changes(&race(9, |at| if at < 4 { 8000 } else { 800 })), [0; 0]);
        assert_eq!(changes(&[]), [0; 0]);
    }

    /// Before it a stall of b, after it two of a: neither hides the change nor moves it.
    #[test]
    fn stalls_next_to_a_change_neither_hide_nor_move_it() {
        let mut race = race(60, |at| if at < 24 { 12_000 } else { 3000 });
        for at in [3, 9, 15, 20, 31, 38, 44, 52] {
            race[at].b /= 5;
        }
        for at in [6, 12, 25, 27, 35, 48, 55] {
            race[at].a /= 5;
        }
        assert_eq!(changes(&race), [24]);
    }

    #[test]
    fn several_changes_are_found_in_their_order() {
        let found = changes(&race(200, |at| [8000, 4000, 6000, 3000][at as usize / 50]));
        assert_eq!(found, [50, 100, 150]);
    }

    #[test]
    fn a_shift_of_less_than_3_percent_is_none() {
        let exact = |by: u64| -> Vec<Counts> {
            (0..100)
                .map(|at| Counts { a: 100_000, b: 100_000 + at % 3 + if at < 50 { 0 } else { by } })
                .collect()
        };
        assert_eq!(changes(&exact(2500)), [0; 0]);
        assert_eq!(changes(&exact(4000)), [50]);
    }
}
