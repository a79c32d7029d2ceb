//! Samples the clocks that the kernel shows while a host is watched, for hosts whose counters of the clock cannot be read.
//!
//! On x86 "cpu MHz" in /proc/cpuinfo (arch/x86/kernel/cpu/aperfmperf.c), elsewhere `cpuinfo_avg_freq` of each policy: both are of the last
//! milliseconds in which a CPU ran. `scaling_cur_freq` elsewhere is what was asked for, and tells nothing (Documentation/admin-guide/pm/cpufreq.rst).

use crate::Source;
use facts::cpu::cpuinfo::CpuInfo;
use facts::{CpuSet, Hertz, HostView, parse};
use std::collections::BTreeMap;

/// Reading /proc/cpuinfo of a thousand CPUs takes tens of milliseconds: no more samples than this.
const MOST_SAMPLES: usize = 10;

/// What shows the clocks, and what it has shown.
pub(super) struct Sampler {
    from: Option<From>,
    n_samples: usize,
}

/// What shows the clocks.
enum From {
    /// /proc/cpuinfo.
    CpuInfo,
    /// The file of each policy, with its CPUs.
    Policies(Vec<(CpuSet, String)>),
}

impl Sampler {
    /// Of a host whose clocks no counter tells, which is going to be read `n_readings` times.
    pub(super) fn of(host: &HostView, n_readings: usize) -> Sampler {
        let is_x86 = host.cpuinfo.as_ref().is_ok_and(CpuInfo::is_x86);
        let has_clocks = host.cpuinfo.as_ref().is_ok_and(|it| it.clocks.known().next().is_some());
        let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
        // A policy that was idle shows none at the moment (EAGAIN).
        let shows = |it: &facts::Fact<Hertz>| {
            it.as_ref().map_or_else(facts::Missing::is_of_the_moment, |_| true)
        };
        let files: Vec<(CpuSet, String)> = policies
            .iter()
            .filter(|it| shows(&it.cpuinfo_avg))
            .map(|it| (it.cpus.clone(), it.path("cpuinfo_avg_freq")))
            .collect();
        let from = match () {
            () if host.platform.hides("the clock of the processor").is_err() => None,
            () if is_x86 && has_clocks && !policies.is_empty() => Some(From::CpuInfo),
            () if !files.is_empty() => Some(From::Policies(files)),
            () => None,
        };
        Sampler { from, n_samples: n_readings.min(MOST_SAMPLES) }
    }

    /// None, of a host whose counters tell.
    pub(super) fn none() -> Sampler {
        Sampler { from: None, n_samples: 0 }
    }

    /// How many samples are going to be taken.
    pub(super) fn n_samples(&self) -> usize {
        if self.from.is_some() { self.n_samples } else { 0 }
    }

    /// Whether a sample is due at a reading, of so many, counted from 1.
    pub(super) fn is_due(&self, reading: usize, n_readings: usize) -> bool {
        let due = |it: usize| it * self.n_samples() / n_readings.max(1);
        due(reading) > due(reading - 1)
    }

    /// Adds what is shown at the moment.
    pub(super) fn sample(&self, source: &dyn Source, clocks: &mut BTreeMap<u32, Vec<Hertz>>) {
        let mut add = |cpu: u32, clock: Hertz| clocks.entry(cpu).or_default().push(clock);
        match &self.from {
            None => {}
            Some(From::CpuInfo) => {
                if let Ok(info) = source.parsed("/proc/cpuinfo", CpuInfo::parse) {
                    info.clocks.known().for_each(|(cpu, clock)| add(cpu, *clock));
                }
            }
            Some(From::Policies(files)) => {
                for (cpus, path) in files {
                    if let Ok(clock) = source.parsed(path, parse::kilohertz) {
                        cpus.iter().for_each(|cpu| add(cpu, clock));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;

    const CPU: &str = "/sys/devices/system/cpu";

    fn sampled(text: &str, n_readings: usize) -> (usize, Vec<(u32, usize)>) {
        let source = Captured::excerpt(text).unwrap();
        let sampler = Sampler::of(&crate::view(&source), n_readings);
        let mut clocks = BTreeMap::new();
        for reading in (1..=n_readings).filter(|it| sampler.is_due(*it, n_readings)) {
            assert!(reading > 0);
            sampler.sample(&source, &mut clocks);
        }
        (sampler.n_samples(), clocks.into_iter().map(|(cpu, it)| (cpu, it.len())).collect())
    }

    #[test]
    fn the_clocks_of_x86_and_those_of_policies_are_sampled_some_times_and_a_guests_are_not() {
        let policy =
            format!("//- {CPU}/cpufreq/policy0/affected_cpus\n0 1\n//- {CPU}/online\n0-1\n");
        let x86 = format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\nflags : aperfmperf\ncpu MHz : 900.0\nprocessor : 1\ncpu MHz : 1000.0\n{policy}"
        );
        assert_eq!(sampled(&x86, 20), (10, vec![(0, 10), (1, 10)]));
        assert_eq!(sampled(&x86, 5), (5, vec![(0, 5), (1, 5)]));
        assert_eq!(sampled(&x86.replace("aperfmperf", "hypervisor"), 20), (0, vec![]));
        let arm = format!("//- /proc/cpuinfo\nprocessor : 0\nCPU part : 0xd0c\n{policy}");
        assert_eq!(sampled(&arm, 20), (0, vec![]));
        let average = format!("{arm}//- {CPU}/cpufreq/policy0/cpuinfo_avg_freq\n900000\n");
        assert_eq!(sampled(&average, 20), (10, vec![(0, 10), (1, 10)]));
    }
}
