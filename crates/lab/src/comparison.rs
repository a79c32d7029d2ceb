//! Which arms of which records are compared, and the result for each pair.

use crate::compare::{
    Evidence, LEVEL, Measure, Side, Verdict, block_differences, block_differences_by,
    doubts_of_either, interleaved, judge_differences, separate,
};
use crate::doubt::Raised;
use crate::known::Known;
use crate::record::Record;
use crate::stats::{Claim, Sample, cliffs_delta, holm, median};
use crate::trial::Trial;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Two arms and what can be said of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// What the first arm is called.
    pub a: String,
    /// What the other one is called.
    pub b: String,
    /// What the main figure is called.
    pub figure: String,
    /// What can be said.
    pub verdict: Verdict,
    /// The main figure with the clock taken out, also where it is not what the verdict speaks of.
    pub normalised: Known<Evidence>,
    /// Cliff's delta of the main figures: the share of pairs of a trial of each in which B's is the slower one, less the
    /// share in which it is the faster one; from -1 to 1.
    pub effect_size: Known<f64>,
    /// Everything that makes either doubtful.
    pub doubts: Vec<Raised>,
}

/// An arm among several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranked {
    /// What it is called.
    pub arm: String,
    /// The main figure's median.
    pub median: f64,
    /// The arm against all others of its blocks together; missing where there are too few blocks.
    pub against_others: Known<Evidence>,
    /// The chance of such evidence, corrected for there being as many arms (Holm).
    pub corrected_p: f64,
    /// Whether it may be said to differ from the others.
    pub is_claimed: bool,
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
    /// They have different figures.
    #[error("{a} and {b}: {why}")]
    Different {
        /// What the first one is called.
        a: String,
        /// What the other one is called.
        b: String,
        /// How their figures differ.
        why: String,
    },
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
/// record.
///
/// Errors: there is nothing to compare, or two records have different figures.
pub fn compared(
    records: &[Record],
    sides: &[Side<'_>],
    given: &[String],
) -> Result<Vec<Comparison>, Incomparable> {
    let (first, others) = sides.split_first().ok_or(Incomparable::None)?;
    if let [one] = records {
        if others.is_empty() {
            return Err(Incomparable::OneArm(given[0].clone()));
        }
        return Ok(within(one));
    }
    let pair = |(other, name): (&Side<'_>, &String)| {
        let (a, b) = (given[0].clone(), name.clone());
        between(*first, *other).map_err(|why| Incomparable::Different { a, b, why })
    };
    others.iter().zip(&given[1..]).map(pair).collect()
}

/// Compares every arm of one record with its first one.
pub fn within(record: &Record) -> Vec<Comparison> {
    let pair = |b: usize| {
        let verdict = interleaved(record, 0, b);
        let normalised = normalised(&verdict).or_else(|| of_blocks(record, (0, b)));
        Comparison {
            a: record.arms[0].name.clone(),
            b: record.arms[b].name.clone(),
            figure: figure(record),
            normalised: known(normalised),
            verdict,
            effect_size: effect_size((record, 0), (record, b)),
            doubts: record.doubts_about(&[0, b]),
        }
    };
    (1..record.arms.len()).map(pair).collect()
}

/// Compares arms of two records.
///
/// Errors: they have different figures, in words.
pub fn between(a: Side<'_>, b: Side<'_>) -> Result<Comparison, String> {
    let shape = |it: &Record| {
        let figure = it.trials.first()?.outcome.figures.first()?;
        Some((figure.name.to_owned(), figure.unit.to_owned(), figure.better))
    };
    let (of_a, of_b) = (shape(a.record), shape(b.record));
    if let (Some((name_a, unit_a, _)), Some((name_b, unit_b, _))) = (&of_a, &of_b)
        && of_a != of_b
    {
        let (a, b) = (a.name, b.name);
        let text = format!("they measure different things: the result of {a} is");
        return Err(format!("{text} {name_a} in {unit_a}, that of {b} {name_b} in {unit_b}"));
    }
    let verdict = separate(a, b);
    Ok(Comparison {
        a: a.name.to_owned(),
        b: b.name.to_owned(),
        figure: figure(a.record),
        normalised: known(normalised(&verdict)),
        verdict,
        effect_size: effect_size((a.record, a.arm), (b.record, b.arm)),
        doubts: doubts_of_either(a, b),
    })
}

/// The arms of a record, the fastest first, each judged against all others.
pub fn ranking(record: &Record) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> =
        (0..record.arms.len()).filter_map(|it| ranked(record, it)).collect();
    let claims: Vec<Claim> =
        ranked.iter().map(|it| Claim { p: it.corrected_p, weight: 1.0 }).collect();
    for (arm, p) in ranked.iter_mut().zip(holm(&claims)) {
        arm.corrected_p = p;
        arm.is_claimed = p < LEVEL;
    }
    let slowness = |it: &Ranked| it.against_others.value().map_or(f64::INFINITY, |it| it.change);
    ranked.sort_by(|a, b| slowness(a).total_cmp(&slowness(b)).then(a.median.total_cmp(&b.median)));
    ranked
}

fn ranked(record: &Record, arm: usize) -> Option<Ranked> {
    let figures = record.trials.iter().filter(|it| it.arm == arm);
    let figures = figures.filter_map(|it| Some(it.outcome.figures.first()?.value)).collect();
    let side = |it: &Trial| Some(usize::from(it.arm == arm));
    let others = evidence(&block_differences_by(&record.trials, Measure::Figure, side));
    Some(Ranked {
        arm: record.arms[arm].name.clone(),
        median: median(&Sample::new(figures).ok()?),
        corrected_p: others.map_or(1.0, |it| it.p),
        against_others: known(others),
        is_claimed: false,
    })
}

fn effect_size(a: (&Record, usize), b: (&Record, usize)) -> Known<f64> {
    let slowness = |(record, arm): (&Record, usize)| {
        let trials = record.trials.iter().filter(|it| it.arm == arm);
        Sample::new(trials.filter_map(|it| Measure::Figure.of(it)).collect()).ok()
    };
    match slowness(a).zip(slowness(b)) {
        Some((a, b)) => Known::Value(cliffs_delta(&a, &b)),
        None => Known::missing("a variant has no trial"),
    }
}

fn of_blocks(record: &Record, arms: (usize, usize)) -> Option<Evidence> {
    evidence(&block_differences(&record.trials, Measure::FigureCycles, arms))
}

fn evidence(blocks: &[(f64, usize)]) -> Option<Evidence> {
    let pairs = blocks.iter().map(|it| it.1).sum();
    let differences = Sample::new(blocks.iter().map(|it| it.0).collect()).ok()?;
    judge_differences(&differences, pairs).ok()
}

fn normalised(verdict: &Verdict) -> Option<Evidence> {
    verdict.reading(Measure::FigureCycles).map(|it| it.evidence)
}

fn known(evidence: Option<Evidence>) -> Known<Evidence> {
    let missing = "too few trials have it".to_owned();
    evidence.map_or(Known::Missing { missing }, Known::Value)
}

fn figure(record: &Record) -> String {
    let first = record.trials.first().and_then(|it| it.outcome.figures.first());
    first.map_or_else(String::new, |it| it.name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::{blocks, moment, record};

    #[test]
    fn the_clock_is_taken_out_whatever_the_verdict_speaks_of() {
        let found = within(&record(blocks((1.0, 2e9), (1.01, 2e9), 0.001)));
        let normalised = found[0].normalised.value().unwrap();
        assert!((normalised.change - 0.01).abs() < 0.001, "{normalised:?}");
        assert_eq!(found[0].figure, "elapsed");
        // Every trial of B is slower than every one of A.
        assert_eq!(found[0].effect_size, Known::Value(1.0));
    }

    #[test]
    fn two_records_of_different_figures_are_not_compared() {
        let (a, mut b) = (moment(1.0, 2e9, 0.001), moment(1.0, 2e9, 0.001));
        let compared = |a: &Record, b: &Record| {
            between(Side { name: "A", record: a, arm: 0 }, Side { name: "B", record: b, arm: 0 })
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
            let found = compared(records, &sides(records, &given), &given);
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
            different.starts_with("1.json and 3.json: they measure different things: "),
            "{different}"
        );
    }

    #[test]
    fn a_doubt_is_that_of_the_side_that_raises_it() {
        let (a, mut b) = (moment(1.0, 2e9, 0.001), moment(1.0, 2e9, 0.001));
        b.trials.truncate(4);
        b.arms[0].cpus = None;
        b.doubts.extend(crate::doubts::of(&b));
        let side = |name, record| Side { name, record, arm: 0 };
        let words = |doubts: &[Raised]| serde_json::to_string(doubts).unwrap();
        let found = between(side("A", &a), side("B", &b)).unwrap();
        let few = r#"{"arm":"B","doubt":"too-few-trials","trials":4,"needed":5}"#;
        assert_eq!(words(&found.doubts), format!(r#"[{few},{{"arm":"B","doubt":"unpinned"}}]"#));
        assert_eq!(words(&found.verdict.forbidding), format!("[{few}]"));
        let found = between(side("A", &b), side("B", &b)).unwrap();
        assert!(found.doubts.iter().all(|it| it.arm.is_none()), "{:?}", found.doubts);
    }

    #[test]
    fn the_arm_that_is_slow_is_last_and_claimed() {
        let ranked = ranking(&record(blocks((1.0, 2e9), (1.05, 2e9), 0.001)));
        let names: Vec<&str> = ranked.iter().map(|it| &*it.arm).collect();
        assert_eq!(names, ["arm 0", "arm 1"]);
        assert!(ranked.iter().all(|it| it.is_claimed));
    }
}
