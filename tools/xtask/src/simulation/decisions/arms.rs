//! Trials of two arms: in blocks, of two moments, of several runs; and of one arm alone.

use std::fmt::Write as _;

use fastrand::Rng;
use lab::stats::{self, Sample};
use lab::verdict::{self, BetweenRuns, Verdict, confidence};

use super::check::Checked;
use super::noise::{Noise, Series, TRIALS, normal};
use super::percent;

/// Of so many experiments without a difference, and with one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    pub(super) false_claims: u32,
    pub(super) covered: u32,
    pub(super) found: u32,
}

const BLOCKS: [usize; 7] = [4, 5, 7, 8, 10, 20, 150];

/// Blocks of ABBA or BAAB.
pub(super) fn blocks(n_experiments: u32, checked: &mut Checked) -> String {
    let mut page = section(
        "Blocks of ABBA or BAAB",
        "False claims / covered / found of +2 %, by the number of blocks: Student's t of 4 to 7, Walsh's interval from 8 on.",
        &BLOCKS.map(|it| it.to_string()),
    );
    for noise in TRIALS {
        let cells = BLOCKS.map(|n_blocks| {
            let cell = cell_of_blocks(noise, n_blocks, n_experiments, checked);
            [cell.false_claims, cell.covered, cell.found]
                .map(|it| percent(it, n_experiments))
                .join(" / ")
        });
        row(&mut page, noise.name, &cells);
    }
    page
}

pub(super) fn cell_of_blocks(
    noise: &Noise,
    n_blocks: usize,
    n_experiments: u32,
    checked: &mut Checked,
) -> Cell {
    let mut dice = Rng::with_seed(n_blocks as u64);
    let mut cell = Cell::default();
    for _ in 0..n_experiments {
        let same = block_differences(noise, n_blocks, &mut dice);
        let longer = moved(&same, 0.02_f64.ln_1p());
        let [same, longer] = [same, longer].map(|it| {
            sampled(it).map(|it| checked.verdict(verdict::of_blocks(&it, confidence(1), None)))
        });
        cell.false_claims += u32::from(same.is_some_and(|it| it.is_claimed()));
        cell.covered += u32::from(same.is_some_and(|it| covers(&it, 0.0)));
        cell.found += u32::from(longer.is_some_and(|it| found(&it)));
    }
    cell
}

fn block_differences(noise: &Noise, n_blocks: usize, dice: &mut Rng) -> Vec<f64> {
    let series = (noise.series)(4 * n_blocks, dice);
    let difference = |block: &[f64]| {
        let outer_less_inner = (block[0] + block[3] - block[1] - block[2]) / 2.0;
        if dice.bool() { outer_less_inner } else { -outer_less_inner }
    };
    series.chunks_exact(4).map(difference).collect()
}

const TRIALS_EACH: [usize; 5] = [5, 10, 20, 100, 300];

/// Trials of A and, right after them, trials of B.
pub(super) fn moments(n_experiments: u32, checked: &mut Checked) -> String {
    let mut page = section(
        "Two moments, one right after the other",
        "False claims without an allowance between runs / with that of 1.4 % / covered / found of +10 % / found of x2, both with \
         it, by the number of trials of each. Where the level moves while a run lasts, the interval is of what the two runs took, \
         which the truth is no part of: *covered* is then of the interval with the allowance on both sides.",
        &TRIALS_EACH.map(|it| it.to_string()),
    );
    for noise in TRIALS {
        let cells = TRIALS_EACH.map(|n| of_moments(noise, n, n_experiments, checked));
        row(&mut page, noise.name, &cells);
    }
    page
}

fn of_moments(noise: &Noise, n: usize, n_experiments: u32, checked: &mut Checked) -> String {
    let mut dice = Rng::with_seed(n as u64 + 100);
    let none = Some(BetweenRuns { limit: 0.0, known_of: Some(3) });
    let mut counts = [0_u32; 5];
    for _ in 0..n_experiments {
        let series = (noise.series)(2 * n, &mut dice);
        let (a, b) = series.split_at(n);
        let mut judged = |by: f64, between| {
            let (a, b) = (sampled(a.to_vec())?, sampled(moved(b, by))?);
            Some(checked.moments(verdict::of_moments(&a, &b, confidence(1), between, None)))
        };
        let Some(strict) = judged(0.0, none) else { continue };
        let allowance = strict.allowance.total();
        let is_covered = strict.verdict.ratio().is_some_and(|it| {
            let ends = it.interval;
            if noise.middle.is_some() {
                ends.contains(0.0)
            } else {
                ends.low <= allowance && ends.high >= -allowance
            }
        });
        let mut claimed = |by: f64| judged(by, None).is_some_and(|it| found(&it.verdict));
        let [by_tenth, twice] = [0.1_f64.ln_1p(), 2.0_f64.ln()].map(&mut claimed);
        let false_claim = judged(0.0, None).is_some_and(|it| it.verdict.is_claimed());
        let outcomes = [strict.verdict.is_claimed(), false_claim, is_covered, by_tenth, twice];
        counts.iter_mut().zip(outcomes).for_each(|(count, is)| *count += u32::from(is));
    }
    counts.map(|it| percent(it, n_experiments)).join(" / ")
}

/// Two results of the same thing that differ from run to run.
pub(super) fn between(n_experiments: u32, checked: &mut Checked) -> String {
    let mut page = section(
        "Two results of the same thing, within-run noise 0.3 %",
        "False claims with the allowance of 1.4 % / with that of five earlier runs / covered by the interval with the latter on both \
         sides, by the number of trials of each.",
        &TRIALS_EACH.map(|it| it.to_string()),
    );
    for (name, spread) in [("0", 0.0), ("0.1 %", 0.001), ("0.3 %", 0.003), ("1 %", 0.01)] {
        let cells = TRIALS_EACH.map(|n| of_results(spread, n, n_experiments, checked));
        row(&mut page, &format!("between runs {name}"), &cells);
    }
    page
}

fn of_results(spread: f64, n: usize, n_experiments: u32, checked: &mut Checked) -> String {
    let mut dice = Rng::with_seed(n as u64 + 200);
    let mut counts = [0_u32; 3];
    for _ in 0..n_experiments {
        let mut run = || one_run(spread, n, &mut dice);
        let (Some(a), Some(b)) = (run(), run()) else { continue };
        let earlier = (0..5).filter_map(|_| run().map(|it| stats::trimmed_mean(&it))).collect();
        let known = sampled(earlier).and_then(|it| verdict::between_runs(&[it], 0.99).ok());
        let mut judged =
            |between| checked.moments(verdict::of_moments(&a, &b, confidence(1), between, None));
        let (assumed, weighed) = (judged(None), judged(known));
        let total = weighed.allowance.total();
        let is_covered = weighed
            .verdict
            .ratio()
            .is_some_and(|it| it.interval.low <= total && it.interval.high >= -total);
        let outcomes = [assumed.verdict.is_claimed(), weighed.verdict.is_claimed(), is_covered];
        counts.iter_mut().zip(outcomes).for_each(|(count, is)| *count += u32::from(is));
    }
    counts.map(|it| percent(it, n_experiments)).join(" / ")
}

fn one_run(spread: f64, n: usize, dice: &mut Rng) -> Option<Sample> {
    let level = spread * normal(dice);
    sampled((0..n).map(|_| level + 0.003 * normal(dice)).collect())
}

const RUNS_EACH: [usize; 3] = [3, 5, 10];

/// Several results of each.
pub(super) fn runs(n_experiments: u32, checked: &mut Checked) -> String {
    let mut page = section(
        "Several results of each, 20 trials a run, 0.3 % within and 0.3 % between runs",
        "False claims / covered / found of +1 % / of +2 %, by the number of runs of each.",
        &RUNS_EACH.map(|it| it.to_string()),
    );
    let cells = RUNS_EACH.map(|n_runs| {
        let mut dice = Rng::with_seed(n_runs as u64 + 300);
        let mut counts = [0_u32; 4];
        for _ in 0..n_experiments {
            let mut runs = || -> Vec<f64> {
                (0..n_runs)
                    .filter_map(|_| one_run(0.003, 20, &mut dice))
                    .map(|it| stats::trimmed_mean(&it))
                    .collect()
            };
            let (a, b) = (runs(), runs());
            let mut judged = |by: f64| {
                let (a, b) = (sampled(a.clone())?, sampled(moved(&b, by))?);
                Some(checked.verdict(verdict::of_runs(&a, &b, confidence(1), None)))
            };
            let Some(same) = judged(0.0) else { continue };
            let [one, two] =
                [0.01_f64, 0.02].map(|by| judged(by.ln_1p()).is_some_and(|it| found(&it)));
            let outcomes = [same.is_claimed(), covers(&same, 0.0), one, two];
            counts.iter_mut().zip(outcomes).for_each(|(count, is)| *count += u32::from(is));
        }
        counts.map(|it| percent(it, n_experiments)).join(" / ")
    });
    row(&mut page, "normal", &cells);
    page
}

const TRIALS_OF_ONE: [usize; 6] = [5, 10, 20, 50, 100, 300];

/// The interval of one arm.
pub(super) fn one_arm(n_experiments: u32) -> String {
    let mut page = section(
        "One arm",
        "Covered by the interval of 95 % / of 99 %, by the number of trials. The truth is what the trimmed mean of 200,000 trials comes to.",
        &TRIALS_OF_ONE.map(|it| it.to_string()),
    );
    for noise in TRIALS
        .iter()
        .filter(|it| !["drift", "a step", "random"].iter().any(|moves| it.name.starts_with(moves)))
    {
        let mut dice = Rng::with_seed(400);
        let long = sampled((noise.series)(200_000, &mut dice));
        let truth = noise.middle.or(long.map(|it| stats::trimmed_mean(&it))).unwrap_or_default();
        let cells = TRIALS_OF_ONE.map(|n| {
            let mut counts = [0_u32; 2];
            for _ in 0..n_experiments {
                let Some(sample) = sampled((noise.series)(n, &mut dice)) else { continue };
                let holds = |level| {
                    stats::one_sample(&sample, level).is_ok_and(|it| it.interval.contains(truth))
                };
                counts
                    .iter_mut()
                    .zip([0.95, 0.99])
                    .for_each(|(count, level)| *count += u32::from(holds(level)));
            }
            counts.map(|it| percent(it, n_experiments)).join(" / ")
        });
        row(&mut page, noise.name, &cells);
    }
    page
}

const TRIALS_WITH_SLOW: [usize; 4] = [20, 50, 100, 300];

/// The line about rare slow trials.
pub(super) fn slow_trials(n_experiments: u32) -> String {
    let mut page = section(
        "Rare slow trials of one arm",
        "How often Fisher's test at 1 % says that one arm has more trials above the median by five median deviations, by the number of trials of each.",
        &TRIALS_WITH_SLOW.map(|it| it.to_string()),
    );
    let mut rows: Vec<(String, Series, bool)> =
        TRIALS[..4].iter().map(|it| (format!("both: {}", it.name), it.series, true)).collect();
    rows.push(("only B: one trial in 20 is 30 % slower".to_owned(), TRIALS[3].series, false));
    for (name, series, both) in rows {
        let cells = TRIALS_WITH_SLOW.map(|n| {
            let mut dice = Rng::with_seed(n as u64 + 500);
            let of_a = if both { series } else { TRIALS[0].series };
            let said = (0..n_experiments).filter(|_| {
                let (a, b) = (sampled(of_a(n, &mut dice)), sampled(series(n, &mut dice)));
                a.zip(b).is_some_and(|(a, b)| stats::slow_trials(&a, &b).p < 0.01)
            });
            percent(u32::try_from(said.count()).unwrap_or(u32::MAX), n_experiments)
        });
        row(&mut page, &name, &cells);
    }
    page
}

fn moved(values: &[f64], by: f64) -> Vec<f64> {
    values.iter().map(|it| it + by).collect()
}

pub(super) fn sampled(values: Vec<f64>) -> Option<Sample> {
    Sample::new(values).ok()
}

/// A claim of the right sign.
fn found(verdict: &Verdict) -> bool {
    verdict.is_claimed() && verdict.ratio().is_some_and(|it| it.log > 0.0)
}

pub(super) fn covers(verdict: &Verdict, truth: f64) -> bool {
    verdict.ratio().is_some_and(|it| it.interval.contains(truth))
}

pub(super) fn section(title: &str, about: &str, columns: &[String]) -> String {
    let lines = "---:|".repeat(columns.len());
    format!("### {title}\n\n{about}\n\n| | {} |\n|---|{lines}\n", columns.join(" | "))
}

pub(super) fn row(page: &mut String, name: &str, cells: &[String]) {
    // Writing to a String never fails.
    writeln!(page, "| {name} | {} |", cells.join(" | ")).unwrap_or_default();
}
