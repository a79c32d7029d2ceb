//! Chances: of Student's t, of draws without replacement, and which of many small ones to believe.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::gamma::ln_gamma;
use std::sync::LazyLock;

/// More degrees are treated as this many, which makes tails too heavy by less than 0.02 % of a quantile; statrs 0.19.1 is right up to
/// ten times as many.
const MOST_DEGREES: f64 = 1e4;

/// The chance of a value above `t`; 1 where nothing can be said.
pub(crate) fn t_above(t: f64, degrees: f64) -> f64 {
    if t.is_nan() || degrees.is_nan() || degrees <= 0.0 {
        return 1.0;
    }
    StudentsT::new(0.0, 1.0, degrees.min(MOST_DEGREES)).map_or(1.0, |it| it.sf(t).clamp(0.0, 1.0))
}

/// The value that is exceeded with this chance, of at most a half; 1e9 at most.
pub(crate) fn t_limit(chance: f64, degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while t_above(high, degrees) > chance && high < 1e9 {
        (low, high) = (high, high * 2.0);
    }
    // Each halving yields a bit of the 53 that there are.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if t_above(middle, degrees) > chance { low = middle } else { high = middle }
    }
    high
}

/// The limits of one chance in 100,000, by degrees up to the last: what is farther from a sample was not drawn with it.
static FAR: LazyLock<Vec<f64>> =
    LazyLock::new(|| (1..=100).map(|degrees| t_limit(1e-5, f64::from(degrees))).collect());

/// The value that is exceeded with a chance of 1e-5; of more than 100 degrees that of 100, which is 6 % more than the normal one.
pub(crate) fn far(degrees: usize) -> f64 {
    FAR[degrees.clamp(1, FAR.len()) - 1]
}

/// The chance of at least `seen` marked ones among `drawn`, where `marked` of `all` are: the tail of the hypergeometric distribution.
///
/// Fisher, "The Design of Experiments" (1935), section 21.01.
pub(crate) fn drawn_at_least(seen: usize, drawn: usize, marked: usize, all: usize) -> f64 {
    let most = drawn.min(marked);
    if seen + all <= drawn + marked {
        return 1.0;
    }
    if seen > most || drawn > all || marked > all {
        return 0.0;
    }
    let [k, n, m, of] = [seen, drawn, marked, all].map(|it| it as f64);
    let first = choose(m, k) + choose(of - m, n - k) - choose(of, n);
    let (mut term, mut sum, mut at) = (1.0, 1.0, k);
    while at < most as f64 && term > sum * 1e-12 {
        term *= (n - at) * (m - at) / ((at + 1.0) * (of - n - m + at + 1.0));
        sum += term;
        at += 1.0;
    }
    (first.exp() * sum).min(1.0)
}

/// The logarithm of the number of ways to take `k` of `n`.
fn choose(n: f64, k: f64) -> f64 {
    ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0)
}

/// A bound on the chance of at least `seen` successes in `n` draws whose chances of success have the mean `share`.
///
/// Hoeffding, "Probability Inequalities for Sums of Bounded Random Variables", JASA 58 (1963), theorem 1 and section 6: it holds for
/// chances that differ, and for draws without replacement.
pub(crate) fn at_least_bound(seen: usize, n: usize, share: f64) -> f64 {
    let seen_share = seen as f64 / n as f64;
    if seen_share <= share || n == 0 {
        return 1.0;
    }
    let part = |of: f64, to: f64| if of > 0.0 { of * (of / to).ln() } else { 0.0 };
    (-(n as f64) * (part(seen_share, share) + part(1.0 - seen_share, 1.0 - share))).exp()
}

/// The largest chance to believe, where a share `false_share` of what is believed may be wrong on average; `None` where nothing is
/// to be believed. Sorts the chances.
///
/// Benjamini and Hochberg, "Controlling the False Discovery Rate", JRSS B 57 (1995); for chances that depend on each other as those of
/// machines held against one centre do: Benjamini and Yekutieli, Annals of Statistics 29 (2001), theorem 1.2.
pub(crate) fn believed(chances: &mut [f64], false_share: f64) -> Option<f64> {
    chances.sort_unstable_by(f64::total_cmp);
    let step = false_share / chances.len() as f64;
    let mut ranked = chances.iter().enumerate().rev();
    ranked.find(|(at, chance)| **chance <= step * (*at + 1) as f64).map(|(_, chance)| *chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Abramowitz and Stegun, table 26.10, whose chances are of both sides.
    #[test]
    fn limits_are_those_of_the_tables_and_of_the_closed_form() {
        for (degrees, chance, expected) in
            [(1.0, 0.025, 12.706), (9.0, 0.005, 3.250), (10.0, 0.025, 2.228), (120.0, 0.005, 2.617)]
        {
            assert!((t_limit(chance, degrees) - expected).abs() < 6e-4, "{degrees} {chance}");
        }
        // With two degrees t = (1 - 2 q) / sqrt(2 q (1 - q)).
        for chance in [1e-5_f64, 1e-7, 1e-10] {
            let exact = (1.0 - 2.0 * chance) / (2.0 * chance * (1.0 - chance)).sqrt();
            assert!((t_limit(chance, 2.0) / exact - 1.0).abs() < 1e-6, "{chance}");
        }
        assert!((far(1_000_000) / 4.265 - 1.0).abs() < 0.06, "{}", far(1_000_000));
        assert!(far(4) > 20.0 && far(0) == far(1));
    }

    #[test]
    fn nonsense_is_no_evidence() {
        assert_eq!(t_above(f64::NAN, 5.0), 1.0);
        assert_eq!(t_above(9.0, 0.0), 1.0);
        assert_eq!(t_above(f64::INFINITY, 5.0), 0.0);
        assert_eq!(believed(&mut [], 0.01), None);
        assert_eq!(at_least_bound(0, 0, 0.5), 1.0);
    }

    /// The lady tasting tea, and the twins of convicts in Fisher's paper of 1935: 10 of 13 against 2 of 17, one side.
    #[test]
    fn draws_are_those_of_the_published_tables() {
        assert!((drawn_at_least(3, 4, 4, 8) - 17.0 / 70.0).abs() < 1e-9);
        assert!((drawn_at_least(4, 4, 4, 8) - 1.0 / 70.0).abs() < 1e-9);
        let twins = drawn_at_least(10, 13, 12, 30);
        assert!((twins - 0.000_465).abs() < 1e-6, "{twins}");
        assert_eq!(drawn_at_least(0, 4, 4, 8), 1.0);
        assert_eq!(drawn_at_least(3, 4, 7, 8), 1.0, "at least 3 of 4 are, where 1 of 8 is not");
        assert_eq!(drawn_at_least(5, 4, 4, 8), 0.0);
        assert!(drawn_at_least(300, 333, 400, 4000) < 1e-200);
    }

    #[test]
    fn the_bound_is_above_the_chance() {
        for (seen, drawn, marked, all) in [(3, 4, 4, 8), (10, 13, 12, 30), (40, 50, 100, 1000)] {
            let exact = drawn_at_least(seen, drawn, marked, all);
            let bound = at_least_bound(seen, drawn, marked as f64 / all as f64);
            assert!(exact <= bound && bound < exact.powf(0.3), "{exact} {bound}");
        }
        assert_eq!(at_least_bound(1, 10, 0.2), 1.0);
        assert!((at_least_bound(10, 10, 0.2) / 0.2_f64.powi(10) - 1.0).abs() < 1e-9);
    }

    /// The 15 chances of the example in section 4 of Benjamini and Hochberg: the first four are believed at 5 %.
    #[test]
    fn the_published_example_is_met() {
        let mut chances = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        chances.reverse();
        assert_eq!(believed(&mut chances, 0.05), Some(0.0095));
        assert_eq!(believed(&mut [0.5, 0.9], 0.05), None);
    }
}
