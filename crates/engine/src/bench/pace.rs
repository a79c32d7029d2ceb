//! When there are enough trials.
//!
//! Nothing here looks at which arm is faster, only at how well it is known: whoever stops when the sign pleases claims
//! too much (Anscombe, "Fixed-Width Sequential Estimation", 1953).

use facts::quantity::roughly;
use lab::compare::{Terms, interleaved};
use lab::comparison::ranking;
use lab::record::Record;
use lab::stats::trials_needed;
use lab::summary::summary;
use lab::verdict::{Ratio, Verdict, confidence};
use std::time::Duration;

/// The default number of trials of each arm, and the time within which more are added. `--until` first looks after this many, which
/// are ten blocks of several arms: the interval of fewer is too often narrow by luck.
const TRIALS: u32 = 20;
const SHORT: Duration = Duration::from_secs(10);
/// How long `--until` goes on by default.
const PATIENCE: Duration = Duration::from_secs(300);

/// How many trials the user wants.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// As many of each arm; otherwise as many as are needed.
    pub trials: Option<u32>,
    /// Until the interval is this narrow, as a share.
    pub until: Option<f64>,
    /// For this long; at most, where something else says when it is enough.
    pub duration: Option<Duration>,
}

/// How many trials there will be.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    least: u32,
    is_counted: bool,
    until: Option<f64>,
    /// When no more trials begin.
    end: Option<Duration>,
    n_arms: usize,
    seen: Option<Seen>,
}

/// How well it was known when it was last asked.
#[derive(Clone, Copy, Debug)]
struct Seen {
    trials: u32,
    half_width: Option<f64>,
}

/// How far the trials are.
pub(super) struct Done {
    /// Trials of each arm.
    pub(super) trials: u32,
    /// How much is over, from 0 to 1.
    pub(super) share: f64,
}

impl Pace {
    pub(super) fn of(wanted: Wanted, n_arms: usize) -> Pace {
        let patience = wanted.until.map(|_| PATIENCE);
        let least = wanted.trials.unwrap_or_else(|| TRIALS.max(2 * blocks_to_claim(n_arms)));
        Pace {
            least: if wanted.until.is_some() { least.max(TRIALS) } else { least },
            is_counted: wanted.trials.is_some(),
            until: wanted.until,
            end: wanted.duration.or(patience),
            n_arms,
            seen: None,
        }
    }

    /// How many trials of each arm there are to be, where time does not end them before.
    pub(super) fn least(&self) -> u32 {
        self.least
    }

    /// Whether another block is wanted, `elapsed` after the first trial began.
    pub(super) fn wants_more(&mut self, record: &Record, elapsed: Duration) -> bool {
        if self.end.is_some_and(|it| elapsed >= it) {
            return false;
        }
        let trials = self.trials(record);
        if trials < self.least {
            return true;
        }
        // Without a count and an aim, time alone ends it.
        match self.until {
            Some(wished) => {
                self.look(record, trials);
                self.half_width().is_none_or(|it| it > wished)
            }
            None => !self.is_counted && elapsed < self.end.unwrap_or(SHORT),
        }
    }

    pub(super) fn progress(&self, record: &Record, elapsed: Duration) -> Done {
        let trials = self.trials(record);
        let by_count = f64::from(trials) / f64::from(self.least);
        let by_time = |it: Duration| elapsed.as_secs_f64() / it.as_secs_f64();
        let wanted = match (self.until, self.seen) {
            (Some(wished), Some(seen)) => {
                let needed =
                    seen.half_width.and_then(|it| trials_needed(seen.trials as usize, it, wished));
                needed.map_or(0.0, |it| f64::from(trials) / it.max(1) as f64)
            }
            (None, _) if !self.is_counted => by_count.min(by_time(self.end.unwrap_or(SHORT))),
            _ => by_count,
        };
        Done { trials, share: wanted.max(self.end.map_or(0.0, by_time)).min(1.0) }
    }

    /// What `--until` wished and did not get, with what it would take.
    pub(super) fn shortfall(&self, record: &Record) -> Option<String> {
        let wished = self.until?;
        let trials = self.trials(record);
        let Some(seen) = half_width(record) else {
            return Some("there are too few trials for an interval".to_owned());
        };
        if seen <= wished {
            return None;
        }
        let needed = trials_needed(trials as usize, seen, wished);
        let needed = needed.map_or_else(
            || "no number of trials makes it so".to_owned(),
            |it| format!("that takes about {it} trials of each{}", self.length_of(record, it)),
        );
        let (seen, wished) = (seen * 100.0, wished * 100.0);
        Some(format!(
            "the 99 % interval is +-{seen:.2} %, and +-{wished} % was requested: {needed}, with noise like this (--duration lets \
             it go on)"
        ))
    }

    /// How long so many trials of each would take, as long as those of the record did.
    fn length_of(&self, record: &Record, trials: u64) -> String {
        let last = record.trials.last().and_then(|it| it.began_ns.value());
        let steps = record.trials.len().saturating_sub(1);
        last.filter(|_| steps > 0).map_or_else(String::new, |last_ns| {
            let step_s = *last_ns as f64 / 1e9 / steps as f64;
            format!(", {}", roughly(step_s * trials as f64 * self.n_arms as f64))
        })
    }

    fn half_width(&self) -> Option<f64> {
        self.seen?.half_width
    }

    fn trials(&self, record: &Record) -> u32 {
        u32::try_from(record.trials.len() / self.n_arms.max(1)).unwrap_or(u32::MAX)
    }

    /// Looks at the trials when there are a tenth more than last time: it takes longer the more there are.
    fn look(&mut self, record: &Record, trials: u32) {
        if self.seen.is_none_or(|it| trials >= it.trials.saturating_add(it.trials / 10)) {
            self.seen = Some(Seen { trials, half_width: half_width(record) });
        }
    }
}

/// Half of the widest interval that is printed, as a share: of one arm its result, of two their difference, of more that of each to the
/// middle one.
fn half_width(record: &Record) -> Option<f64> {
    match record.arms.len() {
        0 | 1 => summary(record, 0)?.figures.first()?.precision(),
        2 => half_of(&interleaved(record, (0, 1), &Terms::of(1)).verdict),
        n_arms => {
            let ranking = ranking(record);
            let mut halves =
                ranking.iter().filter_map(|it| it.against_middle.as_ref()).map(half_of);
            let widest = halves.try_fold(0.0, |widest, it| Some(f64::max(widest, it?)));
            // An arm without a result has no rank.
            widest.filter(|_| ranking.len() == n_arms)
        }
    }
}

fn half_of(verdict: &Verdict) -> Option<f64> {
    verdict.ratio().map(Ratio::half_width)
}

/// The fewest blocks that can show for each of `n_arms` that it differs from the first: without a difference all n blocks lean to
/// one side with a chance of 2 in 2^n, which has to be below the chance that one of the intervals misses.
fn blocks_to_claim(n_arms: usize) -> u32 {
    let wanted = 1.0 - confidence(n_arms.saturating_sub(1));
    (1..64).find(|it| 2.0 * 0.5_f64.powi(*it) < wanted).unwrap_or(64).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::record::Arm;
    use lab::trial::Trial;

    #[test]
    fn an_aim_is_first_looked_at_after_twenty_trials_of_one_arm() {
        let wanted = |until| Wanted { trials: Some(8), until, duration: None };
        let more = |until: Option<f64>, n: u32| {
            let mut record = Record::of(vec![Arm::of("A", "cpu-loop")]);
            record.trials = (0..n).map(|it| Trial::of_one_task(0, it, 1.0)).collect();
            Pace::of(wanted(until), 1).wants_more(&record, Duration::ZERO)
        };
        assert_eq!([8, 19, 20].map(|n| more(Some(0.05), n)), [true, true, false]);
        assert_eq!([7, 8].map(|n| more(None, n)), [true, false]);
    }

    #[test]
    fn more_arms_need_more_blocks_for_one_to_stand_out() {
        let blocks: Vec<u32> = [1, 2, 16, 256].map(blocks_to_claim).to_vec();
        assert_eq!(blocks, [8, 8, 12, 16]);
    }
}
