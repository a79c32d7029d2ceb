//! Location and spread of healthy machines among some that are not. Values are logarithms, so that a difference is a ratio.

use crate::chance::far;
use std::ops::Range;

/// Fewer machines are not a group: the three or four others say next to nothing about how far apart healthy ones are.
pub(crate) const LEAST: usize = 5;

/// Healthy ones are taken to be at least this far apart: figures have three digits, and a group of which all are equal would call
/// any rounding beyond doubt.
pub(crate) const LEAST_SPREAD: f64 = 0.003;

/// The healthy machines of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Healthy {
    /// Their mean.
    pub(crate) centre: f64,
    /// Their standard deviation, or that of their lower tail where it is heavier than a normal one.
    pub(crate) spread: f64,
    /// How many there are.
    pub(crate) n: usize,
    /// The lowest and the highest.
    within: (f64, f64),
    /// Their standard deviation.
    deviation: f64,
}

impl Healthy {
    /// The healthy ones among at least [`LEAST`] values in ascending order.
    ///
    /// It begins with the half that is closest together (the shorth of Andrews et al., "Robust Estimates of Location", 1972; Rousseeuw
    /// and Leroy, "Robust Regression and Outlier Detection", 1987, section 4.3) and adds the nearest values as long as they fit: the
    /// forward search of Atkinson and Riani, "Robust Diagnostic Regression Analysis" (2000). So nearly half of the machines can be
    /// slow without a trace in it, while a tail without a gap, which turbo clocks have (Acun et al., "Variation Among Processors Under
    /// Turbo Boost in HPC Systems", ICS 2016), is part of the spread.
    pub(crate) fn of(sorted: &[f64]) -> Option<Self> {
        if sorted.len() < LEAST {
            return None;
        }
        let mut window = Window::of(sorted, core(sorted));
        while window.grows() {}
        let (centre, deviation) = (window.mean(), window.deviation());
        let kept = &sorted[window.range];
        let spread = deviation.max(lower_spread(kept, centre, deviation)).max(LEAST_SPREAD);
        let within = (kept[0], kept[kept.len() - 1]);
        Some(Self { centre, spread, n: kept.len(), within, deviation })
    }

    /// How many spreads a value is below the others, and with how many degrees of freedom the spread is known; `is_one` where the value
    /// may be one of these machines, and is then left out of them.
    ///
    /// The externally studentised residual (Cook and Weisberg, "Residuals and Influence in Regression", 1982, section 2.2.1): of
    /// normal values it has exactly the t distribution, however few there are.
    pub(crate) fn below(&self, value: f64, is_one: bool) -> (f64, f64) {
        let n = self.n as f64;
        if !is_one || value < self.within.0 || value > self.within.1 {
            return ((self.centre - value) / (self.spread * (1.0 + 1.0 / n).sqrt()), n - 1.0);
        }
        let gap = value - self.centre;
        let centre = self.centre - gap / (n - 1.0);
        let squares = (n - 1.0) * self.deviation.powi(2) - gap.powi(2) * n / (n - 1.0);
        let deviation = (squares / (n - 2.0)).max(0.0).sqrt();
        let widened = self.spread / self.deviation.max(LEAST_SPREAD);
        let spread = (deviation * widened.max(1.0)).max(LEAST_SPREAD);
        ((centre - value) / (spread * (1.0 + 1.0 / (n - 1.0)).sqrt()), n - 2.0)
    }

    /// The error of the centre.
    pub(crate) fn error(&self) -> f64 {
        self.spread / (self.n as f64).sqrt()
    }
}

/// The half of the values that is closest together. Of two that are nearly as close, the faster one: where half of a group is slow, the
/// other half is healthy.
fn core(sorted: &[f64]) -> Range<usize> {
    let half = sorted.len().div_ceil(2);
    let width = |from: usize| sorted[from + half - 1] - sorted[from];
    let starts = 0..=sorted.len() - half;
    let narrowest = starts.clone().map(width).fold(f64::INFINITY, f64::min);
    let from = starts.rev().find(|it| width(*it) <= narrowest * NEARLY + ROUNDING).unwrap_or(0);
    from..from + half
}

const NEARLY: f64 = 1.25;
const ROUNDING: f64 = 1e-12;

/// Neighbouring values of a sorted sample, and their sums from the first one of the core.
struct Window<'a> {
    sorted: &'a [f64],
    range: Range<usize>,
    origin: f64,
    sum: f64,
    squares: f64,
}

impl<'a> Window<'a> {
    fn of(sorted: &'a [f64], range: Range<usize>) -> Self {
        let origin = sorted[range.start];
        let mut window = Window { sorted, range: range.clone(), origin, sum: 0.0, squares: 0.0 };
        sorted[range].iter().for_each(|it| window.add(*it));
        window
    }

    fn add(&mut self, value: f64) {
        self.sum += value - self.origin;
        self.squares += (value - self.origin).powi(2);
    }

    fn mean(&self) -> f64 {
        self.origin + self.sum / self.range.len() as f64
    }

    fn deviation(&self) -> f64 {
        let n = self.range.len() as f64;
        ((self.squares - self.sum * self.sum / n) / (n - 1.0)).max(0.0).sqrt()
    }

    /// Takes in the nearer one of both neighbours that fit; whether one did.
    fn grows(&mut self) -> bool {
        let n = self.range.len();
        let (mean, deviation) = (self.mean(), self.deviation().max(LEAST_SPREAD));
        let reach = far(n - 1) * deviation * (1.0 + 1.0 / n as f64).sqrt();
        let lower = self.range.start.checked_sub(1).map(|it| mean - self.sorted[it]);
        let lower =
            lower.filter(|it| *it <= reach || (*it <= OF_ONE_MODEL && self.goes_on_below()));
        let upper = self.sorted.get(self.range.end).map(|it| it - mean);
        let upper = upper.filter(|it| *it <= reach);
        if lower.is_none() && upper.is_none() {
            return false;
        }
        if lower.unwrap_or(f64::INFINITY) <= upper.unwrap_or(f64::INFINITY) {
            self.range.start -= 1;
            self.add(self.sorted[self.range.start]);
        } else {
            self.range.end += 1;
            self.add(self.sorted[self.range.end - 1]);
        }
        true
    }

    /// Whether the lower tail goes on to the next value without a gap: that is not much farther from the last one than the last ones
    /// are from each other.
    fn goes_on_below(&self) -> bool {
        let at = self.range.start;
        let last = self.range.len() > LAST && at > 0;
        last && self.sorted[at] - self.sorted[at - 1]
            <= GAP * (self.sorted[at + LAST] - self.sorted[at]) / LAST as f64
    }
}

/// How far below their mean processors of one model are found to be, as a logarithm: 16 % (Acun et al., ICS 2016).
const OF_ONE_MODEL: f64 = 0.175;

/// How many gaps say how large the next may be.
const LAST: usize = 10;

/// The ratio of a gap to the mean of the last ten that one in a thousand exceeds where they are exponential, as those of an even tail
/// are: then it has the distribution of F with 2 and 20 degrees of freedom, whose tail is (1 + ratio / 10) ^ -10.
const GAP: f64 = 9.95;

/// The spread that the lower tail has, where it is beyond doubt heavier than that of a normal distribution with this deviation; else 0.
///
/// The quantiles of a normal distribution are so many deviations below its centre; the error of a sample's is from Cramér,
/// "Mathematical Methods of Statistics" (1946), section 28.5.
fn lower_spread(kept: &[f64], centre: f64, deviation: f64) -> f64 {
    let n = kept.len() as f64;
    let mut widest = 0.0_f64;
    for (share, deviations, density) in TAIL {
        // A quantile of which fewer than two values are beyond is one of them, not a quantile.
        if n * share < 2.0 {
            continue;
        }
        let spread = (centre - kept[(n * share) as usize]) / deviations;
        let error = (share * (1.0 - share) / n).sqrt() / density / deviations;
        if spread > deviation * (1.0 + 2.0 * error) {
            widest = widest.max(spread);
        }
    }
    widest
}

/// Shares, how many standard deviations below the centre they begin, and the density of the normal distribution there.
const TAIL: [(f64, f64, f64); 3] =
    [(0.05, 1.644_85, 0.103_136), (0.02, 2.053_75, 0.048_418), (0.005, 2.575_83, 0.014_460)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::t_above;
    use fastrand::Rng;

    fn normal(rng: &mut Rng) -> f64 {
        // Box and Muller.
        (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
    }

    fn sample(rng: &mut Rng, n: usize, centre: f64, spread: f64) -> Vec<f64> {
        (0..n).map(|_| centre + spread * normal(rng)).collect()
    }

    fn healthy(parts: &[Vec<f64>]) -> Healthy {
        let mut sorted = parts.concat();
        sorted.sort_unstable_by(f64::total_cmp);
        Healthy::of(&sorted).unwrap()
    }

    #[test]
    fn slow_machines_leave_no_trace_up_to_half_of_a_group() {
        let mut rng = Rng::with_seed(1);
        for slow in [0, 1, 20, 40, 50] {
            let parts =
                [sample(&mut rng, 100 - slow, 0.0, 0.02), sample(&mut rng, slow, -0.4, 0.05)];
            let found = healthy(&parts);
            assert!(found.centre.abs() < 0.01, "{slow}: {found:?}");
            assert!((0.015..0.025).contains(&found.spread), "{slow}: {found:?}");
            assert_eq!(found.n, 100 - slow);
        }
    }

    #[test]
    fn a_fast_machine_leaves_none_either() {
        let mut rng = Rng::with_seed(2);
        let found = healthy(&[sample(&mut rng, 40, 0.0, 0.01), vec![0.3, 0.31]]);
        assert_eq!(found.n, 40);
    }

    /// Most at the limit of their turbo clock, the others spread over 16 % below it without a gap: nobody is far from them.
    #[test]
    fn a_tail_without_a_gap_is_spread() {
        let mut rng = Rng::with_seed(3);
        let tail = (0..400).map(|_| -0.16 * rng.f64().powi(2));
        let found = healthy(&[vec![0.0; 600], tail.collect()]);
        assert_eq!(found.n, 1000, "{found:?}");
        assert!(found.below(-0.16, true).0 < 5.0, "{found:?}");
    }

    #[test]
    fn equal_values_have_the_least_spread_and_a_rounding_is_no_loss() {
        let found = healthy(&[vec![0.0; 10], vec![-0.001]]);
        assert_eq!((found.n, found.spread), (11, LEAST_SPREAD));
        assert!(found.below(-0.001, true).0 < 1.0);
        assert!(Healthy::of(&[0.0; 4]).is_none());
    }

    /// Of 200,000 small groups without a slow machine: chances are what they say, or larger.
    #[test]
    fn chances_of_healthy_machines_are_what_they_say() {
        let mut rng = Rng::with_seed(4);
        for n in [5, 10, 30] {
            let groups = 20_000 / n;
            let mut below = [0_usize; 2];
            for _ in 0..groups {
                let values = sample(&mut rng, n, 0.0, 0.02);
                let found = healthy(std::slice::from_ref(&values));
                for value in values {
                    let (t, degrees) = found.below(value, true);
                    let chance = t_above(t, degrees);
                    below[0] += usize::from(chance <= 0.01);
                    below[1] += usize::from(chance <= 0.001);
                }
            }
            let of = (groups * n) as f64;
            assert!((0.006..0.013).contains(&(below[0] as f64 / of)), "{n}: {below:?} of {of}");
            assert!(below[1] as f64 / of < 0.002, "{n}: {below:?} of {of}");
        }
    }
}
