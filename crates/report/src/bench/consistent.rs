//! No output contradicts itself: made-up results of every design, and all that is said of them.

use super::comparison::{margin, verdict};
use super::manner::Manner;
use super::views::ComparisonView;
use super::{comparisons, of_each};
use crate::document::Format;
use fastrand::Rng;
use lab::compare::{Design, Side, Terms};
use lab::comparison::{self, Comparison, between, sides_of_each, within_margin};
use lab::known::Known;
use lab::record::{Arm, Record};
use lab::trial::{Better, Trial};
use lab::verdict::{BetweenRuns, Closeness, Verdict};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::Value;
use std::collections::BTreeSet;

/// How results are made up.
#[derive(Clone, Debug)]
struct Made {
    design: MadeDesign,
    /// Blocks, trials or results of each.
    n: usize,
    /// The logarithm of the difference, and the size of the noise.
    by: f64,
    noise: f64,
    /// The name, the unit and the direction of the main result.
    figure: (&'static str, &'static str, Better),
    margin: Option<f64>,
    /// What earlier runs differ by.
    limit: Option<f64>,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum MadeDesign {
    Blocks,
    Moments,
    Runs,
}

const FIGURES: [(&str, &str, Better); 4] = [
    ("elapsed", "s", Better::Lower),
    ("commits", "1/s", Better::Higher),
    ("speed", "M/s", Better::Higher),
    ("latency", "ns", Better::Lower),
];

fn made() -> impl Strategy<Value = Made> {
    let designs = [MadeDesign::Blocks, MadeDesign::Moments, MadeDesign::Runs];
    let by = prop_oneof![Just(0.0), -0.02..0.02_f64, -1.5..1.5_f64];
    let margin = prop::option::of((-4.0..-0.3_f64).prop_map(|it| 10.0_f64.powf(it)));
    let what = (prop::sample::select(designs.to_vec()), prop::sample::select(&FIGURES[..]));
    let noise = (-5.0..-0.5_f64).prop_map(|it| 10.0_f64.powf(it));
    let limit = prop::option::of(0.0..0.1_f64);
    (what, 1..24_usize, by, noise, margin, limit, any::<u64>()).prop_map(
        |((design, figure), n, by, noise, margin, limit, seed)| Made {
            design,
            n,
            by,
            noise,
            figure,
            margin,
            limit,
            seed,
        },
    )
}

impl Made {
    /// A trial whose main result is this, and whose time on the CPU is `cpu` times as long.
    fn trial(&self, arm: usize, block: u32, value: f64, cpu: f64) -> Trial {
        let (name, unit, better) = self.figure;
        let mut trial = Trial::of_one_task(arm, block, 0.5);
        trial.outcome.cpu_ns = Known::Value((5e8 * cpu) as u64);
        trial.outcome.figures.edit(|it| {
            name.clone_into(&mut it[0].name);
            unit.clone_into(&mut it[0].unit);
            (it[0].value, it[0].better) = (value, better);
        });
        trial
    }

    /// The values of `n` trials around a level.
    fn values(&self, n: usize, level: f64, dice: &mut Rng) -> Vec<f64> {
        let noise = |dice: &mut Rng| self.noise * (dice.f64() + dice.f64() + dice.f64() - 1.5);
        (0..n).map(|_| 100.0 * (level + noise(dice)).exp()).collect()
    }

    fn alone(&self, n: usize, level: f64, cpu: f64, dice: &mut Rng) -> Record {
        let values = self.values(n, level, dice);
        let trials = values.into_iter().enumerate();
        record(1, trials.map(|(at, it)| self.trial(0, at as u32, it, cpu)).collect())
    }

    /// The comparison, and its document as Markdown, where time on the CPU of B is `cpu` times that of A.
    fn compared(&self, cpu: f64) -> (Comparison, Manner, String) {
        let mut dice = Rng::with_seed(self.seed);
        let given = ["a.json", "b.json"].map(str::to_owned);
        match self.design {
            MadeDesign::Blocks => {
                let a = self.values(2 * self.n, 0.0, &mut dice);
                let b = self.values(2 * self.n, self.by, &mut dice);
                let pairs = a.into_iter().zip(b).enumerate().flat_map(|(at, (a, b))| {
                    let block = (at / 2) as u32;
                    [self.trial(0, block, a, 1.0), self.trial(1, block, b, cpu)]
                });
                let record = record(2, pairs.collect());
                let found = within_margin(&record, self.margin).unwrap();
                let records = std::slice::from_ref(&record);
                let sides = comparison::sides(records, &given[..1]);
                let text = comparisons(&found, &sides, &given[..1]).render(Format::Markdown);
                (found.into_iter().next().unwrap(), Manner::of(&record), text)
            }
            MadeDesign::Moments => {
                let records = [(0.0, 1.0), (self.by, cpu)]
                    .map(|(level, cpu)| self.alone(self.n, level, cpu, &mut dice));
                let [a, b] = [("A", &records[0]), ("B", &records[1])].map(|(name, record)| Side {
                    name,
                    record,
                    arm: 0,
                });
                let between_runs = self.limit.map(|limit| BetweenRuns { limit, known_of: Some(3) });
                let terms = Terms { margin: self.margin, between_runs, ..Terms::of(1) };
                let found = between(a, b, &terms).unwrap();
                let text = comparisons(std::slice::from_ref(&found), &[a, b], &given)
                    .render(Format::Markdown);
                (found, Manner::of(&records[0]).apart(), text)
            }
            MadeDesign::Runs => {
                let n = self.n.clamp(3, 8);
                let mut of = |level: f64, cpu: f64| -> Vec<Record> {
                    let apart = self.noise * 3.0;
                    let mut one = || {
                        let level = level + apart * (dice.f64() - 0.5);
                        self.alone(6, level, cpu, &mut dice)
                    };
                    (0..n).map(|_| one()).collect()
                };
                let (a, b) = (of(0.0, 1.0), of(self.by, cpu));
                let names: Vec<String> = (0..n).map(|it| format!("{it}.json")).collect();
                let [a, b] = [&a, &b].map(|it| sides_of_each(it, &names));
                let terms = Terms { margin: self.margin, ..Terms::of(1) };
                let found = comparison::of_each(&a, &b, &terms).unwrap();
                let text = of_each(&found, &a, &b).render(Format::Markdown);
                (found, Manner::of(a[0].record).apart(), text)
            }
        }
    }
}

fn record(n_arms: usize, trials: Vec<Trial>) -> Record {
    let arms = ["A", "B"][..n_arms].iter().map(|it| Arm::of(it, "made-up")).collect();
    Record { trials, is_complete: true, ..Record::of(arms) }
}

/// The numbers of a text, with how far the printed one may be from what it stands for.
fn numbers(text: &str) -> Vec<(f64, f64)> {
    let is_of_number = |it: char| it.is_ascii_digit() || it == '.' || it == '-' || it == '+';
    let words = text.split(|it: char| !is_of_number(it));
    let number = |word: &str| {
        let word = word.trim_end_matches('.');
        let decimals = word.split_once('.').map_or(0, |it| it.1.len());
        Some((word.parse().ok()?, 0.5 * 10.0_f64.powi(-(decimals as i32)) * (1.0 + 1e-6) + 1e-9))
    };
    words.filter_map(number).collect()
}

fn shows(printed: &[(f64, f64)], values: &[f64]) -> Result<(), TestCaseError> {
    prop_assert_eq!(printed.len(), values.len(), "{:?} {:?}", printed, values);
    for ((printed, within), value) in printed.iter().zip(values) {
        prop_assert!((printed - value).abs() <= *within, "{} stands for {}", printed, value);
    }
    Ok(())
}

/// The kind of verdict that a sentence is, by how it begins.
fn kind_of(words: &str) -> &'static str {
    let kinds = [
        ("No difference shown: ", "not-shown"),
        ("Too noisy to say: ", "too-noisy"),
        ("Not claimed: ", "not-clear"),
        ("Too few ", "too-few"),
    ];
    let found = kinds.iter().find(|it| words.starts_with(it.0)).map(|it| it.1);
    let is_same = words.contains(", within ") && words.contains(": the difference is between ");
    found.unwrap_or(if is_same { "same" } else { "claimed" })
}

fn check(made: &Made) -> Result<(), TestCaseError> {
    let (it, manner, document) = made.compared(1.0);
    let words = verdict(&it, manner);
    let json = serde_json::to_value(ComparisonView::of(&it)).unwrap();
    let said = &json["verdict"];
    prop_assert_eq!(said["is"].as_str().unwrap(), kind_of(&words), "{}", words);
    let as_markdown = words.replace('`', "\\`");
    prop_assert!(document.contains(&as_markdown), "{words}\n{document}");
    // One quantity speaks: other times on the CPU change nothing of it.
    prop_assert_eq!(&it.difference.verdict, &made.compared(1.5).0.difference.verdict);
    prop_assert!(words.contains(made.figure.0) || kind_of(&words) == "too-few", "{words}");
    prop_assert_eq!(json["figure"].as_str().unwrap(), made.figure.0);
    let change = |key: &str| said["change"][key].as_f64();
    let (Some(main), Some(low), Some(high)) = (change("change"), change("low"), change("high"))
    else {
        prop_assert_eq!(kind_of(&words), "too-few");
        return Ok(());
    };
    decided(&json, low, high)?;
    printed(&words, [main, low, high])?;
    let row = document.lines().find(|it| it.starts_with(&format!("| {} |", made.figure.0)));
    let row =
        row.and_then(|it| it.split_once("% |")).ok_or(TestCaseError::fail(document.clone()))?;
    let of_row = [numbers(row.0), numbers(row.1)].concat();
    shows(&of_row, &[main, low, high].map(|it| 100.0 * it))?;
    asked(made, &it, &json)
}

/// What the interval decides.
fn decided(json: &Value, low: f64, high: f64) -> Result<(), TestCaseError> {
    let said = &json["verdict"];
    let allowed = |key: &str| said["allowance"][key].as_f64().map_or(0.0, f64::ln_1p);
    let total = allowed("moved") + allowed("between_runs");
    let near = low.ln_1p().max(-high.ln_1p());
    let is = |name: &str| said["is"] == name;
    // To the last bits of a logarithm and back.
    if (near - total).abs() > 1e-12 {
        prop_assert_eq!(is("claimed"), near > total && near > 0.0, "{}", said);
    }
    prop_assert_eq!(json["design"] == "separate", said["allowance"].is_object());
    prop_assert!(!is("not-clear") || (near > 0.0 && total > 0.0), "{}", said);
    if is("not-shown") || is("too-noisy") {
        prop_assert!(low <= 0.0 && high >= 0.0, "{}", said);
    }
    prop_assert!(json["planning"].is_null() || is("not-shown"), "{}", json);
    Ok(())
}

/// The sentence has the numbers of the JSON, turned the way that its words say.
fn printed(words: &str, [main, low, high]: [f64; 3]) -> Result<(), TestCaseError> {
    let kind = kind_of(words);
    let (_, sentence) = words.split_once(": ").filter(|_| kind != "claimed").unwrap_or(("", words));
    let (sentence, rest) = sentence.split_once(" (").unwrap();
    let percent = |it: f64| 100.0 * it.abs();
    let is_less =
        ["less", "fewer", "shorter", "lower"].map(|it| sentence.contains(it)).contains(&true);
    match kind {
        "not-shown" | "too-noisy" if low == 0.0 && high == 0.0 => {
            prop_assert_eq!(numbers(sentence), [], "{}", words);
        }
        "not-shown" | "too-noisy" => {
            shows(&numbers(sentence), &[percent(low), percent(high)])?;
            prop_assert!(is_less == (low < 0.0), "{}", words);
        }
        "same" => shows(&numbers(sentence)[..], &[100.0 * low, 100.0 * high])?,
        _ => {
            let (_, ends) = rest.split_once(" interval ").unwrap();
            let (ends, _) = ends.split_once(';').unwrap();
            let of_words = [numbers(sentence), numbers(ends)].concat();
            if sentence.contains(" times ") {
                shows(&of_words, &[main, low, high].map(|it| 1.0 + it))?;
                prop_assert!(of_words.iter().all(|it| it.0 > 1.0), "{}", words);
            } else {
                let [near, far] = if main < 0.0 { [high, low] } else { [low, high] };
                shows(&of_words, &[main, near, far].map(percent))?;
                prop_assert!(of_words.iter().all(|it| it.0 > 0.0), "{}", words);
                prop_assert_eq!(is_less, main < 0.0, "{}", words);
            }
        }
    }
    Ok(())
}

/// What is said of the margin that was asked for.
fn asked(made: &Made, it: &Comparison, json: &Value) -> Result<(), TestCaseError> {
    let close = it.difference.close;
    prop_assert_eq!(close.map(|it| it.margin), made.margin);
    prop_assert_eq!(json["same"].is_object(), made.margin.is_some());
    let Some(close) = close else { return Ok(()) };
    let is_same = matches!(it.difference.verdict, Verdict::Same { .. });
    let is_claimed = it.difference.verdict.is_claimed();
    prop_assert_eq!(is_same, close.is == Closeness::Within && !is_claimed, "{:?}", it);
    prop_assert!(close.is != Closeness::Beyond || is_claimed, "{:?}", it);
    prop_assert_eq!(margin(it).is_none(), is_same);
    Ok(())
}

proptest! {
    #[test]
    fn no_output_contradicts_itself(made in made()) {
        check(&made)?;
    }
}

/// The same, as often as takes some minutes: `cargo xtask sweep` runs it.
#[test]
#[ignore = "takes minutes"]
fn no_output_of_100_000_contradicts_itself() {
    let mut runner = TestRunner::new(Config::with_cases(100_000));
    runner.run(&made(), |made| check(&made)).unwrap();
}

/// The made-up results come to every verdict, or there would be nothing to contradict.
#[test]
fn every_verdict_of_every_design_is_made_up() {
    let mut found = BTreeSet::new();
    let mut runner = TestRunner::deterministic();
    for _ in 0..2000 {
        let made = made().new_tree(&mut runner).unwrap().current();
        let (it, manner, _) = made.compared(1.0);
        let design = match it.difference.design {
            Design::Interleaved => "blocks",
            Design::Separate(..) => "moments",
            Design::Runs(..) => "runs",
            Design::Race => "race",
        };
        found.insert(format!("{design} {}", kind_of(&verdict(&it, manner))));
    }
    let expected = [
        "blocks claimed",
        "blocks not-shown",
        "blocks same",
        "blocks too-few",
        "blocks too-noisy",
        "moments claimed",
        "moments not-clear",
        "moments not-shown",
        "moments same",
        "moments too-few",
        "moments too-noisy",
        "runs claimed",
        "runs not-shown",
        "runs same",
        "runs too-noisy",
    ];
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}
