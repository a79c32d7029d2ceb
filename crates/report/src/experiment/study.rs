//! A record with its analysis, and the names that its parts have in every output.

use lab::experiment::analysis::{Analysis, ArmAnalysis, WorkloadAnalysis};
use lab::experiment::{Design, Experiment, Factor, Kind};
use lab::record::Record;
use std::collections::BTreeSet;

/// What reports are made of.
#[derive(Clone, Copy)]
pub struct Study<'a> {
    /// Its record.
    pub record: &'a Record,
    pub(super) analysis: &'a Analysis,
    pub(super) experiment: &'a Experiment,
}

impl<'a> Study<'a> {
    /// `None` where the record is no study.
    pub fn of(record: &'a Record, analysis: &'a Analysis) -> Option<Study<'a>> {
        let experiment = record.experiment.as_ref()?;
        Some(Study { record, analysis, experiment })
    }

    pub(super) fn design(&self) -> &'a Design {
        &self.experiment.design
    }

    /// What the study is called.
    pub(super) fn name(&self) -> &'a str {
        if self.design().name.is_empty() { &self.record.id } else { &self.design().name }
    }

    pub(super) fn factors(&self) -> impl Iterator<Item = (usize, &'a Factor)> {
        self.design().factors.iter().enumerate()
    }

    /// `powersave`.
    pub(super) fn level(&self, factor: usize, level: usize) -> &'a str {
        let factor = self.design().factors.get(factor);
        factor.and_then(|it| it.levels.get(level)).map_or("?", String::as_str)
    }

    pub(super) fn factor_name(&self, factor: usize) -> &'a str {
        self.design().factors.get(factor).map_or("?", |it| &it.name)
    }

    /// `governor=powersave`.
    pub(super) fn setting(&self, factor: usize, level: usize) -> String {
        format!("{}={}", self.factor_name(factor), self.level(factor, level))
    }

    /// The places of an arm's levels.
    pub(super) fn levels(&self, arm: usize) -> &'a [usize] {
        self.experiment.arms.get(arm).map_or(&[], |it| &it.levels)
    }

    /// `powersave, off`: in the order of the factors.
    pub(super) fn level_names(&self, arm: usize) -> Vec<&'a str> {
        self.levels(arm).iter().enumerate().map(|(at, level)| self.level(at, *level)).collect()
    }

    /// `governor=powersave, idle-state.C6=off`.
    pub(super) fn settings(&self, arm: usize) -> String {
        let levels = self.levels(arm).iter().enumerate();
        levels.map(|(at, level)| self.setting(at, *level)).collect::<Vec<_>>().join(", ")
    }

    /// What an arm is called among the others: its levels, or with many factors those in which it is not the first arm.
    pub(super) fn label(&self, arm: usize) -> String {
        if !self.has_many_factors() {
            return self.level_names(arm).join(", ");
        }
        let levels = self.levels(arm).iter().enumerate().filter(|(_, level)| **level != 0);
        let moved: Vec<String> = levels.map(|(at, level)| self.setting(at, *level)).collect();
        if moved.is_empty() { "the first one".to_owned() } else { moved.join(", ") }
    }

    /// The levels of an arm's settings alone, without conditions.
    pub(super) fn setting_levels(&self, arm: usize) -> Vec<usize> {
        let levels = self.levels(arm).iter().enumerate();
        levels.filter(|(at, _)| self.is_setting(*at)).map(|(_, level)| *level).collect()
    }

    /// The settings of the arms that no other one beats; none where that is true of all, and says nothing.
    pub(super) fn unbeaten(&self) -> BTreeSet<Vec<usize>> {
        let arms = self.analysis.workloads.first().map_or(&[][..], |it| &it.arms);
        let of = |place: &usize| arms.get(*place).map(|it| self.setting_levels(it.arm));
        let unbeaten: BTreeSet<_> = self.analysis.pareto.iter().filter_map(of).collect();
        let is_all = arms.iter().all(|it| unbeaten.contains(&self.setting_levels(it.arm)));
        if is_all { BTreeSet::new() } else { unbeaten }
    }

    /// What a column of [`Study::label`] is headed.
    pub(super) fn labels(&self) -> String {
        if self.has_many_factors() { "combination".to_owned() } else { self.factor_names() }
    }

    /// How to read [`Study::label`].
    pub(super) fn key(&self) -> String {
        if !self.has_many_factors() {
            return format!("by {}", self.factor_names());
        }
        let first: Vec<String> = self.factors().map(|(at, _)| self.setting(at, 0)).collect();
        format!("by what differs from the first combination, {}", first.join(", "))
    }

    fn has_many_factors(&self) -> bool {
        self.design().factors.len() > 3
    }

    /// Whether a factor is a setting, and not a condition of the trials.
    pub(super) fn is_setting(&self, factor: usize) -> bool {
        self.design().factors.get(factor).is_some_and(|it| it.kind() == Kind::Setting)
    }

    /// Whether any factor is a setting.
    pub(super) fn varies_settings(&self) -> bool {
        self.factors().any(|(at, _)| self.is_setting(at))
    }

    /// A workload's id, or all of it where another one has the same id.
    pub(super) fn workload_name(&self, whole: &'a str) -> &'a str {
        let id = |it: &'a str| it.split(' ').next().unwrap_or(it);
        let alike = self.design().workloads.iter().filter(|it| id(it) == id(whole)).count();
        if alike > 1 { whole } else { id(whole) }
    }

    /// The workload of an arm, as the design has it.
    pub(super) fn workload_of(&self, arm: usize) -> &'a str {
        let place = self.experiment.arms.get(arm).map(|it| it.workload);
        place.and_then(|it| self.design().workloads.get(it)).map_or("?", String::as_str)
    }

    /// The arm of a workload that has these levels; only those of settings count where conditions are left open.
    pub(super) fn arm_with(
        &self,
        workload: &'a WorkloadAnalysis,
        levels: &[usize],
    ) -> Option<&'a ArmAnalysis> {
        workload.arms.iter().find(|it| self.levels(it.arm) == levels)
    }

    /// The names of the factors: `governor, idle-state.C6`.
    pub(super) fn factor_names(&self) -> String {
        self.factors().map(|(_, it)| &*it.name).collect::<Vec<_>>().join(", ")
    }
}
