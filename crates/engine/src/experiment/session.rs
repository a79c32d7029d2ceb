//! What happens between the trials of a study: each is kept and shown, and the guards are asked.
#![expect(clippy::disallowed_methods, reason = "trials may take as long as the user allows")]

use super::folder::Place;
use super::guards::guarded;
use super::interim::{Looks, is_unsettled};
use super::trial_env::TrialEnv;
use crate::bench::unshown;
use crate::event::{Event, Progress, Tell};
use lab::bench::Watcher;
use lab::experiment::{Design, analysis};
use lab::failure::Failure;
use lab::record::Record;
use lab::store::Journal;
use std::time::{Duration, Instant};

pub(super) struct Session<'a, 't> {
    env: TrialEnv<'a>,
    pub(super) place: Place,
    design: Design,
    tell: &'a mut Tell<'t>,
    began: Instant,
    /// Trials that an earlier run made.
    n_before: usize,
    latest: String,
    /// At the largest effect so far, and at whether it is known well enough.
    looks: [Looks; 2],
    /// When the block that runs began, after [`Session::began`].
    block_began: Duration,
    longest_block: Duration,
}

impl<'a, 't> Session<'a, 't> {
    pub(super) fn new(
        env: TrialEnv<'a>,
        place: Place,
        n_before: usize,
        design: Design,
        tell: &'a mut Tell<'t>,
    ) -> Session<'a, 't> {
        let began = Instant::now();
        let latest = String::new();
        Session {
            env,
            place,
            design,
            tell,
            began,
            n_before,
            latest,
            looks: Default::default(),
            block_began: Duration::ZERO,
            longest_block: Duration::ZERO,
        }
    }

    /// Reports an error that does not end the study.
    pub(super) fn trouble(&mut self, error: anyhow::Error) -> anyhow::Result<()> {
        (self.tell)(Event::Trouble(error))
    }

    /// Updates the estimate of the largest effect that is shown.
    fn look(&mut self, record: &Record) {
        let began = self.began.elapsed();
        let [looks, _] = &mut self.looks;
        if looks.are_due(began) {
            self.latest = running_estimate(record).unwrap_or_default();
            looks.took(began, self.began.elapsed());
        }
    }

    fn show(&mut self, record: &Record) -> Result<(), Failure> {
        let elapsed = self.began.elapsed();
        let n_arms = record.arms.len();
        let planned = n_arms * self.design.trials as usize;
        let (done, of) = (record.trials.len(), planned.max(record.trials.len()));
        let own = done.saturating_sub(self.n_before);
        let share = own as f64 / of.saturating_sub(self.n_before).max(1) as f64;
        let arm = record.trials.last().and_then(|it| record.arms.get(it.arm));
        let arm = arm.map_or("", |it| it.name.as_str());
        let latest =
            if self.latest.is_empty() { String::new() } else { format!(", {}", self.latest) };
        let done = format!("trial {done} of {of} ({arm}){latest}");
        (self.tell)(Event::Progress(Progress { done, share, elapsed })).map_err(|it| unshown(&it))
    }
}

impl Watcher for Session<'_, '_> {
    fn begun(&mut self, record: &mut Record) -> Result<(), Failure> {
        self.began = Instant::now();
        self.env.loads.settle(record)?;
        if self.place.journal.is_none() {
            self.place.journal = Some(Journal::begin(&self.place.folder, record)?);
        }
        Ok(())
    }

    fn surround(
        &mut self,
        arm: usize,
        trial: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.env.around(arm, trial)
    }

    /// The longest block so far is what the next one is given.
    fn begins_block(&mut self, _record: &Record) -> bool {
        let elapsed = self.began.elapsed();
        self.longest_block = self.longest_block.max(elapsed.saturating_sub(self.block_began));
        self.block_began = elapsed;
        self.design.budget.is_none_or(|it| elapsed + self.longest_block <= it)
    }

    /// What a workload fails at is a result; what the machine, the disk or the user ends is not.
    fn goes_on(&mut self, _arm: usize, failure: &Failure) -> bool {
        matches!(failure, Failure::Program { .. } | Failure::TimedOut { .. } | Failure::NoFigure(_))
    }

    fn tried(&mut self, record: &Record) -> Result<(), Failure> {
        self.place.journal.as_mut().map_or(Ok(()), |it| it.add(record))?;
        if let Some(trial) = record.trials.last() {
            guarded(trial, self.design.guards)?;
        }
        // Within a block there is nothing to be known that was not known before it.
        if record.trials.len().is_multiple_of(2 * record.arms.len().max(1)) {
            self.look(record);
        }
        self.show(record)
    }

    fn wants_more(&mut self, record: &Record) -> bool {
        let Some(wished) = self.design.until else { return false };
        let began = self.began.elapsed();
        if self.design.budget.is_some_and(|it| began >= it) {
            return false;
        }
        let [_, looks] = &mut self.looks;
        if !looks.are_due(began) {
            return true;
        }
        let is_unsettled = is_unsettled(record, wished);
        looks.took(began, self.began.elapsed());
        is_unsettled
    }
}

/// The largest effect so far, as it is shown.
fn running_estimate(record: &Record) -> Option<String> {
    let analysis = analysis::analyse(record).ok()?;
    let design = &record.experiment.as_ref()?.design;
    let effects = analysis.workloads.iter().flat_map(|it| &it.effects);
    let estimates = effects.filter_map(|it| Some((it, it.estimate.value()?)));
    let (effect, estimate) =
        estimates.max_by(|a, b| a.1.change.abs().total_cmp(&b.1.change.abs()))?;
    let factor = design.factors.get(effect.factor)?;
    let percent = |it: f64| it * 100.0;
    Some(format!(
        "{}={} {:+.1} % +-{:.1}",
        factor.name,
        factor.levels.get(effect.level)?,
        percent(estimate.change),
        percent(estimate.interval.half_width())
    ))
}

/// How long a study takes.
pub(super) fn length(trial_seconds: &[f64], arms_of_each: usize, design: &Design) -> Duration {
    let round: f64 =
        trial_seconds.iter().map(|it| it + OVERHEAD_S + design.rest.as_secs_f64()).sum();
    let rounds = f64::from(design.trials.saturating_add(design.warm_up));
    Duration::try_from_secs_f64(round * rounds * arms_of_each as f64).unwrap_or(Duration::MAX)
}

/// What a trial takes in addition to its work and its rest: clocks, counters, and the change of settings.
const OVERHEAD_S: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_takes_its_trials_their_rests_and_what_is_around_them() {
        let design = Design {
            trials: 10,
            warm_up: 2,
            rest: Duration::from_millis(950),
            ..Design::default()
        };
        assert_eq!(length(&[1.0, 2.0], 4, &design), Duration::from_secs(240));
    }
}
