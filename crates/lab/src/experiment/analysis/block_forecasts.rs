//! How sure an expectation is.
//!
//! A sum of contrasts is a contrast: the model, made of the values of one block, gives one observation of what a combination
//! changes, and Student's t over blocks says where that lies, with all that its terms share.

use super::candidates::Candidates;
use super::contrast::mean_of;
use super::forecast::{Forecast, Term};
use super::study::Study;
use crate::experiment::Shape;
use crate::stats::Interval;
use std::collections::{BTreeMap, BTreeSet};

/// The model of each workload once more, block by block: its values are observations.
pub(super) struct Blocks(Vec<BTreeMap<usize, Forecast>>);

impl Blocks {
    /// By what is in the model of each workload.
    pub(super) fn of(study: &Study<'_>, terms: &[BTreeSet<Term>]) -> Blocks {
        let of = |(workload, terms): (usize, &BTreeSet<Term>)| {
            let mut values: BTreeMap<usize, Vec<(Term, f64)>> =
                (0..study.measured.figure.n_blocks()).map(|it| (it, Vec::new())).collect();
            for term in terms {
                for (block, value) in study.term(workload, *term) {
                    values.entry(block).or_default().push((*term, value));
                }
            }
            let whole = values.into_iter().filter(|it| it.1.len() == terms.len());
            let forecast = |it: Vec<(Term, f64)>| Forecast::of(study.design(), it.into_iter());
            whole.map(|(block, values)| (block, forecast(values))).collect()
        };
        Blocks(terms.iter().enumerate().map(of).collect())
    }

    /// Where the change from `from` to `to` lies, of one workload or the mean of all.
    pub(super) fn change(
        &self,
        workload: Option<usize>,
        to: &[usize],
        from: &[usize],
    ) -> Option<Interval> {
        let of: Vec<&BTreeMap<usize, Forecast>> = match workload {
            Some(it) => self.0.get(it).into_iter().collect(),
            None => self.0.iter().collect(),
        };
        let change = |block: &usize| {
            let of_workload = |it: &&BTreeMap<usize, Forecast>| {
                it.get(block).map(|it| it.change(to) - it.change(from))
            };
            let changes: Option<Vec<f64>> = of.iter().map(of_workload).collect();
            changes.map(|it| it.iter().sum::<f64>() / it.len() as f64)
        };
        let blocks = of.first()?.keys().filter_map(|it| Some((*it, change(it)?)));
        Some(mean_of(&blocks.collect::<Vec<_>>()).value()?.interval)
    }

    /// Whether the mean of all workloads is faster at `to` than at `from`, for sure.
    pub(super) fn is_faster(&self, to: &[usize], from: &[usize]) -> bool {
        self.change(None, to, from).is_some_and(|it| it.high < 0.0)
    }

    /// The same levels, with each at its first one that makes no difference which the blocks are sure of.
    pub(super) fn needed(
        &self,
        mut levels: Vec<usize>,
        candidates: &Candidates,
        shape: Shape,
    ) -> Vec<usize> {
        for factor in 0..levels.len() {
            let mut without = levels.clone();
            without[factor] = 0;
            let can_be = candidates.is_sound(&without)
                && (shape == Shape::Fraction || candidates.was_run(&without));
            if can_be && without != levels && !self.is_faster(&levels, &without) {
                levels = without;
            }
        }
        levels
    }
}
