//! One experiment: noise, a known difference in it, and what `lab::compare` makes of that.

use super::noise::{Noise, Shown};
use fastrand::Rng;
use lab::compare::{Difference, Side, Terms, interleaved, separate};
use lab::known::Known;
use lab::record::{Arm, Record};
use lab::trial::{Outcome, Trial, TrialClock};

/// What is made of so many trials of each arm, of which B's take `change` longer.
pub(super) type Experiment = fn(&Noise, u32, f64, &mut Rng) -> Difference;

/// Trials in blocks of ABBA or BAAB, as a coin decides.
pub(super) fn in_blocks(noise: &Noise, n_trials: u32, change: f64, dice: &mut Rng) -> Difference {
    let n_blocks = n_trials / 2;
    let series = (noise.series)(n_blocks as usize * 4, dice);
    let arms = (0..n_blocks).flat_map(|_| if dice.bool() { [0, 1, 1, 0] } else { [1, 0, 0, 1] });
    let arms: Vec<usize> = arms.collect();
    let trials = (0..).zip(series.iter().zip(arms)).map(|(at, (shown, arm))| {
        let change = if arm == 1 { change } else { 0.0 };
        Trial { block: at / 4, ..trial(at, arm, change, shown) }
    });
    interleaved(&record(trials.collect(), &["A", "B"]), (0, 1), &Terms::of(1))
}

/// Pairs of trials whose pieces took turns of ABBA or BAAB, as a coin decides; each piece has the noise of a trial.
pub(super) fn in_pieces(noise: &Noise, n_trials: u32, change: f64, dice: &mut Rng) -> Difference {
    let series = (noise.series)((n_trials * 2 * PIECES) as usize, dice);
    let pairs = (0..).zip(series.chunks_exact(2 * PIECES as usize));
    let pair = |(block, pieces): (u32, &[Shown])| {
        let mut arms: [Vec<Shown>; 2] = Default::default();
        for turn in pieces.chunks_exact(4) {
            let order = if dice.bool() { [0, 1, 1, 0] } else { [1, 0, 0, 1] };
            order.iter().zip(turn).for_each(|(arm, piece)| arms[*arm].push(*piece));
        }
        let clock =
            pieces.first().and_then(|it| it.clock).zip(pieces.last().and_then(|it| it.clock));
        let clock = clock.map(|([before, _], [_, after])| [before, after]);
        [0, 1].map(|arm| {
            let shown = Shown {
                elapsed: mean(arms[arm].iter().map(|it| Some(it.elapsed))).unwrap_or_default(),
                cpu: mean(arms[arm].iter().map(|it| it.cpu)),
                clock,
            };
            let change = if arm == 1 { change } else { 0.0 };
            Trial { block, ..trial(2 * block + arm as u32, arm, change, &shown) }
        })
    };
    let trials = pairs.flat_map(pair).collect();
    interleaved(&Record { pieces: PIECES, ..record(trials, &["A", "B"]) }, (0, 1), &Terms::of(1))
}

/// As many as a trial of 30 ms is cut into.
const PIECES: u32 = 10;

/// The logarithm of the mean of what these are logarithms of.
fn mean(logarithms: impl ExactSizeIterator<Item = Option<f64>>) -> Option<f64> {
    let n = logarithms.len() as f64;
    let sum: Option<f64> = logarithms.map(|it| it.map(f64::exp)).sum();
    sum.map(|it| (it / n).ln())
}

/// Trials of A and, right after them, trials of B.
pub(super) fn in_turn(noise: &Noise, n_trials: u32, change: f64, dice: &mut Rng) -> Difference {
    let n_trials = n_trials as usize;
    let series = (noise.series)(2 * n_trials, dice);
    let (left, right) = series.split_at(n_trials);
    let arm = |series: &[Shown], change: f64| {
        let trials = (0..).zip(series).map(|(at, shown)| trial(at, 0, change, shown));
        record(trials.collect(), &["alone"])
    };
    let (a, b) = (arm(left, 0.0), arm(right, change));
    let side = |name, record| Side { name, record, arm: 0 };
    separate(side("A", &a), side("B", &b), &Terms::of(1))
}

/// A trial of work that takes `change` longer than what was shown.
pub(super) fn trial(at: u32, arm: usize, change: f64, shown: &Shown) -> Trial {
    let longer = 1.0 + change;
    let elapsed = 0.03 * shown.elapsed.exp() * longer;
    let hertz = |it: f64| 3e9 * it.exp();
    let made_up = Trial::of_one_task(arm, at, elapsed);
    let cpu_ns = known(shown.cpu.map(|it| (30e6 * it.exp() * longer) as u64));
    Trial {
        number: at + 1,
        began_ns: Known::Value(u64::from(at) * 35_000_000),
        outcome: Outcome { cpu_ns, ..made_up.outcome },
        clock: known(shown.clock.map(|[before, after]| TrialClock {
            before_hz: hertz(before),
            after_hz: hertz(after),
        })),
        ..made_up
    }
}

fn known<T>(value: Option<T>) -> Known<T> {
    value.map_or(Known::Missing { missing: "not made up".to_owned() }, Known::Value)
}

fn record(trials: Vec<Trial>, arms: &[&str]) -> Record {
    let arms = arms.iter().map(|it| Arm::of(it, "made-up")).collect();
    let mut record = Record { trials, is_complete: true, ..Record::of(arms) };
    record.doubts.extend(lab::doubts::of(&record));
    record
}
