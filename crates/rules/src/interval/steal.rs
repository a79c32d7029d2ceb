//! The time that a hypervisor says it gave to others, where its counters can be trusted.
//!
//! Some start again, or jump, when a guest is resumed or moved to another host. What one of them lost shows; what another gained does not.

use super::{Delta, Interval};
use facts::counters::Family;
use facts::{Fact, Missing, Why};

impl Interval<'_> {
    /// The ticks that a hypervisor gave to others while a CPU had work. Missing where the counter of any CPU went backwards.
    pub(crate) fn steal(&self, cpu: u32) -> Fact<Delta> {
        let delta = self.delta(Family::CpuTimes, cpu, "steal")?;
        self.restarted_steal().map_or(Ok(delta), Err)
    }

    /// The first counter of stolen time that went backwards.
    pub(crate) fn restarted_steal(&self) -> Option<Missing> {
        if self.host.platform.is_bare_metal() {
            return None;
        }
        let deltas = self.deltas(Family::CpuTimes, "steal").ok()?;
        let reasons = deltas.iter().filter_map(|(cpu, it)| Some((cpu, it.as_ref().err()?)));
        let mut fell = reasons.filter(|(_, it)| matches!(it.why, Why::Malformed { .. }));
        fell.next().map(|(cpu, it)| Missing {
            what: format!("{} of CPU {cpu}", it.what),
            why: it.why.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{counters, host_of};
    use crate::interval::Interval;

    fn steal(after: &str, cpu: u32) -> String {
        let host = host_of("//- /sys/hypervisor/type\nxen\n");
        let before = counters("at 0\nCpuTimes idle steal\n0 0 900\n1 0 7\n");
        let after = counters(&format!("at 1000\nCpuTimes idle steal\n{after}"));
        let interval = Interval { host: &host, before: &before, after: &after };
        interval.steal(cpu).map_or_else(|missing| missing.to_string(), |it| it.by.to_string())
    }

    #[test]
    fn a_counter_that_fell_on_one_cpu_tells_of_no_other_either() {
        assert_eq!(steal("0 0 912\n1 0 7\n", 0), "12");
        let fell = "0 0 3\n1 0 88\n";
        let reason = "/proc/stat (steal) of CPU 0: found \"3 after 900\", expected a counter that does not go backwards";
        assert_eq!(steal(fell, 1), reason);
        assert!(steal(fell, 0).starts_with("/proc/stat (steal): found"), "{}", steal(fell, 0));
    }
}
