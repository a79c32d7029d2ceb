//! `cargo xtask simulation [decisions] [--quick]`: thousands of experiments with known differences, and what `lab::compare`,
//! `lab::experiment::analysis` and `lab::verdict` claim of them, written to benches/simulation.md; `decisions` renews what is said
//! of `lab::verdict` alone.
//!
//! Nothing of the machine is in it: the noise is made up or was recorded, and the dice have a fixed seed.

mod decisions;
mod experiment;
mod noise;
mod study;
mod table;

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use fastrand::Rng;
use lab::compare::Difference;
use lab::verdict::Verdict;

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
    /// Without a difference, one was claimed.
    false_claims: f64,
    /// Without a difference, the interval left none out: what the allowance for two moments keeps from being claimed.
    excluded: f64,
    /// With the difference, it was claimed of the work.
    found: f64,
    /// Without and with, the interval held the truth.
    covered: f64,
    /// The mean of half the interval, as a share.
    half: f64,
}

/// Tries every noise and writes the page, or the part of it that was asked for.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let arguments: Vec<&str> = arguments.iter().map(|it| &**it).collect();
    let (n_experiments, is_whole) = match *arguments {
        [] => (2000, true),
        ["--quick"] => (200, true),
        ["decisions"] => (2000, false),
        ["decisions", "--quick"] => (200, false),
        _ => bail!("expected: cargo xtask simulation [decisions] [--quick]"),
    };
    let path = workspace().join("benches/simulation.md");
    let kept = if is_whole {
        of_records(n_experiments)
    } else {
        let page = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let kept = page.split(decisions::HEADING).next().unwrap_or_default();
        format!("{}\n", kept.trim_end())
    };
    let page = format!("{kept}\n{}", decisions::sections(n_experiments));
    print!("{page}");
    std::fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// What is claimed of whole records.
fn of_records(n_experiments: u32) -> String {
    let tallies = |experiment: Experiment| -> Vec<Tally> {
        let sizes = NOISES.iter().flat_map(|noise| [(noise, 20), (noise, 100)]);
        sizes.map(|(noise, pairs)| tally(experiment, noise, pairs, n_experiments)).collect()
    };
    let n_studies = n_experiments / 2;
    let sizes = NOISES.iter().flat_map(|noise| [(noise, 10), (noise, 30)]);
    let studies = sizes.map(|(noise, blocks)| study::tally(noise, blocks, n_studies)).collect();
    let comparisons = [in_blocks, in_pieces, in_turn].map(tallies);
    table::page((n_experiments, comparisons), (n_studies, studies))
}

fn tally(experiment: Experiment, noise: &Noise, pairs: u32, n_experiments: u32) -> Tally {
    let mut dice = Rng::with_seed(pairs.into());
    let mut experiments = |change| -> Vec<Difference> {
        (0..n_experiments).map(|_| experiment(noise, pairs, change, &mut dice)).collect()
    };
    let (same, different) = (experiments(0.0), experiments(CHANGE));
    let covered = share(&same, |it| covers(it, 0.0)) + share(&different, |it| covers(it, CHANGE));
    let halves = same.iter().filter_map(|it| Some(it.verdict.ratio()?.half_width()));
    let excludes =
        |it: &Difference| it.verdict.ratio().is_some_and(lab::verdict::Ratio::excludes_none);
    Tally {
        noise: noise.name,
        pairs,
        false_claims: share(&same, |it| it.verdict.is_claimed()),
        excluded: share(&same, excludes),
        found: share(&different, is_found),
        covered: covered / 2.0,
        half: halves.sum::<f64>() / f64::from(n_experiments),
    }
}

fn share(found: &[Difference], is: impl Fn(&Difference) -> bool) -> f64 {
    found.iter().filter(|it| is(it)).count() as f64 / found.len() as f64
}

/// A claim that B takes longer, which it does; a claim that it takes less finds nothing.
fn is_found(found: &Difference) -> bool {
    matches!(found.verdict, Verdict::Claimed(ratio) if ratio.log > 0.0)
}

fn covers(found: &Difference, change: f64) -> bool {
    found.verdict.ratio().is_some_and(|it| it.interval.contains(change.ln_1p()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 300 experiments at a level of 1 %, 9 false claims have a chance of 4 in 1,000; the seed is fixed.
    #[test]
    fn interleaved_arms_that_are_the_same_are_hardly_ever_claimed_to_differ() {
        let experiments: [Experiment; 2] = [in_blocks, in_pieces];
        for (noise, experiment) in NOISES.iter().flat_map(|it| experiments.map(|by| (it, by))) {
            let tally = tally(experiment, noise, 20, 300);
            assert!(tally.false_claims < 0.03, "{}: {}", noise.name, tally.false_claims);
            assert!(tally.covered > 0.97, "{}: {}", noise.name, tally.covered);
        }
    }

    #[test]
    fn the_published_difference_is_found_in_20_pairs_of_trials_with_little_noise() {
        let tally = tally(in_blocks, &NOISES[0], 20, 300);
        assert!(tally.found >= 0.95, "{}", tally.found);
    }
}
