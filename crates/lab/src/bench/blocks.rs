//! Which arms each block runs, and which block is the last that is run.

use super::BootOf;
use crate::experiment::Parts;
use crate::record::Record;
use std::ops::RangeInclusive;

/// The blocks of a record.
pub(super) enum Blocks {
    /// All of them run every arm, for as long as somebody wants.
    Alike {
        /// How many there are.
        n_arms: usize,
        /// Trials of each arm at least.
        trials: u32,
    },
    /// Those of a boot run its arms.
    ByBoot {
        /// All boots.
        parts: Parts,
        /// The last block that is run in this one; 0 where none is.
        last: u32,
    },
}

impl Blocks {
    /// Of a record that `boot` is to add trials to.
    pub(super) fn of(record: &Record, trials: u32, boot: Option<&BootOf>) -> Blocks {
        let parts = record.experiment.as_ref().and_then(Parts::of);
        let Some(parts) = parts else { return Blocks::Alike { n_arms: record.arms.len(), trials } };
        let part = boot.and_then(|it| it.part).and_then(|it| parts.all().get(it));
        let last = part.map_or(0, |it| *it.blocks.end());
        Blocks::ByBoot { parts, last }
    }

    /// The numbers of the blocks to run; without an end where the watcher says when it is enough.
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

    /// The arms that are going to run.
    pub(super) fn coming(&self) -> Vec<usize> {
        match self {
            Blocks::Alike { .. } => self.arms(1),
            Blocks::ByBoot { last, .. } => self.arms(*last),
        }
    }

    /// Whether every arm has as many trials as were planned, and only whoever watches may want more.
    pub(super) fn are_enough(&self, record: &Record) -> bool {
        match self {
            Blocks::Alike { n_arms, trials } => {
                record.trials.len() / (*n_arms).max(1) >= *trials as usize
            }
            Blocks::ByBoot { .. } => false,
        }
    }

    /// Whether every trial that the record is to have is in it; where more may be wanted, that is not known here.
    pub(super) fn has_all(&self, record: &Record) -> bool {
        match self {
            Blocks::Alike { .. } => true,
            Blocks::ByBoot { parts, .. } => parts.next(record.trials.len()).is_none(),
        }
    }
}
