//! Values of which none weighs more than a far one.

use super::{Sample, median, median_deviation};

/// The values, with those farther from the median than so many scaled median deviations moved to that distance; as they are where
/// more than half of them are equal but for rounding: then nothing says how far is far.
///
/// Dixon, "Simplified Estimation from Censored Normal Samples", Annals of Mathematical Statistics 31 (1960), for the name, and
/// Huber, "Robust Statistics" (1981), section 1.7, for limits by the median deviation.
pub fn winsorised(sample: &Sample, deviations: f64) -> Sample {
    let reach = deviations * median_deviation(sample);
    let center = median(sample);
    if reach > ROUNDING { sample.clamped(center - reach, center + reach) } else { sample.clone() }
}

/// Logarithms of equal numbers differ by less.
const ROUNDING: f64 = 1e-12;

/// [`winsorised`] contrasts of the blocks of a study, as they are where there are fewer than 10.
///
/// With 10 blocks and one trial in 20 slower by 30 %, an effect of 2 % is then found in 100 instead of 18 % of simulated studies, with
/// 1.4 instead of 0.2 % false claims; with 5 blocks there are 3.8 % false ones, for the median deviation of so few is often
/// far too small.
pub fn winsorised_contrasts(contrasts: &Sample) -> Sample {
    if contrasts.len() < FROM { contrasts.clone() } else { winsorised(contrasts, DEVIATIONS) }
}

const FROM: usize = 10;
const DEVIATIONS: f64 = 3.5;

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: impl IntoIterator<Item = f64>) -> Sample {
        Sample::new(values.into_iter().collect()).unwrap()
    }

    #[test]
    fn wild_values_are_moved_to_the_limit_and_keep_their_places() {
        let found = winsorised(&sample([3.0, 1.0, 90.0, 2.0, 0.0]), 2.0);
        assert_eq!(found.in_order(), [3.0, 1.0, 2.0 + 2.0 * 1.482_602_218_505_602, 2.0, 0.0]);
        assert_eq!(winsorised(&sample([1.0, 1.0, 1.0, 9.0]), 2.0).in_order(), [1.0, 1.0, 1.0, 9.0]);
    }

    #[test]
    fn contrasts_of_few_blocks_are_left_alone() {
        let contrasts = |n: u32| sample((1..n).map(f64::from).chain([1000.0]));
        assert_eq!(winsorised_contrasts(&contrasts(9)), contrasts(9));
        assert!(winsorised_contrasts(&contrasts(10)).in_order()[9] < 30.0);
    }
}
