//! What Linux asks of the clock of each CPU, and what shows the clock that it gets.
//!
//! A clock is owed up to the nominal one: turbo depends on power, heat and how many cores work. Where nothing tells the nominal clock, the
//! highest one may be turbo, and what is owed is uncertain.

use super::platform::is_without_tick;
use crate::work;
use facts::cpu::cpufreq::Policy;
use facts::cpu::delivered::{Counts, Feedback, Look};
use facts::cpu::energy_bias::Preference;
use facts::quantity::counted;
use facts::system::cpu_times::Worked;
use facts::{Hertz, HostView, Missing};

/// What asks for a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Asker {
    /// The governor `performance`.
    Performance,
    /// The lower limit is the upper one.
    Limits,
    /// A CPU that worked all the time of a look, for which the governor or the driver raises the clock.
    Load,
    /// A processor whose clock nobody sets: a mainframe's.
    Processor,
}

/// The clock that is asked for on a CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) by: Asker,
    /// What of it the hardware owes.
    pub(crate) clock: Hertz,
    /// The share of it below which it is not delivered.
    pub(crate) tolerated: f64,
}

impl Asked {
    /// Whether the clock is one that not all cores are owed at once: nothing tells the nominal one.
    pub(crate) fn may_be_turbo(&self) -> bool {
        self.tolerated <= OF_TURBO
    }
}

/// Limits are rounded to steps of 100 MHz, and counters that are read one after the other differ by a few percent.
const OWED: f64 = 0.9;

/// Of the highest turbo clock all cores together have more than half.
const OF_TURBO: f64 = 0.5;

/// A CPU that ran for so much of a look was busy for all of it.
const BUSY: f64 = 0.95;

/// At this multiple of its lowest clock a CPU is at its lowest clock.
const LOWEST: f64 = 1.1;

/// What a look saw of a CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    /// The share of the time in which it worked.
    busy: f64,
    clock: Hertz,
}

/// What a look saw of a CPU: by its counters, or by what the kernel showed while the host was watched. `None` where nobody looked.
pub(crate) fn seen(host: &HostView, cpu: u32) -> Option<Seen> {
    if let Some(Ok(look)) = host.delivered.looks.get(cpu) {
        return Some(Seen { busy: look.busy_share(), clock: look.clock() });
    }
    let clock = host.watched.as_ref()?.clock(cpu)?;
    Some(Seen { busy: work::in_look(host)?.share(cpu)?, clock })
}

impl Seen {
    /// Whether it worked all the time of the look.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy >= BUSY
    }
}

/// The clock that is asked for on a CPU of `policy`, where one is; `seen` is what a look saw of the CPU, and `are_many` says that half of
/// all CPUs were busy in it.
pub(crate) fn of(
    host: &HostView,
    policy: &Policy,
    seen: Option<Seen>,
    are_many: bool,
) -> Option<Asked> {
    let by = if policy.governor.as_deref() == Ok("performance") {
        Asker::Performance
    } else if let (Ok(min), Ok(max)) = (&policy.scaling_min, &policy.scaling_max)
        && min == max
        && max.0 > 0
    {
        Asker::Limits
    } else {
        // A burst is younger than a governor: one CPU says something only if it never left its lowest clock.
        let seen = seen.filter(|it| it.is_busy() && follows_load(policy))?;
        let lowest = policy.cpuinfo_min.as_ref().ok()?;
        (are_many || seen.clock.share_of(*lowest) <= LOWEST).then_some(Asker::Load)?
    };
    let (clock, tolerated) = owed(host, policy)?;
    Some(Asked { by, clock, tolerated })
}

/// Whether the clock is raised for load, and not kept low to save power.
fn follows_load(policy: &Policy) -> bool {
    let saves = |it: &str| {
        matches!(it, "power" | "balance_power") || it.parse::<u8>().is_ok_and(|it| it > BALANCED)
    };
    match policy.governor.as_deref() {
        Ok("ondemand" | "schedutil") => true,
        Ok("powersave") if policy.drives_itself() == Ok(true) => {
            !policy.preference.as_deref().map(Preference::word).is_ok_and(saves)
        }
        _ => false,
    }
}

/// The number of `balance_performance` (HWP_EPP_BALANCE_PERFORMANCE in arch/x86/include/asm/msr-index.h).
const BALANCED: u8 = 0x80;

/// What the hardware owes at most, within the limits of Linux and firmware, and the share of it that is tolerated.
fn owed(host: &HostView, policy: &Policy) -> Option<(Hertz, f64)> {
    let ceiling = host.ceiling_of(policy)?;
    let ceiling = host.highest_request(policy).map_or(ceiling, |it| it.min(ceiling));
    let named = host.nominal_clock().filter(|(_, source)| *source != "bios_limit");
    let nominal = named.map(|(clock, _)| clock).into_iter().chain(policy.base_frequency.clone());
    Some(match nominal.min() {
        Some(nominal) => (nominal.min(ceiling), OWED),
        None if may_be_turbo(policy) => (ceiling, OF_TURBO),
        None => (ceiling, OWED),
    })
}

/// Whether the highest clock of the policy may be one that not all cores reach at once.
fn may_be_turbo(policy: &Policy) -> bool {
    let driver = policy.driver.as_deref().unwrap_or_default();
    policy.asks_for_turbo() || matches!(driver, "" | "powernv-cpufreq" | "acpi-cpufreq")
}

/// How a clock was read, the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// By counters over a look in which the CPU worked.
    Look,
    /// By what the kernel showed several times of a CPU that worked meanwhile.
    Watched,
    /// By counters over a look that do not tell whether the CPU worked.
    BlindLook,
    /// By counters since boot, or since they began.
    SinceBoot,
    /// By the driver, from the hardware.
    Driver,
    /// By the kernel, at some moment of the last milliseconds.
    Sample,
}

/// A clock that a CPU has, and where it shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    pub(crate) kind: Kind,
    pub(crate) clock: Hertz,
    /// What was read, verbatim, each with its source.
    pub(crate) evidence: Vec<(String, String)>,
    /// The same in the levels of CPPC.
    pub(crate) level: Option<(u64, u64)>,
}

/// What shows the clock of a CPU, the most telling first; and whether the CPU was seen to be idle.
pub(crate) fn readings(host: &HostView, policy: &Policy, cpu: u32) -> (Vec<Reading>, bool) {
    let look = host.delivered.looks.get(cpu).and_then(|it| it.as_ref().ok());
    if let Some(look) = look.filter(|it| it.busy_share() >= ENOUGH) {
        return (vec![by_look(cpu, look)], false);
    }
    let share = work::in_look(host).and_then(|it| it.share(cpu));
    if let Some(reading) = watched(host, cpu, share) {
        return (vec![reading], false);
    }
    let mut readings = Vec::new();
    let feedback = policy.cpus.first().and_then(|it| host.delivered.feedback.get(it));
    if let Some(Ok(feedback)) = feedback {
        let uptime = host.kernel.uptime.as_ref().ok().copied();
        let since_boot = feedback.whole(uptime);
        let nominal = host.nominal_clock().map(|(clock, _)| clock);
        for (kind, counts) in [(Kind::BlindLook, &feedback.look), (Kind::SinceBoot, &since_boot)] {
            let counts = counts.as_ref().ok();
            readings.extend(counts.and_then(|it| by_feedback(feedback, kind, *it, nominal)));
        }
    }
    let of_file = |kind, file: &str, clock: Hertz| Reading {
        kind,
        clock,
        evidence: vec![(policy.path(file), clock.khz().to_string())],
        level: None,
    };
    if let Ok(clock) = policy.cpuinfo_avg {
        readings.push(of_file(Kind::Sample, "cpuinfo_avg_freq", clock));
    }
    // What is read at this moment of a CPU without a tick says nothing of the clock that it has at work.
    if !is_without_tick(host, policy, cpu) {
        if let Ok(clock) = policy.cpuinfo_cur {
            readings.push(of_file(Kind::Driver, "cpuinfo_cur_freq", clock));
        }
        readings.extend(sampled(host, cpu));
    }
    readings.sort_by_key(|it| it.kind);
    let enough = match readings.first().map(|it| it.kind) {
        Some(Kind::SinceBoot) => 0.0,
        Some(Kind::BlindLook) => ENOUGH,
        _ => Worked::BUSY,
    };
    (readings, look.is_some() || share.is_some_and(|it| it < enough))
}

/// The middle one of the clocks that the kernel showed of a CPU which worked for most of the time.
fn watched(host: &HostView, cpu: u32, share: Option<f64>) -> Option<Reading> {
    let share = share.filter(|it| *it >= Worked::BUSY)?;
    let watched = host.watched.as_ref()?;
    let (clock, shown) = (watched.clock(cpu)?, watched.clocks.get(&cpu)?);
    let (least, most) = (shown.iter().min()?, shown.iter().max()?);
    let n = counted(shown.len() as u64, "reading");
    let over = format!("CPU {cpu}: the clock that the kernel shows, {n} {}", watched.within());
    let value = format!("{least} to {most}, busy for {:.0} % of it", 100.0 * share);
    Some(Reading { kind: Kind::Watched, clock, evidence: vec![(over, value)], level: None })
}

/// A CPU that ran for less of a look is one of which it says little.
const ENOUGH: f64 = 0.1;

fn by_look(cpu: u32, look: &Look) -> Reading {
    let over = format!("CPU {cpu}: APERF and MPERF over {} ms", look.time.as_millis());
    let value = format!(
        "{} and {}, busy for {:.0} % of it",
        look.cycles,
        look.reference,
        100.0 * look.busy_share()
    );
    Reading { kind: Kind::Look, clock: look.clock(), evidence: vec![(over, value)], level: None }
}

fn by_feedback(
    feedback: &Feedback,
    kind: Kind,
    counts: Counts,
    nominal: Option<Hertz>,
) -> Option<Reading> {
    let levels = &feedback.levels;
    let level = levels.delivered(counts);
    let path = feedback.path("feedback_ctrs");
    let file = if kind == Kind::BlindLook { format!("{path}, rise") } else { path };
    Some(Reading {
        kind,
        clock: levels.clock(level, nominal)?,
        evidence: vec![
            (file, format!("ref:{} del:{}", counts.reference, counts.delivered)),
            (feedback.path("reference_perf"), levels.reference.to_string()),
            (feedback.path("nominal_perf"), levels.nominal.to_string()),
        ],
        level: Some((level.round() as u64, levels.nominal)),
    })
}

/// What /proc/cpuinfo shows where the kernel measures it, or asks the driver: on x86, and on POWER with OPAL (pnv_get_proc_freq).
fn sampled(host: &HostView, cpu: u32) -> Option<Reading> {
    let info = host.cpuinfo.as_ref().ok()?;
    let clock = *info.clocks.get(cpu)?.as_ref().ok()?;
    let (kind, name) = match (info.is_x86(), info.is_power()) {
        (true, _) => (Kind::Sample, "cpu MHz"),
        (_, true) => (Kind::Driver, "clock"),
        _ => return None,
    };
    let source = format!("/proc/cpuinfo: {name} of CPU {cpu}");
    let evidence = vec![(source, format!("{:.3}", clock.mhz()))];
    Some(Reading { kind, clock, evidence, level: None })
}

/// Why nothing shows the clock of the CPUs of a policy.
pub(crate) fn unreadable(host: &HostView, policy: &Policy, cpu: u32) -> Missing {
    if is_without_tick(host, policy, cpu) {
        return Missing::too_idle("the clock that the hardware runs at");
    }
    let reasons = [
        policy.cpuinfo_cur.as_ref().err(),
        host.delivered.feedback.get(cpu).and_then(|it| it.as_ref().err()),
        host.delivered.looks.get(cpu).and_then(|it| it.as_ref().err()),
    ];
    let known = reasons.into_iter().flatten().find(|it| !it.is_absence());
    known.cloned().unwrap_or_else(|| {
        let why = facts::Why::Failed("the driver shows none, and no counter does".to_owned());
        Missing { what: "the clock that the hardware runs at".to_owned(), why }
    })
}
