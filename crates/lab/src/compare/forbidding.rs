//! Which doubts forbid any claim.
//!
//! Whatever both arms share alike, chance spreads over them: in interleaved trials only too few of them forbid a claim. Two
//! moments share nothing, and a machine that was not the same in one of them says nothing about the arms.

use super::Design;
use super::judgement::LEAST_TRIALS;
use super::separate::Side;
use crate::doubt::{Doubt, Raised};

/// Those of `doubts` that forbid a claim, each once.
pub(super) fn of(design: Design, doubts: impl Iterator<Item = Raised>) -> Vec<Raised> {
    let mut found: Vec<Raised> = Vec::new();
    for raised in doubts.filter(|it| forbids(design, &it.doubt)) {
        if !found.contains(&raised) {
            found.push(raised);
        }
    }
    found
}

/// The doubt of an arm that has too few trials for two moments to be compared.
pub(super) fn too_few(side: &Side<'_>) -> Option<Doubt> {
    let trials = side.record.trials.iter().filter(|it| it.arm == side.arm).count();
    let doubt = || Doubt::TooFewTrials { trials: trials as u32, needed: LEAST_TRIALS as u32 };
    (trials < LEAST_TRIALS).then(doubt)
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
        | Doubt::MachineUnknown
        | Doubt::CutShort
        | Doubt::Failures { .. } => false,
    }
}
