//! The verdict of blocks whose order chance decided.

use super::outcome::Verdict;
use crate::stats::{self, Interval, LEAST_BLOCKS, Sample};

/// Judges the logarithms of `b` over `a` of each block; `margin` is how small a difference is asked to be, if that is asked.
///
/// The confidence is [`confidence`](super::confidence) of the number of comparisons in the output.
pub fn of_blocks(differences: &Sample, confidence: f64, margin: Option<f64>) -> Verdict {
    match stats::of_blocks(differences, confidence) {
        Ok(estimate) => Verdict::of(Ok(estimate), confidence, margin),
        Err(_) => {
            let sorted = differences.sorted();
            let so_far = sorted.first().zip(sorted.last());
            Verdict::TooFew {
                have: differences.len(),
                needed: LEAST_BLOCKS,
                so_far: so_far.map(|(low, high)| Interval { low: *low, high: *high }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::confidence;
    use proptest::prelude::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    #[test]
    fn each_situation_has_its_verdict() {
        let of = |values: &[f64], margin| of_blocks(&sample(values), confidence(1), margin);
        let around = |level: f64, by: f64| -> Vec<f64> {
            (0..20).map(|it| level + by * (f64::from(it * 7 % 20) - 9.5) / 9.5).collect()
        };
        assert!(of(&around(0.06, 0.01), None).is_claimed());
        assert!(matches!(of(&around(0.0, 0.01), None), Verdict::NotShown(_)));
        assert!(matches!(of(&around(0.0, 0.01), Some(0.01)), Verdict::Same { margin: 0.01, .. }));
        assert!(matches!(of(&around(0.0, 0.01), Some(0.001)), Verdict::NotShown(_)));
        assert!(matches!(of(&around(0.0, 0.5), None), Verdict::TooNoisy(_)));
        assert!(of(&around(0.005, 0.001), Some(0.01)).is_claimed());
        let few =
            Verdict::TooFew { have: 3, needed: 4, so_far: Some(Interval { low: 0.69, high: 0.7 }) };
        assert_eq!(of(&[0.7, 0.69, 0.695], None), few);
    }

    proptest! {
        #[test]
        fn it_is_claimed_where_the_interval_leaves_0_out_and_nowhere_else(
            values in prop::collection::vec(-1.0_f64..1.5, 1..40), comparisons in 1_usize..30, margin in prop::option::of(0.0_f64..1.0),
        ) {
            let verdict = of_blocks(&sample(&values), confidence(comparisons), margin);
            prop_assert_eq!(verdict.ratio().is_none(), values.len() < 4);
            if let Some(ratio) = verdict.ratio() {
                prop_assert_eq!(verdict.is_claimed(), !ratio.interval.contains(0.0));
                prop_assert!(ratio.interval.contains(ratio.log), "{:?}", ratio);
                prop_assert_eq!(ratio.confidence, confidence(comparisons));
            }
        }
    }
}
