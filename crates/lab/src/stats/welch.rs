//! Two samples that share no blocks: trials of two moments, and runs of two things.

use super::mean::around;
use super::one_sample::Middle;
use super::{Estimate, Sample, Unfit, distributions, mean};

/// The trimmed mean of `b` less that of `a`, with an interval that holds the true difference with this confidence.
///
/// Errors: a sample has fewer than 5 values.
///
/// Welch, "The Generalization of 'Student's' Problem when Several Different Population Variances are Involved", Biometrika 34
/// (1947), of trimmed means (Yuen, "The Two-sample Trimmed t for Unequal Population Variances", Biometrika 61 (1974)) whose errors
/// are those of [`one_sample`](super::one_sample). The interval is of these two stretches of time only: what else differs
/// between two moments no trial within them can know.
pub fn two_samples(a: &Sample, b: &Sample, confidence: f64) -> Result<Estimate, Unfit> {
    let [a, b] = [Middle::of(a)?, Middle::of(b)?];
    Ok(difference(&a, &b, confidence))
}

/// The mean of the runs `b` less that of the runs `a`: one value for each run, and the interval is of any runs of the same.
///
/// Errors: fewer than 3 runs of either.
///
/// Welch's t as above, of independent values.
pub fn means_of_runs(a: &Sample, b: &Sample, confidence: f64) -> Result<Estimate, Unfit> {
    let side = |runs: &Sample| -> Result<Middle, Unfit> {
        let found = mean(runs, confidence, LEAST_RUNS)?;
        let degrees = runs.len() as f64 - 1.0;
        Ok(Middle { mean: found.mean, variance: found.standard_error.powi(2), degrees })
    };
    Ok(difference(&side(a)?, &side(b)?, confidence))
}

/// What the difference of two more runs of the same hardly ever exceeds, with this confidence: from earlier runs in groups, each group
/// of one thing.
///
/// Errors: fewer than 3 runs, or as few as that in groups of two.
///
/// The limit of Student's t for the difference of two further values (a prediction interval; Hahn and Meeker, "Statistical
/// Intervals", 1991, section 4.7), with the spread of all groups about their own means. A group of one run says nothing.
pub fn limit_of_two_runs(groups: &[Sample], confidence: f64) -> Result<f64, Unfit> {
    let degrees: usize = groups.iter().map(|it| it.len() - 1).sum();
    if degrees < LEAST_RUNS - 1 {
        return Err(Unfit::TooFew { have: degrees + 1, needed: LEAST_RUNS });
    }
    let degrees = degrees as f64;
    let variance = groups.iter().map(|it| it.mean_and_squares().1).sum::<f64>() / degrees;
    Ok(distributions::t_quantile(1.0 - confidence, degrees) * (2.0 * variance).sqrt())
}

/// Two runs have one degree of freedom, and find next to nothing.
pub const LEAST_RUNS: usize = 3;

/// Welch and Satterthwaite's degrees of freedom.
pub(super) fn difference(a: &Middle, b: &Middle, confidence: f64) -> Estimate {
    let variance = a.variance + b.variance;
    let degrees = match a.variance.powi(2) / a.degrees + b.variance.powi(2) / b.degrees {
        spread if spread > 0.0 => variance * variance / spread,
        _ => a.degrees + b.degrees,
    };
    let value = b.mean - a.mean;
    Estimate { value, interval: around(value, variance.sqrt(), degrees, confidence) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    fn sample(values: impl Iterator<Item = f64>) -> Sample {
        Sample::new(values.collect()).unwrap()
    }

    fn steady(level: f64) -> Sample {
        sample((0..20).map(|it| level + f64::from(it * 7 % 11) / 10.0))
    }

    #[test]
    fn a_clear_difference_is_clear_and_none_is_none() {
        let found = two_samples(&steady(10.0), &steady(12.0), 0.99).unwrap();
        assert!(found.interval.contains(2.0) && found.interval.low > 1.0, "{found:?}");
        let none = two_samples(&steady(10.0), &steady(10.0), 0.99).unwrap();
        assert!(none.value == 0.0 && none.interval.contains(0.0), "{none:?}");
    }

    #[test]
    fn trials_that_resemble_their_neighbours_count_for_less() {
        let slope = sample((0..20).map(|it| f64::from(it) / 20.0));
        let zigzag = sample((0..20).map(|it| f64::from(it * 7 % 20) / 20.0));
        let [resembling, independent] =
            [&slope, &zigzag].map(|it| two_samples(&zigzag, it, 0.99).unwrap().interval);
        assert!(resembling.half_width() > 2.0 * independent.half_width());
    }

    #[test]
    fn equal_values_and_few_values_are_no_trap() {
        let equal = |level: f64| sample((0..6).map(|_| level));
        let certain = two_samples(&equal(1.0), &equal(2.0), 0.99).unwrap();
        assert_eq!(certain, Estimate { value: 1.0, interval: Interval { low: 1.0, high: 1.0 } });
        let few = two_samples(&sample((0..4).map(f64::from)), &equal(1.0), 0.99);
        assert_eq!(few, Err(Unfit::TooFew { have: 4, needed: 5 }));
    }

    /// By hand: means 2 and 5, errors sqrt(1/3) each, 4 degrees, t of 1 % 4.604.
    #[test]
    fn three_runs_of_each_are_compared_by_their_means() {
        let [a, b] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].map(|it| sample(it.into_iter()));
        let found = means_of_runs(&a, &b, 0.99).unwrap();
        assert!((found.value - 3.0).abs() < 1e-12);
        let half = 4.604_095 * (2.0_f64 / 3.0).sqrt();
        assert!((found.interval.half_width() - half).abs() < 1e-5, "{found:?}");
        let few = means_of_runs(&a, &sample([1.0, 2.0].into_iter()), 0.99);
        assert_eq!(few, Err(Unfit::TooFew { have: 2, needed: 3 }));
    }

    /// Three runs 1 % apart from each other: t of 1 % with 2 degrees is 9.925; with 4 degrees it is 4.604.
    #[test]
    fn groups_of_runs_tell_their_spread_together_and_one_run_tells_none() {
        let three = |level: f64| sample([0.0, 0.01, 0.02].into_iter().map(move |it| level + it));
        let limit = |groups: &[Sample]| limit_of_two_runs(groups, 0.99);
        let found = limit(&[three(0.0)]).unwrap();
        assert!((found - 9.924_84 * 0.01 * 2.0_f64.sqrt()).abs() < 1e-6, "{found}");
        assert_eq!(limit(&[three(0.0), sample([7.0].into_iter())]).unwrap(), found);
        let of_two = limit(&[three(0.0), three(1.0)]).unwrap();
        assert!((of_two - 4.604_095 * 0.01 * 2.0_f64.sqrt()).abs() < 1e-6, "{of_two}");
        let pair = || sample([0.0, 0.01].into_iter());
        assert_eq!(limit(&[pair()]), Err(Unfit::TooFew { have: 2, needed: 3 }));
        assert!(limit(&[pair(), pair()]).is_ok() && limit(&[]).is_err());
    }
}
