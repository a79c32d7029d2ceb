//! Races of two nodes that are the same, that differ, and of which one is throttled on the way.

use fastrand::Rng;
use lab::stats::Counts;
use lab::verdict::{self, Race, State, Verdict, confidence};

use super::arms::{covers, row, sampled, section};
use super::check::Checked;
use super::noise::{NODES, NodeNoise, normal};
use super::percent;

const SECONDS: [usize; 6] = [20, 30, 60, 120, 300, 1200];

/// What many races came to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    pub(super) false_claims: u32,
    /// Of those that have an interval, how many hold the truth; and how many have one.
    covered: [u32; 2],
    too_short: u32,
    changed: u32,
    /// Of -20 % and of -50 %.
    found: [u32; 2],
}

/// Races without marks.
pub(super) fn races(n_experiments: u32, checked: &mut Checked) -> String {
    let mut page = section(
        "Races without marks, intervals of 1 s",
        "Of equal nodes: false claims / covered, of the races that have an interval / too short to say / changed by itself; then found of -20 % / \
         of -50 %, by seconds.",
        &SECONDS.map(|it| format!("{it} s")),
    );
    for noise in NODES {
        let cells = SECONDS.map(|seconds| {
            let it = cell(noise, seconds, n_experiments, checked);
            let of_all = [it.too_short, it.changed, it.found[0], it.found[1]]
                .map(|it| percent(it, n_experiments));
            let covered = if it.covered[1] > 0 {
                percent(it.covered[0], it.covered[1])
            } else {
                "none".to_owned()
            };
            let [too_short, changed, less, half] = of_all;
            format!(
                "{} / {covered} / {too_short} / {changed}; {less} / {half}",
                percent(it.false_claims, n_experiments)
            )
        });
        row(&mut page, noise.name, &cells);
    }
    page
}

pub(super) fn cell(
    noise: &NodeNoise,
    seconds: usize,
    n_experiments: u32,
    checked: &mut Checked,
) -> Cell {
    let mut dice = Rng::with_seed(seconds as u64);
    let mut cell = Cell::default();
    for _ in 0..n_experiments {
        let shares = [0; 2].map(|_| (noise.shares)(seconds, &mut dice));
        let mut judged = |by: f64| {
            let race = race(&shares, |_| by, &mut dice);
            check(&race, checked);
            race
        };
        let same = judged(1.0);
        if let Some(verdict) = same.verdict() {
            cell.false_claims += u32::from(verdict.is_claimed());
            cell.covered[0] += u32::from(covers(verdict, 0.0));
            cell.covered[1] += 1;
        }
        let state = same.pieces.first().map(|it| &it.state);
        cell.too_short += u32::from(matches!(state, Some(State::TooShort { .. })));
        cell.changed += u32::from(matches!(state, Some(State::Changed(_))));
        for (at, by) in [0.8, 0.5].into_iter().enumerate() {
            let race = judged(by);
            let claimed = race.verdict().filter(|it| it.is_claimed()).and_then(Verdict::ratio);
            cell.found[at] += u32::from(claimed.is_some_and(|it| it.log < 0.0));
        }
    }
    cell
}

fn race(shares: &[Vec<f64>; 2], of_b: impl Fn(usize) -> f64, dice: &mut Rng) -> Race {
    let mut count =
        |share: f64| (20_000.0 * share + 20_000.0_f64.sqrt() * normal(dice)).max(0.0) as u64;
    let intervals = shares[0].iter().zip(&shares[1]).enumerate();
    let intervals: Vec<Counts> =
        intervals.map(|(at, (a, b))| Counts { a: count(*a), b: count(of_b(at) * b) }).collect();
    verdict::of_race(&intervals, &[], 1)
}

/// Its figures are those of its facts, and what changed is not judged.
fn check(race: &Race, checked: &mut Checked) {
    for piece in &race.pieces {
        if let State::Judged(verdict) = piece.state {
            checked.verdict(verdict);
            checked.count(verdict.ratio().is_none_or(|it| it.log == piece.standing.log_ratio));
        }
        checked.count(!matches!(&piece.state, State::Changed(parts) if parts.len() < 2));
    }
}

/// What races came to in which b, 20 % faster before, fell to a quarter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Throttled {
    pub(super) within_two: u32,
    only_b: u32,
    pub(super) claimed_whole: u32,
    /// Every sixth second at 10 %, instead: the total is reported as it is.
    stalls_reported: u32,
    stalls_claimed: u32,
}

/// A node that is throttled on the way, without a mark; and one that stalls.
pub(super) fn throttled(n_experiments: u32, checked: &mut Checked) -> String {
    let mut page = section(
        "A node is throttled, and nothing marks it; a node stalls",
        "b is 20 % faster and falls to a quarter of its speed at 40 % of a race of 60 s: a change within 2 s of it / of these, only b \
         is said to have moved / one claim for the whole race. Then b at 10 % in every sixth second instead, 15 % of all: the ratio of the \
         race is reported as the ratio of what was counted / claimed.",
        &["within 2 s", "only b moved", "one claim for all", "stalls reported", "stalls claimed"]
            .map(str::to_owned),
    );
    for noise in NODES {
        let it = throttled_cell(noise, 60, n_experiments, checked);
        let counts =
            [it.within_two, it.only_b, it.claimed_whole, it.stalls_reported, it.stalls_claimed];
        row(&mut page, noise.name, &counts.map(|it| percent(it, n_experiments)));
    }
    page
}

pub(super) fn throttled_cell(
    noise: &NodeNoise,
    seconds: usize,
    n_experiments: u32,
    checked: &mut Checked,
) -> Throttled {
    let mut dice = Rng::with_seed(seconds as u64 + 600);
    let mut found = Throttled::default();
    let at = seconds * 2 / 5;
    for _ in 0..n_experiments {
        let shares = [0; 2].map(|_| (noise.shares)(seconds, &mut dice));
        let fallen = race(&shares, |it| if it < at { 1.2 } else { 0.3 }, &mut dice);
        check(&fallen, checked);
        found.claimed_whole += u32::from(fallen.verdict().is_some_and(Verdict::is_claimed));
        if let Some(State::Changed(parts)) = fallen.pieces.first().map(|it| &it.state) {
            let near =
                parts.iter().find(|it| it.moved.is_some() && it.intervals.start.abs_diff(at) <= 2);
            found.within_two += u32::from(near.is_some());
            let moved = near.and_then(|it| it.moved);
            found.only_b += u32::from(moved.is_some_and(|it| it.a.is_none() && it.b.is_some()));
        }
        let stalling = race(&shares, |it| if it % 6 == 5 { 0.1 } else { 1.0 }, &mut dice);
        check(&stalling, checked);
        let sums = stalling.standing.totals;
        let is_reported =
            (stalling.standing.log_ratio.exp() - sums.b as f64 / sums.a as f64).abs() < 1e-9;
        found.stalls_reported += u32::from(is_reported);
        found.stalls_claimed += u32::from(stalling.verdict().is_some_and(Verdict::is_claimed));
    }
    found
}

const LEGS: [usize; 3] = [4, 6, 10];

/// Legs: what differs from one start of an engine to the next is in the interval.
pub(super) fn legs(n_experiments: u32, checked: &mut Checked) -> String {
    let mut page = section(
        "Legs of a race: engines begun anew, 2 % from start to start",
        "False claims / covered / found of -10 %, by the number of legs of 30 s.",
        &LEGS.map(|it| it.to_string()),
    );
    for noise in NODES {
        let cells = LEGS.map(|n_legs| {
            let mut dice = Rng::with_seed(n_legs as u64 + 700);
            let mut counts = [0_u32; 3];
            for _ in 0..n_experiments {
                let mut leg = |by: f64| {
                    let shares = [0; 2].map(|_| (noise.shares)(30, &mut dice));
                    let start = (0.02 * normal(&mut dice)).exp();
                    race(&shares, |_| by * start, &mut dice).standing.log_ratio
                };
                let mut judged = |by: f64| {
                    let legs = sampled((0..n_legs).map(|_| leg(by)).collect())?;
                    Some(checked.verdict(verdict::of_legs(&legs, confidence(1), None)))
                };
                let (Some(same), Some(less)) = (judged(1.0), judged(0.9)) else { continue };
                let outcomes = [same.is_claimed(), covers(&same, 0.0), less.is_claimed()];
                counts.iter_mut().zip(outcomes).for_each(|(count, is)| *count += u32::from(is));
            }
            counts.map(|it| percent(it, n_experiments)).join(" / ")
        });
        row(&mut page, noise.name, &cells);
    }
    page
}
