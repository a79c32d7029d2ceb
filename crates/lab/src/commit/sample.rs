//! What an engine has counted up to one moment, and how often log writes took how long.

use crate::known::Known;
use facts::counters::task_stat::Scheduled;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One moment's counts, all from the same start: what happened between two moments is the difference of two of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// How long the engine had run, in nanoseconds.
    pub at_ns: u64,
    /// How many sessions commit.
    pub sessions: u32,
    /// How many commits were over.
    pub commits: u64,
    /// What was written to the log.
    pub log: LogCounts,
    /// What the scheduler says of the task that writes the log, where there is one.
    pub writer: Known<Ran>,
    /// What it says of the sessions' tasks together.
    pub crew: Known<Ran>,
    /// How long sessions waited from posting their redo until it was on disk, in nanoseconds.
    pub log_wait_ns: Known<u64>,
}

/// Log writes up to one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogCounts {
    /// How many there were: each made what it wrote durable.
    pub writes: Known<u64>,
    /// How many bytes of log.
    pub bytes: Known<u64>,
    /// How long they took from each call to its return, in nanoseconds.
    pub taken_ns: Known<u64>,
    /// For how long of that the writer could have run and had no CPU, in nanoseconds.
    pub waited_ns: Known<u64>,
    /// How often each took how long, where each was seen.
    pub latency: Known<Latency>,
}

/// What the scheduler has counted of one task, or of several (/proc/PID/task/TID/schedstat).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// On a CPU, in nanoseconds.
    pub run_ns: u64,
    /// Runnable and waiting for one, in nanoseconds.
    pub wait_ns: u64,
    /// How often a CPU was given.
    pub slices: u64,
}

impl From<Scheduled> for Ran {
    fn from(Scheduled { run_ns, wait_ns, slices }: Scheduled) -> Ran {
        Ran { run_ns, wait_ns, slices }
    }
}

impl Ran {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Ran) -> Ran {
        Ran {
            run_ns: self.run_ns.saturating_add(other.run_ns),
            wait_ns: self.wait_ns.saturating_add(other.wait_ns),
            slices: self.slices.saturating_add(other.slices),
        }
    }

    /// What was added since `earlier`; `None` where a count went backwards.
    pub fn since(self, earlier: Ran) -> Option<Ran> {
        Some(Ran {
            run_ns: self.run_ns.checked_sub(earlier.run_ns)?,
            wait_ns: self.wait_ns.checked_sub(earlier.wait_ns)?,
            slices: self.slices.checked_sub(earlier.slices)?,
        })
    }
}

/// Buckets of a power of two.
const STEPS: u64 = 8;

/// Counts by time; the last bucket that was ever hit is the last one kept.
///
/// Two of them are subtracted bucket by bucket, which no list of percentiles can be. A quantile is known to within one
/// bucket, 12.5 %.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Latency {
    counts: Vec<u64>,
}

impl Latency {
    /// Adds one latency, in nanoseconds.
    pub fn add(&mut self, ns: u64) {
        let bucket = bucket(ns);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(bucket) {
            *count = count.saturating_add(1);
        }
    }

    /// What was added since `earlier`; `None` where a count went backwards.
    pub fn since(&self, earlier: &Latency) -> Option<Latency> {
        if earlier.counts.len() > self.counts.len() {
            return None;
        }
        let before = earlier.counts.iter().copied().chain(std::iter::repeat(0));
        let counts =
            self.counts.iter().zip(before).map(|(after, before)| after.checked_sub(before));
        Some(Latency { counts: counts.collect::<Option<_>>()? })
    }

    /// The time that this share of all stayed below, to within one bucket; `None` where nothing was counted.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let total: u64 = self.counts.iter().sum();
        if total == 0 {
            return None;
        }
        let rank = (share.clamp(0.0, 1.0) * total as f64).ceil().max(1.0);
        let mut seen = 0_u64;
        let bucket = self.counts.iter().position(|count| {
            seen += count;
            seen as f64 >= rank
        });
        bucket.map(|it| Duration::from_nanos(upper_end(it)))
    }
}

/// Below 8 ns each nanosecond has a bucket; above, the three bits after the leading one choose.
fn bucket(ns: u64) -> usize {
    let number = match ns.checked_ilog2() {
        Some(power @ 3..) => u64::from(power - 2) * STEPS + ((ns >> (power - 3)) & (STEPS - 1)),
        _ => ns,
    };
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The longest time of a bucket.
fn upper_end(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket;
    }
    let (power, step) = (bucket / STEPS - 1, bucket % STEPS);
    let end = u128::from(STEPS + step + 1) << power;
    u64::try_from(end - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_lies_in_its_bucket_and_the_buckets_are_narrow() {
        for ns in (0..64).flat_map(|power| {
            let power = 1_u64 << power;
            [power - 1, power, power.saturating_add(power / 3)]
        }) {
            let (here, end) = (bucket(ns), upper_end(bucket(ns)));
            assert!(end >= ns && (end - ns) as f64 <= 0.125 * ns as f64, "{ns} {here} {end}");
            assert!(here == 0 || upper_end(here - 1) < ns, "{ns}");
        }
        assert_eq!(upper_end(bucket(u64::MAX)), u64::MAX);
    }

    #[test]
    fn quantiles_are_those_of_what_was_added_between() {
        let mut before = Latency::default();
        before.add(1_000_000);
        let mut after = before.clone();
        (1..=100).for_each(|_| after.add(1000));
        after.add(9_000_000);
        let between = after.since(&before).unwrap();
        assert_eq!(between.quantile(0.5), Some(Duration::from_nanos(1023)));
        assert!(between.quantile(1.0) > Some(Duration::from_millis(8)));
        assert_eq!(before.since(&after), None);
        assert_eq!(Latency::default().quantile(0.5), None);
    }
}
