//! How the trials of a result were taken, as far as it changes the words for them.

use lab::record::Record;
use lab::trial::{Better, Trial};

/// What a sentence about trials depends on besides their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Which way of the main figure is faster. Changes of it are told in its own unit: a rate is compared as a rate.
    pub better: Better,
    /// Whether nodes raced: they have intervals in place of trials.
    pub is_race: bool,
    /// How many trials of each arm a block has; `None` where there is one arm, or two results are compared.
    pub per_block: Option<usize>,
}

impl Manner {
    /// That of the trials of one result.
    pub(crate) fn of(record: &Record) -> Manner {
        let first = record.trials.iter().find_map(|it| Some((it, it.outcome.figures.first()?)));
        let in_first = |it: &&Trial| first.is_some_and(|(first, _)| is_of_block(it, first));
        let per_block = record.trials.iter().filter(in_first).count().max(1);
        Manner {
            better: first.map_or(Better::Lower, |it| it.1.better),
            is_race: record.is_race(),
            per_block: (record.arms.len() > 1).then_some(per_block),
        }
    }

    /// The same for two results that are compared, or a result that is compared with another.
    pub(crate) fn apart(self) -> Manner {
        Manner { per_block: None, ..self }
    }

    /// `1 trial`, `2 intervals`.
    pub(crate) fn counted(self, n: u32) -> String {
        let one = self.one();
        if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
    }

    /// What one of them is called.
    pub(crate) fn one(self) -> &'static str {
        if self.is_race { "interval" } else { "trial" }
    }

    /// A change of slowness in the unit of the figure: twice the time for the same work is half the rate.
    pub(crate) fn in_figure(self, slowness: f64) -> f64 {
        match self.better {
            Better::Lower => slowness,
            Better::Higher => 1.0 / (1.0 + slowness) - 1.0,
        }
    }
}

fn is_of_block(trial: &Trial, first: &Trial) -> bool {
    trial.block == first.block && trial.arm == first.arm
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{QUIET, interleaved, kept};
    use super::*;

    fn rate() -> Manner {
        Manner { better: Better::Higher, ..Manner::of(&kept()) }
    }

    #[test]
    fn blocks_are_of_results_with_several_arms() {
        assert_eq!(Manner::of(&kept()).per_block, None);
        assert_eq!(Manner::of(&interleaved(QUIET, QUIET, 8)).per_block, Some(2));
        assert_eq!(Manner::of(&interleaved(QUIET, QUIET, 8)).apart().per_block, None);
    }

    #[test]
    fn nodes_have_intervals() {
        let race = Manner { is_race: true, ..rate() };
        assert_eq!([race.counted(1), rate().counted(2)], ["1 interval", "2 trials"]);
    }
}
