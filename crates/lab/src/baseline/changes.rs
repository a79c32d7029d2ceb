//! What came with each change of a machine: settings, and a verdict on each part.

use super::boots::Boot;
use super::periods::{Period, SAME, groups, single};
use super::record::rounded;
use crate::stats::{LEAST_RUNS, Sample};
use crate::verdict::{Verdict, confidence, of_runs};
use facts::baseline::{Changed, Part};

/// A change of a machine, or of its speed alone.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// The last boot before it of which the speed is known.
    pub before: &'a Boot<'a>,
    /// The first boot after it.
    pub after: &'a Boot<'a>,
    /// Of how many boots before it the speed is known.
    pub n_before: usize,
    /// Of how many after it.
    pub n_after: usize,
    /// The settings that changed; empty where none did that is recorded.
    pub changed: Vec<Changed>,
    /// Whether the settings of one side are lost.
    pub is_lost: bool,
    /// The parts of which both sides have a speed.
    pub parts: Vec<Judged>,
}

/// What may be said of one part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Which.
    pub part: Part,
    /// Of the boots after against those before, in the part's own unit.
    pub verdict: Verdict,
    /// The typical value before.
    pub before: f64,
    /// The typical value after.
    pub after: f64,
}

/// How many changes begin with a boot at a place for which `is_wanted` holds: a damaged history may have one number twice.
pub fn count_of(periods: &[Period], is_wanted: impl Fn(usize) -> bool) -> usize {
    periods.iter().skip(1).filter(|it| is_wanted(it.first)).count()
}

/// How many comparisons so many changes are.
pub fn comparisons(n_changes: usize) -> usize {
    n_changes * Part::ALL.len()
}

/// The changes that begin with a boot at a place for which `is_wanted` holds, in order. All of their intervals hold together with 99 %, if
/// there are so many comparisons.
pub fn changes<'a>(
    boots: &'a [Boot<'a>],
    periods: &[Period],
    is_wanted: impl Fn(usize) -> bool,
    comparisons: usize,
) -> Vec<Change<'a>> {
    let later = (1..periods.len()).filter(|at| is_wanted(periods[*at].first));
    later.filter_map(|at| change(boots, periods, at, confidence(comparisons))).collect()
}

/// That with which a period began; `None` where no boot before it has a speed.
fn change<'a>(
    boots: &'a [Boot<'a>],
    periods: &[Period],
    at: usize,
    confidence: f64,
) -> Option<Change<'a>> {
    let after = &periods[at];
    let before = periods[..at].iter().rev().find(|it| !it.boots.is_empty())?;
    let first = &boots[after.first];
    let last = &boots[*before.boots.last()?];
    let of =
        |period: &Period| -> Vec<&Boot<'a>> { period.boots.iter().map(|it| &boots[*it]).collect() };
    let sides = [of(before), of(after)];
    let judged = |part: Part| {
        let groups = groups(boots, &periods[..=at], part);
        judged(&sides, part, &groups, confidence)
    };
    Some(Change {
        before: last,
        after: first,
        n_before: before.boots.len(),
        n_after: after.boots.len(),
        changed: first.changed_since(last),
        is_lost: first.settings().is_none() || last.settings().is_none(),
        parts: Part::ALL.into_iter().filter_map(judged).collect(),
    })
}

/// Of three boots on either side and more their middles speak, which vary as boots do. Of fewer the last one does, and the history
/// says what boots differ by.
fn judged(
    sides: &[Vec<&Boot<'_>>; 2],
    part: Part,
    groups: &[Sample],
    confidence: f64,
) -> Option<Judged> {
    let middles = |boots: &[&Boot<'_>]| {
        Sample::new(boots.iter().filter_map(|it| Some(it.run(part)?.middle)).collect()).ok()
    };
    let [before, after] = sides;
    let (a, b) = (middles(before)?, middles(after)?);
    let verdict = if a.len().min(b.len()) >= LEAST_RUNS {
        of_runs(&a, &b, confidence, Some(SAME))
    } else {
        let last = after.iter().rev().find(|it| it.run(part).is_some())?;
        single(before, last, part, groups, confidence)?.verdict
    };
    let typical = |middles: &Sample| rounded(middles.quantile(0.5).exp());
    Some(Judged { part, verdict, before: typical(&a), after: typical(&b) })
}

impl Judged {
    /// Whether it is shown to be slower than before.
    pub fn is_slower(&self) -> bool {
        self.verdict.is_claimed() && self.log_speed() < 0.0
    }

    /// The logarithm of its speed over that before; 0 where nothing can be said.
    pub(super) fn log_speed(&self) -> f64 {
        let log = self.verdict.ratio().map_or(0.0, |it| it.log);
        if self.part.is_rate() { log } else { -log }
    }
}

#[cfg(test)]
mod tests {
    use super::super::boots::boots;
    use super::super::fixture::history;
    use super::super::periods::periods;
    use super::*;

    /// Each change in a line: settings, how many boots, and what is said of the single-core speed.
    fn told(list: &[(&str, f64)]) -> Vec<String> {
        let history = history(list);
        let boots = boots(&history.entries);
        let periods = periods(&boots);
        let n = comparisons(count_of(&periods, |_| true));
        let line = |it: &Change<'_>| {
            let single = it.parts.iter().find(|it| it.part == Part::SingleCore).unwrap();
            let said = match single.verdict {
                Verdict::Claimed(ratio) => format!("{:.0} %", 100.0 * ratio.change().0),
                Verdict::Same { margin, .. } => format!("same within {margin}"),
                Verdict::TooFew { have, needed, .. } => format!("{have} of {needed}"),
                other => format!("{other:?}").split(['(', ' ']).next().unwrap().to_owned(),
            };
            let changed = facts::baseline::listed(&it.changed);
            format!("{changed}, {} and {}: {said}", it.n_before, it.n_after)
        };
        changes(&boots, &periods, |_| true, n).iter().map(line).collect()
    }

    fn steady(bios: &'static str, n: usize, level: f64) -> Vec<(&'static str, f64)> {
        (0..n).map(|it| (bios, level * (1.0 + 0.0005 * (it * 7 % 5) as f64))).collect()
    }

    #[test]
    fn a_firmware_that_takes_a_fifth_is_claimed_after_its_first_boot_and_after_many() {
        for n_after in [1, 2, 3, 8] {
            let list = [steady("2.1", 6, 100.0), steady("2.3", n_after, 81.0)].concat();
            assert_eq!(told(&list), [format!("BIOS 2.1 -> 2.3, 6 and {n_after}: -19 %")]);
        }
    }

    #[test]
    fn one_that_takes_nothing_is_the_same_once_three_boots_tell() {
        let list = [steady("2.1", 8, 100.0), steady("2.3", 8, 100.0)].concat();
        assert_eq!(told(&list), ["BIOS 2.1 -> 2.3, 8 and 8: same within 0.01"]);
    }

    #[test]
    fn of_two_boots_nothing_is_said_but_how_many_it_takes() {
        let list = [("2.1", 100.0), ("2.3", 50.0)];
        assert_eq!(told(&list), ["BIOS 2.1 -> 2.3, 1 and 1: 1 of 3"]);
        let list = [("2.1", 100.0), ("2.1", 100.1), ("2.3", 50.0)];
        assert_eq!(told(&list), ["BIOS 2.1 -> 2.3, 2 and 1: 2 of 3"]);
    }

    #[test]
    fn a_fall_that_nothing_recorded_explains_has_no_settings() {
        let list = [steady("2.1", 6, 100.0), steady("2.1", 2, 50.0)].concat();
        assert_eq!(told(&list), ["nothing that is recorded, 6 and 2: -50 %"]);
    }

    /// What boots of one firmware differ by holds for the next.
    #[test]
    fn a_machine_that_is_updated_at_every_second_boot_has_a_spread_too() {
        let of = |bios, level: f64| [(bios, level), (bios, level * 1.001)];
        let list = [of("1", 100.0), of("2", 100.1), of("3", 70.0)].concat();
        assert!(told(&list)[1].ends_with("2 and 2: -30 %"), "{:?}", told(&list));
    }

    #[test]
    fn the_boots_of_two_periods_with_one_in_between_that_was_too_busy_are_compared() {
        use super::super::fixture::{machine, moment};
        let mut history = history(&steady("2.1", 4, 100.0));
        let busy = crate::known::Known::missing("34 % busy");
        history.add(moment(5), &machine("2.2"), busy).unwrap();
        for it in 6..9 {
            let made = super::super::fixture::made(80.0 + 0.01 * f64::from(it));
            history.add(moment(it), &machine("2.3"), made).unwrap();
        }
        let boots = boots(&history.entries);
        let periods = periods(&boots);
        let found = changes(&boots, &periods, |_| true, comparisons(2));
        assert!(found[0].parts.is_empty() && found[0].n_after == 0);
        assert_eq!(facts::baseline::listed(&found[1].changed), "BIOS 2.1 -> 2.3");
        assert!(found[1].parts.iter().all(Judged::is_slower));
    }
}
