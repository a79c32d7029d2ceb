//! The places that a finding names: those of its evidence, and those that its check adds.
//!
//! Evidence shows one example of many. A path of one CPU or cpufreq policy, or a register of one CPU, stands for the same of each CPU that
//! the finding is on.

use crate::finding::Finding;
use facts::change::{Target, matched};
use facts::{CpuSet, HostView};

/// Whether a finding names this place.
pub fn is_named(host: &HostView, finding: &Finding, target: &Target) -> bool {
    let place = target.to_string();
    let evidence = finding.evidence.iter().map(|it| it.source.as_str());
    let mut named = evidence.chain(finding.fix.places.iter().map(String::as_str));
    named.any(|named| {
        named == place
            || (named.contains('*') && matched(named, &place).is_some())
            || is_of_its_cpus(host, finding, named, &place)
    })
}

/// Whether a place is that of the example on another CPU of the finding.
fn is_of_its_cpus(host: &HostView, finding: &Finding, example: &str, place: &str) -> bool {
    let (Some(scope), Some(example), Some(place)) =
        (&finding.cpus, PerCpu::of(example), PerCpu::of(place))
    else {
        return false;
    };
    let is_same = (example.before, example.after) == (place.before, place.after);
    let cpus = place.cpus(host);
    is_same && !cpus.is_empty() && cpus.minus(&scope.cpus).is_empty()
}

/// A path with the number of a CPU or of a policy in it.
struct PerCpu<'a> {
    before: &'a str,
    number: u32,
    after: &'a str,
}

impl<'a> PerCpu<'a> {
    fn of(path: &'a str) -> Option<PerCpu<'a>> {
        /// What stands before the number; the registers of a CPU are a file of a folder of that name.
        const BEFORE: &[&str] =
            &["/sys/devices/system/cpu/cpufreq/policy", "/sys/devices/system/cpu/cpu", "/dev/cpu/"];
        let rest = BEFORE.iter().find_map(|it| path.strip_prefix(it))?;
        let (digits, _) = rest.split_once('/')?;
        let number = digits.parse().ok()?;
        let (before, after) = (&path[..path.len() - rest.len()], rest.strip_prefix(digits)?);
        Some(PerCpu { before, number, after })
    }

    /// The CPUs that the place holds for.
    fn cpus(&self, host: &HostView) -> CpuSet {
        if !self.before.ends_with("policy") {
            return [self.number].into_iter().collect();
        }
        let folder = format!("{}{}", self.before, self.number);
        let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
        let cpus = policies.iter().find(|it| it.folder == folder).map(|it| it.cpus.clone());
        match (cpus, &host.topology.online) {
            // A CPU that is offline has no clock.
            (Some(cpus), Ok(online)) => cpus.and(online),
            (cpus, _) => cpus.unwrap_or_default(),
        }
    }
}
