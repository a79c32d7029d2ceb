//! What the thief says it took.

use anyhow::{Context as _, Result};
use serde::Deserialize;

/// The thief's report: its own count of what it took.
#[derive(Debug, Deserialize)]
pub(super) struct Truth {
    wall_ns: u64,
    cpu_ns: u64,
    interrupts: Option<Interrupts>,
    throttled: Option<Nanoseconds>,
    stopped: Option<Nanoseconds>,
}

#[derive(Debug, Deserialize)]
struct Interrupts {
    raised: u64,
    cost_ns: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Nanoseconds {
    ns: u64,
}

/// What of a theft the ledger is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// Run time of the thief.
    RunTime,
    /// What its interrupts took from a busy CPU.
    Interrupts,
    /// What a quota kept its spinner from.
    Throttled,
    /// How long its spinner was stopped.
    Stopped,
}

impl Truth {
    /// Reads one report.
    pub(super) fn parse(json: &str) -> Result<Truth> {
        serde_json::from_str(json).with_context(|| format!("the thief says '{json}'"))
    }

    /// What one interrupt took, in nanoseconds.
    pub(super) fn cost_ns(&self) -> Option<f64> {
        self.interrupts.as_ref()?.cost_ns
    }

    /// In percent of one CPU. Interrupts whose cost this thief did not measure take `cost_ns` each.
    pub(super) fn share(&self, taken: Taken, cost_ns: Option<f64>) -> Result<f64> {
        let ns = match taken {
            Taken::RunTime => Some(self.cpu_ns as f64),
            Taken::Interrupts => self
                .interrupts
                .as_ref()
                .and_then(|it| Some(it.raised as f64 * it.cost_ns.or(cost_ns)?)),
            Taken::Throttled => self.throttled.as_ref().map(|it| it.ns as f64),
            Taken::Stopped => self.stopped.as_ref().map(|it| it.ns as f64),
        };
        let ns = ns.with_context(|| format!("the thief does not know the truth: {self:?}"))?;
        Ok(ns / self.wall_ns.max(1) as f64 * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOG: &str = r#"{"theft":"hog","cpu":1,"policy":"fifo","wall_ns":2000,"cpu_ns":200}"#;
    const STORM: &str = r#"{"wall_ns":1000000000,"cpu_ns":5,
        "interrupts":{"raised":5000,"local_timer":5500,"cost_ns":2000.0}}"#;

    #[test]
    fn shares_are_of_the_time_the_theft_took() {
        let share = |json, taken| Truth::parse(json).unwrap().share(taken, None).unwrap();
        assert!((share(HOG, Taken::RunTime) - 10.0).abs() < 1e-9);
        assert!((share(STORM, Taken::Interrupts) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_storm_is_worth_what_another_one_was_measured_to_cost() {
        let storm = Truth::parse(&STORM.replace("2000.0", "null")).unwrap();
        assert!(storm.share(Taken::Interrupts, None).is_err());
        assert!((storm.share(Taken::Interrupts, Some(4000.0)).unwrap() - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_thief_that_did_not_measure_is_no_witness() {
        let hog = Truth::parse(HOG).unwrap();
        for taken in [Taken::Interrupts, Taken::Throttled, Taken::Stopped] {
            assert!(hog.share(taken, Some(1.0)).is_err());
        }
        assert!(Truth::parse("").is_err());
    }
}
