//! Weighted sums of arms, block by block.
//!
//! A contrast gives weights to some arms; the weights add up to 0, so that what the arms of a block share drops out. Its value
//! in each block that has all those arms is one observation; Student's t over the blocks tests their mean (Box, Hunter and
//! Hunter, "Statistics for Experimenters", second edition, chapters 4 and 5).
//!
//! In a full factorial, and where one factor is moved at a time, an arm at a level has a twin that differs in nothing but that
//! the factor is at its first level; the mean of all such pairs is the effect of the level. A pair of which one does not run
//! (a workload that fails under some settings) is left out, and the others still are a fair comparison. A fraction has no
//! twins: its columns are balanced only as a whole, so that it takes all of its arms (Box, Hunter and Hunter, "Statistics for
//! Experimenters", second edition, chapters 5 and 6).

use super::cells::Cells;
use super::{Estimate, Known, LEAST_BLOCKS};
use crate::experiment::{Experiment, Kind, Shape};
use crate::stats::{Mean, Sample, mean, winsorised_contrasts};
use std::collections::HashMap;

/// Arms with their weights; no arm twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Contrast(Vec<(usize, f64)>);

/// Equal figures give sums that differ by rounding, always in the same way; no clock measures such a share.
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

    /// This less `other`, which has other arms.
    pub(super) fn less(&self, other: &Contrast) -> Contrast {
        let negated = other.0.iter().map(|(arm, weight)| (*arm, -weight));
        Contrast(self.0.iter().copied().chain(negated).collect())
    }

    /// Whether it has no arm.
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

    /// What its blocks say, with an interval of this confidence.
    pub(super) fn mean(&self, cells: &Cells, confidence: f64) -> Known<Mean> {
        mean_of(&self.values(cells), confidence)
    }
}

/// What the values of blocks say of their mean, with an interval of this confidence. A wild block weighs no more than a far one.
pub(super) fn mean_of(blocks: &[(usize, f64)], confidence: f64) -> Known<Mean> {
    let sample = Sample::new(blocks.iter().map(|it| it.1).collect());
    sample
        .and_then(|it| mean(&winsorised_contrasts(&it), confidence, LEAST_BLOCKS as usize))
        .map_or_else(|_| Known::missing(too_few(blocks.len())), Known::Value)
}

/// An estimate of a mean of logarithms, claimed where its interval leaves "no difference" out.
pub(super) fn estimate(mean: &Mean, confidence: f64) -> Estimate {
    let interval = mean.interval.map(f64::exp_m1);
    Estimate {
        change: mean.mean.exp_m1(),
        interval,
        confidence,
        is_claimed: !interval.contains(0.0),
    }
}

fn too_few(have: usize) -> String {
    let blocks = match have {
        0 => "no block has".to_owned(),
        1 => "1 block has".to_owned(),
        _ => format!("{have} blocks have"),
    };
    format!(
        "{blocks} a good trial of every combination that this takes, and {LEAST_BLOCKS} are needed: give it more \
         trials"
    )
}

/// The arms of a study by workload and levels.
pub(super) struct Grid<'a> {
    shape: Shape,
    workloads: Vec<OfWorkload<'a>>,
    /// By arm: whether it runs often enough to be compared.
    is_usable: Vec<bool>,
    experiment: &'a Experiment,
}

struct OfWorkload<'a> {
    arms: Vec<usize>,
    by_levels: HashMap<&'a [usize], usize>,
    /// By factor and level.
    at: Vec<Vec<Vec<usize>>>,
}

/// How the effect of one factor depends on the level of another, over the same arms of all other factors.
pub(super) struct Dependence {
    /// What the first factor does where the second is at its first level.
    pub(super) given_first: Contrast,
    /// What it does where that is at the other one.
    pub(super) given_other: Contrast,
}

impl<'a> Grid<'a> {
    /// Of a study whose combinations have a workload and levels of its design.
    pub(super) fn of(experiment: &'a Experiment, figures: &Cells) -> Grid<'a> {
        let design = &experiment.design;
        let workload = |_| OfWorkload {
            arms: Vec::new(),
            by_levels: HashMap::new(),
            at: design.factors.iter().map(|it| vec![Vec::new(); it.levels.len()]).collect(),
        };
        let mut workloads: Vec<OfWorkload<'a>> =
            (0..design.workloads.len()).map(workload).collect();
        for (arm, combination) in experiment.arms.iter().enumerate() {
            let of = &mut workloads[combination.workload];
            of.arms.push(arm);
            of.by_levels.insert(&combination.levels, arm);
            for (factor, level) in combination.levels.iter().enumerate() {
                of.at[factor][*level].push(arm);
            }
        }
        let is_usable = |arm| 2 * figures.of_arm(arm).len() >= figures.n_blocks();
        let is_usable = (0..experiment.arms.len()).map(is_usable).collect();
        Grid { shape: design.shape, workloads, is_usable, experiment }
    }

    /// The arms of a workload, in the order of the record.
    pub(super) fn arms(&self, workload: usize) -> &[usize] {
        &self.workloads[workload].arms
    }

    /// The arm of a workload at these levels, where there is one.
    pub(super) fn arm(&self, workload: usize, levels: &[usize]) -> Option<usize> {
        self.workloads[workload].by_levels.get(levels).copied()
    }

    /// The arms of a workload in which a factor is at a level.
    pub(super) fn at(&self, workload: usize, factor: usize, level: usize) -> &[usize] {
        &self.workloads[workload].at[factor][level]
    }

    /// A level of a factor against its first one.
    pub(super) fn effect(&self, workload: usize, factor: usize, level: usize) -> Contrast {
        let at = &self.workloads[workload].at[factor];
        if self.shape == Shape::Fraction {
            return Contrast::between(&at[level], &at[0]);
        }
        let pairs = at[level].iter().filter_map(|arm| {
            Some((self.usable(*arm)?, self.usable(self.twin(*arm, &[(factor, 0)])?)?))
        });
        let (of, against): (Vec<usize>, Vec<usize>) = pairs.unzip();
        Contrast::between(&of, &against)
    }

    /// How what the first of two factors does depends on the second; `None` where the shape cannot show it.
    pub(super) fn dependence(
        &self,
        workload: usize,
        (first, second): (usize, usize),
        (level, other): (usize, usize),
    ) -> Option<Dependence> {
        if self.shape != Shape::Full {
            return None;
        }
        // By corner: both at their levels, the first alone, the second alone, neither.
        let mut corners: [Vec<usize>; 4] = Default::default();
        let at = &self.workloads[workload].at;
        for arm in &at[first][level] {
            if self.experiment.arms[*arm].levels[second] != other {
                continue;
            }
            let of = [
                Some(*arm),
                self.twin(*arm, &[(second, 0)]),
                self.twin(*arm, &[(first, 0)]),
                self.twin(*arm, &[(first, 0), (second, 0)]),
            ];
            let usable = of.map(|it| it.and_then(|it| self.usable(it)));
            if usable.iter().all(Option::is_some) {
                corners.iter_mut().zip(usable).for_each(|(arms, it)| arms.extend(it));
            }
        }
        let [both, first_alone, second_alone, neither] = corners;
        Some(Dependence {
            given_first: Contrast::between(&first_alone, &neither),
            given_other: Contrast::between(&both, &second_alone),
        })
    }

    /// These levels of the settings against the first ones of all, where a condition is at this level; those of the other
    /// conditions are alike in both.
    pub(super) fn change_where(
        &self,
        workload: usize,
        levels: &[usize],
        (condition, level): (usize, usize),
    ) -> Contrast {
        let factors = self.experiment.design.factors.iter().enumerate();
        let settings: Vec<usize> =
            factors.filter(|(_, it)| it.kind() == Kind::Setting).map(|it| it.0).collect();
        let first: Vec<(usize, usize)> = settings.iter().map(|it| (*it, 0)).collect();
        let has_levels = |arm: usize| {
            let of = &self.experiment.arms[arm].levels;
            settings.iter().all(|it| of[*it] == levels[*it])
        };
        let at = self.workloads[workload].at[condition][level].iter();
        let pairs = at
            .filter(|it| has_levels(**it))
            .filter_map(|arm| Some((self.usable(*arm)?, self.usable(self.twin(*arm, &first)?)?)));
        let (of, against): (Vec<usize>, Vec<usize>) = pairs.unzip();
        Contrast::between(&of, &against)
    }

    fn twin(&self, arm: usize, changes: &[(usize, usize)]) -> Option<usize> {
        let combination = &self.experiment.arms[arm];
        let mut levels = combination.levels.clone();
        changes.iter().for_each(|(factor, level)| levels[*factor] = *level);
        self.arm(combination.workload, &levels)
    }

    fn usable(&self, arm: usize) -> Option<usize> {
        self.is_usable[arm].then_some(arm)
    }
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
        let found = Contrast::between(&[1], &[0]).mean(&cells, 0.99);
        let found = estimate(found.value().unwrap(), 0.99);
        assert!((found.change - 1.0).abs() < 1e-12 && found.is_claimed, "{found:?}");
    }

    #[test]
    fn arms_that_are_alike_but_for_rounding_do_not_differ() {
        let cells = cells(&[[0.3, 0.3, 0.3], [0.7, 0.7, 0.7], [1.1, 1.1, 1.1]]);
        let found = Contrast::between(&[1, 2], &[0]).mean(&cells, 0.99);
        assert_eq!(found.value().unwrap().p, 1.0);
    }

    #[test]
    fn two_blocks_are_too_few_and_say_what_to_do() {
        let cells = cells(&[[1.0, 2.0, 0.0], [1.0, 2.0, 0.0], [1.0, 0.0, 0.0]]);
        let why = Contrast::between(&[1], &[0]).mean(&cells, 0.99);
        assert_eq!(
            why.reason().unwrap(),
            "2 blocks have a good trial of every combination that this takes, and 3 are needed: give it more trials"
        );
    }
}
