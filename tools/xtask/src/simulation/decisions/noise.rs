//! Noise of trials as plain logarithms, and of the nodes of a race as counts.

use fastrand::Rng;

/// So many values in a row.
pub(super) type Series = fn(usize, &mut Rng) -> Vec<f64>;

/// A kind of noise.
pub(super) struct Noise {
    /// As the table names it.
    pub(super) name: &'static str,
    /// The logarithms of the times of consecutive trials of the same work.
    pub(super) series: Series,
    /// The middle of the trials, which a trimmed mean estimates.
    pub(super) middle: Option<f64>,
}

/// Of trials, in the order of the tables.
pub(super) const TRIALS: &[Noise] = &[
    Noise {
        name: "normal, 0.3 %",
        series: |n, dice| each(n, dice, |_, it| 0.003 * it),
        middle: Some(0.0),
    },
    Noise {
        name: "heavy tails, Student's t3",
        series: |n, dice| each(n, dice, heavy),
        middle: Some(0.0),
    },
    Noise {
        name: "skew, lognormal",
        series: |n, dice| each(n, dice, |_, it| 0.01 * (0.8 * it).exp()),
        middle: None,
    },
    Noise {
        name: "one trial in 20 is 30 % slower",
        series: |n, dice| each(n, dice, spiked),
        middle: None,
    },
    Noise { name: "two modes 4 % apart", series: |n, dice| two_modes(n, dice, 0.5), middle: None },
    Noise {
        name: "two modes, for ten trials each",
        series: |n, dice| two_modes(n, dice, 0.1),
        middle: None,
    },
    Noise {
        name: "AR(1) 0.5",
        series: |n, dice| scaled(autoregressive(n, dice, 0.5), 0.003),
        middle: Some(0.0),
    },
    Noise {
        name: "AR(1) 0.9",
        series: |n, dice| scaled(autoregressive(n, dice, 0.9), 0.003),
        middle: Some(0.0),
    },
    Noise {
        name: "AR(1) 0.98",
        series: |n, dice| scaled(autoregressive(n, dice, 0.98), 0.003),
        middle: Some(0.0),
    },
    Noise {
        name: "random walk, steps of 0.3 %",
        series: |n, dice| scaled(walk(n, dice), 0.003),
        middle: None,
    },
    Noise { name: "drift of 4 %", series: drift, middle: None },
    Noise { name: "a step of 4 % somewhere", series: step, middle: None },
];

fn each(n: usize, dice: &mut Rng, next: fn(&mut Rng, f64) -> f64) -> Vec<f64> {
    let mut one = |_| {
        let it = normal(dice);
        next(dice, it)
    };
    (0..n).map(&mut one).collect()
}

/// Box and Muller.
pub(super) fn normal(dice: &mut Rng) -> f64 {
    let distance = (-2.0 * (1.0 - dice.f64()).ln()).sqrt();
    distance * (std::f64::consts::TAU * dice.f64()).cos()
}

fn heavy(dice: &mut Rng, normal_value: f64) -> f64 {
    let squares: f64 = (0..3).map(|_| normal(dice).powi(2)).sum();
    0.003 * normal_value / (squares / 3.0).sqrt()
}

fn spiked(dice: &mut Rng, it: f64) -> f64 {
    0.003 * it + if dice.u8(..20) == 0 { 1.3_f64.ln() } else { 0.0 }
}

fn two_modes(n: usize, dice: &mut Rng, chance_of_change: f64) -> Vec<f64> {
    let mut is_slow = dice.bool();
    let mut one = |_| {
        is_slow ^= dice.f64() < chance_of_change;
        f64::from(u8::from(is_slow)) * 0.04 + 0.003 * normal(dice)
    };
    (0..n).map(&mut one).collect()
}

/// With a deviation of 1.
pub(super) fn autoregressive(n: usize, dice: &mut Rng, resemblance: f64) -> Vec<f64> {
    let new = (1.0 - resemblance * resemblance).sqrt();
    let mut level = normal(dice);
    let mut one = |_| {
        level = resemblance * level + new * normal(dice);
        level
    };
    (0..n).map(&mut one).collect()
}

fn walk(n: usize, dice: &mut Rng) -> Vec<f64> {
    let mut level = 0.0;
    let mut one = |_| {
        level += normal(dice);
        level
    };
    (0..n).map(&mut one).collect()
}

fn scaled(values: Vec<f64>, by: f64) -> Vec<f64> {
    values.into_iter().map(|it| by * it).collect()
}

fn drift(n: usize, dice: &mut Rng) -> Vec<f64> {
    (0..n).map(|at| 0.04 * at as f64 / n as f64 + 0.003 * normal(dice)).collect()
}

fn step(n: usize, dice: &mut Rng) -> Vec<f64> {
    let after = dice.usize(..n);
    (0..n).map(|at| if at < after { 0.0 } else { 0.04 } + 0.003 * normal(dice)).collect()
}

/// How a node of a race works, interval by interval: shares of its full speed.
pub(super) struct NodeNoise {
    /// As the table names it.
    pub(super) name: &'static str,
    /// The shares of consecutive intervals of a second.
    pub(super) shares: Series,
}

/// Of nodes, in the order of the tables.
pub(super) const NODES: &[NodeNoise] = &[
    NodeNoise { name: "independent, 5 %", shares: |n, dice| ar_node(n, dice, 0.0) },
    NodeNoise { name: "AR(1) 0.5", shares: |n, dice| ar_node(n, dice, 0.5) },
    NodeNoise { name: "AR(1) 0.9", shares: |n, dice| ar_node(n, dice, 0.9) },
    NodeNoise { name: "AR(1) 0.98", shares: |n, dice| ar_node(n, dice, 0.98) },
    NodeNoise { name: "two regimes 10 % apart, 20 s each", shares: regimes },
    NodeNoise { name: "checkpoints, 6 of 30 s at 60 %", shares: checkpoints },
    NodeNoise { name: "stalls, 5 % of seconds at 20 %", shares: stalls },
];

fn ar_node(n: usize, dice: &mut Rng, resemblance: f64) -> Vec<f64> {
    autoregressive(n, dice, resemblance).into_iter().map(|it| (0.05 * it).exp()).collect()
}

fn regimes(n: usize, dice: &mut Rng) -> Vec<f64> {
    let mut is_slow = dice.bool();
    let mut one = |_| {
        is_slow ^= dice.u8(..20) == 0;
        let share = if is_slow { 0.9 } else { 1.0 };
        share * (0.02 * normal(dice)).exp()
    };
    (0..n).map(&mut one).collect()
}

fn checkpoints(n: usize, dice: &mut Rng) -> Vec<f64> {
    let phase = dice.usize(..30);
    let share = |at: usize| if (at + phase) % 30 < 6 { 0.6 } else { 1.0 };
    (0..n).map(|at| share(at) * (0.05 * normal(dice)).exp()).collect()
}

fn stalls(n: usize, dice: &mut Rng) -> Vec<f64> {
    let mut one = |_| {
        let share = if dice.u8(..20) == 0 { 0.2 } else { 1.0 };
        share * (0.05 * normal(dice)).exp()
    };
    (0..n).map(&mut one).collect()
}
