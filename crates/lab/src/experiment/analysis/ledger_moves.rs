//! Which losses each level of a factor moves.

use super::study::Study;
use super::{LEVEL, WorkloadAnalysis};
use crate::stats::{Claim, Mean, holm};

/// The smallest move of a line of the ledger that is told: half a point.
const LEAST_MOVE: f64 = 0.005;

/// One loss of one effect, as blocks have it.
struct Move {
    workload: usize,
    effect: usize,
    loss: String,
    mean: Mean,
}

/// Puts beside each effect the losses that moved, the largest first: by more than [`LEAST_MOVE`], and by more than chance
/// moves any of them. All losses of all effects are one family of tests.
pub(super) fn settle(study: &Study<'_>, workloads: &mut [WorkloadAnalysis]) {
    let moves = moves(study, workloads);
    let claims: Vec<Claim> = moves.iter().map(|it| Claim { p: it.mean.p, weight: 1.0 }).collect();
    for (it, p) in moves.into_iter().zip(holm(&claims)) {
        if p < LEVEL && it.mean.mean.abs() > LEAST_MOVE {
            workloads[it.workload].effects[it.effect].ledger.push((it.loss, it.mean.mean));
        }
    }
    for effect in workloads.iter_mut().flat_map(|it| &mut it.effects) {
        effect.ledger.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    }
}

fn moves(study: &Study<'_>, workloads: &[WorkloadAnalysis]) -> Vec<Move> {
    let mut moves = Vec::new();
    for (workload, of) in workloads.iter().enumerate() {
        for (effect, it) in of.effects.iter().enumerate() {
            let contrast = study.grid.effect(workload, it.factor, it.level);
            for (loss, cells) in &study.measured.ledger {
                let mean = contrast.mean(cells).value().copied();
                let loss = loss.clone();
                moves.extend(mean.map(|mean| Move { workload, effect, loss, mean }));
            }
        }
    }
    moves
}
