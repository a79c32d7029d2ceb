//! Which arms each block runs, in which order, and which block is the last.

use super::BootOf;
use crate::experiment::Parts;
use crate::record::Record;
use fastrand::Rng;
use std::ops::RangeInclusive;

/// The blocks of a record.
pub(super) enum Blocks {
    /// Every block runs every arm, for as long as the watcher wants more.
    Alike {
        /// How many there are.
        n_arms: usize,
        /// Trials of each arm at least.
        trials: u32,
        /// How often a block runs its arms, where they run as a whole.
        rounds: u32,
    },
    /// The blocks of a boot run the arms of that boot.
    ByBoot {
        /// All boots.
        parts: Parts,
        /// The last block that is run in this one; 0 where none is.
        last: u32,
    },
}

impl Blocks {
    /// Of a record that `boot` is to add trials to.
    pub(super) fn of(record: &Record, trials: u32, rounds: u32, boot: Option<&BootOf>) -> Blocks {
        let parts = record.experiment.as_ref().and_then(Parts::of);
        let n_arms = record.arms.len();
        let Some(parts) = parts else { return Blocks::Alike { n_arms, trials, rounds } };
        let part = boot.and_then(|it| it.part).and_then(|it| parts.all().get(it));
        let last = part.map_or(0, |it| *it.blocks.end());
        Blocks::ByBoot { parts, last }
    }

    /// The numbers of the blocks to run; without an end where the watcher decides.
    pub(super) fn numbers(&self) -> RangeInclusive<u32> {
        match self {
            Blocks::Alike { .. } => 1..=u32::MAX,
            Blocks::ByBoot { last, .. } => 1..=*last,
        }
    }

    /// The arms of a block; none where there is no such block.
    pub(super) fn arms(&self, block: u32) -> Vec<usize> {
        match self {
            Blocks::Alike { n_arms, .. } => (0..*n_arms).collect(),
            Blocks::ByBoot { parts, .. } => {
                parts.of_block(block).map_or_else(Vec::new, |it| it.arms.clone())
            }
        }
    }

    /// The arms of a block in the order to run them; each of its rounds has an order of its own.
    pub(super) fn order(&self, block: u32, draw: &mut Rng) -> Vec<usize> {
        let arms = self.arms(block);
        let rounds = match self {
            Blocks::Alike { rounds, .. } => *rounds,
            Blocks::ByBoot { .. } => 1,
        };
        (0..rounds).flat_map(|_| order(arms.len(), draw)).map(|it| arms[it]).collect()
    }

    /// The arms that are going to run.
    pub(super) fn coming(&self) -> Vec<usize> {
        match self {
            Blocks::Alike { .. } => self.arms(1),
            Blocks::ByBoot { last, .. } => self.arms(*last),
        }
    }

    /// Whether every arm has the planned number of trials; only the watcher may want more.
    pub(super) fn are_enough(&self, record: &Record) -> bool {
        match self {
            Blocks::Alike { n_arms, trials, .. } => {
                record.trials.len() / (*n_arms).max(1) >= *trials as usize
            }
            Blocks::ByBoot { .. } => false,
        }
    }

    /// Whether the record has every trial of its plan; always where the watcher decides.
    pub(super) fn has_all(&self, record: &Record) -> bool {
        match self {
            Blocks::Alike { .. } => true,
            Blocks::ByBoot { parts, .. } => parts.next(record.trials.len()).is_none(),
        }
    }
}

/// How often blocks run their arms whose preparation is dear, where `trials` of each arm are expected: as often as leaves blocks
/// enough for a claim. The block is then what chance decides about, and every one of them was prepared anew.
///
/// A claim about one of k differences takes 8 blocks and one more each time that k doubles: n of them say the same by chance
/// in 2 of 2^n cases.
pub(super) fn rounds(trials: u32, n_arms: usize) -> u32 {
    let n_differences = n_arms.saturating_sub(1).max(1);
    let n_blocks = 8 + n_differences.next_power_of_two().ilog2();
    (trials / (2 * n_blocks)).max(1)
}

/// The arms of one block, by number, in the order to run them: each twice, or once where there is only one.
///
/// A block runs its arms in one order and then in the opposite one (ABBA): a steady change, as of the temperature, weighs on
/// both alike. The order is drawn for each block, so that nothing periodic can favour an arm, and so that a test may ask what
/// other draws would have given
/// (R. A. Fisher, The Design of Experiments, 1935, sections 5 to 9 and 21).
pub(crate) fn order(n_arms: usize, draw: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n_arms).collect();
    if n_arms < 2 {
        return order;
    }
    draw.shuffle(&mut order);
    order.extend_from_within(..);
    order[n_arms..].reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn two_arms_run_as_abba_or_as_baab_and_chance_decides() {
        let mut draw = Rng::with_seed(1);
        let seen: BTreeSet<Vec<usize>> = (0..100).map(|_| order(2, &mut draw)).collect();
        assert_eq!(seen, BTreeSet::from([vec![0, 1, 1, 0], vec![1, 0, 0, 1]]));
    }

    #[test]
    fn every_arm_of_many_runs_twice_and_on_average_in_the_middle() {
        let order = order(5, &mut Rng::with_seed(2));
        for arm in 0..5 {
            let places: Vec<usize> = (0..10).filter(|&place| order[place] == arm).collect();
            assert_eq!(places.iter().sum::<usize>(), 9, "arm {arm} in {order:?}");
        }
    }

    #[test]
    fn a_long_run_leaves_blocks_enough_for_a_claim() {
        assert_eq!([2, 20, 31, 32, 100, 1000].map(|it| rounds(it, 2)), [1, 1, 1, 2, 6, 62]);
        for n_arms in [2, 3, 17, 256] {
            let rounds = rounds(400, n_arms);
            assert!(400 / (2 * rounds) >= 8 + (n_arms as u32 - 1).ilog2(), "{n_arms}: {rounds}");
        }
    }

    #[test]
    fn one_arm_needs_no_order() {
        assert_eq!(order(1, &mut Rng::with_seed(3)), [0]);
        assert!(order(0, &mut Rng::with_seed(3)).is_empty());
    }
}
