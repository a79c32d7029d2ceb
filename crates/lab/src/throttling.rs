//! What a CPU quota takes from a node.

use facts::system::cgroup::{Quota, Throttling as Counts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the CPU quota of a control group took from a node during an interval, or a whole race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throttling {
    /// The group's folder.
    pub group: String,
    /// How many CPUs the quota amounts to; the last one, where it changed.
    pub quota_cpus: f64,
    /// The period of the quota, in milliseconds. Results of earlier versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_ms: Option<f64>,
    /// Periods in which the group had something to run.
    pub periods: u64,
    /// Periods in which it had used up its quota and wanted more.
    pub throttled_periods: u64,
    /// How long its CPUs stood still for it, added up over them, in nanoseconds.
    pub throttled_ns: u64,
    /// How long the group as a whole stood still for it, in nanoseconds: an estimate.
    pub stopped_ns: u64,
}

impl Throttling {
    /// Between two readings of a group's cpu.stat; `None` where it had nothing to run.
    ///
    /// The kernel adds up the CPUs that stood still, and tells not how many those were. In a period that was throttled the
    /// group ran for just its quota, so of the CPU time that it wanted and did or did not get, that part is known, and it is
    /// the part of the period that it stood still for.
    pub(crate) fn between(
        group: &str,
        quota: &Quota,
        before: &Counts,
        after: &Counts,
    ) -> Option<Throttling> {
        let periods = after.n_periods.checked_sub(before.n_periods).filter(|it| *it > 0)?;
        let throttled_periods = after.n_throttled.saturating_sub(before.n_throttled);
        let stood_s = after.time.saturating_sub(before.time).as_secs_f64();
        let ran_s = quota.time.as_secs_f64() * throttled_periods as f64;
        let throttled_s = quota.period.as_secs_f64() * throttled_periods as f64;
        let share = if stood_s > 0.0 { stood_s / (stood_s + ran_s) } else { 0.0 };
        Some(Throttling {
            group: group.to_owned(),
            quota_cpus: quota.n_cpus(),
            period_ms: Some(quota.period.as_secs_f64() * 1e3),
            periods,
            throttled_periods,
            throttled_ns: (stood_s * 1e9) as u64,
            // It may begin a period without anything to run.
            stopped_ns: (stood_s.min(throttled_s * share) * 1e9) as u64,
        })
    }

    /// Of all these intervals together; `None` where none of them had a quota in force.
    pub fn of_all<'a>(intervals: impl Iterator<Item = &'a Throttling>) -> Option<Throttling> {
        intervals.cloned().reduce(|sum, it| Throttling {
            periods: sum.periods.saturating_add(it.periods),
            throttled_periods: sum.throttled_periods.saturating_add(it.throttled_periods),
            throttled_ns: sum.throttled_ns.saturating_add(it.throttled_ns),
            stopped_ns: sum.stopped_ns.saturating_add(it.stopped_ns),
            ..it
        })
    }

    /// The share of this much time that the group stood still for.
    pub fn share_of(&self, elapsed_ns: u64) -> f64 {
        (self.stopped_ns as f64 / elapsed_ns.max(1) as f64).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn between(n_throttled: u64, stood_ms: u64) -> Throttling {
        let counts = |n_periods, n_throttled, ms| Counts {
            n_periods,
            n_throttled,
            time: Duration::from_millis(ms),
        };
        let (before, after) = (counts(5, 2, 40), counts(15, 2 + n_throttled, 40 + stood_ms));
        let quota = Quota::of(25_000, 100_000);
        Throttling::between("/b", &quota, &before, &after).unwrap()
    }

    #[test]
    fn time_of_several_cpus_is_time_of_the_group() {
        // One thread: 25 ms of each period it ran, 75 ms it stood still.
        assert_eq!(between(10, 750).stopped_ns, 750_000_000);
        // Two threads: 12.5 ms both ran, 87.5 ms both stood still.
        assert_eq!(between(10, 1750).stopped_ns, 875_000_000);
        assert_eq!(between(10, 1750).throttled_ns, 1_750_000_000);
        // In half of the periods it had less to do than it may.
        assert_eq!(between(5, 375).stopped_ns, 375_000_000);
        assert_eq!(between(0, 0).stopped_ns, 0);
    }

    #[test]
    fn intervals_add_up_and_those_without_a_quota_are_none() {
        let two = [between(10, 750), between(5, 375)];
        let sum = Throttling::of_all(two.iter()).unwrap();
        assert_eq!((sum.periods, sum.throttled_periods), (20, 15));
        assert!((sum.share_of(2_000_000_000) - 0.5625).abs() < 1e-9);
        assert_eq!(Throttling::of_all(std::iter::empty()), None);
        let idle = Counts { n_periods: 7, n_throttled: 1, time: Duration::ZERO };
        assert_eq!(Throttling::between("/b", &Quota::of(1, 10), &idle, &idle), None);
    }
}
