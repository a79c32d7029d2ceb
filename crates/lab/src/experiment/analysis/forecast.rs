//! The change that a combination of levels is expected to make, by the claimed terms alone.
//!
//! The model of an analysis of variance with effects and interactions of two factors (Box, Hunter and Hunter, "Statistics for
//! Experimenters", second edition, section 8.1), on logarithms: an effect is a mean over the levels of all other factors, so the
//! interactions of a pair add up to 0 over the levels of either. What is not claimed is 0, but for the effects of the two factors
//! of a claimed interaction: a difference of differences alone says nothing of where either lies (Nelder, "A Reformulation
//! of Linear Models", Journal of the Royal Statistical Society A 140 (1977), on marginality).
//!
//! Conditions (`cpu`, `load`) cannot be chosen. Averaged over their levels they drop out of this model, so they are not in it.
//!
//! Its uncertainty: a sum of contrasts is a contrast, so the model made of the values of one block is one observation of the
//! change that a combination makes, and Student's t over the blocks gives its interval, with what its terms share.

use super::contrast::{Contrast, mean_of};
use super::study::{Candidates, Study};
use super::{Estimate, Interaction, Known, WorkloadAnalysis};
use crate::experiment::{Design, Kind, Shape};
use crate::stats::Interval;
use crate::verdict::confidence;
use std::collections::{BTreeMap, BTreeSet};

/// A part of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Term {
    /// Factor and level.
    Effect(usize, usize),
    /// Factors, and the level of each.
    Interaction((usize, usize), (usize, usize)),
}

/// Logarithms of slowness against the first levels, by combination.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Forecast {
    /// By factor and level.
    effects: Vec<Vec<f64>>,
    pairs: Vec<Pair>,
}

/// What two factors do together.
#[derive(Clone, Debug, PartialEq)]
struct Pair {
    factors: (usize, usize),
    /// By the level of each, less what their first levels have.
    rows: Vec<Vec<f64>>,
}

/// What is expected of each workload.
pub(super) struct Forecasts(pub(super) Vec<Forecast>);

impl Forecasts {
    /// By what is in the model of each workload.
    pub(super) fn of(
        study: &Study<'_>,
        workloads: &[WorkloadAnalysis],
        terms: &[BTreeSet<Term>],
    ) -> Forecasts {
        let of = |(workload, terms): (&WorkloadAnalysis, &BTreeSet<Term>)| {
            let effects =
                workload.effects.iter().map(|it| (Term::Effect(it.factor, it.level), &it.estimate));
            let interactions = workload
                .interactions
                .iter()
                .map(|it| (Term::Interaction(it.factors, it.levels), &it.estimate));
            let known = effects.chain(interactions).filter(|it| terms.contains(&it.0));
            let values = known.filter_map(|it| Some((it.0, it.1.value()?.change.ln_1p())));
            Forecast::of(study.design(), values)
        };
        Forecasts(workloads.iter().zip(terms).map(of).collect())
    }

    /// The mean of all workloads.
    pub(super) fn mean(&self, levels: &[usize]) -> f64 {
        self.0.iter().map(|it| it.change(levels)).sum::<f64>() / self.0.len().max(1) as f64
    }
}

/// What of a workload is in the model, in an order that is always the same.
pub(super) fn terms(design: &Design, workload: &WorkloadAnalysis) -> BTreeSet<Term> {
    let is_setting = |factor: usize| design.factors[factor].kind() == Kind::Setting;
    let is_claimed = |it: &Known<Estimate>| it.value().is_some_and(|it| it.is_claimed);
    let effects = workload.effects.iter().filter(|it| is_setting(it.factor));
    let effects = effects.filter(|it| is_claimed(&it.estimate));
    let interactions = workload.interactions.iter().filter(|it| {
        is_setting(it.factors.0) && is_setting(it.factors.1) && is_claimed(&it.estimate)
    });
    let of_interaction = |it: &Interaction| {
        let ((first, second), (level, other)) = (it.factors, it.levels);
        let whole = Term::Interaction(it.factors, it.levels);
        [whole, Term::Effect(first, level), Term::Effect(second, other)]
    };
    let effects = effects.map(|it| Term::Effect(it.factor, it.level));
    effects.chain(interactions.flat_map(of_interaction)).collect()
}

impl Forecast {
    /// Of these terms, each with its value.
    pub(super) fn of(design: &Design, terms: impl Iterator<Item = (Term, f64)>) -> Forecast {
        let n_levels = |factor: usize| design.factors[factor].levels.len();
        let mut effects: Vec<Vec<f64>> =
            design.factors.iter().map(|it| vec![0.0; it.levels.len()]).collect();
        let mut pairs: Vec<Pair> = Vec::new();
        for (term, value) in terms {
            match term {
                Term::Effect(factor, level) => effects[factor][level] = value,
                Term::Interaction(factors, (level, other)) => {
                    let at =
                        pairs.iter().position(|it| it.factors == factors).unwrap_or_else(|| {
                            let rows = vec![vec![0.0; n_levels(factors.1)]; n_levels(factors.0)];
                            pairs.push(Pair { factors, rows });
                            pairs.len() - 1
                        });
                    pairs[at].rows[level][other] = value;
                }
            }
        }
        pairs.iter_mut().for_each(|it| center(&mut it.rows));
        Forecast { effects, pairs }
    }

    /// What is expected of these levels.
    pub(super) fn change(&self, levels: &[usize]) -> f64 {
        let effects = self.effects.iter().zip(levels).map(|(it, level)| it[*level]);
        let pair = |it: &Pair| it.rows[levels[it.factors.0]][levels[it.factors.1]];
        let pairs = self.pairs.iter().map(pair);
        effects.sum::<f64>() + pairs.sum::<f64>()
    }
}

/// Makes differences of differences, which are 0 at the first levels, into the interactions of the model, and takes off them
/// what the first levels have.
fn center(rows: &mut [Vec<f64>]) {
    let n_columns = rows.first().map_or(1, Vec::len).max(1) as f64;
    let n_rows = rows.len().max(1) as f64;
    let of_rows: Vec<f64> = rows.iter().map(|it| it.iter().sum::<f64>() / n_columns).collect();
    let of_columns: Vec<f64> = (0..n_columns as usize)
        .map(|at| rows.iter().map(|it| it[at]).sum::<f64>() / n_rows)
        .collect();
    // The mean of all is in each of them, the first too.
    let first = -of_rows.first().unwrap_or(&0.0) - of_columns.first().unwrap_or(&0.0);
    for (row, of_row) in rows.iter_mut().zip(&of_rows) {
        for (cell, of_column) in row.iter_mut().zip(&of_columns) {
            *cell -= of_row + of_column + first;
        }
    }
}

/// The model of each workload once more, block by block: its values are observations.
pub(super) struct BlockForecasts(Vec<BTreeMap<usize, Forecast>>);

impl BlockForecasts {
    /// By what is in the model of each workload.
    pub(super) fn of(study: &Study<'_>, terms: &[BTreeSet<Term>]) -> BlockForecasts {
        let of = |(workload, terms): (usize, &BTreeSet<Term>)| {
            let mut values: BTreeMap<usize, Vec<(Term, f64)>> =
                (0..study.measured.figure.n_blocks()).map(|it| (it, Vec::new())).collect();
            for term in terms {
                for (block, value) in values_of(study, workload, *term) {
                    values.entry(block).or_default().push((*term, value));
                }
            }
            let whole = values.into_iter().filter(|it| it.1.len() == terms.len());
            let forecast = |it: Vec<(Term, f64)>| Forecast::of(study.design(), it.into_iter());
            whole.map(|(block, values)| (block, forecast(values))).collect()
        };
        BlockForecasts(terms.iter().enumerate().map(of).collect())
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
        // Workload by workload there are as many intervals.
        let n = if workload.is_some() { self.0.len() } else { 1 };
        Some(mean_of(&blocks.collect::<Vec<_>>(), confidence(n)).value()?.interval)
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

/// The value of a term in each block that has all its arms, as a logarithm of slowness.
fn values_of(study: &Study<'_>, workload: usize, term: Term) -> Vec<(usize, f64)> {
    let contrast = match term {
        Term::Effect(factor, level) => study.grid.effect(workload, factor, level),
        Term::Interaction(factors, levels) => {
            let found = study.grid.dependence(workload, factors, levels);
            found.map_or_else(Contrast::default, |it| it.given_other.less(&it.given_first))
        }
    };
    contrast.values(&study.measured.figure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Factor;

    fn design(levels: &[usize]) -> Design {
        let factor = |n: &usize| Factor {
            name: "turbo".to_owned(),
            levels: (0..*n).map(|it| it.to_string()).collect(),
        };
        Design { factors: levels.iter().map(factor).collect(), ..Design::default() }
    }

    /// Every table is its effects and interactions, where none of more than two factors is in it.
    #[test]
    fn a_table_comes_back_from_its_effects_and_interactions() {
        let table = [[0.0, 0.3, -0.1], [0.2, 0.9, 0.4]];
        let row = |at: usize| table[at].iter().sum::<f64>() / 3.0;
        let column = |at: usize| f64::midpoint(table[0][at], table[1][at]);
        let twice = |j: usize| table[1][j] - table[0][j] - table[1][0] + table[0][0];
        let terms = [
            (Term::Effect(0, 1), row(1) - row(0)),
            (Term::Effect(1, 1), column(1) - column(0)),
            (Term::Effect(1, 2), column(2) - column(0)),
            (Term::Interaction((0, 1), (1, 1)), twice(1)),
            (Term::Interaction((0, 1), (1, 2)), twice(2)),
        ];
        let forecast = Forecast::of(&design(&[2, 3]), terms.into_iter());
        for (i, row) in table.iter().enumerate() {
            for (j, expected) in row.iter().enumerate() {
                let found = forecast.change(&[i, j]);
                assert!((found - expected).abs() < 1e-12, "{i} {j}: {found}");
            }
        }
    }

    #[test]
    fn without_terms_nothing_changes() {
        assert_eq!(Forecast::of(&design(&[2, 2]), std::iter::empty()).change(&[1, 1]), 0.0);
    }
}
