//! A record as its analysis asks it: whether it is a study, which combinations it has, and why it advises nothing.

use super::cells::{Measured, watts};
use super::contrast::Grid;
use crate::doubt::Doubt;
use crate::experiment::{Design, Experiment, Factor, Kind, Shape};
use crate::record::Record;
use crate::trial::{Better, Trial};
use crate::verdict::confidence;
use crate::workloads;
use std::collections::BTreeSet;

/// Why a record has no analysis.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoStudy {
    /// It was made by `fullclock bench`.
    #[error("this result is not an experiment: compare its variants with `fullclock compare`")]
    NoExperiment,
    /// Its parts do not fit together.
    #[error("the record is damaged: {found}, expected {expected}")]
    Damaged {
        /// What is in it.
        found: String,
        /// What should be.
        expected: String,
    },
}

/// A record with what is asked of it again and again.
pub(super) struct Study<'a> {
    pub(super) record: &'a Record,
    pub(super) experiment: &'a Experiment,
    pub(super) grid: Grid<'a>,
    pub(super) measured: Measured,
    /// Why no trial has watts, where none has.
    pub(super) watts_missing: Option<String>,
    /// Why nothing is advised, whatever its effects, where that is so.
    pub(super) unfit: Option<String>,
}

impl<'a> Study<'a> {
    /// Errors: the record is no study, or its parts do not fit together.
    pub(super) fn of(record: &'a Record) -> Result<Study<'a>, NoStudy> {
        let experiment = record.experiment.as_ref().ok_or(NoStudy::NoExperiment)?;
        check(record, experiment)?;
        let measured = Measured::of(record);
        let grid = Grid::of(experiment, &measured.figure);
        let watts_missing = watts_missing(&record.trials);
        let unfit = why_unfit(record);
        Ok(Study { record, experiment, grid, measured, watts_missing, unfit })
    }

    /// The confidence of each interval of an effect or an interaction: those of all workloads hold together.
    pub(super) fn confidence(&self) -> f64 {
        let Design { factors, workloads, .. } = self.design();
        let effects: usize = factors.iter().map(|it| it.levels.len().saturating_sub(1)).sum();
        confidence(workloads.len() * (effects + self.n_interactions()))
    }

    /// That of what a level does at each of two levels of another factor: a family of their own, told where the two are shown to
    /// differ.
    pub(super) fn confidence_of_parts(&self) -> f64 {
        confidence(self.design().workloads.len() * 2 * self.n_interactions())
    }

    /// Of each workload.
    fn n_interactions(&self) -> usize {
        let Design { factors, shape, .. } = self.design();
        let levels: Vec<usize> =
            factors.iter().map(|it| it.levels.len().saturating_sub(1)).collect();
        let effects: usize = levels.iter().sum();
        let squares: usize = levels.iter().map(|it| it * it).sum();
        if *shape == Shape::Full { (effects * effects - squares) / 2 } else { 0 }
    }

    /// That of each combination against the first one of its workload. They say nothing that the effects do not, and are a family of
    /// their own: together they would only weaken those.
    pub(super) fn confidence_of_arms(&self) -> f64 {
        confidence(self.record.arms.len().saturating_sub(self.design().workloads.len()))
    }

    pub(super) fn design(&self) -> &Design {
        &self.experiment.design
    }

    /// Of the first trial that has one; where none has, of the workload as it is declared.
    pub(super) fn figure(
        &self,
        arms: &[usize],
        trials: &[Vec<&Trial>],
    ) -> (String, String, Better) {
        let mut of_arms = arms.iter().flat_map(|it| &trials[*it]);
        if let Some(it) = of_arms.find_map(|it| it.outcome.figures.first()) {
            return (it.name.to_owned(), it.unit.to_owned(), it.better);
        }
        let id = arms.first().and_then(|it| self.record.arms.get(*it)).map(|it| &*it.workload);
        let declared = id.and_then(workloads::find).map(|it| it.figure);
        declared.map_or((String::new(), String::new(), Better::Lower), |it| {
            (it.name.to_owned(), it.unit.to_owned(), it.better)
        })
    }
}

/// Everything that is indexed with afterwards.
fn check(record: &Record, experiment: &Experiment) -> Result<(), NoStudy> {
    let damaged = |found: String, expected: String| Err(NoStudy::Damaged { found, expected });
    let (arms, combinations) = (record.arms.len(), experiment.arms.len());
    if arms != combinations {
        return damaged(
            format!("{arms} combinations"),
            format!("{combinations} as its design has"),
        );
    }
    let Design { factors, workloads, .. } = &experiment.design;
    for (arm, it) in experiment.arms.iter().enumerate() {
        let mut levels = it.levels.iter().zip(factors);
        let is_whole = it.levels.len() == factors.len();
        if it.workload >= workloads.len()
            || !is_whole
            || levels.any(|(at, of)| *at >= of.levels.len())
        {
            let expected = "a workload and a level of each factor of its design".to_owned();
            return damaged(format!("a combination of arm {arm} that it does not plan"), expected);
        }
    }
    if let Some(trial) = record.trials.iter().find(|it| it.arm >= arms) {
        let expected = format!("one of the {arms} there are");
        return damaged(format!("trial {} of arm {}", trial.number, trial.arm), expected);
    }
    Ok(())
}

/// Why no trial has watts; `None` where one has.
fn watts_missing(trials: &[Trial]) -> Option<String> {
    let around = || trials.iter().filter_map(|it| it.surroundings.value());
    if around().any(|it| watts(it).is_some()) {
        return None;
    }
    let mut readings = around().flat_map(|it| &it.metrics).filter(|it| it.metric == "watts");
    let reason = readings.find_map(|it| it.value.reason().map(str::to_owned));
    Some(reason.unwrap_or_else(|| "no trial has the power of a package".to_owned()))
}

/// The share of throttled trials that is no longer noise.
const THROTTLED: f64 = 0.1;

/// The share of the CPUs' time that a hypervisor may take, unless the guards of the design say otherwise.
const STOLEN: f64 = 0.05;

/// Why nothing is advised, in words; `None` where advice is free. Every trial has an arm of the record.
///
/// What all arms of a block share alike, chance spreads over them: other load, a clock that moves, a drift make intervals wider
/// and no advice wrong. Two doubts are left. Heat outlasts a trial: CPUs that are throttled are so in the arm that comes
/// after the one that heated them, which makes arms look alike or takes the clock from the wrong one. And where a
/// hypervisor takes much, the figures are those of its other guests. That there are too few blocks is seen contrast by contrast.
pub(super) fn why_unfit(record: &Record) -> Option<String> {
    let trials = record.trials.len().max(1) as f64;
    let mut throttled = 0.0;
    let mut stolen = 0.0;
    let mut of_arm = vec![0.0; record.arms.len()];
    record.trials.iter().for_each(|it| of_arm[it.arm] += 1.0);
    for raised in &record.doubts {
        // A doubt without an arm is raised by each of them alike.
        let name = raised.arm.as_deref();
        let arms =
            || (0..).zip(&record.arms).filter(|(_, it)| name.is_none_or(|name| it.name == name));
        match &raised.doubt {
            Doubt::Throttled { trials } => throttled += f64::from(*trials) * arms().count() as f64,
            Doubt::Stolen { share } => {
                stolen += share * arms().map(|(at, _): (usize, _)| of_arm[at]).sum::<f64>();
            }
            _ => (),
        }
    }
    let allowed = record.experiment.as_ref().and_then(|it| it.design.guards.stolen);
    if throttled / trials > THROTTLED {
        return Some(format!(
            "the CPUs were throttled in {throttled} of {trials} trials, and heat outlasts a trial: cool the machine, or \
             raise rest"
        ));
    }
    (stolen / trials > allowed.unwrap_or(STOLEN)).then(|| {
        format!(
            "the hypervisor took {:.0} % of the CPUs' time: run it when its other guests are quiet",
            100.0 * stolen / trials
        )
    })
}

/// Combinations of settings; the levels of conditions are 0.
///
/// Of a full factorial those that were run. Where one factor is moved at a time, those too: what two changes do together was
/// never seen, and is no sum where they interact. A fraction sees its effects as means over all other factors; any
/// combination can be chosen of it, and need not have been run.
pub(super) struct Candidates {
    /// Places in the list of combinations, and the levels; the first levels in front.
    pub(super) run: Vec<(usize, Vec<usize>)>,
    /// Those of which a trial failed, of any workload, under any condition.
    failing: BTreeSet<Vec<usize>>,
}

impl Candidates {
    pub(super) fn of(study: &Study<'_>) -> Candidates {
        let mut seen = BTreeSet::new();
        let levels = |arm: usize| settings(study, &study.experiment.arms[arm].levels);
        let arms = (0..study.design().workloads.len().min(1)).flat_map(|it| study.grid.arms(it));
        let run = arms.map(|arm| levels(*arm)).enumerate().filter(|it| seen.insert(it.1.clone()));
        let failed = study.record.trials.iter().filter(|it| it.failed.is_some());
        let run = run.collect();
        Candidates { run, failing: failed.map(|it| levels(it.arm)).collect() }
    }

    /// Whether these settings were run together.
    pub(super) fn was_run(&self, levels: &[usize]) -> bool {
        self.run.iter().any(|it| it.1 == levels)
    }

    /// Whether no trial with them failed.
    pub(super) fn is_sound(&self, levels: &[usize]) -> bool {
        !self.failing.contains(levels)
    }
}

/// The same levels with those of conditions at 0.
fn settings(study: &Study<'_>, levels: &[usize]) -> Vec<usize> {
    let factors = study.design().factors.iter();
    let level = |(it, factor): (&usize, &Factor)| match factor.kind() {
        Kind::Setting => *it,
        Kind::Place | Kind::Load => 0,
    };
    levels.iter().zip(factors).map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::moment;
    use crate::doubt::Raised;
    use crate::record::Arm;

    /// Of 20 trials of one of two arms.
    fn with(doubts: &[Raised]) -> Option<String> {
        let mut record = moment(1.0, 1e9, 0.0);
        record.arms.push(Arm::of("arm 1", "cpu-loop"));
        (1..20).step_by(2).for_each(|it| record.trials[it].arm = 1);
        record.doubts = doubts.to_vec();
        why_unfit(&record)
    }

    #[test]
    fn heat_stops_advice_where_more_than_a_tenth_of_the_trials_had_it() {
        let throttled = |trials| Raised::by("arm 1", Doubt::Throttled { trials });
        assert_eq!(with(&[throttled(2)]), None);
        assert!(with(&[throttled(3)]).unwrap().starts_with("the CPUs were throttled in 3 of 20"));
        assert!(with(&[Doubt::Throttled { trials: 2 }.into()]).unwrap().contains("in 4 of 20"));
    }

    #[test]
    fn stolen_time_stops_advice_where_it_is_much_of_all_trials_together() {
        let stolen = |arm: &str, share| Raised::by(arm, Doubt::Stolen { share });
        assert_eq!(with(&[stolen("arm 0", 0.09)]), None);
        let both = [stolen("arm 0", 0.09), stolen("arm 1", 0.05)];
        assert!(with(&both).unwrap().starts_with("the hypervisor took 7 %"));
    }

    #[test]
    fn what_chance_spreads_over_the_arms_stops_no_advice() {
        let doubts = [
            Doubt::OtherLoad { share: 0.5, by: Vec::new(), server: None },
            Doubt::Drifted { at: 3, share: 0.5 },
            Doubt::ClockDrifted { share: 0.5 },
            Doubt::TooFewTrials { trials: 5, needed: 8 },
        ];
        assert_eq!(with(&doubts.map(Raised::from)), None);
    }
}
