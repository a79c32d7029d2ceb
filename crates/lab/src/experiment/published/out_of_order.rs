//! Limits under which the CPU was not as busy as it should have been.
//!
//! A thread that may poll for longer keeps the CPU no less busy. Of rows ordered by their limits, those outside of the longest
//! series that never rises are out of order: the fewest of which one has to be wrong (Schensted, "Longest Increasing and
//! Decreasing Subsequences", Canadian Journal of Mathematics 13 (1961)). One run of each says nothing of its noise, so only a
//! row that is off by more than a factor of two is called an outlier.

use super::KipmidRow;
use serde::{Deserialize, Serialize};

/// How far off a row has to be.
const OUTLYING: f64 = 2.0;

/// A row, and what those beside it let expect.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutOfOrder {
    /// Its place in the table.
    pub row: usize,
    /// The percentage of busy cycles that a shorter limit let expect at least.
    pub at_least: Option<f64>,
    /// The one that a longer limit let expect at most.
    pub at_most: Option<f64>,
    /// Whether it is so far off that nothing should be built on it.
    pub is_outlier: bool,
}

/// Those of `rows`, the longest limit first.
pub(super) fn out_of_order(rows: &[KipmidRow]) -> Vec<OutOfOrder> {
    let mut order: Vec<(f64, usize)> =
        rows.iter().enumerate().filter_map(|(at, it)| Some((it.max_busy_us?, at))).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let busy: Vec<f64> = order.iter().map(|it| rows[it.1].busy_percent).collect();
    let kept = longest_falling(&busy);
    let others = (0..busy.len()).filter(|it| kept.binary_search(it).is_err());
    others
        .map(|at| {
            let at_most = kept.iter().rev().find(|it| **it < at).map(|it| busy[*it]);
            let at_least = kept.iter().find(|it| **it > at).map(|it| busy[*it]);
            let below = at_least.map_or(1.0, |it| it / busy[at]);
            let above = at_most.map_or(1.0, |it| busy[at] / it);
            let is_outlier = below.max(above) > OUTLYING;
            OutOfOrder { row: order[at].1, at_least, at_most, is_outlier }
        })
        .collect()
}

/// The places of the longest series that never rises, ascending; the first of equally long ones.
fn longest_falling(values: &[f64]) -> Vec<usize> {
    // By place: how long the longest series is that begins there, and which place comes next.
    let mut best: Vec<(usize, Option<usize>)> = vec![(1, None); values.len()];
    for at in (0..values.len()).rev() {
        for next in at + 1..values.len() {
            if values[next] <= values[at] && best[next].0 + 1 > best[at].0 {
                best[at] = (best[next].0 + 1, Some(next));
            }
        }
    }
    let longest = best.iter().map(|it| it.0).max();
    let first = best.iter().position(|it| Some(it.0) == longest);
    std::iter::successors(first, |it| best[*it].1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_series_leaves_out_the_fewest() {
        assert_eq!(longest_falling(&[9.0, 2.0, 7.0, 7.0, 1.0]), [0, 2, 3, 4]);
        assert_eq!(longest_falling(&[1.0, 2.0, 3.0]), [0]);
        assert!(longest_falling(&[]).is_empty());
    }

    #[test]
    fn a_row_at_an_end_is_held_against_its_one_neighbour() {
        let row = |limit: f64, busy_percent| KipmidRow {
            setting: String::new(),
            max_busy_us: Some(limit),
            elapsed_s: 1.0,
            elapsed_relative: 1.0,
            ps_percent: 0.0,
            busy_percent,
        };
        let found = out_of_order(&[row(3.0, 10.0), row(2.0, 40.0), row(1.0, 30.0)]);
        let expected = OutOfOrder { row: 0, at_least: Some(40.0), at_most: None, is_outlier: true };
        assert_eq!(found, [expected]);
    }
}
