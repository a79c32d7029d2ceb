//! How frequent far values are among healthy machines.

use crate::chance::t_above;
use statrs::function::gamma::ln_gamma;

/// The tail of what healthy machines are off by: that of a normal distribution, heavier ones of Student's with fewer degrees of
/// freedom, or those of normal machines of which a few are farther apart; each with how much the machines of the fleet speak for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tail {
    parts: Vec<Part>,
}

/// One distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    shape: Shape,
    /// Its standard deviation, where the one that was measured is 1: that leaves out the farthest machines.
    scale: f64,
    /// The chance that it is the one.
    chance: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    /// Student's t with these degrees of freedom; infinite ones of the normal distribution.
    Student(f64),
    /// Normal, but this share of the machines is that many times as far apart as the others: Tukey, "A Survey of Sampling from
    /// Contaminated Distributions" (1960).
    Contaminated(f64, f64),
}

impl Shape {
    /// Its standard deviation, where that of a t, or of most machines, is what is usual.
    fn deviation(self) -> f64 {
        match self {
            Shape::Student(degrees) if degrees.is_finite() => (degrees / (degrees - 2.0)).sqrt(),
            Shape::Student(_) => 1.0,
            Shape::Contaminated(share, times) => (1.0 + share * (times.powi(2) - 1.0)).sqrt(),
        }
    }
}

/// The degrees that are weighed; tails that are heavier still have no standard deviation.
const DEGREES: [f64; 8] = [2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 20.0];

/// The shares that are weighed, and how many times as far apart these machines are.
const SHARES: [f64; 3] = [0.02, 0.05, 0.15];
const TIMES: [f64; 3] = [2.0, 3.0, 5.0];

/// What speaks for the normal distribution before any machine is looked at; both others share the rest.
const NORMAL: f64 = 0.9;

const SCALES: [f64; 9] = [0.80, 0.85, 0.90, 0.95, 1.0, 1.05, 1.1, 1.2, 1.35];

/// The number of the fastest machines whose distance is not used: it says why their clock is high, not how healthy machines vary. They
/// count as farther than the next one. Of fewer than 500 machines it is one in a hundred.
const BEYOND: f64 = 5.0;

/// Parts that speak for less are left out.
const LEAST_CHANCE: f64 = 1e-9;

impl Tail {
    /// From how far machines are below the others, and with how many degrees of freedom that is known: of those above the others, for
    /// slow ones are not among them.
    ///
    /// Efron, "Large-Scale Simultaneous Hypothesis Testing: The Choice of a Null Hypothesis", JASA 99 (2004), fits what is healthy to
    /// the observed values as well. A few hundred machines do not say which tail it is, so all of them are weighed by Bayes' theorem and
    /// chances averaged (Gelman et al., "Bayesian Data Analysis", section 7.2): the rate that is printed holds on average over the tails
    /// weighed here.
    pub(crate) fn of(below: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut above: Vec<(f64, f64)> = below.map(|it| (-it.0, it.1)).collect();
        let beyond = (above.len() as f64 / 100.0).min(BEYOND).ceil() as usize;
        above.retain(|it| it.0 > 0.0 && it.1 > 0.0);
        above.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let (beyond, near) = above.split_at(beyond.min(above.len()));
        let edge = near.first().map_or(0.0, |it| it.0);
        let shapes = shapes();
        let mut all = Vec::with_capacity(shapes.len() * SCALES.len());
        for (shape, prior) in shapes {
            let known = match shape {
                Shape::Student(degrees) => Known::of(near, degrees),
                Shape::Contaminated(..) => Known::of(near, f64::INFINITY),
            };
            for scale in SCALES {
                let part = Part { shape, scale, chance: prior };
                let far = beyond.iter().map(|it| part.above((edge, it.1)).ln());
                all.push((part, known.likelihood(&part) + far.sum::<f64>()));
            }
        }
        Self::weighed(&all)
    }

    /// The parts with their chances, from the logarithms of their likelihoods.
    fn weighed(all: &[(Part, f64)]) -> Self {
        let most = all.iter().map(|it| it.1).fold(f64::NEG_INFINITY, f64::max);
        let weight = |(part, likelihood): &(Part, f64)| part.chance * (likelihood - most).exp();
        let sum: f64 = all.iter().map(weight).sum();
        let weighed = all.iter().map(|it| Part { chance: weight(it) / sum, ..it.0 });
        Self { parts: weighed.filter(|it| it.chance > LEAST_CHANCE).collect() }
    }

    /// The chance that a healthy machine is as far below the others.
    pub(crate) fn chance(&self, below: (f64, f64)) -> f64 {
        self.parts.iter().map(|it| it.chance * it.above(below)).sum()
    }

    /// How far below the others a healthy machine is with this chance.
    pub(crate) fn limit(&self, chance: f64, degrees: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        while self.chance((high, degrees)) > chance && high < 1e9 {
            (low, high) = (high, high * 2.0);
        }
        // Seven digits are more than a limit has.
        for _ in 0..24 {
            let middle = f64::midpoint(low, high);
            if self.chance((middle, degrees)) > chance { low = middle } else { high = middle }
        }
        high
    }
}

/// All shapes, with what speaks for each before any machine is looked at.
fn shapes() -> Vec<(Shape, f64)> {
    let each = |n: usize| (1.0 - NORMAL) / 2.0 / n as f64;
    let mut shapes = vec![(Shape::Student(f64::INFINITY), NORMAL)];
    shapes.extend(DEGREES.map(|it| (Shape::Student(it), each(DEGREES.len()))));
    let of = |share| TIMES.map(|times| Shape::Contaminated(share, times));
    let contaminated = SHARES.into_iter().flat_map(of);
    shapes.extend(contaminated.map(|it| (it, each(SHARES.len() * TIMES.len()))));
    shapes
}

impl Part {
    /// The chance of a value above `value`, whose estimate has `degrees` degrees of freedom.
    fn above(&self, (value, degrees): (f64, f64)) -> f64 {
        let value = value * self.widened();
        match self.shape {
            Shape::Student(own) => t_above(value, degrees.min(own)),
            Shape::Contaminated(share, times) => {
                (1.0 - share) * t_above(value, degrees) + share * t_above(value / times, degrees)
            }
        }
    }

    /// What makes a value one of Student's t: that has a larger standard deviation.
    fn widened(&self) -> f64 {
        self.shape.deviation() / self.scale
    }
}

/// Values, for the likelihood of distributions with some degrees of freedom.
struct Known {
    /// The square of each value, and its degrees of freedom.
    values: Vec<(f64, f64)>,
    /// The logarithms of the constants of their densities, together.
    constants: f64,
}

impl Known {
    fn of(values: &[(f64, f64)], degrees: f64) -> Self {
        let least = |it: f64| it.min(degrees).min(NEARLY_NORMAL);
        let constant = |degrees: f64| {
            ln_gamma(f64::midpoint(degrees, 1.0)) - ln_gamma(degrees / 2.0) - degrees.ln() / 2.0
        };
        // Machines of one group have the same degrees, and are not far from each other here.
        let mut latest = (0.0, 0.0);
        let mut constants = 0.0;
        for it in values {
            let degrees = least(it.1);
            if degrees.to_bits() != f64::to_bits(latest.0) {
                latest = (degrees, constant(degrees));
            }
            constants += latest.1;
        }
        let values = values.iter().map(|it| (it.0.powi(2), least(it.1))).collect();
        Self { values, constants }
    }

    /// The logarithm of the density of all values; what is the same for all parts is left out.
    fn likelihood(&self, part: &Part) -> f64 {
        let widened = part.widened();
        let squared = widened.powi(2);
        let of = |value: f64, degrees: f64| (degrees + 1.0) / 2.0 * (value / degrees).ln_1p();
        let sum: f64 = match part.shape {
            Shape::Student(_) => {
                self.values.iter().map(|(value, degrees)| -of(value * squared, *degrees)).sum()
            }
            Shape::Contaminated(share, times) => {
                let density = |(value, degrees): &(f64, f64)| {
                    let far = value * squared / times.powi(2);
                    let most = (1.0 - share) * (-of(value * squared, *degrees)).exp();
                    (most + share / times * (-of(far, *degrees)).exp()).ln()
                };
                self.values.iter().map(density).sum()
            }
        };
        self.constants + self.values.len() as f64 * widened.ln() + sum
    }
}

/// The density of more degrees is that of the normal distribution, but for rounding.
const NEARLY_NORMAL: f64 = 1e4;

#[cfg(test)]
mod tests {
    use super::*;

    fn only(degrees: f64) -> Tail {
        Tail { parts: vec![Part { shape: Shape::Student(degrees), scale: 1.0, chance: 1.0 }] }
    }

    /// The middles of equal shares of a distribution of so many machines.
    fn sample(degrees: f64, n: u32) -> impl Iterator<Item = (f64, f64)> {
        sample_of(only(degrees), n)
    }

    fn sample_of(tail: Tail, n: u32) -> impl Iterator<Item = (f64, f64)> {
        (0..n / 2).flat_map(move |it| {
            let far = tail.limit((f64::from(it) + 0.5) / f64::from(n), f64::INFINITY);
            [(far, 500.0), (-far, 500.0)]
        })
    }

    /// How far below a machine has to be for a chance of one in a million.
    fn limit(tail: &Tail) -> f64 {
        tail.limit(1e-6, 500.0)
    }

    #[test]
    fn a_normal_tail_is_normal_and_a_heavy_one_is_heavy() {
        let normal = limit(&Tail::of(sample(f64::INFINITY, 2_000)));
        assert!((4.7..5.6).contains(&normal), "{normal}");
        let heavy = Tail::of(sample(5.0, 2_000));
        assert!((0.7..1.6).contains(&(limit(&heavy) / limit(&only(5.0)))), "{heavy:?}");
        assert!(heavy.chance((6.0, 500.0)) > 1e-4);
        assert!(heavy.chance((60.0, 500.0)) < 1e-6, "what is very far is slow in any case");
    }

    /// They have an end that the tail of a t does not have.
    #[test]
    fn a_few_machines_that_are_farther_apart_are_known_as_such() {
        let shape = Shape::Contaminated(0.05, 3.0);
        let few = Tail { parts: vec![Part { shape, scale: 1.0, chance: 1.0 }] };
        let found = limit(&Tail::of(sample_of(few.clone(), 2_000)));
        assert!((0.7..1.6).contains(&(found / limit(&few))), "{found}, and it is {}", limit(&few));
        assert!(limit(&few) > limit(&only(f64::INFINITY)) * 1.5);
    }

    /// The fewer machines there are, the less is known of their tail.
    #[test]
    fn few_machines_leave_the_tail_open() {
        let limits = [20, 200, 2_000].map(|n| limit(&Tail::of(sample(f64::INFINITY, n))));
        assert!(limits.is_sorted_by(|a, b| a > b), "{limits:?}");
        assert!(limit(&Tail::of(std::iter::empty())) > limits[0]);
    }

    /// They are left out by their distance, but there are more of them than a normal distribution has.
    #[test]
    fn a_few_fast_machines_make_a_tail_little_heavier() {
        let fast = [(-20.0, 500.0), (-30.0, 500.0)];
        let sample = || sample(f64::INFINITY, 2_000);
        let [with, without] = [limit(&Tail::of(sample().chain(fast))), limit(&Tail::of(sample()))];
        assert!(with < without * 1.25, "{with}, without them {without}");
    }

    /// A group of nine knows its spread with eight degrees: its values are those of a t, and no sign of a heavy tail.
    #[test]
    fn small_groups_are_far_from_a_centre_that_they_hardly_know() {
        let small = sample(8.0, 2_000).map(|(far, _)| (far * (8.0_f64 / 6.0).sqrt(), 8.0));
        let found = Tail::of(small).limit(1e-6, 500.0);
        assert!(found < 12.0, "{found}");
    }

    #[test]
    fn a_limit_has_the_chance_that_it_was_made_of() {
        for tail in [only(f64::INFINITY), only(4.0), Tail::of(sample(6.0, 200))] {
            let limit = tail.limit(1e-5, 40.0);
            assert!((tail.chance((limit, 40.0)) / 1e-5 - 1.0).abs() < 1e-3, "{tail:?}");
        }
    }
}
