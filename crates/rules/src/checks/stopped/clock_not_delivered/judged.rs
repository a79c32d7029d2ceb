//! What is known of each CPU of which a clock is asked for, and which of them are low.

use super::asked::{self, Asked, Asker, Kind, Reading, Seen};
use crate::loss_scale;
use crate::work;
use facts::cpu::cpufreq::Policy;
use facts::{CpuSet, Hertz, HostView, Missing};
use std::collections::BTreeMap;

const WHAT: &str = "the clock of a busy CPU";

/// What is known of one CPU of which a clock is asked for.
pub(super) struct Judged<'a> {
    pub(super) cpu: u32,
    /// `None` on a mainframe.
    pub(super) policy: Option<&'a Policy>,
    pub(super) asked: Asked,
    /// What shows its clock, the most telling first.
    pub(super) readings: Vec<Reading>,
    /// Whether it was looked at and did not work.
    pub(super) was_idle: bool,
}

impl Judged<'_> {
    /// Whether everything that shows its clock says that it is not what was asked for.
    fn is_low(&self) -> bool {
        let tolerated = |it: &Reading| it.clock.share_of(self.asked.clock) < self.asked.tolerated;
        !self.readings.is_empty() && self.readings.iter().all(tolerated)
    }

    fn kind(&self) -> Kind {
        self.readings.first().map_or(Kind::Sample, |it| it.kind)
    }

    /// The share of the requested clock that it has.
    pub(super) fn share(&self) -> f64 {
        self.readings.first().map_or(1.0, |it| it.clock.share_of(self.asked.clock))
    }
}

/// What tells that CPUs worked.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Work {
    /// A look told of each CPU how much it worked, and idle ones are left out.
    Watched,
    /// Processes were seen to run on these, on a host of which nothing tells how much it works.
    Seen(CpuSet),
    /// The CPUs have had work since boot.
    Likely,
    /// Nothing tells.
    Unknown,
    /// They had none.
    None,
}

/// The CPUs that are low.
pub(super) struct Low<'a, 'b> {
    pub(super) cpus: Vec<&'b Judged<'a>>,
    /// Whether those are all that worked, or all of a kind.
    pub(super) is_all: bool,
    /// What tells that they worked.
    pub(super) work: Work,
}

pub(super) fn of_policies(host: &HostView) -> Result<(Vec<Judged<'_>>, Option<Missing>), Missing> {
    let policies = host.cpufreq.policies.as_ref()?;
    let online = policies.iter().flat_map(|it| it.cpus.iter());
    let seen: BTreeMap<u32, Seen> =
        online.filter_map(|cpu| Some((cpu, asked::seen(host, cpu)?))).collect();
    let n_busy = seen.values().filter(|it| it.is_busy()).count();
    let are_many = n_busy > 1 && 2 * n_busy >= host.topology.n_online();
    let (mut judged, mut unknown) = (Vec::new(), None);
    for policy in policies {
        for cpu in policy.cpus.iter() {
            let Some(asked) = asked::of(host, policy, seen.get(&cpu).copied(), are_many) else {
                continue;
            };
            let (mut readings, was_idle) = asked::readings(host, policy, cpu);
            // acpi-cpufreq reads the register of requests back, which tells of the hardware only if others wrote it.
            let is_request = |it: &Reading| {
                it.kind == Kind::Driver
                    && policy.driver.as_deref() == Ok("acpi-cpufreq")
                    && it.clock.share_of(asked.clock) >= asked.tolerated
            };
            if readings.len() > 1 {
                readings.retain(|it| !is_request(it));
            }
            judged.push(Judged { cpu, policy: Some(policy), asked, readings, was_idle });
        }
        let missing = policy.governor.as_ref().err().filter(|it| !it.is_absence());
        unknown = unknown.or_else(|| missing.cloned());
    }
    Ok((judged, unknown))
}

/// arch/s390/kernel/processor.c: both clocks are the machine's.
pub(super) fn of_mainframe(host: &HostView) -> Vec<Judged<'_>> {
    let Ok(info) = &host.cpuinfo else { return Vec::new() };
    let judged = |(cpu, asked): (u32, &Hertz)| {
        let clock = *info.clocks.get(cpu)?.as_ref().ok()?;
        let source = format!("/proc/cpuinfo: cpu MHz dynamic of CPU {cpu}");
        let evidence = vec![(source, format!("{:.0}", clock.mhz()))];
        Some(Judged {
            cpu,
            policy: None,
            asked: Asked { by: Asker::Processor, clock: *asked, tolerated: OF_MAINFRAME },
            readings: vec![Reading { kind: Kind::Driver, clock, evidence, level: None }],
            was_idle: false,
        })
    };
    info.static_clocks.known().filter_map(judged).collect()
}

/// Both are whole numbers of MHz of one table.
const OF_MAINFRAME: f64 = 0.99;

/// The CPUs that are low; `None` where none is. An error where they are low and nothing tells that they worked.
pub(super) fn low<'a, 'b>(
    host: &HostView,
    judged: &'b [Judged<'a>],
) -> Result<Option<Low<'a, 'b>>, Missing> {
    let low: Vec<&Judged<'_>> = judged.iter().filter(|it| it.is_low()).collect();
    let is_seen = |it: &&Judged<'_>| matches!(it.kind(), Kind::Look | Kind::Watched);
    let seen: Vec<&Judged<'_>> = low.iter().copied().filter(is_seen).collect();
    if !seen.is_empty() {
        let n_working = judged.iter().filter(is_seen).count();
        let is_all = seen.len() == n_working || are_all_of_a_kind(host, &seen, judged);
        return Ok(Some(Low { cpus: seen, is_all, work: Work::Watched }));
    }
    if low.is_empty() {
        return Ok(None);
    }
    if low.iter().any(|it| it.asked.by == Asker::Processor) {
        let is_all = low.len() == judged.len();
        return Ok(Some(Low { cpus: low, is_all, work: work(host, false) }));
    }
    let working = |it: &&Judged<'_>| !it.was_idle;
    let low: Vec<&Judged<'_>> = low.into_iter().filter(working).collect();
    let is_past = low.iter().any(|it| it.kind() == Kind::SinceBoot);
    let work = work(host, is_past);
    let shown = judged.iter().filter(working).filter(|it| !it.readings.is_empty());
    let n_shown = shown.count();
    if low.is_empty() {
        // Those that worked have what was asked for.
        let is_told =
            judged.iter().any(|it| is_seen(&it)) || (work == Work::Watched && n_shown > 0);
        return if is_told { Ok(None) } else { Err(Missing::too_idle(WHAT)) };
    }
    // Linux may show a clock for an idle CPU that it does not have: the lowest, or its last one.
    let are_samples = low.iter().all(|it| it.kind() == Kind::Sample);
    let is_all = low.len() == n_shown || (!are_samples && are_all_of_a_kind(host, &low, judged));
    let found = |cpus, is_all| Ok(Some(Low { cpus, is_all, work: work.clone() }));
    match &work {
        Work::Watched => found(low, is_all),
        Work::Likely | Work::Unknown
            if are_samples && work::may_all_have_been_idle(host, n_shown) =>
        {
            Err(Missing::too_idle(WHAT))
        }
        Work::Seen(cpus) if are_samples && !low.iter().any(|it| cpus.contains(it.cpu)) => {
            Err(Missing::too_idle(WHAT))
        }
        Work::Seen(_) | Work::Likely | Work::Unknown if is_all => found(low, true),
        Work::Seen(cpus) => {
            let busy: Vec<_> = low.into_iter().filter(|it| cpus.contains(it.cpu)).collect();
            if busy.is_empty() { Ok(None) } else { found(busy, false) }
        }
        // Other CPUs have what was asked for, and a sample of an idle one says nothing.
        Work::Likely if low.iter().all(|it| it.kind() < Kind::Sample) => found(low, false),
        Work::Likely | Work::Unknown | Work::None => Err(Missing::too_idle(WHAT)),
    }
}

/// One CPU that is alone of its kind may be a bad sample.
fn are_all_of_a_kind(host: &HostView, low: &[&Judged<'_>], judged: &[Judged<'_>]) -> bool {
    let judged = judged.iter().map(|it| it.cpu).collect();
    let low: CpuSet = low.iter().map(|it| it.cpu).collect();
    low.len() > 1 && loss_scale::are_all_of_a_kind(host, &low, &judged)
}

/// `is_past` says that counters since boot are judged: what the CPUs did in a look tells nothing of them.
fn work(host: &HostView, is_past: bool) -> Work {
    if !is_past && work::in_look(host).is_some() {
        return Work::Watched;
    }
    match work::was_busy(host) {
        Some(true) => Work::Likely,
        Some(false) => Work::None,
        // Main threads sleep in a database of many threads, so that a list of processes does not tell of an idle host.
        None => match work::seen_on(host) {
            seen if seen.is_empty() => Work::Unknown,
            seen => Work::Seen(seen),
        },
    }
}
