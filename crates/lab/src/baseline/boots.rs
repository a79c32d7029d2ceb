//! The boots of a history: the baselines of each, taken together.

use super::history::Entry;
use super::machines::known_differences;
use super::record::rounded;
use crate::record::{Fingerprint, SettingDifference};
use crate::stats::{Sample, trimmed_mean};
use facts::baseline::{Changed, Part};
use std::collections::BTreeMap;

/// The baselines of one boot that were taken with the same settings.
#[derive(Clone, Debug)]
pub struct Boot<'a> {
    /// In the order in which they were taken; at least one.
    entries: Vec<&'a Entry>,
    runs: BTreeMap<Part, Run>,
}

/// What was measured of one part: logarithms of its values.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Every trial, in order.
    pub(super) trials: Sample,
    /// The middle: the mean of those of the baselines.
    pub(super) middle: f64,
}

/// The boots of these entries, in their order. A boot in which settings were changed counts for each of them.
pub fn boots(entries: &[Entry]) -> Vec<Boot<'_>> {
    let mut boots: Vec<Vec<&Entry>> = Vec::new();
    for entry in entries {
        let is_more = |it: &&mut Vec<&Entry>| {
            let same = |one: &&Entry| one.record.boot == entry.record.boot && are_alike(one, entry);
            it.last().is_some_and(same)
        };
        match boots.last_mut().filter(is_more) {
            Some(boot) => boot.push(entry),
            None => boots.push(vec![entry]),
        }
    }
    boots.into_iter().map(Boot::of).collect()
}

impl<'a> Boot<'a> {
    fn of(entries: Vec<&'a Entry>) -> Boot<'a> {
        let runs = Part::ALL.into_iter().filter_map(|it| Some((it, run(&entries, it)?)));
        Boot { runs: runs.collect(), entries }
    }

    /// Its baselines, in order.
    pub fn entries(&self) -> &[&'a Entry] {
        &self.entries
    }

    /// The first of its baselines.
    pub fn first(&self) -> &'a Entry {
        self.entries[0]
    }

    /// The last of its baselines.
    pub fn last(&self) -> &'a Entry {
        self.entries[self.entries.len() - 1]
    }

    /// The settings that the machine had; `None` where they are lost.
    pub fn settings(&self) -> Option<&'a Fingerprint> {
        self.last().settings.as_deref()
    }

    /// The typical value of a part, in its unit and with the digits that are kept.
    pub fn typical(&self, part: Part) -> Option<f64> {
        self.run(part).map(|it| rounded(it.middle.exp()))
    }

    /// Whether any part has a speed.
    pub fn has_speed(&self) -> bool {
        !self.runs.is_empty()
    }

    pub(super) fn run(&self, part: Part) -> Option<&Run> {
        self.runs.get(&part)
    }

    /// The settings that are known to differ from those of an earlier boot.
    pub fn changed_since(&self, earlier: &Boot<'_>) -> Vec<Changed> {
        let changed = |it: SettingDifference| Changed { name: it.name, before: it.a, after: it.b };
        differences(earlier.last(), self.first()).into_iter().map(changed).collect()
    }

    /// Whether none is, and the settings of both are known.
    pub(super) fn is_like(&self, earlier: &Boot<'_>) -> bool {
        are_alike(earlier.last(), self.first())
    }
}

fn are_alike(a: &Entry, b: &Entry) -> bool {
    let is_same = a.record.machine == b.record.machine;
    is_same || (a.settings.is_some() && b.settings.is_some() && differences(a, b).is_empty())
}

fn differences(a: &Entry, b: &Entry) -> Vec<SettingDifference> {
    match (&a.settings, &b.settings) {
        (Some(a), Some(b)) => known_differences(a, b),
        _ => Vec::new(),
    }
}

fn run(entries: &[&Entry], part: Part) -> Option<Run> {
    let logs = |entry: &&Entry| {
        let values = entry.record.trials(part).iter();
        Sample::new(values.map(|it| it.ln()).collect()).ok()
    };
    let samples: Vec<Sample> = entries.iter().filter_map(logs).collect();
    let all = samples.iter().flat_map(|it| it.in_order().iter().copied()).collect();
    let middle = samples.iter().map(trimmed_mean).sum::<f64>() / samples.len() as f64;
    Some(Run { trials: Sample::new(all).ok()?, middle })
}

impl Entry {
    /// A typical trial of a part; `None` where it was not measured.
    pub fn typical(&self, part: Part) -> Option<f64> {
        boots(std::slice::from_ref(self)).first()?.typical(part)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{machine, made, moment};
    use super::super::history::{History, Moment};
    use super::*;
    use crate::known::Known;

    fn history(baselines: &[(u32, &str, f64)]) -> History {
        let mut history = History::default();
        for (boot, bios, speed) in baselines {
            history.add(moment(*boot), &machine(bios), made(*speed)).unwrap();
        }
        history
    }

    #[test]
    fn baselines_of_one_boot_are_one_run_unless_settings_changed_between_them() {
        let history =
            history(&[(1, "2.1", 100.0), (1, "2.1", 110.0), (1, "2.3", 50.0), (2, "2.3", 50.0)]);
        let boots = boots(&history.entries);
        let sizes: Vec<usize> = boots.iter().map(|it| it.entries().len()).collect();
        assert_eq!(sizes, [2, 1, 1]);
        let typical = boots[0].typical(Part::SingleCore).unwrap();
        assert!((104.0..106.0).contains(&typical), "{typical}");
        assert_eq!(boots[0].run(Part::Memory).unwrap().trials.len(), 16);
        assert!(boots[2].is_like(&boots[1]) && !boots[1].is_like(&boots[0]));
        let changed = boots[1].changed_since(&boots[0]);
        assert_eq!((changed.len(), changed[0].after.as_deref()), (1, Some("2.3")));
    }

    #[test]
    fn a_boot_that_was_too_busy_has_no_speed_and_lost_settings_are_like_no_others() {
        let mut history = history(&[(1, "2.1", 100.0)]);
        let busy = Known::missing("34 % busy");
        history.add(Moment { up_s: 1, ..moment(2) }, &machine("2.1"), busy).unwrap();
        history.add(moment(3), &machine("2.4"), made(1.0)).unwrap();
        history.entries[2].settings = None;
        let boots = boots(&history.entries);
        assert!(!boots[1].has_speed() && boots[1].typical(Part::Memory).is_none());
        assert!(boots[1].is_like(&boots[0]) && !boots[2].is_like(&boots[1]));
        assert!(boots[2].settings().is_none() && boots[2].changed_since(&boots[1]).is_empty());
    }
}
