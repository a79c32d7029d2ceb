//! What a combination of levels is expected to change, of what is claimed alone.
//!
//! The model of an analysis of variance with effects and interactions of two factors (Box, Hunter and Hunter, "Statistics for
//! Experimenters", second edition, section 8.1), on logarithms: an effect is a mean over the levels of all other factors, so the
//! interactions of a pair add up to 0 over the levels of either. What is not claimed is 0, but for the effects of the two factors
//! of a claimed interaction: a difference of differences alone says nothing of where either lies (Nelder, "A Reformulation
//! of Linear Models", Journal of the Royal Statistical Society A 140 (1977), on marginality).
//!
//! Conditions (`cpu`, `load`) cannot be chosen. Averaged over their levels they drop out of this model, so they are not in it.

use super::study::Study;
use super::{Estimate, Interaction, Known, WorkloadAnalysis};
use crate::experiment::{Design, Kind};
use std::collections::BTreeSet;

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
