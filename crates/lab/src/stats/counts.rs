//! What two nodes counted in the same intervals of a race, and what that comes to without inference.

use super::sample::quantile;
use std::ops::AddAssign;

/// What two nodes counted in the same interval, such as commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// By the node that the other one is compared with.
    pub a: u64,
    /// By the other one.
    pub b: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Counts) {
        self.a = self.a.saturating_add(more.a);
        self.b = self.b.saturating_add(more.b);
    }
}

/// The sums over all intervals.
pub fn totals(intervals: &[Counts]) -> Counts {
    let mut sum = Counts::default();
    intervals.iter().for_each(|it| sum += *it);
    sum
}

/// The logarithm of `b / a`; a node that counted nothing is taken to have counted half.
pub fn log_ratio(counts: Counts) -> f64 {
    (at_least_half(counts.b) / at_least_half(counts.a)).ln()
}

/// A count that has a logarithm.
pub(super) fn at_least_half(count: u64) -> f64 {
    if count == 0 { 0.5 } else { count as f64 }
}

/// What a race came to: facts of these intervals, from which nothing is inferred.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// What each counted over all of them.
    pub totals: Counts,
    /// The logarithm of the ratio of the totals, of `b` over `a`.
    pub log_ratio: f64,
    /// How many intervals there are.
    pub intervals: usize,
    /// In how many `b` counted less than `a`.
    pub behind: usize,
    /// The longest run of intervals in which a node counted less than half of its median interval, of `a` and of `b`.
    pub stalled: [usize; 2],
}

/// The facts of these intervals.
pub fn standing(intervals: &[Counts]) -> Standing {
    let totals = totals(intervals);
    Standing {
        totals,
        log_ratio: log_ratio(totals),
        intervals: intervals.len(),
        behind: intervals.iter().filter(|it| it.b < it.a).count(),
        stalled: [longest_stall(intervals, |it| it.a), longest_stall(intervals, |it| it.b)],
    }
}

fn longest_stall(intervals: &[Counts], of: fn(&Counts) -> u64) -> usize {
    let mut sorted: Vec<f64> = intervals.iter().map(|it| of(it) as f64).collect();
    if sorted.is_empty() {
        return 0;
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let half = quantile(&sorted, 0.5) / 2.0;
    let (mut longest, mut now) = (0, 0);
    for interval in intervals {
        now = if (of(interval) as f64) < half { now + 1 } else { 0 };
        longest = longest.max(now);
    }
    longest
}

#[cfg(test)]
pub(super) mod fixture {
    use super::Counts;

    /// So many intervals of two nodes: a counts about 10,000 in each, b about as many as given.
    pub(crate) fn race(n: u64, b: impl Fn(u64) -> u64) -> Vec<Counts> {
        let wobble = |at: u64, by: u64| at * by % 401;
        (0..n)
            .map(|at| Counts { a: 10_000 + wobble(at, 7919), b: b(at) + wobble(at, 104_729) })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// b loses 90 % of every sixth interval: 15 % of all.
    #[test]
    fn stalls_are_in_the_totals() {
        let stalls = |at: u64| if at.is_multiple_of(6) { 100 } else { 1000 };
        let intervals: Vec<Counts> = (0..120).map(|at| Counts { a: 1000, b: stalls(at) }).collect();
        let found = standing(&intervals);
        assert_eq!(found.totals, Counts { a: 120_000, b: 102_000 });
        assert!((found.log_ratio - 0.85_f64.ln()).abs() < 1e-12, "{found:?}");
        assert_eq!((found.intervals, found.behind, found.stalled), (120, 20, [0, 1]));
    }

    #[test]
    fn what_counted_nothing_has_a_ratio_all_the_same() {
        assert_eq!(log_ratio(Counts { a: 0, b: 0 }), 0.0);
        assert_eq!(log_ratio(Counts { a: 50, b: 0 }), (0.01_f64).ln());
        assert_eq!(standing(&[]).stalled, [0, 0]);
    }
}
