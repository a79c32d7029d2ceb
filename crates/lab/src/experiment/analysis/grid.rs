//! Which arms a contrast takes.
//!
//! In a full factorial, and where one factor is moved at a time, an arm at a level has a twin that differs in nothing but that
//! the factor is at its first level; the mean of all such pairs is the effect of the level. A pair of which one does not run
//! (a workload that fails under some settings) is left out, and the others still are a fair comparison. A fraction has no
//! twins: its columns are balanced only as a whole, so that it takes all of its arms (Box, Hunter and Hunter, "Statistics for
//! Experimenters", second edition, chapters 5 and 6).

use super::cells::Cells;
use super::contrast::Contrast;
use crate::experiment::{Experiment, Kind, Shape};
use std::collections::HashMap;

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
