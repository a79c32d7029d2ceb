//! Watches a running host for some seconds: counters and logs at both ends, registers of the moment several times in between.
//!
//! What is watched is what an audit could not decide. Nothing is written, and so nothing is cleared. CPUs that are kept free of
//! interruptions (isolated, nohz_full) are asked for no register.

use super::delivered::{kept_free, parsed, read_log};
use super::sampled::Sampler;
use super::{plr, thermal};
use crate::{Counter, Source, clock};
use facts::cpu::cpufreq::Policy;
use facts::cpu::cpuinfo::CpuInfo;
use facts::cpu::delivered::{Counts, Excursions, Feedback, Look};
use facts::cpu::throttling::Throttling;
use facts::msr::limit_reasons::Layout;
use facts::msr::{Register, Scope, intel};
use facts::power::plr::Domains;
use facts::system::cpu_times::Worked;
use facts::watched::{Cost, Sight, Watched};
use facts::{CpuSet, Fact, Hertz, HostView, PerCpu};
use std::collections::BTreeMap;
use std::time::Duration;

/// The time between two readings of the registers of the moment, and how many readings there are at least and at most.
const EVERY: Duration = Duration::from_millis(100);
const LEAST_READINGS: usize = 5;
const MOST_READINGS: usize = 60;

/// What is going to be watched of a host.
pub struct Watch {
    time: Duration,
    sights: Vec<Sight>,
    clocks: Vec<Counter>,
    feedback: Vec<u32>,
    /// Registers that are read several times, by address and CPU.
    moments: Vec<(u32, u32)>,
    /// Registers that count, read at both ends.
    counts: Vec<(u32, u32)>,
    n_readings: usize,
    sampler: Sampler,
    n_files: usize,
    left_alone: CpuSet,
}

/// The files that are read at both ends.
struct Ends {
    throttling: Throttling,
    logs: Vec<Fact<Excursions>>,
    plr: Domains,
}

/// What a counter of the clock held.
type Reading = (Counter, Fact<String>);

impl Watch {
    /// Of a host that was just read: the clocks of its CPUs, and these sights.
    pub fn of(host: &HostView, sights: &[Sight], time: Duration) -> Watch {
        let free = kept_free(host);
        let has = |sight| sights.contains(&sight);
        let online = host.topology.online.clone().unwrap_or_default();
        let are_seen = host.delivered.looks.known().next().is_some();
        let clocks = if are_seen { online.minus(&free) } else { CpuSet::default() };
        let known = host.delivered.feedback.known().map(|(cpu, _)| cpu);
        let feedback: Vec<u32> = known.filter(|cpu| !are_seen && !free.contains(*cpu)).collect();
        let moments = if has(Sight::Signals) { signals(host) } else { Vec::new() };
        let mut counts = Vec::new();
        counts.extend(has(Sight::Smis).then_some(&intel::SMI_COUNT));
        counts.extend(has(Sight::Throttling).then_some(&intel::PKG_PERF_STATUS));
        let n_readings = (time.as_nanos() / EVERY.as_nanos()) as usize;
        let n_readings = n_readings.clamp(LEAST_READINGS, MOST_READINGS);
        let are_counted = !clocks.is_empty() || !feedback.is_empty();
        let sampler = if are_counted { Sampler::none() } else { Sampler::of(host, n_readings) };
        Watch {
            time,
            sights: sights.to_vec(),
            clocks: clocks.iter().map(Counter::Clocks).collect(),
            feedback,
            moments: places(host, &moments, &free),
            counts: places(host, &counts, &free),
            n_readings,
            sampler,
            n_files: n_files(host, sights),
            left_alone: online.and(&free),
        }
    }

    /// What it costs.
    pub fn cost(&self) -> Cost {
        Cost {
            time: self.time,
            n_clocks: self.clocks.len() + self.feedback.len(),
            n_registers: self.moments.len(),
            n_readings: self.n_readings + 1,
            n_counts: self.counts.len(),
            n_samples: self.sampler.n_samples(),
            n_files: self.n_files,
            left_alone: self.left_alone.clone(),
        }
    }

    /// Whether there is nothing to watch, as in a guest that shows no counter.
    pub fn is_empty(&self) -> bool {
        let no_sample = self.sampler.n_samples() == 0;
        let no_clock = self.clocks.is_empty() && self.feedback.is_empty() && no_sample;
        let no_register = self.moments.is_empty() && self.counts.is_empty();
        no_clock && no_register && self.n_files == 0
    }

    /// Watches, and leaves what was seen in `host`. `wait` waits that long, and says whether somebody wants it to end: then it ends, and
    /// what was seen is that of the time until then.
    pub fn run(
        &self,
        source: &dyn Source,
        host: &mut HostView,
        wait: &mut dyn FnMut(Duration) -> bool,
    ) {
        let first = self.ends(source, host);
        let mut registers: BTreeMap<(u32, u32), Vec<u64>> = BTreeMap::new();
        let mut read = |places: &[(u32, u32)]| {
            for (address, cpu) in places {
                if let Ok(value) = source.msr(*cpu, *address) {
                    registers.entry((*address, *cpu)).or_default().push(value);
                }
            }
        };
        let mut samples: BTreeMap<u32, Vec<Hertz>> = BTreeMap::new();
        let clocks = self.clocks(source, host);
        let times = Counter::Times.read(source);
        read(&self.counts);
        let began = clock::raw_ns();
        read(&self.moments);
        let each = self.time / u32::try_from(self.n_readings).unwrap_or(u32::MAX);
        for reading in 1..=self.n_readings {
            let is_ended = wait(each);
            read(&self.moments);
            if self.sampler.is_due(reading, self.n_readings) {
                self.sampler.sample(source, &mut samples);
            }
            if is_ended {
                break;
            }
        }
        let time = Duration::from_nanos(clock::raw_ns().saturating_sub(began));
        read(&self.counts);
        let later = self.clocks(source, host);
        keep_clocks(host, clocks, later);
        keep_times(host, times, Counter::Times.read(source));
        let last = self.ends(source, host);
        host.throttling = last.throttling;
        host.plr = last.plr;
        let policies = host.cpufreq.policies.as_deref_mut().unwrap_or_default();
        let by_cpu = |(policy, log): (&Policy, Fact<Excursions>)| Some((policy.cpus.first()?, log));
        let excursions = policies.iter().zip(first.logs).filter_map(by_cpu).collect();
        for (policy, log) in policies.iter_mut().zip(last.logs) {
            policy.perf_limited = log;
        }
        let sights = self.sights.clone();
        let (throttling, plr) = (first.throttling, first.plr);
        let clocks = samples;
        host.watched =
            Some(Watched { time, sights, throttling, registers, excursions, plr, clocks });
    }

    /// What is not watched stays as it was read.
    fn ends(&self, source: &dyn Source, host: &HostView) -> Ends {
        let has = |sight| self.sights.contains(&sight);
        let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
        let log = |policy: &Policy| match &policy.perf_limited {
            Ok(_) if has(Sight::Logs) => read_log(source, policy),
            known => known.clone(),
        };
        Ends {
            throttling: match has(Sight::Throttling) {
                true => thermal::read_throttling(source, &host.cpuinfo, &host.topology),
                false => host.throttling.clone(),
            },
            logs: policies.iter().map(log).collect(),
            plr: match has(Sight::Logs) {
                true => plr::read(source, &host.cpuinfo, &host.platform),
                false => host.plr.clone(),
            },
        }
    }

    /// A reading of each clock: of APERF and MPERF, or of CPPC's counters.
    fn clocks(&self, source: &dyn Source, host: &HostView) -> Vec<Reading> {
        let feedback = self.feedback.iter().filter_map(|cpu| {
            let known = host.delivered.feedback.get(*cpu)?.as_ref().ok()?;
            // What has gone round once or more in that time says nothing.
            let wraps = known.wraps_in.as_ref().is_ok_and(|it| *it <= self.time);
            (!wraps).then(|| Counter::File(known.path("feedback_ctrs")))
        });
        let all = self.clocks.iter().cloned().chain(feedback);
        all.map(|it| (it.clone(), it.read(source))).collect()
    }
}

/// Those that tell what holds the clock down at the moment.
fn signals(host: &HostView) -> Vec<&'static Register> {
    let reasons = host.cpuinfo.as_ref().ok().and_then(Layout::of).map(|it| it.register);
    let own = [&intel::THERM_STATUS, &intel::PACKAGE_THERM_STATUS];
    let is_intel = host.cpuinfo.as_ref().is_ok_and(CpuInfo::is_intel);
    own.into_iter().chain(reasons).filter(|_| is_intel).collect()
}

/// Both readings of each clock, as a look of the host has them.
fn keep_clocks(host: &mut HostView, first: Vec<Reading>, last: Vec<Reading>) {
    let both = |((counter, first), (_, last)): (Reading, Reading)| {
        let text = first.and_then(|first| Ok(format!("{first}\n{}\n", last?)));
        (counter, text)
    };
    let seen: Vec<Reading> = first.into_iter().zip(last).map(both).collect();
    let looks = &mut host.delivered.looks;
    let mut kept: BTreeMap<u32, Fact<Look>> =
        looks.iter().map(|(cpu, it)| (cpu, it.clone())).collect();
    let mut of_feedback: BTreeMap<String, Fact<Counts>> = BTreeMap::new();
    for (counter, text) in seen {
        match &counter {
            Counter::Clocks(cpu) => {
                let look = text.and_then(|text| parsed(&counter, &text, Look::parse));
                // The short look that there is stays where this one failed.
                if look.is_ok() {
                    kept.insert(*cpu, look);
                }
            }
            Counter::File(path) => {
                let rise = text.and_then(|text| parsed(&counter, &text, Counts::parse_rise));
                of_feedback.insert(path.clone(), rise);
            }
            Counter::Times => {}
        }
    }
    *looks = kept.into_iter().collect();
    let feedback = |(cpu, it): (u32, &Fact<Feedback>)| (cpu, it.clone());
    let mut all: Vec<(u32, Fact<Feedback>)> =
        host.delivered.feedback.iter().map(feedback).collect();
    for it in all.iter_mut().filter_map(|(_, it)| it.as_mut().ok()) {
        if let Some(rise @ Ok(_)) = of_feedback.remove(&it.path("feedback_ctrs")) {
            it.look = rise;
        }
    }
    host.delivered.feedback = all.into_iter().collect();
}

/// How much the CPUs worked between two readings, in place of what a shorter look told.
fn keep_times(host: &mut HostView, first: Fact<String>, last: Fact<String>) {
    let (Ok(first), Ok(last)) = (first, last) else { return };
    if let Ok(worked) = Worked::parse(&format!("{first}\n{last}\n")) {
        host.delivered.worked = Some(worked);
    }
}

/// Where they were read already, on a CPU that may be interrupted.
fn places(host: &HostView, registers: &[&'static Register], free: &CpuSet) -> Vec<(u32, u32)> {
    let mut places = Vec::new();
    for register in registers {
        let known = host.msrs.of(register).map(PerCpu::known);
        for (cpu, _) in known.into_iter().flatten() {
            let sharing = match register.scope {
                Scope::Thread => [cpu].into_iter().collect(),
                Scope::Core => host.topology.core_of(cpu),
                Scope::Package => host.topology.package_of(cpu),
            };
            let asked = sharing.minus(free).first();
            places.extend(asked.map(|cpu| (register.address, cpu)));
        }
    }
    places
}

/// So many cores, packages, policies and dies have files that are watched.
fn n_files(host: &HostView, sights: &[Sight]) -> usize {
    let Throttling { cores, packages, occ, core_power, package_power } = &host.throttling;
    let n_known = |it: &PerCpu<_>| it.known().count();
    let counters = [cores, packages, core_power, package_power].map(n_known).iter().sum::<usize>();
    let policies = host.cpufreq.policies.as_deref().unwrap_or_default();
    let n_logs = policies.iter().filter(|it| it.perf_limited.is_ok()).count();
    let n_dies = host.plr.as_ref().map_or(0, Vec::len);
    let of = |sight: &Sight| match sight {
        Sight::Throttling => counters + occ.known().count(),
        Sight::Logs => n_logs + n_dies,
        Sight::Signals | Sight::Smis => 0,
    };
    sights.iter().map(of).sum()
}

#[cfg(test)]
mod tests;
