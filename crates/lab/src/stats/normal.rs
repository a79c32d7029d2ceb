//! The normal distribution.
//!
//! Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.2.11 (the series, near the middle) and 26.2.14 (the
//! continued fraction, in the tails).

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
pub(crate) fn quantile(share: f64) -> f64 {
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
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-9);
        assert!(quantile(0.5).abs() < 1e-9);
        assert!(
            quantile(0.0).is_finite()
                && quantile(1.0).is_finite()
                && quantile(f64::NAN).is_finite()
        );
    }
}
