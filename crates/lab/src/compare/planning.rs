//! How many blocks would show a difference that was not shown.

use crate::record::Record;
use crate::stats::blocks_to_show;
use crate::verdict::Verdict;

/// What it takes to show a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planning {
    /// The difference, as a logarithm above 0.
    pub sought: f64,
    /// So many blocks show it in 19 of 20 attempts, with noise like that so far.
    pub blocks: u64,
    /// How long these take, in seconds, where it is known how long the others took.
    pub seconds: Option<f64>,
}

impl Planning {
    /// For the difference that `blocks` of the record were seen to have, or for a quarter of the half-width of their interval
    /// where that is more; `None` where a difference is claimed, or nothing was asked but whether there is none.
    pub(super) fn of(record: &Record, blocks: usize, verdict: &Verdict) -> Option<Planning> {
        let Verdict::NotShown(ratio) = verdict else { return None };
        let half_width = ratio.interval.half_width();
        let sought = ratio.log.abs().max(half_width / 4.0);
        let needed = blocks_to_show(blocks, half_width, sought)?;
        let seconds = seconds(record).map(|it| it / blocks as f64 * needed as f64);
        Some(Planning { sought, blocks: needed, seconds })
    }
}

/// How long all trials took with what lies between them.
fn seconds(record: &Record) -> Option<f64> {
    let n = record.trials.len() as f64;
    let last_ns = *record.trials.last()?.began_ns.value()? as f64;
    (last_ns > 0.0).then_some(last_ns / 1e9 / (n - 1.0) * n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::{blocks, record};
    use crate::compare::{Terms, interleaved};
    use crate::known::Known;

    #[test]
    fn blocks_that_show_nothing_say_how_many_would_and_for_how_long() {
        let mut like = record(blocks((1.0, 2e9), (1.0, 2e9), 0.003));
        let of = |record: &Record| interleaved(record, (0, 1), &Terms::of(1));
        let untimed = of(&like).planning.unwrap();
        assert_eq!(untimed.seconds, None);
        for (at, trial) in like.trials.iter_mut().enumerate() {
            trial.began_ns = Known::Value(at as u64 * 1_500_000_000);
        }
        let found = of(&like);
        let planning = found.planning.unwrap();
        assert_eq!(planning, Planning { seconds: planning.seconds, ..untimed });
        // Four trials a block, 1.5 s each.
        let seconds = planning.seconds.unwrap();
        assert!((seconds - 6.0 * planning.blocks as f64).abs() < 1e-6 * seconds, "{planning:?}");
        let half = found.verdict.ratio().unwrap().interval.half_width();
        let expected = 10.0 * (1.64 * half / planning.sought).powi(2);
        assert!((planning.blocks as f64 - expected).abs() <= 1.0, "{planning:?} {expected}");
        assert_eq!(of(&record(blocks((1.0, 2e9), (1.1, 2e9), 0.003))).planning, None);
    }
}
