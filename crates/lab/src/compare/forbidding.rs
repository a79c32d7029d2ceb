//! Which doubts forbid any claim.
//!
//! Whatever both arms share alike, chance spreads over them: in interleaved trials only too few of them forbid a claim. Two
//! moments share nothing, and a machine that was not the same in one of them says nothing about the arms.

use super::Design;
use super::judgement::LEAST_TRIALS;
use crate::doubt::Doubt;
use crate::record::Record;

/// Those of `doubts` that forbid a claim, each once.
pub(super) fn of(design: Design, doubts: impl Iterator<Item = Doubt>) -> Vec<Doubt> {
    let mut found: Vec<Doubt> = Vec::new();
    for doubt in doubts.filter(|it| forbids(design, it)) {
        if !found.contains(&doubt) {
            found.push(doubt);
        }
    }
    found
}

/// A doubt for each arm that has too few trials for two moments to be compared.
pub(super) fn too_few(arms: &[(&Record, usize)]) -> Vec<Doubt> {
    arms.iter()
        .map(|(record, arm)| record.trials.iter().filter(|it| it.arm == *arm).count())
        .filter(|it| *it < LEAST_TRIALS)
        .map(|it| Doubt::TooFewTrials { trials: it as u32, needed: LEAST_TRIALS as u32 })
        .collect()
}

fn forbids(design: Design, doubt: &Doubt) -> bool {
    match doubt {
        Doubt::TooFewTrials { .. } => true,
        Doubt::Throttled { .. }
        | Doubt::Stolen { .. }
        | Doubt::OtherLoad { .. }
        | Doubt::ClockDrifted { .. }
        | Doubt::Warming { .. }
        | Doubt::Drifted { .. } => design == Design::Separate,
        Doubt::ClockUnknown { .. }
        | Doubt::Outliers { .. }
        | Doubt::Unpinned
        | Doubt::CutShort
        | Doubt::Failures { .. } => false,
    }
}
