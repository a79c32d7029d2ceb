//! From a record to its analysis.

use super::cells::{Measured, watts};
use super::contrast::Contrast;
use super::forecast::Term;
use super::grid::Grid;
use super::{
    Analysis, WorkloadAnalysis, arm_analyses, claims, effects, forbidding, interactions,
    ledger_moves, pareto, recommendation,
};
use crate::experiment::{Design, Experiment};
use crate::record::Record;
use crate::trial::{Better, Trial};
use crate::workloads;

/// Why a record has no analysis.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoStudy {
    /// It was made by `fullclock bench`.
    #[error("this result is no experiment: compare its arms with `fullclock compare`")]
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
}

/// What the factors of a study do to its figures, what that is worth, and what to do.
///
/// Errors: the record is no study, or its parts do not fit together.
pub fn analyse(record: &Record) -> Result<Analysis, NoStudy> {
    let experiment = record.experiment.as_ref().ok_or(NoStudy::NoExperiment)?;
    check(record, experiment)?;
    let measured = Measured::of(record);
    let grid = Grid::of(experiment, &measured.figure);
    let watts_missing = watts_missing(&record.trials);
    let study = Study { record, experiment, grid, measured, watts_missing };
    let mut workloads = study.workloads();
    let forbidding = forbidding::why(record);
    claims::settle(&mut workloads, forbidding.is_some());
    ledger_moves::settle(&study, &mut workloads);
    Ok(Analysis {
        pareto: pareto::front(&study, &workloads),
        recommendation: recommendation::recommendation(&study, &workloads, forbidding),
        workloads,
    })
}

impl Study<'_> {
    pub(super) fn design(&self) -> &Design {
        &self.experiment.design
    }

    /// The value of a term in each block that has all its arms, as a logarithm of slowness.
    pub(super) fn term(&self, workload: usize, term: Term) -> Vec<(usize, f64)> {
        let contrast = match term {
            Term::Effect(factor, level) => self.grid.effect(workload, factor, level),
            Term::Interaction(factors, levels) => {
                let found = self.grid.dependence(workload, factors, levels);
                found.map_or_else(Contrast::default, |it| it.given_other.less(&it.given_first))
            }
        };
        contrast.values(&self.measured.figure)
    }

    fn workloads(&self) -> Vec<WorkloadAnalysis> {
        let mut of_arm: Vec<Vec<&Trial>> = vec![Vec::new(); self.record.arms.len()];
        self.record.trials.iter().for_each(|it| of_arm[it.arm].push(it));
        let names = self.design().workloads.iter().enumerate();
        names.map(|(workload, name)| self.workload(workload, name, &of_arm)).collect()
    }

    fn workload(&self, workload: usize, name: &str, trials: &[Vec<&Trial>]) -> WorkloadAnalysis {
        let arms = self.grid.arms(workload);
        let (figure, unit, better) = self.figure(arms, trials);
        let mut seen = vec![0_usize; self.measured.figure.n_blocks()];
        for arm in arms {
            self.measured.figure.of_arm(*arm).iter().for_each(|it| seen[it.0] += 1);
        }
        let blocks = seen.iter().filter(|it| !arms.is_empty() && **it == arms.len()).count();
        WorkloadAnalysis {
            workload: name.to_owned(),
            figure,
            unit,
            better,
            blocks: u32::try_from(blocks).unwrap_or(u32::MAX),
            arms: arm_analyses::arm_analyses(self, arms, trials),
            effects: effects::effects(self, workload),
            interactions: interactions::interactions(self, workload),
        }
    }

    /// Of the first trial that has one; where none has, of the workload as it is declared.
    fn figure(&self, arms: &[usize], trials: &[Vec<&Trial>]) -> (String, String, Better) {
        let mut of_arms = arms.iter().flat_map(|it| &trials[*it]);
        if let Some(it) = of_arms.find_map(|it| it.outcome.figures.first()) {
            return (it.name.clone(), it.unit.clone(), it.better);
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
        return damaged(format!("{arms} arms"), format!("{combinations} as its design has"));
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

/// Nothing where a trial has them, and nothing where nobody looked.
fn watts_missing(trials: &[Trial]) -> Option<String> {
    let around = || trials.iter().filter_map(|it| it.surroundings.value());
    if around().any(|it| watts(it).is_some()) {
        return None;
    }
    let mut readings = around().flat_map(|it| &it.metrics).filter(|it| it.metric == "watts");
    let reason = readings.find_map(|it| it.value.reason());
    Some(reason.unwrap_or("no trial has the power of a package").to_owned())
}
