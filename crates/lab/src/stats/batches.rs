//! The ratio of totals of a steady piece of a race, with an interval from batches that no longer resemble each other.
//!
//! Batch means: Schmeiser, "Batch Size Effects in the Analysis of Simulation Output", Operations Research 30 (1982); batches grow
//! until their lag-1 correlation is small, as in Law and Carson, "A Sequential Procedure for Determining the Length of a
//! Steady-state Simulation", Operations Research 27 (1979). What is left of it, raised by one and a half standard errors, reduces
//! their number to that of independent ones. A ratio of totals has the error of the mean of `b / mean(b) - a / mean(a)` (Cochran,
//! "Sampling Techniques", 1977, section 6.3): a node that stands still for an interval counts with what it lost.

use super::counts::at_least_half;
use super::mean::around;
use super::one_sample::Middle;
use super::series::careful_size;
use super::{Counts, Estimate, Interval, Sample, Unfit, lag_one, log_ratio, totals, welch};

/// The ratio of the totals of a piece that did not change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// The logarithm of the total of `b` over that of `a`, and its interval.
    pub ratio: Estimate,
    /// How many intervals a batch has.
    pub per_batch: usize,
    /// How many independent batches say as much as those that there are.
    pub effective: f64,
}

/// The ratio of totals of these intervals, with an interval that holds the true one with this confidence.
///
/// Errors: fewer than 8 intervals.
pub fn steady_ratio(intervals: &[Counts], confidence: f64) -> Result<Steady, Unfit> {
    let (error, per_batch) = settled(&terms_of_ratio(intervals))?;
    let value = log_ratio(totals(intervals));
    let interval = error.around(value, confidence);
    let ratio = Estimate { value, interval };
    Ok(Steady { ratio, per_batch, effective: error.effective })
}

/// Fewer batches do not show whether they resemble each other.
pub const LEAST_BATCHES: usize = 8;

/// Fewer independent batches say nothing of another race.
pub const LEAST_EFFECTIVE: f64 = 3.0;

/// So many independent batches are enough although they still resemble each other, which their number allows for. With 3, AR(1) 0.98 makes
/// twice as many false claims; without such a rule, four in ten races of 60 s of AR(1) 0.5 are too short to say.
const ENOUGH: f64 = 6.0;

/// Above it batches are made longer.
const MOST_CORRELATION: f64 = 0.1;

/// By how many of its standard errors the lag-1 correlation of batches is raised.
const RAISED: f64 = 1.5;

/// What an estimate from batches is uncertain by.
struct Error {
    variance: f64,
    effective: f64,
}

impl Error {
    fn of(batches: &Sample) -> Error {
        let n = batches.len() as f64;
        let effective = careful_size(batches, RAISED);
        let (_, squares) = batches.mean_and_squares();
        Error { variance: squares / (n - 1.0) / effective, effective }
    }

    fn around(&self, value: f64, confidence: f64) -> Interval {
        around(value, self.variance.sqrt(), self.degrees(), confidence)
    }

    fn degrees(&self) -> f64 {
        (self.effective - 1.0).max(2.0)
    }

    fn middle(&self, mean: f64) -> Middle {
        Middle { mean, variance: self.variance, degrees: self.degrees() }
    }
}

/// The error of the mean of `terms`, and how many intervals the batches have that it is of: the shortest that no longer resemble each
/// other; where too few of these are left, the longest of which there are enough.
fn settled(terms: &[f64]) -> Result<(Error, usize), Unfit> {
    let mut per_batch = 1;
    let mut enough = None;
    loop {
        let batches = batched(terms, per_batch)?;
        let error = Error::of(batches.at_least(LEAST_BATCHES)?);
        let longer = (per_batch + 1).max(per_batch * 3 / 2);
        let is_last = terms.len() / longer < LEAST_BATCHES;
        if is_last || lag_one(&batches) <= MOST_CORRELATION {
            let is_short = error.effective < LEAST_EFFECTIVE;
            return Ok(enough.filter(|_| is_short).unwrap_or((error, per_batch)));
        }
        if error.effective >= ENOUGH {
            enough = Some((error, per_batch));
        }
        per_batch = longer;
    }
}

/// Means of `per_batch` terms or, so that none is left over, of some more.
fn batched(terms: &[f64], per_batch: usize) -> Result<Sample, Unfit> {
    let n_batches = (terms.len() / per_batch).max(1);
    let cut = |at: usize| at * terms.len() / n_batches;
    let mean = |at: usize| {
        let batch = &terms[cut(at)..cut(at + 1)];
        batch.iter().sum::<f64>() / batch.len().max(1) as f64
    };
    if terms.is_empty() {
        return Err(Unfit::TooFew { have: 0, needed: LEAST_BATCHES });
    }
    Sample::new((0..n_batches).map(mean).collect())
}

fn terms_of_ratio(intervals: &[Counts]) -> Vec<f64> {
    let (of_a, of_b) = (terms(intervals, |it| it.a), terms(intervals, |it| it.b));
    of_b.iter().zip(of_a).map(|(b, a)| b - a).collect()
}

/// What each interval of one node adds to the logarithm of its total, in proportion to the mean interval.
fn terms(intervals: &[Counts], of: fn(&Counts) -> u64) -> Vec<f64> {
    let total = intervals.iter().map(of).fold(0, u64::saturating_add);
    let mean = at_least_half(total) / intervals.len().max(1) as f64;
    intervals.iter().map(|it| of(it) as f64 / mean - 1.0).collect()
}

/// What changed at a mark: logarithms of after over before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AcrossMark {
    /// Of `a` alone.
    pub a: Estimate,
    /// Of `b` alone.
    pub b: Estimate,
    /// Of `b` with what happened to `a` taken out: `a` is the control.
    pub b_against_a: Estimate,
}

/// Compares the intervals after a mark with those before it, each node with itself, and `b` with `a` as its control:
/// `(b after / b before) / (a after / a before)`.
///
/// Errors: fewer than 8 intervals on a side.
///
/// A difference in differences (Card and Krueger, "Minimum Wages and Employment", American Economic Review 84 (1994)): what happens to
/// both nodes at the mark is no effect on one.
pub fn across_mark(
    before: &[Counts],
    after: &[Counts],
    confidence: f64,
) -> Result<AcrossMark, Unfit> {
    let of_node = |of: fn(&Counts) -> u64| {
        let side = |intervals: &[Counts]| {
            let total = intervals.iter().map(of).fold(0, u64::saturating_add);
            let level = (at_least_half(total) / intervals.len().max(1) as f64).ln();
            Ok(settled(&terms(intervals, of))?.0.middle(level))
        };
        Ok(welch::difference(&side(before)?, &side(after)?, confidence))
    };
    let of_ratio = |intervals: &[Counts]| {
        let (error, _) = settled(&terms_of_ratio(intervals))?;
        Ok(error.middle(log_ratio(totals(intervals))))
    };
    Ok(AcrossMark {
        a: of_node(|it| it.a)?,
        b: of_node(|it| it.b)?,
        b_against_a: welch::difference(&of_ratio(before)?, &of_ratio(after)?, confidence),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wobbling(n: u64, level: u64) -> impl Iterator<Item = u64> {
        (0..n).map(move |it| level + it * 7919 % 97)
    }

    fn counts(a: impl Iterator<Item = u64>, b: impl Iterator<Item = u64>) -> Vec<Counts> {
        a.zip(b).map(|(a, b)| Counts { a, b }).collect()
    }

    #[test]
    fn the_estimate_is_the_ratio_of_the_totals_however_they_are_batched() {
        let stalls = |at: u64| if at.is_multiple_of(6) { 100 } else { 1000 };
        let intervals = counts(wobbling(121, 1000), (0..121).map(stalls));
        let found = steady_ratio(&intervals, 0.99).unwrap();
        assert_eq!(found.ratio.value, log_ratio(totals(&intervals)));
        assert!(
            found.ratio.interval.contains(found.ratio.value) && found.ratio.interval.high < 0.0
        );
    }

    #[test]
    fn intervals_that_resemble_each_other_are_batched_until_they_do_not() {
        let independent = counts(wobbling(96, 1000), wobbling(96, 2000));
        assert_eq!(steady_ratio(&independent, 0.99).unwrap().per_batch, 1);
        let slow = |it: u64| 1000 + 400 * u64::from((it / 4).is_multiple_of(2));
        let lasting = steady_ratio(&counts(wobbling(96, 1000), (0..96).map(slow)), 0.99).unwrap();
        assert!(lasting.per_batch > 1, "{lasting:?}");
        assert!(lasting.effective < 96.0 / 3.0, "{lasting:?}");
    }

    #[test]
    fn seven_intervals_are_too_few_and_a_dead_node_is_no_trap() {
        let few = steady_ratio(&counts(wobbling(7, 1000), wobbling(7, 1000)), 0.99);
        assert_eq!(few, Err(Unfit::TooFew { have: 7, needed: 8 }));
        assert_eq!(steady_ratio(&[], 0.99), Err(Unfit::TooFew { have: 0, needed: 8 }));
        let dead = counts(wobbling(30, 1000), std::iter::repeat_n(0, 30));
        let found = steady_ratio(&dead, 0.99).unwrap().ratio;
        assert!(found.interval.high < -8.0, "{found:?}");
    }

    /// Both fall by a tenth at the mark, b to a quarter besides.
    #[test]
    fn the_other_node_is_the_control_of_a_mark() {
        let before = counts(wobbling(40, 9950), wobbling(40, 19_950));
        let after = counts(wobbling(40, 8950), wobbling(40, 4450));
        let found = across_mark(&before, &after, 0.99).unwrap();
        assert!(found.a.interval.contains(0.9_f64.ln()), "{found:?}");
        assert!((found.b_against_a.value - 0.25_f64.ln()).abs() < 0.01, "{found:?}");
        let sum = found.b.value - found.a.value;
        assert!((found.b_against_a.value - sum).abs() < 1e-9, "{found:?}");
    }
}
