//! `cargo xtask simulation [--quick]`: thousands of experiments with known differences, and what `lab::compare` and
//! `lab::experiment::analysis` claim of them, written to benches/simulation.md.
//!
//! Nothing of the machine is in it: the noise is made up or was recorded, and the dice have a fixed seed.

mod experiment;
mod noise;
mod study;
mod table;

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use fastrand::Rng;
use lab::compare::{LEVEL, Measure, Verdict};

use crate::cargo::workspace;
use experiment::{Experiment, in_blocks, in_pieces, in_turn};
use noise::{NOISES, Noise};

/// The difference of the published timings 12.40 s and 12.31 s.
const CHANGE: f64 = 0.0073;

/// What many experiments came to. Shares are of the experiments.
pub(crate) struct Tally {
    noise: &'static str,
    /// Trials of each arm.
    pairs: u32,
    /// Without a difference, any measure was claimed to differ.
    false_claims: f64,
    /// The same if doubts forbade nothing.
    despite_doubts: f64,
    /// With the difference, it was claimed of the work.
    found: f64,
    /// Without and with, the interval of the first measure held the truth.
    covered: f64,
    /// The mean of what was called detectable.
    detectable: f64,
}

/// Tries every noise and writes the page.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let n_experiments = match arguments {
        [] => 2000,
        [quick] if quick == "--quick" => 200,
        _ => bail!("expected: cargo xtask simulation [--quick]"),
    };
    let tallies = |experiment: Experiment| -> Vec<Tally> {
        let sizes = NOISES.iter().flat_map(|noise| [(noise, 20), (noise, 100)]);
        sizes.map(|(noise, pairs)| tally(experiment, noise, pairs, n_experiments)).collect()
    };
    let n_studies = n_experiments / 2;
    let sizes = NOISES.iter().flat_map(|noise| [(noise, 10), (noise, 30)]);
    let studies = sizes.map(|(noise, blocks)| study::tally(noise, blocks, n_studies)).collect();
    let comparisons = [in_blocks, in_pieces, in_turn].map(tallies);
    let page = table::page((n_experiments, comparisons), (n_studies, studies));
    print!("{page}");
    let path = workspace().join("benches/simulation.md");
    std::fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn tally(experiment: Experiment, noise: &Noise, pairs: u32, n_experiments: u32) -> Tally {
    let mut dice = Rng::with_seed(pairs.into());
    let mut experiments = |change| -> Vec<Verdict> {
        (0..n_experiments).map(|_| experiment(noise, pairs, change, &mut dice)).collect()
    };
    let (same, different) = (experiments(0.0), experiments(CHANGE));
    let covered = share(&same, |it| covers(it, 0.0)) + share(&different, |it| covers(it, CHANGE));
    let detectable = same.iter().filter_map(|it| Some(it.readings.first()?.evidence.detectable));
    Tally {
        noise: noise.name,
        pairs,
        false_claims: share(&same, |it| it.readings.iter().any(|it| it.is_claimed)),
        despite_doubts: share(&same, |it| it.readings.iter().any(|it| it.corrected_p < LEVEL)),
        found: share(&different, is_found),
        covered: covered / 2.0,
        detectable: detectable.sum::<f64>() / f64::from(n_experiments),
    }
}

fn share(verdicts: &[Verdict], is: impl Fn(&Verdict) -> bool) -> f64 {
    verdicts.iter().filter(|it| is(it)).count() as f64 / verdicts.len() as f64
}

/// A claim that B is slower, which it is; a claim that it is faster finds nothing.
fn is_found(verdict: &Verdict) -> bool {
    let of_work = verdict.readings.iter().filter(|it| it.measure != Measure::Clock);
    of_work.filter(|it| it.is_claimed).any(|it| it.evidence.change > 0.0)
}

fn covers(verdict: &Verdict, change: f64) -> bool {
    verdict.readings.first().is_some_and(|it| it.evidence.interval.contains(change))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 300 experiments at a level of 2 %, 15 false claims have a chance of 1 in 1,000; the seed is fixed.
    #[test]
    fn interleaved_arms_that_are_the_same_are_hardly_ever_claimed_to_differ() {
        let experiments: [Experiment; 2] = [in_blocks, in_pieces];
        for (noise, experiment) in NOISES.iter().flat_map(|it| experiments.map(|by| (it, by))) {
            let tally = tally(experiment, noise, 20, 300);
            assert!(tally.false_claims < 0.05, "{}: {}", noise.name, tally.false_claims);
            assert!(tally.covered > 0.9, "{}: {}", noise.name, tally.covered);
        }
    }

    #[test]
    fn the_published_difference_is_found_in_20_pairs_of_trials_with_little_noise() {
        let tally = tally(in_blocks, &NOISES[0], 20, 300);
        assert!(tally.found >= 0.95, "{}", tally.found);
    }
}
