//! Which arms of which records are compared, and the result for each pair.

mod each;

pub use each::{of_each, sides_of_each};

use crate::compare::{
    Difference, EarlierRuns, Measure, Run, Side, Terms, against, doubts_of_runs, interleaved,
    separate,
};
use crate::doubt::Raised;
use crate::record::Record;
use crate::server_log::LogWork;
use crate::stats::{LEAST_RUNS, Sample, median};
use crate::trial::Better;
use crate::verdict::{Verdict, confidence};
use facts::quantity::counted;
use std::collections::BTreeSet;

/// Two arms and what can be said of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What the first arm is called.
    pub a: String,
    /// What the other one is called.
    pub b: String,
    /// What the main result is called.
    pub figure: String,
    /// What it is counted in.
    pub unit: String,
    /// Which way of it is faster.
    pub better: Better,
    /// What can be said.
    pub difference: Difference,
    /// The runs of A and those of B, where there are several results of each.
    pub runs: Option<[Vec<Run>; 2]>,
    /// What the trials of A and those of B took of a server's log, where both have that.
    pub log: Option<[LogWork; 2]>,
    /// Everything that makes either doubtful.
    pub doubts: Vec<Raised>,
}

/// An arm among several.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// What it is called.
    pub arm: String,
    /// The main result's median.
    pub median: f64,
    /// The arm against the one whose median is the middle of all, block by block; `None` of that one. All such intervals of a record
    /// hold together.
    pub against_middle: Option<Verdict>,
}

/// Why results are not compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    /// None was given.
    #[error("there is no result")]
    None,
    /// One with a single arm was given.
    #[error("{0} has one variant; give a second result to compare it with")]
    OneArm(String),
    /// They have different results.
    #[error("{0}")]
    Different(String),
    /// Of several results of each there are too few: so many of A, and of B.
    #[error(
        "{} of A and {} of B: it takes {LEAST_RUNS} or more of each, or one of each",
        counted(*.0 as u64, "result"), .1
    )]
    TooFewRuns(usize, usize),
    /// A question that a race has no answer to.
    #[error(
        "a race is not asked whether its nodes are within a margin: --same is for results of `fullclock bench`"
    )]
    Race,
}

/// The arms that are compared: those of one record, or the first arm of each of several. `given` is what the user calls each
/// record.
///
/// Two records are called A and B, more by their ids; by `given` where ids are not unique, as those of machines that began in
/// the same second.
pub fn sides<'a>(records: &'a [Record], given: &'a [String]) -> Vec<Side<'a>> {
    let first_arm = |name, record| Side { name, record, arm: 0 };
    match records {
        [one] => {
            let arms = one.arms.iter().enumerate();
            arms.map(|(arm, it)| Side { name: &it.name, record: one, arm }).collect()
        }
        [a, b] => vec![first_arm("A", a), first_arm("B", b)],
        several => {
            let ids: BTreeSet<&str> = several.iter().map(|it| it.id.as_str()).collect();
            let are_unique = ids.len() == several.len();
            let each = several.iter().zip(given);
            each.map(|(it, given)| first_arm(if are_unique { &it.id } else { given }, it)).collect()
        }
    }
}

/// Compares the first of these sides with each other one, as [`within`] and [`between`] do. `given` is what the user calls each
/// record; `earlier` has the earlier runs of the sides, and `margin` is how small a difference is asked to be.
///
/// Errors: there is nothing to compare, or two records have different figures.
pub fn compared(
    records: &[Record],
    sides: &[Side<'_>],
    given: &[String],
    earlier: &EarlierRuns<'_>,
    margin: Option<f64>,
) -> Result<Vec<Comparison>, Incomparable> {
    let (first, others) = sides.split_first().ok_or(Incomparable::None)?;
    if let [one] = records {
        if others.is_empty() {
            return Err(Incomparable::OneArm(given[0].clone()));
        }
        if margin.is_some() && one.is_race() {
            return Err(Incomparable::Race);
        }
        return within_margin(one, margin).map_err(Incomparable::Different);
    }
    let comparisons = others.len();
    let pair = |at: usize| {
        let (a, b) = (&given[0], &given[at]);
        let between_runs = earlier.between(0, at, confidence(comparisons));
        between(*first, sides[at], &Terms { comparisons, margin, between_runs })
            .map_err(|why| Incomparable::Different(format!("{a} and {b}: {why}")))
    };
    (1..sides.len()).map(pair).collect()
}

/// Compares every arm of one record with its first one.
///
/// Errors: the arms have different results, in words.
pub fn within(record: &Record) -> Result<Vec<Comparison>, String> {
    within_margin(record, None)
}

/// The same, and whether the difference is as small as `margin`, a share.
///
/// Errors: as [`within`].
pub fn within_margin(record: &Record, margin: Option<f64>) -> Result<Vec<Comparison>, String> {
    let terms = Terms { margin, ..Terms::of(record.arms.len().saturating_sub(1)) };
    let side = |arm: usize| Side { name: &record.arms[arm].name, record, arm };
    let pair = |b: usize| {
        let difference = interleaved(record, (0, b), &terms);
        Comparison::of(side(0), side(b), difference, record.doubts_about(&[0, b]))
    };
    (1..record.arms.len()).map(pair).collect()
}

/// Compares arms of two records.
///
/// Errors: they have different results, in words.
pub fn between(a: Side<'_>, b: Side<'_>, terms: &Terms) -> Result<Comparison, String> {
    Comparison::of(a, b, separate(a, b, terms), doubts_of_runs(&[a], &[b]))
}

impl Comparison {
    fn of(
        a: Side<'_>,
        b: Side<'_>,
        difference: Difference,
        doubts: Vec<Raised>,
    ) -> Result<Comparison, String> {
        let (figure, unit, better) = same_shape(a, b)?.unwrap_or_default();
        Ok(Comparison {
            a: a.name.to_owned(),
            b: b.name.to_owned(),
            figure: figure.to_owned(),
            unit: unit.to_owned(),
            better,
            difference,
            runs: None,
            log: a.record.log_work(a.arm).zip(b.record.log_work(b.arm)).map(Into::into),
            doubts,
        })
    }
}

/// What the main result of both arms is; `None` where neither has one.
///
/// Errors: they have different ones, in words.
fn same_shape<'a>(a: Side<'a>, b: Side<'a>) -> Result<Option<(&'a str, &'a str, Better)>, String> {
    let (of_a, of_b) = (a.shape(), b.shape());
    if let (Some((name_a, unit_a, _)), Some((name_b, unit_b, _))) = (of_a, of_b)
        && of_a != of_b
    {
        let (a, b) = (a.name, b.name);
        return Err(format!(
            "there is nothing to compare: {a} measures {name_a} ({unit_a}), {b} measures {name_b} ({unit_b})"
        ));
    }
    Ok(of_a.or(of_b))
}

/// The arms of a record, the fastest first, each judged against the one in the middle: where one is slow, all others are like
/// each other, and are not called faster.
pub fn ranking(record: &Record) -> Vec<Ranked> {
    let mut arms: Vec<(usize, f64)> =
        (0..record.arms.len()).filter_map(|arm| Some((arm, slowness(record, arm)?))).collect();
    arms.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some((middle, _)) = arms.get(arms.len().saturating_sub(1) / 2).copied() else {
        return Vec::new();
    };
    let n_others = arms.len().saturating_sub(1);
    let ranked = |(arm, _): &(usize, f64)| Ranked {
        arm: record.arms[*arm].name.clone(),
        median: median_of(record, *arm),
        against_middle: (*arm != middle).then(|| against(record, (middle, *arm), n_others)),
    };
    arms.iter().map(ranked).collect()
}

/// The median of the logarithms of slowness.
fn slowness(record: &Record, arm: usize) -> Option<f64> {
    let trials = record.trials.iter().filter(|it| it.arm == arm);
    Some(median(&Sample::new(trials.filter_map(|it| Measure::Figure.of(it)).collect()).ok()?))
}

fn median_of(record: &Record, arm: usize) -> f64 {
    let trials = record.trials.iter().filter(|it| it.arm == arm);
    let values = trials.filter_map(|it| Some(it.outcome.figures.first()?.value)).collect();
    Sample::new(values).map_or(0.0, |it| median(&it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::{blocks, moment, record};

    #[test]
    fn a_comparison_names_the_main_result_and_takes_the_clock_out() {
        let found = within(&record(blocks((1.0, 2e9), (1.01, 2e9), 0.001))).unwrap();
        let cycles = found[0].difference.cycles.value().unwrap();
        assert!((cycles.change().0 - 0.01).abs() < 0.001, "{cycles:?}");
        assert_eq!((&*found[0].figure, &*found[0].unit), ("elapsed", "s"));
    }

    #[test]
    fn arms_of_one_record_with_different_results_are_refused() {
        let mut record = record(blocks((1.0, 2e9), (1.0, 2e9), 0.001));
        for trial in record.trials.iter_mut().filter(|it| it.arm == 1) {
            trial.outcome.figures.edit(|it| {
                "latency".clone_into(&mut it[0].name);
                "ns".clone_into(&mut it[0].unit);
            });
        }
        assert_eq!(
            within(&record).unwrap_err(),
            "there is nothing to compare: arm 0 measures elapsed (s), arm 1 measures latency (ns)"
        );
    }

    #[test]
    fn two_records_of_different_figures_are_not_compared() {
        let (a, mut b) = (moment(1.0, 2e9, 0.001), moment(1.0, 2e9, 0.001));
        let compared = |a: &Record, b: &Record| {
            let side = |name, record| Side { name, record, arm: 0 };
            between(side("A", a), side("B", b), &Terms::of(1))
        };
        assert!(compared(&a, &b).is_ok());
        b.trials[0].outcome.figures.edit(|it| it[0].name = "tps".to_owned());
        assert!(compared(&a, &b).unwrap_err().contains("tps"));
    }

    #[test]
    fn arms_of_one_record_are_sides_or_the_first_arms_of_several() {
        let given = ["1.json", "2.json", "3.json"].map(str::to_owned);
        let names = |records: &[Record]| -> Vec<String> {
            sides(records, &given).iter().map(|it| it.name.to_owned()).collect()
        };
        let two_arms = record(blocks((1.0, 2e9), (1.01, 2e9), 0.001));
        assert_eq!(names(std::slice::from_ref(&two_arms)), ["arm 0", "arm 1"]);
        let moments: Vec<Record> = ["x", "y", "z"]
            .map(|id| Record { id: id.to_owned(), ..moment(1.0, 2e9, 0.001) })
            .into();
        assert_eq!(names(&moments[..2]), ["A", "B"]);
        assert_eq!(names(&moments), ["x", "y", "z"]);
        let same: Vec<Record> =
            moments.iter().map(|it| Record { id: "x".to_owned(), ..it.clone() }).collect();
        assert_eq!(names(&same), given);
        assert!(sides(&[two_arms.clone(), two_arms], &given).iter().all(|it| it.arm == 0));
    }

    #[test]
    fn the_first_side_is_compared_with_each_other_one_and_an_error_names_the_two_records() {
        let given = ["1.json", "2.json", "3.json"].map(str::to_owned);
        let compared = |records: &[Record]| {
            let sides = sides(records, &given);
            let found = compared(records, &sides, &given, &EarlierRuns::of(&sides), None);
            found.map(|it| it.len()).map_err(|it| it.to_string())
        };
        let one = moment(1.0, 2e9, 0.001);
        let mut other = one.clone();
        other.trials[0].outcome.figures.edit(|it| it[0].name = "tps".to_owned());
        assert_eq!(compared(&[record(blocks((1.0, 2e9), (1.01, 2e9), 0.001))]), Ok(1));
        assert_eq!(compared(&[one.clone(), one.clone()]), Ok(1));
        assert_eq!(compared(&[one.clone(), one.clone(), one.clone()]), Ok(2));
        let only_arm = "1.json has one variant; give a second result to compare it with";
        assert_eq!(compared(std::slice::from_ref(&one)).unwrap_err(), only_arm);
        assert_eq!(compared(&[]).unwrap_err(), "there is no result");
        let different = compared(&[one.clone(), one, other]).unwrap_err();
        assert!(
            different.starts_with("1.json and 3.json: there is nothing to compare: "),
            "{different}"
        );
    }

    #[test]
    fn each_of_several_comparisons_pays_for_all() {
        let given = ["1.json", "2.json", "3.json"].map(str::to_owned);
        let confidences = |records: &[Record]| -> Vec<f64> {
            let sides = sides(records, &given);
            let earlier = EarlierRuns::of(&sides);
            let found = compared(records, &sides, &given, &earlier, None).unwrap();
            found.iter().map(|it| it.difference.verdict.ratio().unwrap().confidence).collect()
        };
        let one = || moment(1.0, 2e9, 0.001);
        assert_eq!(confidences(&[one(), one()]), [0.99]);
        assert_eq!(confidences(&[one(), one(), one()]), [0.995, 0.995]);
    }

    #[test]
    fn a_margin_is_asked_of_trials_and_not_of_a_race() {
        let given = ["1.json".to_owned()];
        let asked = |record: &Record| {
            let records = std::slice::from_ref(record);
            let sides = sides(records, &given);
            let earlier = EarlierRuns::of(&sides);
            compared(records, &sides, &given, &earlier, Some(0.01)).map(|mut it| it.remove(0))
        };
        let mut alike = record(blocks((1.0, 2e9), (1.0, 2e9), 0.001));
        let found = asked(&alike).unwrap().difference;
        assert!(matches!(found.verdict, Verdict::Same { margin: 0.01, .. }), "{found:?}");
        alike.id = "20261120T154305Z-race".to_owned();
        assert_eq!(asked(&alike), Err(Incomparable::Race));
    }

    #[test]
    fn a_doubt_is_that_of_the_side_that_raises_it() {
        let (a, mut b) = (moment(1.0, 2e9, 0.001), moment(1.0, 2e9, 0.001));
        b.trials.truncate(4);
        b.arms[0].cpus = None;
        b.doubts.extend(crate::doubts::of(&b));
        let side = |name, record| Side { name, record, arm: 0 };
        let words = |doubts: &[Raised]| serde_json::to_string(doubts).unwrap();
        let found = between(side("A", &a), side("B", &b), &Terms::of(1)).unwrap();
        let few = r#"{"arm":"B","doubt":"too-few-trials","trials":4,"needed":5}"#;
        assert_eq!(words(&found.doubts), format!(r#"[{few},{{"arm":"B","doubt":"unpinned"}}]"#));
        let few = Verdict::TooFew { have: 4, needed: 5, so_far: None };
        assert_eq!(found.difference.verdict, few);
        let found = between(side("A", &b), side("B", &b), &Terms::of(1)).unwrap();
        assert!(found.doubts.iter().all(|it| it.arm.is_none()), "{:?}", found.doubts);
    }

    #[test]
    fn the_arm_that_is_slow_is_last_and_the_others_are_not_fast() {
        let order = [0, 1, 2, 2, 1, 0];
        let seconds = |arm: usize| if arm == 1 { 10.0 } else { 1.0 };
        let trial = |at: usize| {
            let arm = order[at % 6];
            let noise = 1.0 + (at * 5 % 7) as f64 / 1e4;
            crate::compare::fixture::trial(arm, (at / 6) as u32, seconds(arm) * noise, 2e9)
        };
        let ranked = ranking(&record((0..60).map(trial).collect()));
        let names: Vec<&str> = ranked.iter().map(|it| &*it.arm).collect();
        assert_eq!(names[2], "arm 1");
        let is_claimed = |it: &Ranked| it.against_middle.is_some_and(|it| it.is_claimed());
        assert_eq!(ranked.iter().map(is_claimed).collect::<Vec<_>>(), [false, false, true]);
        let slow = ranked[2].against_middle.unwrap().ratio().copied().unwrap();
        assert!((slow.times().0 - 10.0).abs() < 0.1 && slow.confidence == 0.995, "{slow:?}");
    }
}
