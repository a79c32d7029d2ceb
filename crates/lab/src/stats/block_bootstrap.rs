//! A confidence interval for the trimmed mean of one arm's figures.
//!
//! Efron, "Better Bootstrap Confidence Intervals", JASA 82 (1987): BCa, corrected for bias and for spread that changes with
//! the mean. Neighbours are drawn together, in blocks (Künsch, "The Jackknife and the Bootstrap for General Stationary
//! Observations", Annals of Statistics 17 (1989)), as long as a first-order autoregression of that resemblance wants
//! (Carlstein, "The Use of Subseries Values for Estimating the Variance of a General Statistic from a Stationary
//! Sequence", Annals of Statistics 14 (1986)); independent trials are drawn one by one. Percentiles of few values are too
//! narrow by what Student's t is wider than the normal distribution, so the interval is stretched by that.

use super::location::{trimmed_mean, trimmed_of};
use super::{Interval, Sample, Unfit, distributions, effective_size, lag_one};

/// How an interval is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// How often to draw; 2,000 give the ends of a 95 % interval within some percent of its width.
    pub draws: u32,
    /// The chance that the interval holds the truth, such as 0.95.
    pub confidence: f64,
}

/// The interval of the trimmed mean, with the draws that `dice` makes.
///
/// Errors: fewer than 5 values.
pub fn bootstrap(
    sample: &Sample,
    wanted: Bootstrap,
    dice: &mut fastrand::Rng,
) -> Result<Interval, Unfit> {
    let n = sample.at_least(LEAST)?.len();
    let ranks = ranks(sample);
    let block = block_length(sample);
    let mut times = vec![0; n];
    let mut means: Vec<f64> = (0..wanted.draws.max(1))
        .map(|_| draw(sample.sorted(), &ranks, block, (&mut times, dice)))
        .collect();
    means.sort_unstable_by(f64::total_cmp);

    let estimate = trimmed_mean(sample);
    let bias = bias(&means, estimate);
    let acceleration = acceleration(sample.sorted());
    let tail = (1.0 - wanted.confidence) / 2.0;
    let end = |share: f64| {
        let z = bias + distributions::normal_quantile(share);
        let corrected =
            distributions::cumulative(bias + z / (1.0 - acceleration * z).max(f64::MIN_POSITIVE));
        super::sample::quantile(&means, corrected)
    };
    let interval = Interval { low: end(tail), high: end(1.0 - tail) };
    let degrees = (effective_size(sample) as usize).min(n).saturating_sub(1).max(2);
    let heavier =
        distributions::t_quantile(2.0 * tail, degrees) / -distributions::normal_quantile(tail);
    Ok(interval.stretched(estimate, heavier))
}

/// Of fewer values the draws repeat each other.
const LEAST: usize = 5;

/// The place of each value among the sorted ones, in the order in which they were taken; equal values are in the order
/// of their taking.
fn ranks(sample: &Sample) -> Vec<u32> {
    let values = sample.in_order();
    let mut order: Vec<u32> = (0..).take(values.len()).collect();
    order.sort_by(|left, right| values[*left as usize].total_cmp(&values[*right as usize]));
    let mut ranks = vec![0; values.len()];
    for (rank, at) in (0..).zip(order) {
        ranks[at as usize] = rank;
    }
    ranks
}

fn block_length(sample: &Sample) -> usize {
    let (resemblance, n) = (lag_one(sample).max(0.0), sample.len());
    // Within two standard errors of 0 it is noise.
    if resemblance < 2.0 / (n as f64).sqrt() {
        return 1;
    }
    let length =
        (2.0 * resemblance / (1.0 - resemblance.powi(2))).powf(2.0 / 3.0) * (n as f64).cbrt();
    (length.ceil() as usize).clamp(1, n / 3)
}

/// The trimmed mean of as many values, drawn with repetition: how often each was drawn, and a walk over the sorted ones.
fn draw(
    sorted: &[f64],
    ranks: &[u32],
    block: usize,
    (times, dice): (&mut [u32], &mut fastrand::Rng),
) -> f64 {
    let n = sorted.len();
    times.fill(0);
    if block == 1 {
        // Any place is as good as its rank, and this is most of the time that an interval takes.
        (0..n).for_each(|_| times[dice.usize(..n)] += 1);
        return mean_of_middle(sorted, times, n);
    }
    let mut left = n;
    while left > 0 {
        let start = dice.usize(..n);
        // Blocks go on at the beginning, so that each value is drawn equally often.
        let drawn = ranks[start..].iter().chain(&ranks[..start]).take(block.min(left));
        drawn.for_each(|rank| times[*rank as usize] += 1);
        left = left.saturating_sub(block);
    }
    mean_of_middle(sorted, times, n)
}

/// The trimmed mean of `n` values: each of `sorted` as often as `times` says.
fn mean_of_middle(sorted: &[f64], times: &[u32], n: usize) -> f64 {
    let (low, high) = (trimmed_of(n), n - trimmed_of(n));
    let (mut passed, mut sum) = (0, 0.0);
    for (value, times) in sorted.iter().zip(times) {
        let end = passed + *times as usize;
        sum += end.min(high).saturating_sub(passed.max(low)) as f64 * value;
        passed = end;
    }
    sum / (high - low) as f64
}

/// How far the draws lie from the estimate, in normal deviations.
fn bias(means: &[f64], estimate: f64) -> f64 {
    let below = means.partition_point(|it| *it < estimate);
    let up_to = means.partition_point(|it| *it <= estimate);
    let share = (below + up_to) as f64 / (2 * means.len()) as f64;
    // Draws that all lie to one side say that there is a bias, not that it is endless.
    let edge = 1.0 / (2 * means.len() + 1) as f64;
    distributions::normal_quantile(share.clamp(edge, 1.0 - edge))
}

/// How the spread changes with the mean, by leaving out one value after the other.
fn acceleration(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    let mut times = vec![1; n];
    let mut without = |at: usize| {
        times[at] = 0;
        let mean = mean_of_middle(sorted, &times, n - 1);
        times[at] = 1;
        mean
    };
    let without: Vec<f64> = (0..n).map(&mut without).collect();
    let center = without.iter().sum::<f64>() / n as f64;
    let sum = |power| without.iter().map(|it| (center - it).powi(power)).sum::<f64>();
    let squares = sum(2);
    if squares > 0.0 { sum(3) / (6.0 * squares.powf(1.5)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Bootstrap = Bootstrap { draws: 500, confidence: 0.95 };

    fn interval(values: impl Iterator<Item = f64>) -> Interval {
        let sample = Sample::new(values.collect()).unwrap();
        bootstrap(&sample, WANTED, &mut fastrand::Rng::with_seed(1)).unwrap()
    }

    #[test]
    fn the_interval_is_about_as_wide_as_theory_says() {
        // Of even spread over 0 to 100 the trimmed mean has a standard error of 3.4 with 100 values.
        let found = interval((0..100).map(|it| f64::from(it * 37 % 100)));
        assert!(found.contains(49.5) && (5.0..9.0).contains(&found.half_width()), "{found:?}");
    }

    #[test]
    fn values_that_resemble_their_neighbours_make_it_wider() {
        let slope = interval((0..100).map(f64::from));
        let mixed = interval((0..100).map(|it| f64::from(it * 37 % 100)));
        assert!(slope.half_width() > 2.0 * mixed.half_width(), "{slope:?} {mixed:?}");
    }

    #[test]
    fn equal_values_leave_no_doubt_and_few_values_are_refused() {
        assert_eq!(interval((0..20).map(|_| 2.0)), Interval { low: 2.0, high: 2.0 });
        let few = Sample::new(vec![1.0; 4]).unwrap();
        let refused = bootstrap(&few, WANTED, &mut fastrand::Rng::with_seed(1)).unwrap_err();
        assert_eq!(refused.to_string(), "4 where at least 5 are needed");
    }
}
