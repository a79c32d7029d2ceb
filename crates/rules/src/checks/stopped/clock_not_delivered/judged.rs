//! What is known of each CPU of which a clock is asked for, and which of them are low.

use super::asked::{self, Asked, Asker, Kind, Reading};
use crate::loss_scale;
use crate::work;
use facts::cpu::cpufreq::Policy;
use facts::{CpuSet, Hertz, HostView, Missing};

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
    /// Processes were seen to run on these.
    Seen(CpuSet),
    /// The CPUs have had work since boot.
    Likely,
    /// Nothing tells.
    Unknown,
    /// They had none.
    None,
}

pub(super) fn of_policies(host: &HostView) -> Result<(Vec<Judged<'_>>, Option<Missing>), Missing> {
    let policies = host.cpufreq.policies.as_ref()?;
    let looks = &host.delivered.looks;
    let n_busy = looks.known().filter(|(_, it)| asked::is_busy(it)).count();
    let are_many = n_busy > 1 && 2 * n_busy >= host.topology.n_online();
    let (mut judged, mut unknown) = (Vec::new(), None);
    for policy in policies {
        for cpu in policy.cpus.iter() {
            let look = looks.get(cpu).and_then(|it| it.as_ref().ok());
            let Some(asked) = asked::of(host, policy, look, are_many) else { continue };
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

/// The CPUs that are low, and whether those are all, or all of a kind; `None` where none is. An error where they are low and nothing tells that they
/// worked.
pub(super) fn low<'a, 'b>(
    host: &HostView,
    judged: &'b [Judged<'a>],
) -> Result<Option<(Vec<&'b Judged<'a>>, bool)>, Missing> {
    let low: Vec<&Judged<'_>> = judged.iter().filter(|it| it.is_low()).collect();
    let looked_at = |it: &&Judged<'_>| it.kind() == Kind::Look;
    let seen: Vec<&Judged<'_>> = low.iter().copied().filter(looked_at).collect();
    if !seen.is_empty() {
        let n_working = judged.iter().filter(looked_at).count();
        let is_all = seen.len() == n_working || are_all_of_a_kind(host, &seen, judged);
        return Ok(Some((seen, is_all)));
    }
    if low.is_empty() {
        return Ok(None);
    }
    let is_processor = low.iter().any(|it| it.asked.by == Asker::Processor);
    let n_shown = judged.iter().filter(|it| !it.readings.is_empty()).count();
    // Linux may show a clock for an idle CPU that it does not have: the lowest, or its last one.
    let are_samples = low.iter().all(|it| it.kind() == Kind::Sample);
    let is_all = low.len() == n_shown || (!are_samples && are_all_of_a_kind(host, &low, judged));
    if is_processor {
        return Ok(Some((low, is_all)));
    }
    let low: Vec<&Judged<'_>> = low.into_iter().filter(|it| !it.was_idle).collect();
    if low.is_empty() && judged.iter().any(|it| looked_at(&it)) {
        // Those that worked have what was asked for.
        return Ok(None);
    }
    match work(host) {
        _ if low.is_empty() => Err(Missing::too_idle(WHAT)),
        Work::Likely | Work::Unknown if are_samples && may_all_have_been_idle(host, n_shown) => {
            Err(Missing::too_idle(WHAT))
        }
        Work::Seen(cpus) if are_samples && !low.iter().any(|it| cpus.contains(it.cpu)) => {
            Err(Missing::too_idle(WHAT))
        }
        Work::Seen(_) | Work::Likely | Work::Unknown if is_all => Ok(Some((low, true))),
        Work::Seen(cpus) => {
            let busy: Vec<_> = low.into_iter().filter(|it| cpus.contains(it.cpu)).collect();
            Ok((!busy.is_empty()).then_some((busy, false)))
        }
        // Other CPUs have what was asked for, and a sample of an idle one says nothing.
        Work::Likely if low.iter().all(|it| it.kind() < Kind::Sample) => Ok(Some((low, false))),
        Work::Likely | Work::Unknown | Work::None => Err(Missing::too_idle(WHAT)),
    }
}

/// Whether so many CPUs may all have been idle when they were sampled, by how busy the host was since boot. One that is alone showed its own
/// clock, and worked for it.
fn may_all_have_been_idle(host: &HostView, n_cpus: usize) -> bool {
    const BY_CHANCE: f64 = 0.05;
    let idle = 1.0 - work::busy_share(host).unwrap_or(0.0);
    let all_idle = idle.powi(i32::try_from(n_cpus).unwrap_or(i32::MAX));
    n_cpus > 1 && all_idle > BY_CHANCE
}

/// One CPU that is alone of its kind may be a bad sample.
fn are_all_of_a_kind(host: &HostView, low: &[&Judged<'_>], judged: &[Judged<'_>]) -> bool {
    let judged = judged.iter().map(|it| it.cpu).collect();
    let low: CpuSet = low.iter().map(|it| it.cpu).collect();
    low.len() > 1 && loss_scale::are_all_of_a_kind(host, &low, &judged)
}

pub(super) fn work(host: &HostView) -> Work {
    let seen = work::seen_on(host);
    match work::was_busy(host) {
        _ if !seen.is_empty() => Work::Seen(seen),
        Some(true) => Work::Likely,
        Some(false) => Work::None,
        // Main threads sleep in a database of many threads, so that a list of processes does not tell of an idle host.
        None => Work::Unknown,
    }
}
