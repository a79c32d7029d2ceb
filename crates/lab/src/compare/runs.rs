//! Several results of each of two things: every result is one run, and what differs from run to run is in the interval.

use super::designs::{clock_share, ratio_of, sign_of};
use super::{Close, Design, Difference, Measure, Side, Terms};
use crate::doubt::{Doubt, Raised};
use crate::known::Known;
use crate::record::{Fingerprint, setting_differences};
use crate::stats::{LEAST_RUNS, Sample};
use crate::verdict::{self, Verdict, confidence};
use std::collections::{BTreeMap, BTreeSet};

/// One run of a thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What the user calls its result.
    pub name: String,
    /// How many trials it has.
    pub trials: usize,
    /// The middle of its trials, in the unit of the main result: the trimmed mean of their logarithms. `None` where a trial has no
    /// result.
    pub middle: Option<f64>,
}

/// Compares runs of one thing with runs of another by the middles of their trials.
pub fn of_runs(a: &[Side<'_>], b: &[Side<'_>], terms: &Terms) -> Difference {
    let sign = a.first().map_or(1.0, |it| sign_of(it.record));
    let judged = |measure, sign: f64, margin| {
        let of = |sides: &[Side<'_>]| {
            let middles = sides.iter().map(|it| Some(sign * it.middle(measure)?));
            Sample::new(middles.collect::<Option<_>>()?).ok()
        };
        Some(verdict::of_runs(&of(a)?, &of(b)?, confidence(terms.comparisons), margin))
    };
    let ratio = |measure, sign| match judged(measure, sign, None) {
        Some(verdict) => ratio_of(&verdict),
        None => Known::missing("a trial lacks it"),
    };
    let nothing = Verdict::TooFew { have: 0, needed: LEAST_RUNS, so_far: None };
    let verdict = judged(Measure::Figure, sign, terms.margin).unwrap_or(nothing);
    let cycles = ratio(Measure::FigureCycles, sign);
    Difference {
        design: Design::Runs(a.len(), b.len()),
        n: a.len().min(b.len()),
        raced: None,
        allowance: None,
        close: Close::of(&verdict, None, terms.margin),
        planning: None,
        clock: clock_share(&verdict, &cycles, &ratio(Measure::Clock, -1.0)),
        slow_trials: None,
        cpu_time: ratio(Measure::CpuTime, 1.0),
        cycles,
        verdict,
        settings: setting_differences(&machines(a), &machines(b)),
    }
}

/// Each run with the middle of its trials.
pub(crate) fn runs(sides: &[Side<'_>]) -> Vec<Run> {
    let of = |side: &Side<'_>| {
        let sign = sign_of(side.record);
        Run {
            name: side.name.to_owned(),
            trials: side.trials().count(),
            middle: side.middle(Measure::Figure).map(|it| (sign * it).exp()),
        }
    };
    sides.iter().map(of).collect()
}

/// The machines of several runs as one: a setting that is not the same in all has all its values.
fn machines(sides: &[Side<'_>]) -> Fingerprint {
    let mut values: BTreeMap<&String, BTreeSet<&str>> = BTreeMap::new();
    let machines = || sides.iter().map(|it| it.record.machine_of(it.arm));
    for name in machines().flat_map(|it| it.0.keys()) {
        let of = machines().map(|it| it.0.get(name).map_or("not recorded", String::as_str));
        values.entry(name).or_insert_with(|| of.collect());
    }
    let joined = |it: BTreeSet<&str>| it.into_iter().collect::<Vec<_>>().join(" or ");
    Fingerprint(values.into_iter().map(|(name, it)| (name.clone(), joined(it))).collect())
}

/// What makes any of these runs doubtful; what makes all of them so in the same way, once.
pub(crate) fn doubts_of_runs(a: &[Side<'_>], b: &[Side<'_>]) -> Vec<Raised> {
    let of_each: Vec<(&str, Vec<Doubt>)> =
        a.iter().chain(b).map(|it| (it.name, it.doubts())).collect();
    let is_shared = |doubt: &Doubt| of_each.iter().all(|(_, doubts)| doubts.contains(doubt));
    let first = of_each.first().into_iter().flat_map(|it| &it.1);
    let shared = first.filter(|it| is_shared(it)).cloned().map(Raised::from);
    let own = of_each.iter().flat_map(|(name, doubts)| {
        let own = doubts.iter().filter(|it| !is_shared(it)).cloned();
        own.map(|it| Raised::by(name, it)).collect::<Vec<_>>()
    });
    shared.chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::moment;
    use crate::record::Record;
    use crate::trial::Better;

    fn compared(a: &[Record], b: &[Record], terms: &Terms) -> Difference {
        let [a, b] = [a, b].map(sides);
        of_runs(&a, &b, terms)
    }

    fn sides(records: &[Record]) -> Vec<Side<'_>> {
        records.iter().map(|record| Side { name: "a run", record, arm: 0 }).collect()
    }

    fn of(seconds: [f64; 3]) -> Vec<Record> {
        seconds.map(|it| moment(it, 2e9, 0.0001)).to_vec()
    }

    /// Runs of the same thing that lie 1 % apart: trials are many and say nothing of it.
    #[test]
    fn what_differs_from_run_to_run_is_in_the_interval() {
        let (a, b) = (of([1.0, 1.01, 1.02]), of([1.02, 1.03, 1.04]));
        let found = compared(&a, &b, &Terms::of(1));
        assert!(matches!(found.verdict, Verdict::NotShown(_)), "{found:?}");
        assert_eq!((found.design, found.n), (Design::Runs(3, 3), 3));
        let twice = compared(&a, &of([2.02, 2.03, 2.04]), &Terms::of(1));
        assert!(twice.verdict.is_claimed() && twice.allowance.is_none(), "{twice:?}");
        let asked = Terms { margin: Some(0.1), ..Terms::of(1) };
        let same = compared(&a, &of([1.0, 1.01, 1.02]), &asked);
        assert!(matches!(same.verdict, Verdict::Same { .. }), "{same:?}");
        assert_eq!(same.close.unwrap().is, verdict::Closeness::Within);
    }

    #[test]
    fn a_rate_of_runs_is_a_rate_and_its_middle_is_in_its_unit() {
        let mut records = of([400.0, 402.0, 404.0]);
        for trial in records.iter_mut().flat_map(|it| &mut it.trials) {
            trial.outcome.figures.edit(|it| it[0].better = Better::Higher);
        }
        let middles: Vec<f64> =
            runs(&sides(&records)).iter().map(|it| it.middle.unwrap()).collect();
        assert!((middles[0] - 400.0).abs() < 0.1 && (middles[2] - 404.0).abs() < 0.1);
        let mut fewer = records.clone();
        for trial in fewer.iter_mut().flat_map(|it| &mut it.trials) {
            trial.outcome.figures.edit(|it| it[0].value /= 2.0);
        }
        let (times, _) = compared(&records, &fewer, &Terms::of(1)).verdict.ratio().unwrap().times();
        assert!((times - 0.5).abs() < 1e-6, "{times}");
    }

    #[test]
    fn a_run_without_a_result_says_nothing_and_is_no_less_a_run() {
        let (mut a, b) = (of([1.0, 1.0, 1.0]), of([2.0, 2.0, 2.0]));
        a[1].trials.clear();
        let found = compared(&a, &b, &Terms::of(1));
        assert_eq!(found.verdict, Verdict::TooFew { have: 0, needed: 3, so_far: None });
        assert_eq!(runs(&sides(&a))[1].middle, None);
    }

    #[test]
    fn settings_that_vary_among_the_runs_are_named_with_all_their_values() {
        let with = |governors: [&str; 3]| {
            governors.map(|governor| {
                let mut record = moment(1.0, 2e9, 0.001);
                record.machine.0.insert("governor".to_owned(), governor.to_owned());
                record
            })
        };
        let found = compared(&with(["a", "a", "b"]), &with(["b", "b", "b"]), &Terms::of(1));
        let [setting] = &found.settings[..] else { panic!("{:?}", found.settings) };
        assert_eq!(setting.a.as_deref(), Some("a or b"));
        assert_eq!(setting.b.as_deref(), Some("b"));
    }

    #[test]
    fn a_doubt_of_all_runs_is_told_once_and_one_of_a_single_run_with_its_name() {
        let mut records = of([1.0, 1.0, 1.0]);
        for record in &mut records {
            record.doubts = vec![Doubt::Unpinned.into()];
        }
        records[2].doubts.push(Doubt::CutShort.into());
        let names = ["x", "y", "z"];
        let sides: Vec<Side<'_>> = names
            .iter()
            .zip(&records)
            .map(|(name, record)| Side { name, record, arm: 0 })
            .collect();
        let found = doubts_of_runs(&sides[..1], &sides[1..]);
        assert_eq!(found, [Doubt::Unpinned.into(), Raised::by("z", Doubt::CutShort)]);
    }
}
