//! In which order the arms of a block run.
//!
//! A block runs its arms in one order and then in the opposite one (ABBA): what changes steadily meanwhile, as the
//! temperature does, weighs on both alike. Which arm begins is drawn anew for each block, so that nothing that comes
//! at regular times can favour one, and so that a test may ask what other draws would have given
//! (R. A. Fisher, The Design of Experiments, 1935, sections 5 to 9 and 21).

use fastrand::Rng;

/// The arms of one block, by number, in the order to run them: each twice, or once where there is only one.
pub(crate) fn block(n_arms: usize, draw: &mut Rng) -> Vec<usize> {
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
        let seen: BTreeSet<Vec<usize>> = (0..100).map(|_| block(2, &mut draw)).collect();
        assert_eq!(seen, BTreeSet::from([vec![0, 1, 1, 0], vec![1, 0, 0, 1]]));
    }

    #[test]
    fn every_arm_of_many_runs_twice_and_on_average_in_the_middle() {
        let order = block(5, &mut Rng::with_seed(2));
        for arm in 0..5 {
            let places: Vec<usize> = (0..10).filter(|&place| order[place] == arm).collect();
            assert_eq!(places.iter().sum::<usize>(), 9, "arm {arm} in {order:?}");
        }
    }

    #[test]
    fn one_arm_needs_no_order() {
        assert_eq!(block(1, &mut Rng::with_seed(3)), [0]);
        assert!(block(0, &mut Rng::with_seed(3)).is_empty());
    }
}
