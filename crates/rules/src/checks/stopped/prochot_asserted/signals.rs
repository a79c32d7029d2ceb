//! The signals that registers of Intel's processors show, each once, with the CPUs that have it.
//!
//! Where the host was watched, each register was read several times. A log that was clear before and is set afterwards tells of the look, too.

use super::{finding, pointed};
use crate::finding::{Finding, Severity};
use facts::cpu::cpuinfo::CpuInfo;
use facts::msr::limit_reasons::{Kind, Layout, Reason};
use facts::msr::thermal_status::{CRITICAL, CURRENT_LIMIT, Cause, PROCHOT, TOO_HOT};
use facts::msr::{Register, Scope};
use facts::watched::{Sight, Watched};
use facts::{CpuSet, HostView, Missing, Why};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

/// What was found, worst first: what holds the clock down at the moment before what is only in a log.
pub(super) struct Signals<'a> {
    pub(super) host: &'a HostView,
    pub(super) found: BTreeMap<(Reverse<Severity>, IsLog, &'static str), Seen>,
}

pub(super) type IsLog = bool;

/// Where one signal was seen.
#[derive(Default)]
pub(super) struct Seen {
    cpus: CpuSet,
    /// In how many of how many readings it was the state, of the CPU that had it most; (1, 1) where nobody looked.
    readings: (usize, usize),
    /// The first CPU's value of each register.
    evidence: BTreeMap<u32, (String, u64)>,
}

impl Seen {
    /// Whether each register that shows it was read in the look, of any of its CPUs: those that are kept free of interrupts are left out.
    fn was_read(&self, watched: &Watched) -> bool {
        let is_read = |register: &u32| {
            watched.registers.keys().any(|(it, cpu)| it == register && self.cpus.contains(*cpu))
        };
        self.evidence.keys().all(is_read)
    }
}

impl<'a> Signals<'a> {
    /// Current limits are in this register too; they are taken from it where no other register has them.
    pub(super) fn thermal_status(
        &mut self,
        register: &Register,
        info: &CpuInfo,
        has_limit_reasons: bool,
    ) -> Result<(), &'a Missing> {
        // Bits 15:12 belong to cores only.
        let has_current = !has_limit_reasons && register.scope != Scope::Package;
        let causes = if has_current { OWN_SIGNALS } else { &OWN_SIGNALS[..3] };
        let values = self.host.msrs.of(register)?;
        for (cpu, &value) in values.known() {
            let readings = self.readings(register, cpu, value);
            for (cause, severity) in causes.iter().filter(|(it, _)| it.exists(info)) {
                let is_active = |it: u64| cause.is_active(it);
                let began = cause.rose(value, readings.last());
                match readings.shown(&is_active, began) {
                    Some(shown) => self.add_live((*severity, cause.name), register, cpu, &shown),
                    None if *cause == PROCHOT && PROCHOT.was_logged(value) => {
                        self.add((Severity::Low, true, PROCHOT.name), register, cpu, value);
                    }
                    None => {}
                }
            }
        }
        values.all_known()
    }

    pub(super) fn limit_reasons(&mut self, layout: &Layout) -> Result<(), &'a Missing> {
        let values = match self.host.msrs.of(layout.register) {
            // Some mobile Haswells refuse the register that their table has; PROCHOT# is in 0x19C as well.
            Err(Missing { why: Why::Failed(_), .. }) => return Ok(()),
            values => values?,
        };
        for (cpu, &value) in values.known() {
            let readings = self.readings(layout.register, cpu, value);
            let is_told = |it: &&Reason| !matches!(it.kind, Kind::Normal | Kind::Power);
            for reason in layout.reasons().filter(is_told) {
                let is_active = |value| layout.active(value).any(|it| it == reason);
                let began = layout.rose(value, readings.last()).any(|it| it == reason);
                let severity = match reason.kind {
                    Kind::Prochot => Severity::High,
                    _ => Severity::Low,
                };
                if let Some(shown) = readings.shown(&is_active, began) {
                    self.add_live((severity, reason.name), layout.register, cpu, &shown);
                } else if layout.logged(value).any(|it| it == reason) {
                    let is_prochot = reason.kind == Kind::Prochot;
                    let severity = if is_prochot { Severity::Low } else { Severity::Info };
                    self.add((severity, true, reason.name), layout.register, cpu, value);
                }
            }
        }
        values.all_known()
    }

    /// What a register held when the host was read, and then in a look.
    fn readings(&self, register: &Register, cpu: u32, value: u64) -> Readings<'a> {
        let registers = self.host.watched.as_ref().map(|it| &it.registers);
        // The CPU that is read in a look may be another one that shares the register.
        let sharing = self.sharing(register, cpu);
        let mut later = sharing.iter().filter_map(|it| registers?.get(&(register.address, it)));
        Readings { value, later: later.next().map_or(&[], Vec::as_slice) }
    }

    fn sharing(&self, register: &Register, cpu: u32) -> CpuSet {
        match register.scope {
            Scope::Thread => [cpu].into_iter().collect(),
            Scope::Core => self.host.topology.core_of(cpu),
            Scope::Package => self.host.topology.package_of(cpu),
        }
    }

    /// A signal that was there for less than half of a look is a step less severe than one that stays.
    fn add_live(
        &mut self,
        (severity, name): (Severity, &'static str),
        register: &Register,
        cpu: u32,
        shown: &Shown,
    ) {
        let (n, of) = shown.readings;
        let comes_and_goes = 2 * n < of && severity == Severity::High;
        let severity = if comes_and_goes { Severity::Medium } else { severity };
        let seen = self.add((severity, false, name), register, cpu, shown.value);
        seen.readings = seen.readings.max(shown.readings);
    }

    fn add(
        &mut self,
        (severity, is_log, name): (Severity, IsLog, &'static str),
        register: &Register,
        cpu: u32,
        value: u64,
    ) -> &mut Seen {
        let cpus = self.sharing(register, cpu);
        let seen = self.found.entry((Reverse(severity), is_log, name)).or_default();
        seen.cpus.extend(cpus.iter());
        seen.evidence.entry(register.address).or_insert_with(|| (register.path(cpu), value));
        seen
    }

    pub(super) fn findings(self) -> Vec<Finding> {
        let n_online = self.host.topology.n_online();
        let limit = self.host.power_cap.in_force();
        let watched = self.host.watched.as_ref().filter(|it| it.has(Sight::Signals));
        let finding = |((Reverse(severity), is_log, name), seen): (_, Seen)| {
            let when = match (is_log, seen.readings) {
                (true, _) => When::Logged(watched.filter(|it| seen.was_read(it)).map(|it| it.time)),
                (false, (_, of)) if of < 2 => When::AtThisMoment,
                (false, (n, of)) => When::Watched(n, of, watched.map(Watched::within)),
            };
            let finding = finding(severity, when, name).on(seen.cpus, n_online);
            let finding = if name == PROCHOT.name { pointed(finding, limit) } else { finding };
            let evidence = seen.evidence.into_values();
            evidence.fold(finding, |it, (path, value)| it.evidence(path, format!("{value:#x}")))
        };
        self.found.into_iter().map(finding).collect()
    }
}

/// When a signal was seen.
pub(super) enum When {
    /// At some time since boot; and for how long it was watched and not seen.
    Logged(Option<Duration>),
    /// When the host was read.
    AtThisMoment,
    /// In so many of so many readings, "in the 2 s that were looked at".
    Watched(usize, usize, Option<String>),
}

/// What a register held when the host was read, and then in a look.
struct Readings<'a> {
    value: u64,
    later: &'a [u64],
}

/// A reading that shows a signal, and in how many of how many it was the state.
struct Shown {
    value: u64,
    readings: (usize, usize),
}

impl Readings<'_> {
    fn last(&self) -> u64 {
        self.later.last().copied().unwrap_or(self.value)
    }

    /// Whether a signal was the state in one of them, or `began` in between by its log.
    fn shown(&self, is_active: &dyn Fn(u64) -> bool, began: bool) -> Option<Shown> {
        let all = || std::iter::once(self.value).chain(self.later.iter().copied());
        let n_active = all().filter(|it| is_active(*it)).count();
        let value = all().find(|it| is_active(*it)).or(began.then(|| self.last()))?;
        Some(Shown { value, readings: (n_active, all().count()) })
    }
}

/// Signals of 0x19C and 0x1B1; the last one only where no limit reasons say it better. Power is power-limit-reached's.
const OWN_SIGNALS: &[(Cause, Severity)] = &[
    (PROCHOT, Severity::High),
    (CRITICAL, Severity::High),
    (TOO_HOT, Severity::Medium),
    (CURRENT_LIMIT, Severity::Low),
];
