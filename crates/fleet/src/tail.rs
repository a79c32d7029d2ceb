//! How frequent far values are among healthy machines.

use crate::chance::{t_above, t_limit};

/// The tail of what healthy machines are off by: that of a normal distribution, or a heavier one of Student's with fewer degrees of
/// freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tail {
    /// Infinite of the normal one.
    degrees: f64,
}

/// A spread that is known with fewer degrees makes far values by itself.
const WELL_KNOWN: f64 = 30.0;

/// How many values have to be beyond a quantile for it to be one.
const BEYOND: f64 = 5.0;

/// The quantiles farther out say how the few fast machines of a fleet came by their clock, not how healthy ones vary.
const FARTHEST: f64 = 0.001;

/// Tails that are heavier still have no standard deviation.
const FEWEST: f64 = 2.5;

impl Tail {
    /// From how far machines are below the others, and with how many degrees of freedom that is known: of those above the others, for
    /// slow ones are not among them.
    ///
    /// The degrees are those with which Student's t, at a standard deviation of 1, has the upper quantile that is observed: Efron,
    /// "Large-Scale Simultaneous Hypothesis Testing: The Choice of a Null Hypothesis", JASA 99 (2004), fits what is healthy to the
    /// observed values as well.
    pub(crate) fn of(below: impl Iterator<Item = (f64, f64)>) -> Self {
        let known = below.filter(|it| it.1 >= WELL_KNOWN);
        let mut above: Vec<f64> = known.map(|it| -it.0).collect();
        let n = above.len() as f64;
        let share = (BEYOND / n).max(FARTHEST);
        let normal = Tail { degrees: f64::INFINITY };
        if above.is_empty() || share > 0.05 {
            return normal;
        }
        above.sort_unstable_by(|a, b| b.total_cmp(a));
        let observed = above[(n * share) as usize];
        // The error of a quantile of the normal distribution: Cramer, "Mathematical Methods of Statistics" (1946), section 28.5.
        let expected = normal.limit(share, f64::INFINITY);
        let density = (-expected * expected / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let error = (share * (1.0 - share) / n).sqrt() / density;
        if observed <= expected + 2.0 * error {
            return normal;
        }
        let (mut few, mut many) = (FEWEST, 100.0);
        for _ in 0..40 {
            let degrees = f64::midpoint(few, many);
            let is_heavier = Tail { degrees }.limit(share, f64::INFINITY) > observed;
            if is_heavier { few = degrees } else { many = degrees }
        }
        Tail { degrees: few }
    }

    /// The chance that a healthy machine is as far below the others.
    pub(crate) fn chance(&self, (below, degrees): (f64, f64)) -> f64 {
        t_above(below * self.widened(), degrees.min(self.degrees))
    }

    /// How far below the others a healthy machine is with this chance.
    pub(crate) fn limit(&self, chance: f64, degrees: f64) -> f64 {
        t_limit(chance, degrees.min(self.degrees)) / self.widened()
    }

    /// The standard deviation of Student's t.
    fn widened(&self) -> f64 {
        if self.degrees.is_finite() { (self.degrees / (self.degrees - 2.0)).sqrt() } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The middles of equal shares of a distribution of 2,000 machines.
    fn sample(tail: Tail) -> impl Iterator<Item = (f64, f64)> {
        (0..1_000).flat_map(move |it| {
            let far = tail.limit((f64::from(it) + 0.5) / 2_000.0, f64::INFINITY);
            [(far, 500.0), (-far, 500.0)]
        })
    }

    #[test]
    fn a_normal_tail_is_normal_and_a_heavy_one_has_its_degrees() {
        assert_eq!(Tail::of(sample(Tail { degrees: f64::INFINITY })).degrees, f64::INFINITY);
        let found = Tail::of(sample(Tail { degrees: 5.0 }));
        assert!((3.5..7.0).contains(&found.degrees), "{found:?}");
        let (normal, heavy) = (Tail { degrees: f64::INFINITY }, Tail { degrees: 5.0 });
        assert!(normal.chance((6.0, 500.0)) < 1e-8 && heavy.chance((6.0, 500.0)) > 1e-4);
        assert!(heavy.chance((35.0, 500.0)) < 1e-6, "what is very far is slow in any case");
    }

    #[test]
    fn few_machines_and_small_groups_say_nothing_of_tails() {
        let few = Tail::of(sample(Tail { degrees: 3.0 }).take(60));
        let small_groups = Tail::of(sample(Tail { degrees: 3.0 }).map(|it| (it.0, 8.0)));
        assert_eq!((few.degrees, small_groups.degrees), (f64::INFINITY, f64::INFINITY));
    }

    #[test]
    fn a_few_fast_machines_do_not_make_a_tail() {
        let normal = sample(Tail { degrees: f64::INFINITY });
        let fast = [(-20.0, 500.0), (-30.0, 500.0)];
        assert_eq!(Tail::of(normal.chain(fast)).degrees, f64::INFINITY);
    }

    #[test]
    fn a_limit_has_the_chance_that_it_was_made_of() {
        for tail in [Tail { degrees: f64::INFINITY }, Tail { degrees: 4.0 }] {
            let limit = tail.limit(1e-5, 40.0);
            assert!((tail.chance((limit, 40.0)) / 1e-5 - 1.0).abs() < 1e-3, "{tail:?}");
        }
    }
}
