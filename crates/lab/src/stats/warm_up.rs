//! How many of the first trials are slower than what follows.
//!
//! White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output", Simulation 69 (1997), known as
//! MSER: leave out as many of the first values as make the standard error of the mean of the others smallest. Where
//! that is more than half of them, they never settle, which is a drift and no warm-up.

use super::{Sample, median, median_deviation};

/// How many of the first values belong to a warm-up: 0 where there is none.
///
/// `sample` is of what is low when the machine is warm: times, or logarithms of them.
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

/// In normal noise one value in 700 lies that far above.
const STANDING_OUT: f64 = 3.0;

/// The last values are too few to say how they vary.
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
