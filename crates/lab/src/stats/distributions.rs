//! The normal distribution, and Student's t: its distribution for whole degrees of freedom, and the test of a mean by it.
//!
//! Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.2.11 (the series, near the middle) and 26.2.14 (the
//! continued fraction, in the tails).

use super::sample::Unfit;
use super::{Interval, Sample};
use std::f64::consts::FRAC_2_PI;

/// The most degrees: more are treated as this many, which makes the tails too heavy by less than 0.2 % of a quantile, on the
/// safe side.
const MOST: usize = 1000;

/// The chance of a value farther from 0 than `t`, either way.
///
/// Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4: finite sums, exact.
pub(super) fn beyond(t: f64, degrees: usize) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    let degrees = degrees.clamp(1, MOST);
    let angle = (t.abs() / (degrees as f64).sqrt()).atan();
    (1.0 - within(angle, degrees)).clamp(0.0, 1.0)
}

/// The value that is exceeded, either way, with chance `beyond`.
pub(super) fn t_quantile(chance: f64, degrees: usize) -> f64 {
    // With one degree of freedom a chance of 1e-8 lies at 6e7.
    bisected(0.0, 1e8, |t| beyond(t, degrees) > chance)
}

fn within(angle: f64, degrees: usize) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let odd = degrees % 2;
    let mut term = if odd == 1 { cosine } else { 1.0 };
    let mut sum = 0.0;
    for it in 1..=degrees / 2 {
        sum += term;
        let divisor = (2 * it + odd) as f64;
        term *= cosine * cosine * (divisor - 1.0) / divisor;
    }
    match odd {
        1 => (angle + sine * sum) * FRAC_2_PI,
        _ => sine * sum,
    }
}

/// The mean of a sample with its test against 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean of the values.
    pub mean: f64,
    /// The standard error of the mean.
    pub standard_error: f64,
    /// The interval that holds the true mean.
    pub interval: Interval,
    /// The chance of a mean as far from 0 if the true mean is 0.
    pub p: f64,
}

/// The mean, with an interval that holds the true one with this confidence.
///
/// Errors: fewer than `needed` values, or than the two without which there is no spread.
///
/// Student, "The Probable Error of a Mean", Biometrika 6 (1908). Applied to contrasts of blocks it is the test of Box, Hunter
/// and Hunter, "Statistics for Experimenters", second edition, sections 3.2 and 4.2: the order within a block is random, so
/// blocks are independent of each other; contrasts are sums of many trials, so they are nearly normal.
pub fn mean(sample: &Sample, confidence: f64, needed: usize) -> Result<Mean, Unfit> {
    let values = sample.at_least(needed.max(2))?.in_order();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    let standard_error = (squares / (n - 1.0) / n).sqrt();
    let degrees = values.len() - 1;
    let half = t_quantile(1.0 - confidence, degrees) * standard_error;
    Ok(Mean {
        mean,
        standard_error,
        interval: Interval { low: mean - half, high: mean + half },
        p: beyond(mean / standard_error, degrees),
    })
}

/// The chance of a value below `z`.
pub(super) fn cumulative(z: f64) -> f64 {
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let tail = match z.abs() {
        near if near < 3.0 => 0.5 - density * series(near),
        far => density / fraction(far),
    };
    if z < 0.0 { tail } else { 1.0 - tail }
}

/// The value below which `share` of all lie; finite for every argument.
pub(crate) fn normal_quantile(share: f64) -> f64 {
    // 40 standard deviations hold everything that an f64 can tell from nothing.
    bisected(-40.0, 40.0, |z| cumulative(z) < share)
}

/// Where `is_below` ends to hold between `low` and `high`, to the last bits.
pub(super) fn bisected(mut low: f64, mut high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    // Each halving yields a bit; an f64 has 53, and some more let ends of different size come together.
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if is_below(middle) { low = middle } else { high = middle }
    }
    high
}

/// 50 terms are exact to the last bits up to 3.
fn series(z: f64) -> f64 {
    let mut term = z;
    let mut sum = z;
    for odd in (3..103).step_by(2) {
        term *= z * z / f64::from(odd);
        sum += term;
    }
    sum
}

/// 60 terms are exact to 12 digits from 3 on.
fn fraction(z: f64) -> f64 {
    (1..=60).rev().fold(z, |below, it| z + f64::from(it) / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Abramowitz and Stegun, table 26.10.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, chance, expected) in [
            (1, 0.05, 12.706),
            (2, 0.05, 4.303),
            (9, 0.05, 2.262),
            (9, 0.01, 3.250),
            (10, 0.05, 2.228),
            (120, 0.01, 2.617),
            (100_000, 0.05, 1.962),
        ] {
            let found = t_quantile(chance, degrees);
            assert!((found - expected).abs() < 6e-4, "{degrees} {chance}: {found}");
        }
    }

    #[test]
    fn nothing_is_certain_of_no_difference_and_nonsense_is_no_evidence() {
        assert_eq!(beyond(0.0, 5), 1.0);
        assert_eq!(beyond(f64::NAN, 5), 1.0);
        assert_eq!(beyond(f64::INFINITY, 5), 0.0);
    }

    fn of(values: &[f64]) -> Result<Mean, Unfit> {
        mean(&Sample::new(values.to_vec()).unwrap(), 0.95, 3)
    }

    /// The differences of two materials for the soles of ten boys' shoes in that book; their mean is 0.41, its error 0.12 and t 3.4, with 9 degrees of freedom.
    #[test]
    fn the_boys_shoes_differ_as_in_the_book() {
        let found = of(&[0.8, 0.6, 0.3, -0.1, 1.1, -0.2, 0.3, 0.5, 0.5, 0.3]).unwrap();
        assert!((found.mean - 0.41).abs() < 1e-12, "{found:?}");
        assert!((found.standard_error - 0.1224).abs() < 1e-4, "{found:?}");
        assert!((found.p - 0.0085).abs() < 1e-4, "{found:?}");
        assert!((found.interval.low - 0.133).abs() < 1e-3, "{found:?}");
        assert!((found.interval.high - 0.687).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn too_few_have_no_mean_and_equal_ones_have_no_doubt() {
        assert_eq!(of(&[1.0, 1.0]).unwrap_err().to_string(), "2 where at least 3 are needed");
        assert_eq!(of(&[1.0; 3]).unwrap().p, 0.0);
        assert_eq!(of(&[0.0; 3]).unwrap().p, 1.0);
    }

    /// Abramowitz and Stegun, table 26.1.
    #[test]
    fn chances_are_those_of_the_tables() {
        for (z, chance) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_543),
            (-1.96, 0.024_997_895_148_220),
            (3.0, 0.998_650_101_968_370),
            (-2.999_999_9, 0.001_349_898_474_884),
            (-5.0, 2.866_515_719e-7),
        ] {
            assert!((cumulative(z) - chance).abs() < 1e-10, "{z}: {}", cumulative(z));
        }
    }

    #[test]
    fn quantiles_are_where_the_chances_say() {
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-9);
        assert!(normal_quantile(0.5).abs() < 1e-9);
        assert!(
            normal_quantile(0.0).is_finite()
                && normal_quantile(1.0).is_finite()
                && normal_quantile(f64::NAN).is_finite()
        );
    }
}
