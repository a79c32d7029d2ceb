//! The parts of a study that varies what is in force only after a reboot.
//!
//! Every combination of the levels of those factors, a configuration, is booted several times: in rounds that boot each once, in
//! an order that chance decides. Two boots of one configuration differ, too, by where memory lies and what else was started,
//! and no number of trials in one boot tells that from the effect of a level. So a boot is one observation: what its trials
//! come to (Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013, section 5: what varies between
//! repetitions of a level has to be repeated).

use super::Experiment;
use fastrand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Which factors of a design take a reboot, and how often each configuration is booted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Boots {
    /// Their places among the factors, ascending.
    pub factors: Vec<usize>,
    /// How many times each combination of boot settings is booted.
    pub rounds: u32,
}

/// The trials of one boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The round it is of, from 0.
    pub round: u32,
    /// The level of each factor that takes a reboot.
    pub levels: Vec<usize>,
    /// The arms that have those levels.
    pub arms: Vec<usize>,
    /// Its blocks, which each hold its arms twice, or once where it has one arm only.
    pub blocks: RangeInclusive<u32>,
}

/// All parts of a study, in the order in which they run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts(Vec<Part>);

impl Parts {
    /// `None` where nothing that is varied takes a reboot.
    pub fn of(experiment: &Experiment) -> Option<Parts> {
        let Experiment { design, arms, seed, .. } = experiment;
        let boots = design.boots.as_ref()?;
        let levels_of = |arm: usize| -> Vec<usize> {
            boots.factors.iter().map(|it| arms[arm].levels[*it]).collect()
        };
        let configurations: BTreeSet<Vec<usize>> = (0..arms.len()).map(levels_of).collect();
        let configurations: Vec<Vec<usize>> = configurations.into_iter().collect();
        let of_boot = design.trials.div_ceil(boots.rounds.max(1)).max(1).next_multiple_of(2);
        // Not the generator that orders the trials of a block.
        let mut draw = Rng::with_seed(!seed);
        let (mut parts, mut last) = (Vec::new(), 0);
        for round in 0..boots.rounds {
            let mut order = configurations.clone();
            draw.shuffle(&mut order);
            for levels in order {
                let arms: Vec<usize> =
                    (0..arms.len()).filter(|it| levels_of(*it) == levels).collect();
                let n_blocks = if arms.len() > 1 { of_boot / 2 } else { of_boot };
                let blocks = last + 1..=last + n_blocks;
                last = *blocks.end();
                parts.push(Part { round, levels, arms, blocks });
            }
        }
        Some(Parts(parts))
    }

    /// In the order in which they run; at least one.
    pub fn all(&self) -> &[Part] {
        &self.0
    }

    /// The place of the first part that lacks trials, when `n_trials` were made.
    pub fn next(&self, n_trials: usize) -> Option<usize> {
        let mut whole = 0;
        self.0.iter().position(|part| {
            whole += part.n_trials();
            n_trials < whole
        })
    }

    /// The part that a block is of.
    pub fn of_block(&self, block: u32) -> Option<&Part> {
        let place = self.0.partition_point(|it| *it.blocks.end() < block);
        self.0.get(place).filter(|it| it.blocks.contains(&block))
    }

    /// How many trials all of them have.
    pub fn n_trials(&self) -> usize {
        self.0.iter().map(Part::n_trials).sum()
    }
}

impl Part {
    /// How many trials it has.
    pub fn n_trials(&self) -> usize {
        let of_block = if self.arms.len() > 1 { 2 * self.arms.len() } else { self.arms.len() };
        of_block * self.blocks.clone().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Design, Factor, Shape, arms};

    fn experiment(shape: Shape, rounds: u32, seed: u64) -> Experiment {
        let factor = |name: &str, levels: &[&str]| Factor {
            name: name.to_owned(),
            levels: levels.iter().map(|it| (*it).to_owned()).collect(),
        };
        let design = Design {
            factors: vec![
                factor("governor", &["a", "b"]),
                factor("nohz-full", &["none", "1", "1-2"]),
            ],
            workloads: vec!["cpu-loop".to_owned()],
            trials: 16,
            shape,
            boots: Some(Boots { factors: vec![1], rounds }),
            ..Design::default()
        };
        let arms = arms(&design).unwrap();
        Experiment::of(design, arms, seed)
    }

    #[test]
    fn every_round_boots_each_configuration_once_and_chance_orders_them() {
        let parts = |seed| Parts::of(&experiment(Shape::Full, 4, seed)).unwrap();
        let order =
            |seed| -> Vec<usize> { parts(seed).all().iter().map(|it| it.levels[0]).collect() };
        for (round, of_round) in order(1).chunks(3).enumerate() {
            let seen: BTreeSet<&usize> = of_round.iter().collect();
            assert_eq!(seen.len(), 3, "round {round}");
        }
        assert_eq!(order(1), order(1));
        let orders: BTreeSet<Vec<usize>> = (0..20).map(order).collect();
        assert!(orders.len() > 10);
    }

    #[test]
    fn a_part_has_the_arms_of_its_levels_and_its_share_of_the_trials() {
        let experiment = experiment(Shape::Full, 4, 1);
        let parts = Parts::of(&experiment).unwrap();
        let mut expected = 1;
        for part in parts.all() {
            assert!(part.arms.iter().all(|it| experiment.arms[*it].levels[1] == part.levels[0]));
            assert_eq!((part.arms.len(), part.n_trials()), (2, 8));
            assert_eq!(part.blocks, expected..=expected + 1);
            expected += 2;
        }
        assert_eq!(parts.n_trials(), 4 * 3 * 8);
    }

    #[test]
    fn a_part_with_one_arm_has_as_many_trials_of_it() {
        let parts = Parts::of(&experiment(Shape::OneAtATime, 3, 1)).unwrap();
        let of: BTreeSet<(usize, usize, usize)> = parts
            .all()
            .iter()
            .map(|it| (it.arms.len(), it.blocks.clone().count(), it.n_trials()))
            .collect();
        assert_eq!(of, BTreeSet::from([(1, 6, 6), (2, 3, 12)]));
    }

    #[test]
    fn trials_and_blocks_tell_their_part() {
        let parts = Parts::of(&experiment(Shape::Full, 4, 1)).unwrap();
        assert_eq!(
            [0, 7, 8, 95, 96].map(|it| parts.next(it)),
            [Some(0), Some(0), Some(1), Some(11), None]
        );
        let round = |block| parts.of_block(block).map(|it| it.round);
        assert_eq!(
            [0, 1, 6, 7, 24, 25].map(round),
            [None, Some(0), Some(0), Some(1), Some(3), None]
        );
    }
}
