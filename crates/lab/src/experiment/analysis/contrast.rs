//! Weighted sums of arms, block by block.
//!
//! A contrast is a weight for each arm that it looks at, the weights adding up to 0: what blocks share drops out. Its value in
//! each block that has all those arms is one observation; Student's t over blocks says what they mean (Box, Hunter and Hunter,
//! "Statistics for Experimenters", second edition, chapters 4 and 5).

use super::cells::Cells;
use super::{Estimate, Known, LEAST_BLOCKS};
use crate::stats::{CONFIDENCE, Mean, Sample, mean};

/// Arms with their weights; no arm twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Contrast(Vec<(usize, f64)>);

/// Sums of figures that are alike differ by rounding, always in the same way; no clock shows such a share.
const ROUNDING: f64 = 1e-12;

impl Contrast {
    /// The mean of the arms `of` less that of `against`; nothing where either has none.
    pub(super) fn between(of: &[usize], against: &[usize]) -> Contrast {
        let weighted = |arms: &[usize], weight: f64| -> Vec<(usize, f64)> {
            arms.iter().map(|arm| (*arm, weight / arms.len() as f64)).collect()
        };
        if of.is_empty() || against.is_empty() {
            return Contrast::default();
        }
        Contrast([weighted(of, 1.0), weighted(against, -1.0)].concat())
    }

    /// This less `other`, which looks at other arms.
    pub(super) fn less(&self, other: &Contrast) -> Contrast {
        let negated = other.0.iter().map(|(arm, weight)| (*arm, -weight));
        Contrast(self.0.iter().copied().chain(negated).collect())
    }

    /// Whether it looks at no arm.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its value in each block that has all its arms, by block.
    pub(super) fn values(&self, cells: &Cells) -> Vec<(usize, f64)> {
        let mut sums = vec![(0_usize, 0.0); cells.n_blocks()];
        for (arm, weight) in &self.0 {
            for (block, value) in cells.of_arm(*arm) {
                sums[*block].0 += 1;
                sums[*block].1 += weight * value;
            }
        }
        let is_whole = |it: &(usize, (usize, f64))| it.1.0 == self.0.len() && !self.is_empty();
        let sums = sums.into_iter().enumerate().filter(is_whole);
        sums.map(|(block, (_, sum))| (block, if sum.abs() < ROUNDING { 0.0 } else { sum }))
            .collect()
    }

    /// What its blocks say.
    pub(super) fn mean(&self, cells: &Cells) -> Known<Mean> {
        mean_of(&self.values(cells))
    }
}

/// What the values of blocks say of their mean.
pub(super) fn mean_of(blocks: &[(usize, f64)]) -> Known<Mean> {
    let sample = Sample::new(blocks.iter().map(|it| it.1).collect());
    sample
        .and_then(|it| mean(&it, CONFIDENCE, LEAST_BLOCKS as usize))
        .map_or_else(|_| Known::missing(too_few(blocks.len())), Known::Value)
}

/// An estimate of a mean of logarithms, of which nothing is claimed yet.
pub(super) fn estimate(mean: &Mean) -> Estimate {
    Estimate {
        change: mean.mean.exp_m1(),
        interval: mean.interval.map(f64::exp_m1),
        p: mean.p,
        corrected_p: 1.0,
        is_claimed: false,
    }
}

fn too_few(have: usize) -> String {
    let blocks = match have {
        0 => "no block has".to_owned(),
        1 => "1 block has".to_owned(),
        _ => format!("{have} blocks have"),
    };
    format!(
        "{blocks} a good trial of every arm that this takes, and {LEAST_BLOCKS} are the least: give it more \
         trials"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::{record, trial};
    use crate::experiment::analysis::cells::Measured;

    /// Seconds by block and arm; 0 is no trial.
    fn cells(blocks: &[[f64; 3]]) -> Cells {
        let trials = (0..).zip(blocks).flat_map(|(block, arms)| {
            let of = move |(arm, seconds): (usize, &f64)| trial(arm, block, *seconds, 1e9);
            arms.iter().enumerate().filter(|it| *it.1 > 0.0).map(of).collect::<Vec<_>>()
        });
        Measured::of(&record(trials.collect())).figure
    }

    #[test]
    fn a_block_counts_where_it_has_every_arm_of_the_contrast() {
        let cells = cells(&[[1.0, 2.0, 4.0], [1.0, 0.0, 4.0], [1.0, 4.0, 0.0]]);
        let in_powers_of_2 = |it: &Contrast| -> Vec<(usize, f64)> {
            it.values(&cells).iter().map(|(at, value)| (*at, value / 2.0_f64.ln())).collect()
        };
        assert_eq!(in_powers_of_2(&Contrast::between(&[1], &[0])), [(0, 1.0), (2, 2.0)]);
        assert_eq!(in_powers_of_2(&Contrast::between(&[1, 2], &[0])), [(0, 1.5)]);
        assert!(Contrast::between(&[1], &[]).values(&cells).is_empty());
    }

    #[test]
    fn what_blocks_share_drops_out() {
        let cells = cells(&[[1.0, 2.0, 1.0], [8.0, 16.0, 1.0], [3.0, 6.0, 1.0]]);
        let found = Contrast::between(&[1], &[0]).mean(&cells);
        let found = estimate(found.value().unwrap());
        assert!((found.change - 1.0).abs() < 1e-12 && found.p < 1e-6, "{found:?}");
    }

    #[test]
    fn arms_that_are_alike_but_for_rounding_do_not_differ() {
        let cells = cells(&[[0.3, 0.3, 0.3], [0.7, 0.7, 0.7], [1.1, 1.1, 1.1]]);
        let found = Contrast::between(&[1, 2], &[0]).mean(&cells);
        assert_eq!(found.value().unwrap().p, 1.0);
    }

    #[test]
    fn two_blocks_are_too_few_and_say_what_to_do() {
        let cells = cells(&[[1.0, 2.0, 0.0], [1.0, 2.0, 0.0], [1.0, 0.0, 0.0]]);
        let why = Contrast::between(&[1], &[0]).mean(&cells);
        assert_eq!(
            why.reason().unwrap(),
            "2 blocks have a good trial of every arm that this takes, and 3 are the least: give it more trials"
        );
    }
}
