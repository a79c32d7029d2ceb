//! The middle of one arm's trials, with an interval that knows that trials resemble their neighbours.

use super::location::{TRIMMED, squares, trimmed_mean};
use super::mean::around;
use super::series::careful_size;
use super::{Estimate, Sample, Unfit};

/// The trimmed mean of the values, with an interval that holds the true one with this confidence.
///
/// Errors: fewer than 5 values.
///
/// Tukey and McLaughlin, "Less Vulnerable Confidence and Significance Procedures for Location Based on a Single Sample:
/// Trimming/Winsorization 1", Sankhya A 25 (1963), with the number of values reduced to that of independent ones (Bayley and
/// Hammersley, "The 'Effective' Number of Independent Observations in an Autocorrelated Time Series", Supplement to the JRSS
/// 8 (1946)), for which the lag-1 correlation is raised by its standard error: that of a short series is
/// estimated too low more often than too high. Values are logarithms where ratios are meant. It says what a typical trial
/// takes, not what trials take on average.
pub fn one_sample(sample: &Sample, confidence: f64) -> Result<Estimate, Unfit> {
    let middle = Middle::of(sample)?;
    let interval = around(middle.mean, middle.variance.sqrt(), middle.degrees, confidence);
    Ok(Estimate { value: middle.mean, interval })
}

/// Of 4 values nothing is trimmed.
const LEAST: usize = 5;

/// By how many of its standard errors the lag-1 correlation is raised.
const RAISED: f64 = 1.0;

/// A trimmed mean, the square of its standard error and the degrees of freedom of that.
pub(super) struct Middle {
    pub(super) mean: f64,
    pub(super) variance: f64,
    pub(super) degrees: f64,
}

impl Middle {
    pub(super) fn of(sample: &Sample) -> Result<Middle, Unfit> {
        let n = sample.at_least(LEAST)?.len() as f64;
        let effective = careful_size(sample, RAISED);
        let kept = 1.0 - 2.0 * TRIMMED;
        Ok(Middle {
            mean: trimmed_mean(sample),
            variance: squares(sample) / (n - 1.0) / (kept * kept * effective),
            degrees: (effective * kept - 1.0).max(FEWEST_DEGREES),
        })
    }
}

/// What is left of few values that resemble each other; fewer degrees make intervals that say nothing.
const FEWEST_DEGREES: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: impl Iterator<Item = f64>) -> Sample {
        Sample::new(values.collect()).unwrap()
    }

    #[test]
    fn the_interval_is_about_as_wide_as_theory_says() {
        // Of even spread over 0 to 100 the trimmed mean has a standard error of 3.4 with 100 values.
        let found = one_sample(&sample((0..100).map(|it| f64::from(it * 37 % 100))), 0.95).unwrap();
        assert!(found.interval.contains(49.5), "{found:?}");
        assert!((6.0..9.0).contains(&found.interval.half_width()), "{found:?}");
    }

    #[test]
    fn values_that_resemble_their_neighbours_make_it_wider() {
        let half = |values: Sample| one_sample(&values, 0.95).unwrap().interval.half_width();
        let slope = half(sample((0..100).map(f64::from)));
        let mixed = half(sample((0..100).map(|it| f64::from(it * 37 % 100))));
        assert!(slope > 2.0 * mixed, "{slope} {mixed}");
    }

    #[test]
    fn equal_values_leave_no_doubt_and_few_values_are_refused() {
        let equal = one_sample(&sample((0..20).map(|_| 2.0)), 0.99).unwrap();
        assert_eq!((equal.value, equal.interval.low, equal.interval.high), (2.0, 2.0, 2.0));
        let few = one_sample(&sample((0..4).map(f64::from)), 0.99).unwrap_err();
        assert_eq!(few.to_string(), "4 where at least 5 are needed");
    }
}
