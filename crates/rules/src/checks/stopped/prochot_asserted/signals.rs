//! The signals that registers of Intel's processors show, each once, with the CPUs that have it.

use super::{finding, pointed};
use crate::finding::{Finding, Severity};
use facts::cpu::cpuinfo::CpuInfo;
use facts::msr::limit_reasons::{Kind, Layout};
use facts::msr::thermal_status::{CRITICAL, CURRENT_LIMIT, Cause, POWER_LIMIT, PROCHOT, TOO_HOT};
use facts::msr::{Register, Scope};
use facts::{CpuSet, HostView, Missing, Why};
use std::cmp::Reverse;
use std::collections::BTreeMap;

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
    /// The first CPU's value of each register.
    evidence: BTreeMap<u32, (String, u64)>,
}

impl<'a> Signals<'a> {
    /// Power and current limits are in this register too; they are taken from it where no other register has them.
    pub(super) fn thermal_status(
        &mut self,
        register: &Register,
        info: &CpuInfo,
        has_limit_reasons: bool,
    ) -> Result<(), &'a Missing> {
        let causes: &[(Cause, Severity)] = match (register.scope, has_limit_reasons) {
            (_, true) => &OWN_SIGNALS[..3],
            // Bits 15:12 belong to cores only.
            (Scope::Package, false) => &OWN_SIGNALS[..4],
            (_, false) => OWN_SIGNALS,
        };
        let values = self.host.msrs.of(register)?;
        for (cpu, &value) in values.known() {
            for (cause, severity) in causes.iter().filter(|(it, _)| it.exists(info)) {
                if cause.is_active(value) {
                    self.add((*severity, false, cause.name), register, cpu, value);
                }
            }
            if PROCHOT.exists(info) && PROCHOT.was_logged(value) && !PROCHOT.is_active(value) {
                self.add((Severity::Low, true, PROCHOT.name), register, cpu, value);
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
            for reason in layout.active(value).filter(|it| it.kind != Kind::Normal) {
                let severity = match reason.kind {
                    Kind::Prochot => Severity::High,
                    // At full load a processor with turbo runs at its power limit; low-power-limit judges the limit.
                    Kind::Power => Severity::Info,
                    _ => Severity::Low,
                };
                self.add((severity, false, reason.name), layout.register, cpu, value);
            }
            let active = |name| layout.active(value).any(|it| it.name == name);
            for reason in layout.logged(value).filter(|it| it.kind != Kind::Normal) {
                let is_prochot = reason.kind == Kind::Prochot;
                let severity = if is_prochot { Severity::Low } else { Severity::Info };
                if !active(reason.name) {
                    self.add((severity, true, reason.name), layout.register, cpu, value);
                }
            }
        }
        values.all_known()
    }

    fn add(
        &mut self,
        (severity, is_log, name): (Severity, IsLog, &'static str),
        register: &Register,
        cpu: u32,
        value: u64,
    ) {
        let cpus = match register.scope {
            Scope::Thread => [cpu].into_iter().collect(),
            Scope::Core => self.host.topology.core_of(cpu),
            Scope::Package => self.host.topology.package_of(cpu),
        };
        let seen = self.found.entry((Reverse(severity), is_log, name)).or_default();
        seen.cpus.extend(cpus.iter());
        seen.evidence.entry(register.address).or_insert_with(|| (register.path(cpu), value));
    }

    pub(super) fn findings(self) -> Vec<Finding> {
        let n_online = self.host.topology.n_online();
        let limit = self.host.power_cap.in_force();
        let finding = |((Reverse(severity), is_log, name), seen): (_, Seen)| {
            let finding = finding(severity, is_log, name).on(seen.cpus, n_online);
            let finding = if name == PROCHOT.name { pointed(finding, limit) } else { finding };
            let evidence = seen.evidence.into_values();
            evidence.fold(finding, |it, (path, value)| it.evidence(path, format!("{value:#x}")))
        };
        self.found.into_iter().map(finding).collect()
    }
}

/// Signals of 0x19C and 0x1B1; the last two only where no limit reasons say it better.
const OWN_SIGNALS: &[(Cause, Severity)] = &[
    (PROCHOT, Severity::High),
    (CRITICAL, Severity::High),
    (TOO_HOT, Severity::Medium),
    // As in the limit reasons: the normal state of a processor with turbo at full load.
    (POWER_LIMIT, Severity::Info),
    (CURRENT_LIMIT, Severity::Low),
];
