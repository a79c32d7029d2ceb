//! Studies of made-up machines: known effects and interactions in noise, and what `lab::experiment::analysis` makes of them.
//!
//! Twelve combinations (turbo, an idle state, three governors) by two workloads, every arm once in each block, in random order.

use super::experiment::trial;
use super::noise::Noise;
use fastrand::Rng;
use lab::experiment::analysis::{Analysis, Recommendation, analyse};
use lab::experiment::{Combination, Design, Experiment, Factor, arms};
use lab::record::{Arm, Record};
use lab::trial::Trial;

/// What many studies came to. Shares are of the studies, but for `covered`.
pub(crate) struct StudyTally {
    pub(crate) noise: &'static str,
    pub(crate) blocks: u32,
    /// Of all intervals of effects and interactions, how many held the truth.
    pub(crate) covered: f64,
    /// Turbo alone was advised, which is best.
    pub(crate) right: f64,
    /// Something was advised that makes nothing faster.
    pub(crate) wrong: f64,
    /// Without any effect, nothing was advised.
    pub(crate) nothing_advised: f64,
    /// Without any effect, nothing was claimed.
    pub(crate) nothing_claimed: f64,
    /// Without any effect, how many intervals held 0.
    pub(crate) covered_without: f64,
}

/// The logarithm of the slowness of a workload at the levels of turbo, the idle state and the governor.
type Machine = fn(usize, &[usize]) -> f64;

/// Turbo gives one busy core 3 %, of which 2 points are lost without the deep idle state, which alone costs 1 %; where all are busy
/// it gives 1 %. The governor does nothing.
fn turbo(workload: usize, levels: &[usize]) -> f64 {
    match (workload, levels[0], levels[1]) {
        (0, 1, 0) => -0.03,
        (0, 0, 1) => 0.01,
        (1, 1, _) => -0.01,
        _ => 0.0,
    }
}

fn nothing(_: usize, _: &[usize]) -> f64 {
    0.0
}

/// Tries a noise `n_studies` times, with effects and without.
pub(super) fn tally(noise: &Noise, blocks: u32, n_studies: u32) -> StudyTally {
    let mut dice = Rng::with_seed(u64::from(blocks) + 1000);
    let mut studies = |machine: Machine| -> Vec<Analysis> {
        let study = |_| analyse(&record(noise, blocks, machine, &mut dice)).ok();
        (0..n_studies).filter_map(study).collect()
    };
    let (with, without) = (studies(turbo), studies(nothing));
    // An analysis that was refused is none of those that went right.
    let share = |of: &[Analysis], is: fn(&Analysis) -> bool| {
        of.iter().filter(|it| is(it)).count() as f64 / f64::from(n_studies)
    };
    StudyTally {
        noise: noise.name,
        blocks,
        covered: covered(&with, turbo),
        right: share(&with, |it| advised(it) == Some(&[1, 0, 0])),
        wrong: share(&with, |it| advised(it).is_some_and(|it| gain(it) >= 0.0)),
        nothing_advised: share(&without, |it| advised(it).is_none()),
        nothing_claimed: share(&without, |it| matches!(it.recommendation, Recommendation::Nothing)),
        covered_without: covered(&without, nothing),
    }
}

fn advised(analysis: &Analysis) -> Option<&[usize]> {
    match &analysis.recommendation {
        Recommendation::Change { levels, .. } => Some(levels),
        _ => None,
    }
}

/// What these levels truly change, both workloads together.
fn gain(levels: &[usize]) -> f64 {
    (0..2).map(|workload| turbo(workload, levels)).sum()
}

/// The share of intervals that hold what the machine does.
fn covered(analyses: &[Analysis], machine: Machine) -> f64 {
    let (mut held, mut all) = (0_u32, 0_u32);
    for (at, workload) in analyses.iter().flat_map(|it| it.workloads.iter().enumerate()) {
        let effects = workload.effects.iter().map(|it| {
            let truth = marginal(machine, at, &[(it.factor, it.level)]);
            (&it.estimate, truth - marginal(machine, at, &[(it.factor, 0)]))
        });
        let interactions = workload.interactions.iter().map(|it| {
            let at = |level, other| {
                marginal(machine, at, &[(it.factors.0, level), (it.factors.1, other)])
            };
            let (level, other) = it.levels;
            (&it.estimate, at(level, other) - at(level, 0) - at(0, other) + at(0, 0))
        });
        for (estimate, truth) in effects.chain(interactions) {
            all += 1;
            let holds = estimate.value().is_some_and(|it| it.interval.contains(truth.exp_m1()));
            held += u32::from(holds);
        }
    }
    f64::from(held) / f64::from(all.max(1))
}

/// The mean over all combinations that have these levels.
fn marginal(machine: Machine, workload: usize, given: &[(usize, usize)]) -> f64 {
    let combinations = arms(&design()).unwrap_or_default();
    let has = |it: &&Combination| {
        it.workload == workload && given.iter().all(|(factor, at)| it.levels[*factor] == *at)
    };
    let values: Vec<f64> =
        combinations.iter().filter(has).map(|it| machine(workload, &it.levels)).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

fn design() -> Design {
    let factor = |(name, levels): (&str, &[&str])| Factor {
        name: name.to_owned(),
        levels: levels.iter().map(|it| (*it).to_owned()).collect(),
    };
    let factors: [(&str, &[&str]); 3] = [
        ("turbo", &["off", "on"]),
        ("cpuidle.C6", &["on", "off"]),
        ("governor", &["performance", "schedutil", "powersave"]),
    ];
    Design {
        factors: factors.map(factor).to_vec(),
        workloads: vec!["one-core".to_owned(), "all-cores".to_owned()],
        ..Design::default()
    }
}

fn record(noise: &Noise, blocks: u32, machine: Machine, dice: &mut Rng) -> Record {
    let design = design();
    let arms = arms(&design).unwrap_or_default();
    let series = (noise.series)(arms.len() * blocks as usize, dice);
    let mut trials: Vec<Trial> = Vec::with_capacity(series.len());
    for (block, shown) in (0..).zip(series.chunks_exact(arms.len())) {
        let mut order: Vec<usize> = (0..arms.len()).collect();
        dice.shuffle(&mut order);
        for (arm, shown) in order.into_iter().zip(shown) {
            let Combination { workload, levels } = &arms[arm];
            let change = machine(*workload, levels).exp_m1();
            trials.push(Trial { block, ..trial(trials.len() as u32, arm, change, shown) });
        }
    }
    let of = |it: usize| Arm::of(&it.to_string(), "made-up");
    let described = (0..arms.len()).map(of).collect();
    let experiment = Some(Experiment::of(design, arms, 1));
    Record { trials, experiment, is_complete: true, ..Record::of(described) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::noise::NOISES;

    /// Of 60 studies at 95 %, 49 or fewer have a chance of 1 in 1,000; the seed is fixed.
    #[test]
    fn what_is_there_is_found_and_what_is_not_is_not_advised() {
        for noise in ["independent, 0.3 %", "resembles its neighbour, AR(1) 0.9"] {
            let noise = NOISES.iter().find(|it| it.name == noise).unwrap();
            let tally = tally(noise, 10, 60);
            assert!(tally.covered > 0.92 && tally.covered_without > 0.92, "{}", tally.covered);
            assert!(tally.right > 0.83, "{}: {}", noise.name, tally.right);
            assert!(tally.nothing_advised > 0.83, "{}: {}", noise.name, tally.nothing_advised);
        }
    }

    #[test]
    fn two_modes_may_hide_what_is_there_but_advise_nothing_that_makes_it_slower() {
        let noise = NOISES.iter().find(|it| it.name.starts_with("two modes")).unwrap();
        let tally = tally(noise, 10, 60);
        assert!(tally.wrong < 0.05 && tally.nothing_advised > 0.83, "{}", tally.wrong);
    }
}
