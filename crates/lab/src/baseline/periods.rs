//! Boots between two changes of the machine, or of its speed.
//!
//! A boot with other settings begins a period. So does one whose speed is another one although no setting changed, if the boot after it
//! has that speed too; a boot that differs alone is set aside. The gate is that of two single runs ([`of_moments`]), which has to clear
//! what boots of the same settings differ by; the last boot, which no other confirms yet, has to clear it twice. A difference below
//! [`LEAST`] is none.

use super::boots::{Boot, Run};
use crate::stats::Sample;
use crate::verdict::{BetweenRuns, Verdict, between_runs, confidence, of_moments};
use facts::baseline::Part;

/// Two speeds are equal where the interval shows no larger difference.
pub(super) const SAME: f64 = 0.01;

/// A smaller difference without a change of settings is none: the change search of races has the same limit.
const LEAST: f64 = 0.03;

/// So many boots tell what boots differ by as well as more would.
const MOST_BOOTS: usize = 60;

/// Boots that belong together, by their places among all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// The first, whether it has a speed or not.
    pub first: usize,
    /// All that belong to it and have a speed.
    pub boots: Vec<usize>,
    /// Those with the same settings whose speed is not that of their neighbours.
    pub odd: Vec<usize>,
}

/// The periods of these boots, in order.
pub fn periods(boots: &[Boot<'_>]) -> Vec<Period> {
    let mut periods: Vec<Period> = Vec::new();
    for (at, boot) in boots.iter().enumerate() {
        let is_new = at == 0 || !boot.is_like(&boots[at - 1]);
        if is_new {
            periods.push(Period { first: at, ..Period::default() });
        }
        if !boot.has_speed() {
            continue;
        }
        let next =
            boots[at + 1..].iter().take_while(|it| it.is_like(boot)).find(|it| it.has_speed());
        match standing(boots, &periods, at, next) {
            Standing::Belongs => {
                if let Some(period) = periods.last_mut() {
                    period.boots.push(at);
                }
            }
            Standing::Odd => {
                if let Some(period) = periods.last_mut() {
                    period.odd.push(at);
                }
            }
            Standing::Begins => {
                periods.push(Period { first: at, boots: vec![at], odd: Vec::new() });
            }
        }
    }
    periods
}

/// What a boot is to the period before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Belongs,
    Odd,
    Begins,
}

fn standing(
    boots: &[Boot<'_>],
    periods: &[Period],
    at: usize,
    next: Option<&Boot<'_>>,
) -> Standing {
    let Some(period) = periods.last().filter(|it| !it.boots.is_empty()) else {
        return Standing::Belongs;
    };
    let before: Vec<&Boot<'_>> = period.boots.iter().map(|it| &boots[*it]).collect();
    let is_other = |boot: &Boot<'_>, times: f64| {
        Part::ALL.into_iter().any(|part| {
            let groups = groups(boots, periods, part);
            let of = single(&before, boot, part, &groups, confidence(Part::ALL.len()));
            let Some(Single { verdict: Verdict::Claimed(ratio), cleared }) = of else {
                return false;
            };
            ratio.near_end() >= LEAST.max(times * cleared)
        })
    };
    match next {
        None if is_other(&boots[at], 2.0) => Standing::Begins,
        None => Standing::Belongs,
        Some(_) if !is_other(&boots[at], 1.0) => Standing::Belongs,
        Some(next) if is_other(next, 1.0) => Standing::Begins,
        Some(_) => Standing::Odd,
    }
}

/// The middles of a part in the latest boots, those of each period together.
pub(super) fn groups(boots: &[Boot<'_>], periods: &[Period], part: Part) -> Vec<Sample> {
    let mut left = MOST_BOOTS;
    let mut groups = Vec::new();
    for period in periods.iter().rev() {
        let of = period.boots.iter().rev().take(left).filter_map(|it| boots[*it].run(part));
        let middles: Vec<f64> = of.map(|it| it.middle).collect();
        left = left.saturating_sub(middles.len());
        groups.extend(Sample::new(middles));
    }
    groups
}

/// The verdict on a single boot, and what its interval had to clear, as a logarithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    pub(super) verdict: Verdict,
    pub(super) cleared: f64,
}

/// The verdict on one boot against the typical one of those before; `None` where either has no speed of that part.
///
/// What boots of the same differ by has to be known: it is not taken for granted, as that of latencies may be anything.
pub(super) fn single(
    before: &[&Boot<'_>],
    after: &Boot<'_>,
    part: Part,
    groups: &[Sample],
    confidence: f64,
) -> Option<Single> {
    let after = after.run(part)?;
    let before = typical(before, part)?;
    let between = match between_runs(groups, confidence) {
        Ok(known) => BetweenRuns { limit: known.limit.max(BetweenRuns::ASSUMED.limit), ..known },
        Err(unfit) => {
            let verdict = Verdict::too_few_runs(unfit, after.middle - before.middle);
            return Some(Single { verdict, cleared: 0.0 });
        }
    };
    let margin = Some(SAME);
    let found = of_moments(&before.trials, &after.trials, confidence, Some(between), margin);
    Some(Single { verdict: found.verdict, cleared: found.allowance.total() })
}

/// The run with the middle in the middle.
fn typical<'a>(boots: &[&'a Boot<'_>], part: Part) -> Option<&'a Run> {
    let mut runs: Vec<&Run> = boots.iter().filter_map(|it| it.run(part)).collect();
    runs.sort_by(|a, b| a.middle.total_cmp(&b.middle));
    runs.get(runs.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::super::boots::boots;
    use super::super::fixture::{history, machine, measured, moment};
    use super::super::history::History;
    use super::*;
    use fastrand::Rng;

    fn of(list: &[(&str, f64)]) -> Vec<Period> {
        periods(&boots(&history(list).entries))
    }

    fn sizes(periods: &[Period]) -> Vec<(usize, usize, usize)> {
        periods.iter().map(|it| (it.first, it.boots.len(), it.odd.len())).collect()
    }

    /// About 100, some promille apart.
    fn steady(n: usize) -> Vec<(&'static str, f64)> {
        (0..n).map(|it| ("2.1", 100.0 + 0.1 * (it * 7 % 5) as f64)).collect()
    }

    #[test]
    fn other_settings_begin_a_period() {
        let mut list = steady(4);
        list.extend([("2.3", 100.0), ("2.3", 100.1), ("2.1", 100.0)]);
        assert_eq!(sizes(&of(&list)), [(0, 4, 0), (4, 2, 0), (6, 1, 0)]);
    }

    #[test]
    fn a_fall_without_a_change_begins_one_and_what_rises_again_begins_another() {
        let mut list = steady(6);
        list.extend([("2.1", 50.0); 3]);
        list.extend(steady(2));
        assert_eq!(sizes(&of(&list)), [(0, 6, 0), (6, 3, 0), (9, 2, 0)]);
        // As soon as it is there, and not only when there are many.
        assert_eq!(sizes(&of(&list[..7])), [(0, 6, 0), (6, 1, 0)]);
    }

    #[test]
    fn a_boot_that_differs_alone_is_set_aside_once_another_shows_it() {
        let mut list = steady(5);
        list.push(("2.1", 70.0));
        assert_eq!(sizes(&of(&list)), [(0, 5, 0), (5, 1, 0)]);
        list.extend(steady(3));
        assert_eq!(sizes(&of(&list)), [(0, 8, 1)]);
    }

    #[test]
    fn too_few_boots_begin_nothing_however_they_differ() {
        assert_eq!(sizes(&of(&[("2.1", 100.0), ("2.1", 50.0), ("2.1", 90.0)])), [(0, 3, 0)]);
        assert!(of(&[]).is_empty());
    }

    /// A machine whose boots differ by `between` and whose trials by `within`, with a heavy tail.
    fn noisy(rng: &mut Rng, n: u32, between: f64, within: f64) -> History {
        let mut history = History::default();
        let normal = |rng: &mut Rng| (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
        for boot in 1..=n {
            let tail = if rng.u32(0..30) == 0 { 3.0 } else { 1.0 };
            let levels: Vec<f64> = Part::ALL.iter().map(|_| tail * between * normal(rng)).collect();
            let speed =
                measured(|part, _| 100.0 * (levels[part as usize] + within * normal(rng)).exp());
            history.add(moment(boot), &machine("2.1"), speed).unwrap();
        }
        history
    }

    /// The whole history is looked at after each boot, as it would be on a machine.
    #[test]
    fn forty_boots_without_a_change_begin_no_period() {
        let mut rng = Rng::with_seed(40);
        let mut n_found = 0;
        for between in [0.001, 0.01, 0.05] {
            for _ in 0..4 {
                let history = noisy(&mut rng, 40, between, 0.003);
                let boots = boots(&history.entries);
                n_found += usize::from((1..=40).any(|n| periods(&boots[..n]).len() > 1));
            }
        }
        assert_eq!(n_found, 0, "of 12 histories");
    }
}
