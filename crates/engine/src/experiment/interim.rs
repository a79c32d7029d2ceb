//! Interim analyses of a running study: when they are made, and whether more trials are needed (`--until`).
//!
//! An analysis takes longer the more trials there are: one after every block would take the square of them in all. So after each
//! analysis there is none for a time in proportion to how long it took.
//!
//! An effect is estimated from the arms that it compares, and those need trials that succeeded. An arm whose every trial failed is
//! taken to fail always: to wait for an effect that needs it is to run for ever.

use lab::experiment::analysis::{Effect, WorkloadAnalysis, analyse};
use lab::experiment::{Combination, Experiment, Shape};
use lab::record::Record;
use std::time::Duration;

/// An analysis may take 1/200 of the time: two kinds of them leave 99 % to the trials.
const SHARE: u32 = 200;

/// When analyses of one kind are made; times are those since the study began.
#[derive(Debug, Default)]
pub(super) struct Looks {
    next: Duration,
}

impl Looks {
    /// Whether it is time for one.
    pub(super) fn are_due(&self, elapsed: Duration) -> bool {
        elapsed >= self.next
    }

    /// Notes when the last one began and when it ended.
    pub(super) fn took(&mut self, began: Duration, ended: Duration) {
        self.next = ended + ended.saturating_sub(began) * (SHARE - 1);
    }
}

/// Whether an effect that trials can show is not known to this share either way.
pub(super) fn is_unsettled(record: &Record, wished: f64) -> bool {
    let (Some(experiment), Ok(analysis)) = (&record.experiment, analyse(record)) else {
        return false;
    };
    let is_open = |workload: &WorkloadAnalysis, effect: &Effect| match effect.estimate.value() {
        Some(estimate) => estimate.interval.half_width() > wished,
        None => can_be_known(experiment, workload, effect),
    };
    analysis.workloads.iter().any(|it| it.effects.iter().any(|effect| is_open(it, effect)))
}

/// Whether the arms that tell an effect have good trials: in a fraction all of both levels, else one of the level and the one
/// that differs from it in this factor alone.
fn can_be_known(experiment: &Experiment, workload: &WorkloadAnalysis, effect: &Effect) -> bool {
    let arms: Vec<(&Combination, bool)> = workload
        .arms
        .iter()
        .filter_map(|it| Some((experiment.arms.get(it.arm)?, it.trials > 0)))
        .collect();
    let level = |it: &Combination| it.levels.get(effect.factor).copied();
    let compared = |it: &Combination| level(it) == Some(0) || level(it) == Some(effect.level);
    if experiment.design.shape == Shape::Fraction {
        return arms.iter().all(|(arm, is_good)| *is_good || !compared(arm));
    }
    let is_twin = |of: &Combination, it: &Combination| {
        let mut places = of.levels.iter().zip(&it.levels).enumerate();
        level(it) == Some(0) && places.all(|(at, (a, b))| at == effect.factor || a == b)
    };
    let good: Vec<&Combination> =
        arms.iter().filter_map(|(arm, is_good)| is_good.then_some(*arm)).collect();
    let mut of_level = good.iter().filter(|it| level(it) == Some(effect.level));
    of_level.any(|of| good.iter().any(|it| is_twin(of, it)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::experiment::{Design, Factor, arms};
    use lab::failure::Failure;
    use lab::known::Known;
    use lab::record::Arm;
    use lab::trial::Trial;

    /// How often it is looked, and for how long in all, where every look takes longer than the one before.
    fn looks(n_blocks: u32, block: Duration, of_first: Duration) -> (u32, Duration) {
        let (mut elapsed, mut looking, mut n) = (Duration::ZERO, Duration::ZERO, 0);
        let mut looks = Looks::default();
        for at in 1..=n_blocks {
            elapsed += block;
            if looks.are_due(elapsed) {
                let began = elapsed;
                elapsed += of_first * at;
                looks.took(began, elapsed);
                (looking, n) = (looking + of_first * at, n + 1);
            }
        }
        (n, looking)
    }

    #[test]
    fn quick_looks_are_had_behind_every_block() {
        let (n, _) = looks(100, Duration::from_secs(1), Duration::from_micros(50));
        assert_eq!(n, 100);
    }

    #[test]
    fn slow_looks_leave_the_time_to_the_trials_however_many_blocks_there_are() {
        let block = Duration::from_millis(100);
        let (n, looking) = looks(100_000, block, Duration::from_micros(10));
        let whole = block * 100_000;
        assert!(n > 100 && looking < whole / 150, "{n}: {looking:?} of {whole:?}");
    }

    /// Eight blocks; each trial takes this many seconds by arm and block, or fails.
    fn record(words: &[&str], seconds: impl Fn(usize, u32) -> Option<f64>) -> Record {
        let design = Design {
            factors: words.iter().map(|it| Factor::parse(it).unwrap()).collect(),
            workloads: vec!["cpu-loop".to_owned()],
            ..Design::default()
        };
        let arms = arms(&design).unwrap();
        let trial = |arm: usize, block: u32| {
            let failure = || Failure::NoFigure("none".to_owned());
            let failed = || Trial::failed(arm, block, Known::Value(0), &failure());
            seconds(arm, block).map_or_else(failed, |it| Trial::of_one_task(arm, block, it))
        };
        let trials = (0..8).flat_map(|block| (0..arms.len()).map(move |arm| (arm, block)));
        Record {
            trials: trials.map(|(arm, block)| trial(arm, block)).collect(),
            experiment: Some(Experiment::of(design, arms.clone(), 1)),
            ..Record::of(arms.iter().map(|_| Arm::of("arm", "cpu-loop")).collect())
        }
    }

    /// Steps of 1 %, another one in each block.
    fn wobbling(arm: usize, block: u32) -> f64 {
        1.0 + 0.01 * ((arm * 3 + block as usize * 5) % 7) as f64
    }

    #[test]
    fn trials_go_on_until_every_effect_is_known_that_well() {
        let record = record(&["a=1,2,3"], |arm, block| Some(wobbling(arm, block)));
        assert!(is_unsettled(&record, 0.001));
        assert!(!is_unsettled(&record, 0.2));
    }

    #[test]
    fn nobody_waits_for_an_arm_that_always_fails_and_the_others_are_settled() {
        let failing = |arm, block| (arm != 2).then(|| wobbling(arm, block));
        let record_of = |words: &[&str]| record(words, failing);
        assert!(is_unsettled(&record_of(&["a=1,2,3"]), 0.001));
        assert!(!is_unsettled(&record_of(&["a=1,2,3"]), 0.2));
        assert!(!is_unsettled(&record(&["a=1,2"], |_, _| None), 0.2));
        assert!(!is_unsettled(&record(&["a=1,2"], |arm, _| (arm == 0).then_some(1.0)), 0.2));
    }

    #[test]
    fn an_arm_that_fails_at_times_is_waited_for() {
        let at_times = |arm, block| (arm != 1 || block < 2).then(|| wobbling(arm, block));
        assert!(is_unsettled(&record(&["a=1,2"], at_times), 0.2));
    }
}
