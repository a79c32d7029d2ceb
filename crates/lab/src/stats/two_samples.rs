//! Two samples that were not interleaved: the difference of their trimmed means, and the effect size.

use super::location::{TRIMMED, squares, trimmed_mean};
use super::{Interval, Sample, Unfit, distributions, effective_size};

/// What two samples say about the difference of their middles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The trimmed mean of the second less that of the first.
    pub difference: f64,
    /// The interval that holds the true difference with the requested confidence.
    pub interval: Interval,
    /// The chance of a difference at least as large, either way, where there is none.
    pub p: f64,
    /// The standard error of the difference.
    pub standard_error: f64,
    /// Degrees of freedom of the test.
    pub degrees: usize,
}

/// Compares the middles of two samples.
///
/// Errors: a sample has fewer than 5 values. Where neither varies at all, any difference is certain.
///
/// Yuen, "The Two-sample Trimmed t for Unequal Population Variances", Biometrika 61 (1974), with the sizes reduced to the
/// effective ones of each arm, because neighbours in time resemble each other. It only says that the arms differ: it cannot
/// know what else changed between them, and a machine that drifts more slowly than an arm lasts makes it claim differences
/// too often. Interleaved trials avoid that.
pub fn yuen(a: &Sample, b: &Sample, confidence: f64) -> Result<Comparison, Unfit> {
    let (left, right) = (Side::of(a)?, Side::of(b)?);
    let variance = left.variance + right.variance;
    let standard_error = variance.sqrt();
    let degrees =
        match left.variance.powi(2) / left.degrees + right.variance.powi(2) / right.degrees {
            spread if spread > 0.0 => (variance * variance / spread) as usize,
            _ => a.len() + b.len() - 2,
        };
    let difference = trimmed_mean(b) - trimmed_mean(a);
    let p = if difference == 0.0 {
        1.0
    } else {
        distributions::beyond(difference / standard_error, degrees)
    };
    let reach = distributions::t_quantile(1.0 - confidence, degrees) * standard_error;
    let interval = Interval { low: difference - reach, high: difference + reach };
    Ok(Comparison { difference, interval, p, standard_error, degrees: degrees.max(1) })
}

/// Of 4 values nothing is trimmed.
const LEAST: usize = 5;

struct Side {
    /// Of the trimmed mean.
    variance: f64,
    degrees: f64,
}

impl Side {
    fn of(sample: &Sample) -> Result<Side, Unfit> {
        let n = sample.at_least(LEAST)?.len() as f64;
        // Two independent values at least, or there is no degree of freedom.
        let effective = effective_size(sample).max(2.0);
        let kept = (effective * (1.0 - 2.0 * TRIMMED)).max(1.5);
        let winsorized = squares(sample) / (n - 1.0);
        let variance =
            winsorized * (effective - 1.0) / (kept * (kept - 1.0)).max(f64::MIN_POSITIVE);
        Ok(Side { variance, degrees: (kept - 1.0).max(0.5) })
    }
}

/// The share of pairs in which the value of `b` is the higher one, less the share in which that of `a` is: from -1, all
/// of `b` below all of `a`, to 1.
///
/// Cliff, "Dominance Statistics: Ordinal Analyses to Answer Ordinal Questions", Psychological Bulletin 114 (1993).
pub fn cliffs_delta(a: &Sample, b: &Sample) -> f64 {
    let sorted = a.sorted();
    let above = |value: &f64| {
        let below = sorted.partition_point(|it| it < value) as f64;
        let up_to = sorted.partition_point(|it| it <= value) as f64;
        below + up_to - a.len() as f64
    };
    b.sorted().iter().map(above).sum::<f64>() / (a.len() as f64 * b.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: impl Iterator<Item = f64>) -> Sample {
        Sample::new(values.collect()).unwrap()
    }

    fn steady(level: f64) -> Sample {
        sample((0..20).map(|it| level + f64::from(it * 7 % 11) / 10.0))
    }

    #[test]
    fn a_clear_difference_is_clear_and_none_is_none() {
        let found = yuen(&steady(10.0), &steady(12.0), 0.95).unwrap();
        assert!(
            found.p < 1e-6 && found.interval.contains(2.0) && !found.interval.contains(0.0),
            "{found:?}"
        );
        let none = yuen(&steady(10.0), &steady(10.0), 0.95).unwrap();
        assert!(none.p == 1.0 && none.interval.contains(0.0), "{none:?}");
    }

    #[test]
    fn trials_that_resemble_their_neighbours_count_for_less() {
        let slope = |level: f64| sample((0..20).map(|it| level + f64::from(it) / 20.0));
        let zigzag = |level: f64| sample((0..20).map(|it| level + f64::from(it * 7 % 20) / 20.0));
        let [resembling, independent] =
            [slope(0.5), zigzag(0.5)].map(|b| yuen(&zigzag(0.0), &b, 0.95).unwrap().p);
        assert!(resembling > 10.0 * independent, "{resembling} {independent}");
    }

    #[test]
    fn equal_values_and_few_values_are_no_trap() {
        let equal = |level: f64| sample((0..6).map(|_| level));
        assert_eq!(yuen(&equal(1.0), &equal(1.0), 0.95).unwrap().p, 1.0);
        assert_eq!(yuen(&equal(1.0), &equal(2.0), 0.95).unwrap().p, 0.0);
        let few = yuen(&sample((0..4).map(f64::from)), &equal(1.0), 0.95);
        assert_eq!(few, Err(Unfit::TooFew { have: 4, needed: 5 }));
    }

    #[test]
    fn it_counts_which_of_each_pair_is_the_higher_one() {
        let of = |a: &[f64], b: &[f64]| {
            cliffs_delta(&Sample::new(a.to_vec()).unwrap(), &Sample::new(b.to_vec()).unwrap())
        };
        assert_eq!(of(&[1.0, 2.0], &[3.0, 4.0]), 1.0);
        assert_eq!(of(&[3.0, 4.0], &[1.0, 2.0]), -1.0);
        assert_eq!(of(&[1.0, 2.0], &[2.0, 1.0]), 0.0);
        assert_eq!(of(&[1.0], &[1.0, 2.0]), 0.5);
    }
}
