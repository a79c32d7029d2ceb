//! What the order of trials shows: autocorrelation, a change of level, a warm-up.

use super::{Sample, median, median_deviation};

/// The correlation of each value with the one before it: 0 for fewer than 4 values and for equal ones.
///
/// Lag-1 autocorrelation with the correction for short series of Marriott and Pope, "Bias in the Estimation of
/// Autocorrelations", Biometrika 41 (1954). The effective size is that of a first-order autoregression (Bayley and
/// Hammersley, "The 'Effective' Number of Independent Observations in an Autocorrelated Time Series", Supplement to the
/// JRSS 8 (1946)). It cannot see what changes more slowly than the series is long.
pub fn lag_one(sample: &Sample) -> f64 {
    let values = sample.in_order();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    if values.len() < 4 || variance <= 0.0 {
        return 0.0;
    }
    let products: f64 = values.windows(2).map(|it| (it[0] - mean) * (it[1] - mean)).sum();
    let raw = products / variance;
    (raw + (1.0 + 4.0 * raw) / n).clamp(-MOST_CORRELATION, MOST_CORRELATION)
}

/// The number of independent trials that say as much about the mean as these: from 1 to the number of trials.
///
/// Trials that resemble the one before less than by chance count as one each, which is on the safe side.
pub fn effective_size(sample: &Sample) -> f64 {
    let n = sample.len() as f64;
    let resemblance = lag_one(sample).max(0.0);
    (n * (1.0 - resemblance) / (1.0 + resemblance)).clamp(1.0, n)
}

/// At 1 the effective size of any sample would be 0.
const MOST_CORRELATION: f64 = 0.99;

/// Where the figures changed, and by how much.
///
/// Pettitt, "A Non-parametric Approach to the Change-point Problem", Applied Statistics 28 (1979): by ranks, so that
/// outliers weigh no more than others. A slow drift shows as a change in its middle. Trials that resemble their
/// neighbours show changes that are none to come: it says that figures moved, not that they will stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The place of the first value after the change.
    pub at: usize,
    /// The median after it less the median before it.
    pub by: f64,
    /// The chance of a change as clear as this among independent values that did not change.
    pub p: f64,
}

/// The clearest change in the sample, or why there can be none: it takes 8 values.
pub fn change_point(sample: &Sample) -> Result<Change, super::Unfit> {
    let sample = sample.at_least(LEAST_FOR_CHANGE)?;
    let n = sample.len() as f64;
    let (mut sum, mut clearest) = (0.0, (1, 0.0_f64));
    for (at, rank) in (1..sample.len()).zip(ranks(sample)) {
        sum += 2.0 * rank - (n + 1.0);
        if sum.abs() > clearest.1.abs() {
            clearest = (at, sum);
        }
    }
    let (at, height) = clearest;
    let (before, after) = sample.in_order().split_at(at);
    let by = median(&Sample::new(after.to_vec())?) - median(&Sample::new(before.to_vec())?);
    let p = (2.0 * (-6.0 * height * height / (n * n * n + n * n)).exp()).min(1.0);
    Ok(Change { at, by, p })
}

/// The fewest values of which any change can be clear: with 7, a perfect step has p = 0.1.
const LEAST_FOR_CHANGE: usize = 8;

/// The rank of each value, in the order in which they were taken; equal values share the mean of their ranks.
fn ranks(sample: &Sample) -> impl Iterator<Item = f64> {
    let sorted = sample.sorted();
    sample.in_order().iter().map(|value| {
        let below = sorted.partition_point(|it| it < value);
        let up_to = sorted.partition_point(|it| it <= value);
        (below + up_to + 1) as f64 / 2.0
    })
}

/// How many of the first values belong to a warm-up: 0 where there is none.
///
/// `sample` is of what is low when the machine is warm: times, or logarithms of them.
///
/// White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output", Simulation 69 (1997), known as
/// MSER: leave out as many of the first values as make the standard error of the mean of the others smallest. Where
/// that is more than half of them, they never settle, which is a drift and no warm-up.
pub fn warm_up(sample: &Sample) -> usize {
    let values = sample.in_order();
    let Some(cut) = cheapest_cut(values).filter(|it| *it <= values.len() / 2) else { return 0 };
    let (first, rest) = values.split_at(cut);
    let (Ok(first), Ok(rest)) = (Sample::new(first.to_vec()), Sample::new(rest.to_vec())) else {
        return 0;
    };
    // The heuristic cuts a little off pure noise, too: what it cuts off has to stand out.
    let stands_out = median(&first) > median(&rest) + STANDING_OUT * median_deviation(&rest);
    if stands_out { cut } else { 0 }
}

/// In normal noise, one value in 700 lies that far above the median.
const STANDING_OUT: f64 = 3.0;

/// Fewer values do not show how they vary.
const LEAST_KEPT: usize = 5;

fn cheapest_cut(values: &[f64]) -> Option<usize> {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    // Distances from some value near all of them: sums of squares of large numbers would lose their digits.
    let origin = *values.last()?;
    let mut costs: Vec<(usize, f64)> = Vec::with_capacity(values.len());
    for (cut, value) in values.iter().enumerate().rev() {
        let value = value - origin;
        (n, sum, squares) = (n + 1.0, sum + value, squares + value * value);
        if values.len() - cut >= LEAST_KEPT {
            costs.push((cut, (squares - sum * sum / n).max(0.0) / (n * n)));
        }
    }
    costs.into_iter().min_by(|left, right| left.1.total_cmp(&right.1)).map(|(cut, _)| cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: impl Iterator<Item = f64>) -> Sample {
        Sample::new(values.collect()).unwrap()
    }

    #[test]
    fn a_slope_resembles_itself_and_a_zigzag_does_not() {
        let slope = sample((0..100).map(f64::from));
        assert!(lag_one(&slope) > 0.95 && effective_size(&slope) < 3.0);
        let zigzag = sample((0..100).map(|it| f64::from(it % 2)));
        assert!(lag_one(&zigzag) < -0.9);
        assert_eq!(effective_size(&zigzag), 100.0);
    }

    #[test]
    fn equal_values_and_few_values_show_no_resemblance() {
        assert_eq!(lag_one(&sample((0..50).map(|_| 2.5))), 0.0);
        assert_eq!(lag_one(&sample((0..3).map(f64::from))), 0.0);
        assert_eq!(effective_size(&sample((0..1).map(f64::from))), 1.0);
    }

    fn change(values: impl Iterator<Item = f64>) -> Change {
        change_point(&Sample::new(values.collect()).unwrap()).unwrap()
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let found =
            change((0..40).map(|it| f64::from(it * 7 % 5) + if it < 25 { 0.0 } else { 10.0 }));
        assert_eq!((found.at, found.by), (25, 10.0));
        assert!(found.p < 1e-5, "{found:?}");
    }

    #[test]
    fn what_does_not_move_has_no_clear_change() {
        assert!(change((0..40).map(|it| f64::from(it * 7 % 5))).p > 0.5);
        assert_eq!(change((0..40).map(|_| 3.0)).p, 1.0);
        let few = Sample::new(vec![1.0; 7]).unwrap();
        assert_eq!(change_point(&few).unwrap_err().to_string(), "7 where at least 8 are needed");
    }

    fn warmed(first: &[f64], n_rest: u32) -> usize {
        let rest = (0..n_rest).map(|it| 10.0 + f64::from(it * 7 % 5) / 10.0);
        warm_up(&Sample::new(first.iter().copied().chain(rest).collect()).unwrap())
    }

    #[test]
    fn slow_first_trials_are_counted() {
        // The lowest of the others may be cut off with them.
        assert!((3..=4).contains(&warmed(&[19.0, 14.0, 12.0], 30)));
        assert_eq!(warmed(&[], 30), 0);
    }

    #[test]
    fn fast_first_trials_and_endless_slopes_are_no_warm_up() {
        assert_eq!(warmed(&[5.0, 6.0], 30), 0);
        let slope = Sample::new((0..40).map(|it| 100.0 - f64::from(it)).collect()).unwrap();
        assert_eq!(warm_up(&slope), 0);
        assert_eq!(warm_up(&Sample::new(vec![9.0, 1.0]).unwrap()), 0);
    }
}
