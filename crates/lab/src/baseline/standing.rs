//! What audits and metrics are told: the speed of the last boot, and the changes that made it slower.

use super::boots::{Boot, boots};
use super::changes::{Change, Judged, changes, comparisons, count_of};
use super::history::History;
use super::periods::{Period, periods};
use crate::verdict::Verdict;
use facts::baseline::{Part, PartChange, PartRatio, Slower, Standing, UNKNOWN, VERSION};

/// So many of the last changes are looked at.
const MOST_CHANGES: usize = 20;

/// So many settings are named: an update of a kernel changes many.
const MOST_SETTINGS: usize = 12;

/// How a machine stands after the last boot that has a speed; `None` where none has.
pub fn standing(history: &History) -> Option<Standing> {
    let boots = boots(&history.entries);
    let last = boots.iter().rposition(Boot::has_speed)?;
    let boots = &boots[..=last];
    let periods = periods(boots);
    let from = periods.len().saturating_sub(MOST_CHANGES).max(1);
    let first = periods.get(from).map_or(boots.len(), |it| it.first);
    let is_wanted = |place: usize| place >= first;
    let n = comparisons(count_of(&periods, is_wanted));
    let found = changes(boots, &periods, is_wanted, n);
    let responsible = Part::ALL.map(|part| (part, responsible(boots, &periods, &found, part)));
    let slower = (0..found.len()).rev().filter_map(|at| {
        let of = responsible.iter().filter(|it| it.1 == Some(at));
        slower_by(&found[at], of.map(|it| it.0))
    });
    let ratios = responsible.iter().filter_map(|(part, at)| {
        let change = at.map(|at| &found[at]);
        ratio(boots, &periods, change, *part)
    });
    let record = &boots[last].last().record;
    Some(Standing {
        version: VERSION,
        boot: record.boot.clone(),
        at: if record.taken_ns().is_some() { record.at.clone() } else { UNKNOWN.to_owned() },
        n_boots: boots.iter().filter(|it| it.has_speed()).count(),
        ratios: ratios.collect(),
        slower: slower.collect(),
    })
}

/// The last change that made a part slower, unless half of that was made up for since.
fn responsible(
    boots: &[Boot<'_>],
    periods: &[Period],
    changes: &[Change<'_>],
    part: Part,
) -> Option<usize> {
    let judged = |it: &Change<'_>| it.parts.iter().find(|it| it.part == part).copied();
    let at = changes.iter().rposition(|it| judged(it).is_some_and(|it| it.is_slower()))?;
    let judged = judged(&changes[at])?;
    let now = typical(boots, periods.last()?, part)?;
    let since = part.speed(now / judged.before).ln();
    (since <= judged.log_speed() / 2.0).then_some(at)
}

/// The value in the middle of a period.
fn typical(boots: &[Boot<'_>], period: &Period, part: Part) -> Option<f64> {
    middle(period.boots.iter().filter_map(|it| boots[*it].typical(part)).collect())
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn slower_by(change: &Change<'_>, parts: impl Iterator<Item = Part>) -> Option<Slower> {
    let of = |part: Part| {
        let judged = change.parts.iter().find(|it| it.part == part)?;
        part_change(judged)
    };
    let parts: Vec<PartChange> = parts.filter_map(of).collect();
    let first = &change.after.first().record;
    let mut changed = change.changed.clone();
    changed.sort_by_key(|it| (facts::baseline::rank(&it.name), it.name.clone()));
    changed.truncate(MOST_SETTINGS);
    (!parts.is_empty()).then(|| Slower {
        since: first.day().unwrap_or_else(|| UNKNOWN.to_owned()),
        number: first.number,
        n_before: change.n_before,
        n_after: change.n_after,
        changed,
        parts,
    })
}

fn part_change(judged: &Judged) -> Option<PartChange> {
    let Verdict::Claimed(ratio) = judged.verdict else { return None };
    let (change, interval) = ratio.change();
    Some(PartChange {
        part: judged.part,
        change,
        low: interval.low,
        high: interval.high,
        confidence: ratio.confidence,
        decimals: ratio.decimals(),
    })
}

/// The last boot over what was typical before the change that made it slower; else over the other boots of its period, or of the one
/// before where it is the only one.
fn ratio(
    boots: &[Boot<'_>],
    periods: &[Period],
    slower: Option<&Change<'_>>,
    part: Part,
) -> Option<PartRatio> {
    let now = boots.last()?.typical(part)?;
    let before = match slower {
        Some(change) => change.parts.iter().find(|it| it.part == part)?.before,
        None => {
            let last = boots.len() - 1;
            let others = |period: &Period| {
                let others = period.boots.iter().filter(|it| **it != last);
                middle(others.filter_map(|it| boots[*it].typical(part)).collect())
            };
            periods.iter().rev().find_map(others)?
        }
    };
    Some(PartRatio { part, ratio: part.speed(now / before) })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::history;
    use super::*;

    fn steady(bios: &'static str, n: usize, level: f64) -> Vec<(&'static str, f64)> {
        (0..n).map(|it| (bios, level * (1.0 + 0.0005 * (it * 7 % 5) as f64))).collect()
    }

    fn of(lists: &[Vec<(&str, f64)>]) -> Standing {
        standing(&history(&lists.concat())).unwrap()
    }

    #[test]
    fn a_loss_stays_the_firmwares_whatever_is_updated_later() {
        let old = steady("2.1", 6, 100.0);
        let found = of(&[old.clone(), steady("2.3", 4, 81.0), steady("2.4", 4, 81.1)]);
        let [slower] = &found.slower[..] else { panic!("{found:?}") };
        assert_eq!((slower.number, &*slower.since, slower.n_before), (7, "2026-05-07", 6));
        assert_eq!(facts::baseline::listed(&slower.changed), "BIOS 2.1 -> 2.3");
        assert_eq!(slower.parts.len(), 4);
        assert!(found.ratios.iter().all(|it| (0.80..0.82).contains(&it.ratio)), "{found:?}");
        let mended = of(&[old, steady("2.3", 4, 81.0), steady("2.4", 4, 100.0)]);
        assert!(mended.slower.is_empty(), "{mended:?}");
        assert!(mended.ratios.iter().all(|it| (0.99..1.01).contains(&it.ratio)), "{mended:?}");
    }

    #[test]
    fn a_fall_in_the_last_boot_alone_is_told() {
        let found = of(&[steady("2.1", 6, 100.0), steady("2.1", 1, 50.0)]);
        assert!(found.slower[0].changed.is_empty() && found.slower[0].n_after == 1, "{found:?}");
    }

    #[test]
    fn without_a_loss_nothing_is_slower_and_of_one_boot_there_is_no_ratio() {
        let found = of(&[steady("2.1", 40, 100.0)]);
        assert_eq!((found.slower.len(), found.n_boots, found.ratios.len()), (0, 40, 4));
        let found = of(&[steady("2.1", 1, 100.0)]);
        assert!(found.ratios.is_empty() && found.slower.is_empty());
        assert_eq!(standing(&History::default()), None);
    }
}
