//! Noise to put known differences into: made up, and recorded.
//!
//! A series is what consecutive trials of the same work would have shown; where chance puts the arms into it is the
//! experiment's part.

use fastrand::Rng;

/// What one trial of work that always takes the same would have shown, as logarithms of a mean of 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    /// Of the elapsed time.
    pub(super) elapsed: f64,
    /// Of the time on the CPU, where it was recorded.
    pub(super) cpu: Option<f64>,
    /// Of the clock before and after, where it was recorded.
    pub(super) clock: Option<[f64; 2]>,
}

/// A kind of noise.
pub(super) struct Noise {
    /// As the table names it.
    pub(super) name: &'static str,
    /// Consecutive trials.
    pub(super) series: fn(usize, &mut Rng) -> Vec<Shown>,
}

/// Every kind of noise, in the order of the table.
pub(super) const NOISES: &[Noise] = &[
    Noise { name: "independent, 0.3 %", series: |n, dice| made_up(n, dice, |_, _, it| 0.003 * it) },
    Noise { name: "drift of 4 % over the whole experiment", series: drifting },
    Noise { name: "random walk, steps of 0.3 %", series: |n, dice| autoregressive(n, dice, 1.0) },
    Noise {
        name: "resembles its neighbour, AR(1) 0.5",
        series: |n, dice| autoregressive(n, dice, 0.5),
    },
    Noise {
        name: "resembles its neighbour, AR(1) 0.9",
        series: |n, dice| autoregressive(n, dice, 0.9),
    },
    Noise { name: "two modes 4 % apart, independent", series: |n, dice| two_modes(n, dice, 0.5) },
    Noise {
        name: "two modes 4 % apart, for ten trials each",
        series: |n, dice| two_modes(n, dice, 0.1),
    },
    Noise { name: "one trial in 20 is 30 % slower", series: spiked },
    Noise { name: "recorded, both CPUs busy", series: |n, dice| recorded(BUSY, n, dice) },
    Noise { name: "recorded, quieter", series: |n, dice| recorded(QUIETER, n, dice) },
];

/// By `benches/record_noise.rs`; the files say when and how.
const BUSY: &str = include_str!("../../../../crates/lab/fixtures/noise-busy.csv");
const QUIETER: &str = include_str!("../../../../crates/lab/fixtures/noise-quieter.csv");

fn made_up(
    n: usize,
    dice: &mut Rng,
    mut next: impl FnMut(usize, &mut Rng, f64) -> f64,
) -> Vec<Shown> {
    let mut shown = |at| {
        let normal = normal(dice);
        Shown { elapsed: next(at, dice, normal), cpu: None, clock: None }
    };
    (0..n).map(&mut shown).collect()
}

fn drifting(n: usize, dice: &mut Rng) -> Vec<Shown> {
    let slope = 0.04 / n as f64;
    made_up(n, dice, |at, _, it| slope * at as f64 + 0.003 * it)
}

fn autoregressive(n: usize, dice: &mut Rng, resemblance: f64) -> Vec<Shown> {
    let settled = (1.0 - resemblance * resemblance).max(0.01).sqrt();
    let mut level = normal(dice) * 0.003 / settled;
    made_up(n, dice, |_, _, it| {
        level = resemblance * level + 0.003 * it;
        level
    })
}

fn two_modes(n: usize, dice: &mut Rng, chance_of_change: f64) -> Vec<Shown> {
    let mut is_slow = dice.bool();
    made_up(n, dice, |_, dice, it| {
        is_slow ^= dice.f64() < chance_of_change;
        f64::from(u8::from(is_slow)) * 0.04 + 0.003 * it
    })
}

fn spiked(n: usize, dice: &mut Rng) -> Vec<Shown> {
    made_up(n, dice, |_, dice, it| 0.003 * it + if dice.u8(..20) == 0 { 0.3 } else { 0.0 })
}

/// A stretch of the recording, from a place that chance decides.
fn recorded(csv: &str, n: usize, dice: &mut Rng) -> Vec<Shown> {
    let rows: Vec<Shown> = csv.lines().filter_map(row).collect();
    let start = dice.usize(..rows.len());
    rows.iter().cycle().skip(start).take(n).copied().collect()
}

/// `elapsed_us,cpu_us,before_mhz,after_mhz`; nothing of comments and the heading. Near a mean of 1, so that logarithms of
/// all series are alike: 30 ms and 3 GHz.
fn row(line: &str) -> Option<Shown> {
    let mut fields = line.split(',').map(|it| it.parse::<f64>().ok().filter(|it| *it > 0.0));
    let mut next = |middle: f64| Some((fields.next()?? / middle).ln());
    let elapsed = next(30_000.0)?;
    let cpu = next(30_000.0);
    let clock = next(3000.0).zip(next(3000.0)).map(|(before, after)| [before, after]);
    Some(Shown { elapsed, cpu, clock })
}

/// By the sum of twelve even chances: no value beyond six deviations, which is no matter here.
fn normal(dice: &mut Rng) -> f64 {
    (0..12).map(|_| dice.f64()).sum::<f64>() - 6.0
}
