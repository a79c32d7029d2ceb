//! Whether the machine does nothing, by the times of its CPUs in /proc/stat.

use anyhow::{Context, Result};
use facts::counters::{Counters, Family};
use facts::{HostView, PerCpu};
use host::Live;
use host::counters::{Sampler, Wanted};
use rules::interval::Interval;
use std::fmt;
use std::time::Duration;

/// Watches this machine from one moment to the next.
pub(super) struct Watcher<'a> {
    host: &'a HostView,
    sampler: Sampler,
    before: Counters,
}

/// How busy the CPUs were, as shares of the time that passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    /// On average.
    pub(super) all: f64,
    /// The busiest of them.
    pub(super) most: Option<(u32, f64)>,
    /// On average without this process.
    pub(super) others: f64,
}

/// More is no idle machine: a server that waits for work is busy for less than 1 % of the time.
const IDLE: f64 = 0.05;

/// A CPU that does more has work.
const IDLE_CPU: f64 = 0.25;

/// As much of all CPUs may others have had while it was measured. The times of /proc/stat are sampled at the tick on many kernels, so
/// that less could be this process itself.
const QUIET: f64 = 0.08;

impl<'a> Watcher<'a> {
    pub(super) fn of(host: &'a HostView) -> Watcher<'a> {
        let wanted = Wanted::only(vec![Family::CpuTimes]);
        let sampler = Sampler::open(Live::this_machine(), host, wanted);
        Watcher { host, sampler, before: Counters::unread() }
    }

    /// From now on.
    pub(super) fn begin(&mut self) {
        self.sampler.sample(&mut self.before);
    }

    /// Until now, `own` being the time that this process had.
    ///
    /// Errors: /proc/stat does not say.
    pub(super) fn load(&mut self, own: Duration) -> Result<Load> {
        let mut after = self.before.clone();
        self.sampler.sample(&mut after);
        let interval = Interval { host: self.host, before: &self.before, after: &after };
        let passed = after.at.raw_ns.saturating_sub(self.before.at.raw_ns);
        let busy = rules::metrics::busy_shares(&interval)?;
        let load = Load::of(&busy, own, Duration::from_nanos(passed));
        load.context("/proc/stat does not say how busy the CPUs are")
    }
}

impl Load {
    /// Of the busy time of each CPU in percent.
    fn of(busy: &PerCpu<f64>, own: Duration, passed: Duration) -> Option<Load> {
        let shares: Vec<(u32, f64)> = busy.known().map(|(cpu, it)| (cpu, it / 100.0)).collect();
        let n = shares.len() as f64;
        let most = shares.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let all = shares.iter().map(|it| it.1).sum::<f64>() / n;
        let own = own.as_secs_f64() / passed.as_secs_f64().max(1e-3) / n;
        Some(Load { all, most: Some(most), others: (all - own).max(0.0) })
    }

    /// Whether the CPUs had next to nothing to do.
    pub(super) fn is_idle(&self) -> bool {
        self.all <= IDLE && self.most.is_none_or(|it| it.1 <= IDLE_CPU)
    }

    /// Whether others had next to nothing to do.
    pub(super) fn is_quiet(&self) -> bool {
        self.others <= QUIET
    }
}

/// `the CPUs are busy for 34 % of the time, CPU 3 for 100 %`.
impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the CPUs are busy for {:.0} % of the time", 100.0 * self.all)?;
        match self.most {
            Some((cpu, share)) => write!(f, ", CPU {cpu} for {:.0} %", 100.0 * share),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(busy: &[f64], own_ms: u64) -> Load {
        let rows: PerCpu<f64> = (0..).zip(busy.iter().map(|it| Ok(*it))).collect();
        Load::of(&rows, Duration::from_millis(own_ms), Duration::from_secs(1)).unwrap()
    }

    #[test]
    fn one_busy_cpu_of_many_is_not_idle_and_neither_are_many_that_do_a_little() {
        assert!(load(&[1.0, 3.0, 0.0, 20.0], 0).all < 0.07);
        assert!(load(&[0.0, 1.0, 0.0, 2.0], 0).is_idle());
        let mut one = [0.0; 64];
        one[7] = 100.0;
        assert!(load(&one, 0).all < IDLE && !load(&one, 0).is_idle());
        assert!(!load(&[10.0; 64], 0).is_idle());
    }

    #[test]
    fn what_this_process_has_is_not_others() {
        let own = load(&[100.0, 4.0], 1000);
        assert!((own.others - 0.02).abs() < 1e-9 && own.is_quiet(), "{own:?}");
        assert!(!load(&[100.0, 60.0], 1000).is_quiet());
        let none: PerCpu<f64> = std::iter::empty().collect();
        assert_eq!(Load::of(&none, Duration::ZERO, Duration::from_secs(1)), None);
    }
}
