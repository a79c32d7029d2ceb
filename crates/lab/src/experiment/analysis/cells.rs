//! What was measured of each arm in each block: means over its good trials. Where a study takes reboots, a block is a round of
//! boots: trials of one boot are one observation.
//!
//! Kept by arm, so that a question about a few arms reads no other arm, and an arm that a block lacks takes no room.

use crate::compare::Measure;
use crate::experiment::Parts;
use crate::record::Record;
use crate::trial::{Trial, TrialContext};
use std::collections::BTreeMap;

/// One quantity, by arm and block.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cells {
    /// Of each arm its blocks, ascending, with the mean of its trials.
    of_arm: Vec<Vec<(usize, f64)>>,
    n_blocks: usize,
}

/// Every quantity that the analysis speaks of.
pub(super) struct Measured {
    /// The logarithm of the main figure's slowness.
    pub(super) figure: Cells,
    /// The logarithm of the time of a cycle.
    pub(super) clock: Cells,
    /// Power of all packages, in watts.
    pub(super) watts: Cells,
    /// The share of the CPUs' time that each loss takes, by id.
    pub(super) ledger: BTreeMap<String, Cells>,
}

impl Cells {
    /// The blocks of an arm, ascending, with the mean of its trials.
    pub(super) fn of_arm(&self, arm: usize) -> &[(usize, f64)] {
        self.of_arm.get(arm).map_or(&[], |it| &it[..])
    }

    /// How many blocks the study has.
    pub(super) fn n_blocks(&self) -> usize {
        self.n_blocks
    }

    /// Of values by arm and block, in any order.
    fn of(
        n_arms: usize,
        n_blocks: usize,
        values: impl Iterator<Item = (usize, usize, f64)>,
    ) -> Cells {
        let mut of_arm = vec![Vec::new(); n_arms];
        for (arm, block, value) in values {
            of_arm[arm].push((block, value));
        }
        for cells in &mut of_arm {
            cells.sort_by_key(|it| it.0);
            *cells = cells.chunk_by(|a, b| a.0 == b.0).map(mean).collect();
        }
        Cells { of_arm, n_blocks }
    }
}

/// A mean of values of one block; there is at least one.
fn mean(values: &[(usize, f64)]) -> (usize, f64) {
    (values[0].0, values.iter().map(|it| it.1).sum::<f64>() / values.len() as f64)
}

impl Measured {
    /// Of the good trials of `record`, all of which have an arm of it.
    pub(super) fn of(record: &Record) -> Measured {
        let block = blocks(record);
        let places = places(record.trials.iter().map(&block));
        let place = |it: &Trial| places.binary_search(&block(it)).unwrap_or_default();
        let good: Vec<(usize, &Trial)> =
            record.trials.iter().filter(|it| is_good(it)).map(|it| (place(it), it)).collect();
        let (n_arms, n_blocks) = (record.arms.len(), places.len());
        let cells = |value: &dyn Fn(&Trial) -> Option<f64>| {
            let values = good.iter().filter_map(|(block, it)| Some((it.arm, *block, value(it)?)));
            Cells::of(n_arms, n_blocks, values)
        };
        let mut losses: BTreeMap<&str, Vec<(usize, usize, f64)>> = BTreeMap::new();
        for (block, trial) in &good {
            for (loss, share) in shares(trial) {
                losses.entry(loss).or_default().push((trial.arm, *block, share));
            }
        }
        let ledger = losses.into_iter().map(|(loss, values)| {
            (loss.to_owned(), Cells::of(n_arms, n_blocks, values.into_iter()))
        });
        Measured {
            figure: cells(&|it| Measure::Figure.of(it)),
            clock: cells(&|it| Measure::Clock.of(it)),
            watts: cells(&|it| watts(it.surroundings.value()?)),
            ledger: ledger.collect(),
        }
    }
}

/// Whether a trial counts: it ended, and has a main figure that is a positive number.
pub(super) fn is_good(trial: &Trial) -> bool {
    trial.failed.is_none() && Measure::Figure.of(trial).is_some()
}

/// Power of all packages; a domain with a slash in its name is a part of one.
pub(super) fn watts(around: &TrialContext) -> Option<f64> {
    let is_package = |part: &str| part.starts_with("package-") && !part.contains('/');
    let of_package = around.metrics.iter().filter(|it| it.metric == "watts" && is_package(it.part));
    let values: Option<Vec<f64>> = of_package.map(|it| it.value.value().copied()).collect();
    values.filter(|it| !it.is_empty()).map(|it| it.iter().sum())
}

/// What block a trial counts in: a round of boots, where it takes reboots. One that no part has is a round of its own.
fn blocks(record: &Record) -> impl Fn(&Trial) -> u32 {
    let parts = record.experiment.as_ref().and_then(Parts::of);
    move |trial| match &parts {
        None => trial.block,
        Some(parts) => parts.of_block(trial.block).map_or(u32::MAX, |it| it.round),
    }
}

/// The numbers of all blocks, ascending.
fn places(blocks: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = blocks.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// What each loss took, all parts of it together; one with a part that is missing is left out.
fn shares(trial: &Trial) -> Vec<(&str, f64)> {
    let mut sums: Vec<(&str, Option<f64>)> = Vec::new();
    for line in trial.surroundings.value().iter().flat_map(|it| &it.ledger) {
        let share = line.share.value().copied().filter(|it| it.is_finite());
        match sums.iter_mut().find(|it| it.0 == line.loss) {
            Some((_, sum)) => *sum = sum.zip(share).map(|(sum, share)| sum + share),
            None => sums.push((line.loss, share)),
        }
    }
    sums.into_iter().filter_map(|(loss, sum)| Some((loss, sum?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::{record, trial};
    use crate::known::Known;
    use crate::trial::{Reading, Share};

    #[test]
    fn trials_of_one_arm_in_one_block_are_one_mean_and_failed_ones_are_none() {
        let mut trials: Vec<Trial> =
            [(0, 7, 1.0), (1, 7, 9.0), (0, 3, 1.0), (0, 7, 4.0), (1, 3, 5.0)]
                .map(|(arm, block, seconds)| trial(arm, block, seconds, 1.0))
                .to_vec();
        trials[4].failed = Some("the server ended".to_owned());
        let measured = Measured::of(&record(trials));
        let logarithms = |arm| measured.figure.of_arm(arm).to_vec();
        assert_eq!(logarithms(0), [(0, 0.0), (1, 2.0_f64.ln())]);
        assert_eq!(logarithms(1), [(1, 9.0_f64.ln())]);
        assert!(logarithms(2).is_empty() && measured.watts.of_arm(0).is_empty());
    }

    #[test]
    fn parts_of_a_loss_are_added_and_packages_are_but_their_parts_are_not() {
        let line = |loss: &str, part: &str, share| Share {
            loss: loss.to_owned(),
            part: part.to_owned(),
            share,
        };
        let why = Known::missing("no counter");
        let watts = |part: &str, value| Reading {
            metric: "watts".to_owned(),
            part: part.to_owned(),
            value: Known::Value(value),
        };
        let mut of = trial(0, 1, 1.0, 1e9);
        of.surroundings = Known::Value(TrialContext {
            ledger: vec![
                line("ticks", "", Known::Value(0.25)),
                line("slow-clock", "limit", Known::Value(0.25)),
                line("ticks", "b", Known::Value(0.5)),
                line("slow-clock", "heat", why),
            ]
            .into(),
            metrics: vec![
                watts("package-0", 4.0),
                watts("package-0/core", 3.0),
                watts("package-1", 2.0),
            ]
            .into(),
            ..TrialContext::default()
        });
        assert_eq!(shares(&of), [("ticks", 0.75)]);
        assert_eq!(Measured::of(&record(vec![of])).watts.of_arm(0), [(0, 6.0)]);
    }
}
