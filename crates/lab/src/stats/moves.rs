//! How far the level of a run moved while it lasted.

use super::Sample;
use super::sample::quantile;

/// The largest difference between the median before and the median after a cut, over cuts that leave at least a fifth of the
/// values, and two, on either side; 0 of fewer than 4 values.
///
/// Of values that drift evenly it is half of the whole drift, wherever the cut is; the middles of two runs of the same length, one
/// right after the other, then lie twice as far apart. So twice this is what an unbroken drift explains of their difference.
pub fn largest_move(sample: &Sample) -> f64 {
    let n = sample.len();
    let edge = (n / 5).max(2);
    if n < 2 * edge {
        return 0.0;
    }
    // Medians of a few thousand values hardly move from one cut to the next.
    let step = ((n - 2 * edge) / MOST_CUTS).max(1);
    let values = sample.in_order();
    let moved = (edge..=n - edge).step_by(step).map(|cut| {
        let (before, after) = values.split_at(cut);
        (middle(after) - middle(before)).abs()
    });
    moved.fold(0.0, f64::max)
}

const MOST_CUTS: usize = 64;

fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: impl IntoIterator<Item = f64>) -> Sample {
        Sample::new(values.into_iter().collect()).unwrap()
    }

    #[test]
    fn an_even_drift_moves_by_half_of_itself() {
        let moved = largest_move(&sample((0..=100).map(f64::from)));
        assert!((moved - 50.5).abs() < 1.0, "{moved}");
    }

    #[test]
    fn a_step_is_seen_whole_and_one_wild_value_is_not() {
        let step = |at: i32| (0..20).map(move |it| if it < at { 1.0 } else { 3.0 });
        assert_eq!(largest_move(&sample(step(5))), 2.0);
        assert_eq!(largest_move(&sample(step(1))), 0.0);
        assert_eq!(largest_move(&sample([1.0, 2.0, 9.0])), 0.0);
    }
}
