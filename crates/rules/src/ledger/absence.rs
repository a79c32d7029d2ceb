//! CPUs that no books can be kept of, because they were not there all the time.
//!
//! An offline CPU is no capacity, and how long it was offline nobody has written down. So it is left out as a whole,
//! rather than entered as time that nobody explains. See [`Interval::offline`] for how an absence between the samples shows; a
//! trace that ended shows it too.

use super::evidence::Evidence;
use facts::{CpuSet, Missing};

/// The CPUs asked for that were not online all the time.
pub(super) struct Absence {
    /// Not online at one end at least.
    at_an_end: CpuSet,
    /// Online at both ends, and not in between.
    between: CpuSet,
}

impl Absence {
    pub(super) fn of(evidence: &Evidence<'_>) -> Absence {
        let online = evidence.cpus.and(&evidence.interval.cpus());
        let offline: CpuSet = evidence.interval.offline().into_iter().map(|(cpu, _)| cpu).collect();
        let lost_its_trace = |cpu: u32| match evidence.traced.get(cpu) {
            Some(Err(why)) => why.tells_of_offline(cpu),
            _ => false,
        };
        let is_offline = |cpu: &u32| offline.contains(*cpu) || lost_its_trace(*cpu);
        Absence {
            at_an_end: evidence.cpus.minus(&online),
            between: online.iter().filter(is_offline).collect(),
        }
    }

    /// The CPUs to keep books of.
    pub(super) fn present(&self, evidence: &Evidence<'_>) -> CpuSet {
        evidence.cpus.minus(&self.at_an_end).minus(&self.between)
    }

    /// Why nothing is known of one that is left out; `None` where none is.
    pub(super) fn reason(&self) -> Option<Missing> {
        const WHAT: &str = "what these CPUs lost";
        let between = self.between.first().map(|cpu| Missing::was_offline(WHAT, cpu));
        let at_an_end = || {
            let because = format!(
                "{} {} not online at both ends",
                self.at_an_end.named(),
                self.at_an_end.agree("was", "were")
            );
            Missing::not_here(WHAT, because)
        };
        between.or_else(|| (!self.at_an_end.is_empty()).then(at_an_end))
    }

    /// Which are left out, and why.
    pub(super) fn notes(&self) -> Vec<String> {
        let note = |cpus: &CpuSet, why: &str| {
            (!cpus.is_empty())
                .then(|| format!("left out: {} {} {why}", cpus.named(), cpus.agree("was", "were")))
        };
        let at_an_end = note(&self.at_an_end, "not online at both ends");
        let between = note(&self.between, "offline for part of the interval");
        at_an_end.into_iter().chain(between).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::books::{SECOND, ledger, replaced};

    /// CPU 1 lost 600 ms that nothing shows, and its hotplug thread ran.
    const AWAY: &[(&str, &str)] = &[
        (
            "CpuTimes idle iowait irq softirq steal\n0 0 0 0 0 0\n1 0 0 0 0 0",
            "CpuTimes user nice system idle iowait irq softirq steal\n0 0 0 0 0 0 0 0 0\n1 0 0 0 0 0 0 0 0",
        ),
        (
            "CpuTimes idle iowait irq softirq steal\n0 31 0 0 0 0\n1 99 0 0 0 0",
            "CpuTimes user nice system idle iowait irq softirq steal\n0 69 0 0 31 0 0 0 0\n1 0 0 0 39 0 0 0 0",
        ),
        (
            "task 20 20 fullclock user 0 0 0",
            "task 19 19 cpuhp/1 kernel 1 5 0\ntask 20 20 fullclock user 0 0 0",
        ),
        (
            "task 20 20 fullclock user 0 10000000 0",
            "task 19 19 cpuhp/1 kernel 1 905 0\ntask 20 20 fullclock user 0 10000000 0",
        ),
        ("1 0 0 985000", "1 0 0 385000"),
        ("trace 1 idle 990000000", "trace 1 idle 390000000"),
    ];

    #[test]
    fn a_cpu_that_was_offline_in_between_is_left_out_and_named() {
        let ledger = ledger(&replaced(SECOND, AWAY));
        assert_eq!((ledger.cpus.to_string().as_str(), ledger.capacity_ns()), ("0", 1_000_000_000));
        assert_eq!(ledger.unexplained_ns, 0);
        assert_eq!(ledger.notes, ["left out: CPU 1 was offline for part of the interval"]);
    }

    #[test]
    fn of_that_cpu_alone_every_line_is_unknown() {
        let alone = [AWAY, &[("observer 20", "observer 20\ncpus 1")]].concat();
        let ledger = ledger(&replaced(SECOND, &alone));
        assert_eq!(ledger.capacity_ns(), 0);
        for line in &ledger.lines {
            let why = line.ns.as_ref().unwrap_err();
            assert!(why.tells_of_offline(1), "{line:?}");
        }
    }
}
