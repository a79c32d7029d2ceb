//! The arms of a design: which levels are combined.
//!
//! Full factorials, one factor at a time, and two-level fractions of resolution IV: the columns of a full factorial of the
//! first factors, and for each further one the product of three (or five, ...) of them, which keeps it apart from every product
//! of two (Box, Hunter and Hunter, "Statistics for Experimenters", second edition, chapter 6).

use super::{Design, Factor, Shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A level of each factor, and a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Combination {
    /// The place of the workload in the design.
    pub workload: usize,
    /// The place of the level in each factor.
    pub levels: Vec<usize>,
}

/// Why a design has no arms.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TooMany {
    /// More arms than anybody runs.
    #[error(
        "{0} combinations, and {MOST} are the most: leave out levels, or say shape = \"one-at-a-time\" or \"fraction\""
    )]
    Arms(u128),
    /// A fraction of factors that have other than two levels.
    #[error("a fraction is of factors with two levels, and {factor} has {levels}")]
    Levels {
        /// Its name.
        factor: String,
        /// How many it has.
        levels: usize,
    },
}

/// A year of trials of half an hour.
const MOST: u128 = 20_000;

/// Every arm: for each workload the combinations of the design's shape, the one of all first levels in front.
pub fn arms(design: &Design) -> Result<Vec<Combination>, TooMany> {
    let combinations = match design.shape {
        Shape::Full => full(&design.factors, design.workloads.len())?,
        Shape::OneAtATime => one_at_a_time(&design.factors, design.workloads.len())?,
        Shape::Fraction => fraction(&design.factors, design.workloads.len())?,
    };
    let of_workload = |workload: usize| {
        let of = move |levels: &Vec<usize>| Combination { workload, levels: levels.clone() };
        combinations.iter().map(of)
    };
    Ok((0..design.workloads.len()).flat_map(of_workload).collect())
}

fn full(factors: &[Factor], n_workloads: usize) -> Result<Vec<Vec<usize>>, TooMany> {
    let count = factors.iter().fold(n_workloads as u128, |product, factor| {
        product.saturating_mul(factor.levels.len() as u128)
    });
    if count > MOST {
        return Err(TooMany::Arms(count));
    }
    let mut all = vec![Vec::new()];
    for factor in factors {
        let with = |levels: &Vec<usize>, level| [&levels[..], &[level]].concat();
        all = all
            .iter()
            .flat_map(|levels| (0..factor.levels.len()).map(move |level| with(levels, level)))
            .collect();
    }
    Ok(all)
}

fn one_at_a_time(factors: &[Factor], n_workloads: usize) -> Result<Vec<Vec<usize>>, TooMany> {
    let others = factors.iter().map(|it| it.levels.len().saturating_sub(1) as u128);
    let count = (1 + others.sum::<u128>()).saturating_mul(n_workloads as u128);
    if count > MOST {
        return Err(TooMany::Arms(count));
    }
    let first = vec![0; factors.len()];
    let mut all = vec![first.clone()];
    for (place, factor) in factors.iter().enumerate() {
        for level in 1..factor.levels.len() {
            let mut levels = first.clone();
            levels[place] = level;
            all.push(levels);
        }
    }
    Ok(all)
}

fn fraction(factors: &[Factor], n_workloads: usize) -> Result<Vec<Vec<usize>>, TooMany> {
    if let Some(factor) = factors.iter().find(|it| it.levels.len() != 2) {
        let (factor, levels) = (factor.name.clone(), factor.levels.len());
        return Err(TooMany::Levels { factor, levels });
    }
    let columns = columns(factors.len());
    let n_basic = columns.iter().map(|it| it.count_ones()).filter(|it| *it == 1).count();
    let n_runs = 1_u128 << n_basic;
    if n_runs.saturating_mul(n_workloads as u128) > MOST {
        return Err(TooMany::Arms(n_runs.saturating_mul(n_workloads as u128)));
    }
    // The product of an odd number of signs, each -1 at level 0, is -1 where an even number of them is at level 1.
    let level = |run: u32, column: u32| ((run & column).count_ones() % 2) as usize;
    let levels = |run| columns.iter().map(|column| level(run, *column)).collect();
    Ok((0..1_u32 << n_basic).map(levels).collect())
}

/// A column for each factor, as a set of basic ones: an odd number of them, all different.
fn columns(n_factors: usize) -> Vec<u32> {
    // With n basic columns there are 2^(n-1) products of odd many.
    let n_basic = (0..32).find(|n| *n > 0 && 1_usize << (n - 1) >= n_factors).unwrap_or(31);
    let basic = (0..n_basic).map(|it| 1_u32 << it);
    let products =
        (1..1_u32 << n_basic).filter(|it| it.count_ones() > 1 && it.count_ones() % 2 == 1);
    basic.chain(products).take(n_factors).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(levels: &[usize], shape: Shape) -> Design {
        let factor = |(at, n): (usize, &usize)| Factor {
            name: format!("f{at}"),
            levels: (0..*n).map(|it| it.to_string()).collect(),
        };
        Design {
            factors: levels.iter().enumerate().map(factor).collect(),
            workloads: vec!["cpu-loop".to_owned()],
            shape,
            ..Design::default()
        }
    }

    fn levels_of(levels: &[usize], shape: Shape) -> Vec<Vec<usize>> {
        arms(&design(levels, shape)).unwrap().into_iter().map(|it| it.levels).collect()
    }

    #[test]
    fn a_full_design_has_every_combination_once_for_each_workload() {
        let two = Design {
            workloads: vec!["cpu-loop".to_owned(), "all-cores".to_owned()],
            ..design(&[2, 3], Shape::Full)
        };
        let arms = arms(&two).unwrap();
        assert_eq!(arms.len(), 12);
        assert_eq!(arms[0], Combination { workload: 0, levels: vec![0, 0] });
        assert_eq!(arms[5].levels, [1, 2]);
        assert_eq!(arms[6], Combination { workload: 1, levels: vec![0, 0] });
    }

    #[test]
    fn one_at_a_time_moves_one_factor_from_the_first_levels() {
        let found = levels_of(&[2, 3], Shape::OneAtATime);
        assert_eq!(found, [[0, 0], [1, 0], [0, 1], [0, 2]]);
    }

    /// Resolution IV: no column, and no product of two or three, is constant; fewer runs than all combinations.
    #[test]
    fn a_fraction_mixes_no_effect_with_another_nor_with_an_interaction_of_two() {
        for n in 2..=9_usize {
            let runs = levels_of(&vec![2; n], Shape::Fraction);
            assert!(runs[0].iter().all(|it| *it == 0));
            let sum = |columns: &[usize]| {
                let sign = |run: &Vec<usize>| {
                    columns.iter().map(|it| if run[*it] == 1 { 1 } else { -1 }).product::<i32>()
                };
                runs.iter().map(sign).sum::<i32>()
            };
            for a in 0..n {
                assert_eq!(sum(&[a]), 0, "{n} factors, {a}");
                for b in 0..a {
                    assert_eq!(sum(&[a, b]), 0, "{n} factors, {a} {b}");
                    for c in 0..b {
                        assert_eq!(sum(&[a, b, c]), 0, "{n} factors, {a} {b} {c}");
                    }
                }
            }
        }
        assert_eq!(levels_of(&[2; 8], Shape::Fraction).len(), 16);
    }

    #[test]
    fn more_arms_than_anybody_runs_are_refused_with_what_to_do() {
        let error = arms(&design(&[10; 6], Shape::Full)).unwrap_err().to_string();
        assert!(error.starts_with("1000000 combinations"), "{error}");
        let error = arms(&design(&[10_001, 10_001], Shape::OneAtATime)).unwrap_err().to_string();
        assert!(error.starts_with("20001 combinations"), "{error}");
        let error = arms(&design(&[3, 2], Shape::Fraction)).unwrap_err().to_string();
        assert_eq!(error, "a fraction is of factors with two levels, and f0 has 3");
    }
}
