//! The normal distribution and Student's t, for fractional degrees of freedom too: those of the crate statrs, made safe for any
//! argument.
//!
//! Quantiles of t are found by halving: those of statrs 0.19.1 are right up to 1e5 degrees, and never return with 1e8.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The fewest degrees that are distinguished: its quantile of 1 % lies at 6e3.
const FEWEST: f64 = 0.5;

/// The most degrees: more are treated as this many, which makes the tails too heavy by less than 0.02 % of a quantile, on the
/// safe side.
const MOST: f64 = 1e4;

/// The chance of a value farther from 0 than `t`, either way; 1 where `t` is not a number.
pub(super) fn beyond(t: f64, degrees: f64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    student(degrees).map_or(1.0, |it| (2.0 * it.sf(t.abs())).clamp(0.0, 1.0))
}

/// The value that is exceeded, either way, with this chance; 1e12 at most.
pub(super) fn t_quantile(chance: f64, degrees: f64) -> f64 {
    bisected(0.0, 1e12, |t| beyond(t, degrees) > chance)
}

fn student(degrees: f64) -> Option<StudentsT> {
    let degrees = if degrees.is_nan() { FEWEST } else { degrees.clamp(FEWEST, MOST) };
    StudentsT::new(0.0, 1.0, degrees).ok()
}

/// The chance of a value below `z`.
pub(super) fn cumulative(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// The value below which `share` of all lie; finite for every argument.
pub(crate) fn normal_quantile(share: f64) -> f64 {
    if share.is_nan() {
        return 0.0;
    }
    // 40 standard deviations hold everything that an f64 can tell from nothing.
    Normal::standard().inverse_cdf(share.clamp(0.0, 1.0)).clamp(-40.0, 40.0)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Abramowitz and Stegun, table 26.10.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, chance, expected) in [
            (1.0, 0.05, 12.706),
            (2.0, 0.05, 4.303),
            (9.0, 0.05, 2.262),
            (9.0, 0.01, 3.250),
            (10.0, 0.05, 2.228),
            (120.0, 0.01, 2.617),
            (100_000.0, 0.05, 1.960),
        ] {
            let found = t_quantile(chance, degrees);
            assert!((found - expected).abs() < 6e-4, "{degrees} {chance}: {found}");
        }
    }

    /// With two degrees t = (2 p - 1) / sqrt(2 p (1 - p)), and with one it is Cauchy's.
    #[test]
    fn far_quantiles_are_those_of_the_closed_forms() {
        for chance in [0.05_f64, 0.01, 0.01 / 6.0, 0.01 / 200.0, 1e-6] {
            let p = 1.0 - chance / 2.0;
            let of_two = (2.0 * p - 1.0) / f64::sqrt(p * chance);
            assert!((t_quantile(chance, 2.0) / of_two - 1.0).abs() < 1e-6, "{chance}");
            let of_one = (std::f64::consts::FRAC_PI_2 * (1.0 - chance)).tan();
            assert!((t_quantile(chance, 1.0) / of_one - 1.0).abs() < 1e-6, "{chance}");
        }
    }

    proptest! {
        #[test]
        fn a_quantile_has_the_chance_that_it_was_made_of(degrees in 0.5_f64..2000.0, power in 0.5_f64..8.0) {
            let chance = 10.0_f64.powf(-power);
            let back = beyond(t_quantile(chance, degrees), degrees);
            prop_assert!((back / chance - 1.0).abs() < 1e-5, "{degrees} {chance}: {back}");
        }
    }

    #[test]
    fn nothing_is_certain_of_no_difference_and_nonsense_is_no_evidence() {
        assert_eq!(beyond(0.0, 5.0), 1.0);
        assert_eq!(beyond(f64::NAN, 5.0), 1.0);
        assert_eq!(beyond(f64::INFINITY, 5.0), 0.0);
        assert!(t_quantile(0.0, 5.0).is_finite() && t_quantile(f64::NAN, 5.0).is_finite());
        assert!(t_quantile(0.01, f64::NAN) > 1e3 && t_quantile(0.01, -1.0) > 1e3);
        assert!((t_quantile(0.05, f64::INFINITY) - 1.960).abs() < 1e-3);
        assert_eq!(t_quantile(0.05, f64::INFINITY), t_quantile(0.05, 1e8));
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
