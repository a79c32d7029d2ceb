//! Trials whose pieces take turns.
//!
//! Another guest on the core, or a task of another container, comes and goes for seconds. That is longer than a trial, so of
//! two whole trials one meets it and the other does not. With pieces of a few milliseconds in turn, both arms get their part
//! of it, and of a clock that changes. Each turn is a block in random order ([`blocks::order`]): if the arms are the same, the
//! opposite order of every turn is as likely, and with it the opposite difference of the trials.

use super::blocks;
use super::prepared::PreparedArm;
use crate::failure::Failure;
use crate::threads::on;
use crate::trial::Outcome;
use crate::workload::Pieces;
use facts::CpuSet;
use fastrand::Rng;
use host::probe::anchor;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a piece of the longest trial is to take where nothing disturbs it: less than most of what does. Between 0.5 and 6 ms
/// the noise of the differences is much the same.
const PIECE_NS: u64 = 3_000_000;

/// No piece is shorter: reading the clocks adds some 30 ns to what it took and 600 ns to its time on the CPU, less than
/// 0.1 % of this.
const SHORTEST_NS: u64 = 1_000_000;

/// Into how many pieces the trials of these arms are cut, all into as many; `None` where they have to run as a whole: there
/// is one arm only, one cannot be cut, they run in different places, or they are too short. Runs a part of each first.
pub(super) fn pieces(arms: &[&PreparedArm]) -> Result<Option<u32>, Failure> {
    let [first, others @ ..] = arms else { return Ok(None) };
    let place = first.ready.cpus();
    if others.is_empty() || others.iter().any(|it| it.ready.cpus() != place) {
        return Ok(None);
    }
    let lengths =
        in_place(place, || arms.iter().map(|it| length_ns(it)).collect::<Option<Vec<u64>>>())?;
    Ok(lengths.and_then(|it| count(*it.iter().min()?, *it.iter().max()?)))
}

/// How many pieces trials of these lengths make: an even number, for whole turns.
fn count(shortest_ns: u64, longest_ns: u64) -> Option<u32> {
    let count = (longest_ns / PIECE_NS).min(shortest_ns / SHORTEST_NS) & !1;
    u32::try_from(count).ok().filter(|it| *it > 0)
}

/// How long a trial takes that nothing disturbs, by the shortest of its first parts; `None` where it cannot be cut.
fn length_ns(arm: &PreparedArm) -> Option<u64> {
    /// As many parts as there are in a trial that is worth cutting.
    const PARTS: u32 = 256;
    const ENOUGH_NS: u64 = 10_000_000;
    let mut trial = arm.ready.cut(PARTS)?;
    let (mut shortest_ns, mut taken_ns) = (u64::MAX, 0_u64);
    for _ in 0..PARTS {
        let part_ns = trial.piece();
        shortest_ns = shortest_ns.min(part_ns);
        taken_ns = taken_ns.saturating_add(part_ns);
        if taken_ns >= ENOUGH_NS {
            break;
        }
    }
    Some(shortest_ns.saturating_mul(PARTS.into()))
}

/// A trial that was run in pieces.
pub(super) struct Run {
    /// The start of its first piece, in nanoseconds of CLOCK_MONOTONIC_RAW.
    pub(super) began_ns: u64,
    pub(super) outcome: Outcome,
}

/// Runs one trial of each arm, all cut into `pieces`, an even number; by arm.
pub(super) fn run(
    arms: &[&PreparedArm],
    pieces: u32,
    draw: &mut Rng,
    stop: &AtomicBool,
) -> Result<Vec<Run>, Failure> {
    let mut trials: Vec<Box<dyn Pieces>> =
        arms.iter().filter_map(|it| it.ready.cut(pieces)).collect();
    let mut began_ns = vec![None; trials.len()];
    let mut turn = || {
        for arm in blocks::order(trials.len(), draw) {
            began_ns[arm].get_or_insert_with(|| anchor().raw_ns);
            trials[arm].piece();
        }
    };
    let place = arms.first().and_then(|it| it.ready.cpus());
    in_place(place, || {
        (0..pieces / 2).try_for_each(|_| {
            turn();
            if stop.load(Ordering::Relaxed) { Err(Failure::Stopped) } else { Ok(()) }
        })
    })??;
    let run = |(trial, began_ns): (Box<dyn Pieces>, Option<u64>)| {
        Ok(Run { began_ns: began_ns.unwrap_or_default(), outcome: trial.outcome()? })
    };
    trials.into_iter().zip(began_ns).map(run).collect()
}

/// Does `work` on the calling thread, on the CPU of trials that can be cut.
fn in_place<T>(cpus: Option<&CpuSet>, work: impl FnOnce() -> T) -> Result<T, Failure> {
    match cpus.and_then(CpuSet::first) {
        Some(cpu) => on(cpu, work),
        None => Ok(work()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_piece_takes_about_three_milliseconds_and_turns_are_whole() {
        assert_eq!(count(60 * MS, 60 * MS), Some(20));
        assert_eq!(count(63 * MS, 65 * MS), Some(20));
        assert_eq!(count(6 * MS, 6 * MS), Some(2));
    }

    #[test]
    fn short_trials_run_as_a_whole_and_long_ones_beside_short_ones_in_longer_pieces() {
        assert_eq!([count(5 * MS, 5 * MS), count(MS / 2, 900 * MS), count(0, 0)], [None; 3]);
        assert_eq!(count(11 * MS, 900 * MS), Some(10));
    }
}
