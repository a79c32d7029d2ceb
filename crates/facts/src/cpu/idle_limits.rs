//! What keeps a CPU from an idle state that its driver offers.
//!
//! Source: Documentation/admin-guide/pm/cpuidle.rst: a governor selects no state that is disabled on the CPU, and
//! none whose exit latency is above the latency limits of the host and the CPU.

use super::cpuidle::{Cpuidle, IdleState, ResumeLatency, StateTable};
use super::cpuinfo::CpuInfo;
use crate::system::kernel::BootLine;
use crate::{IfPresent, Missing, PerCpu};

/// Why a CPU may not use a state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Barrier {
    /// These states are disabled, by number and name.
    Disabled(Vec<(u32, String)>),
    /// The latency limit of all CPUs, in microseconds.
    EveryCpu(u32),
    /// The latency limit of this CPU.
    OneCpu(ResumeLatency),
}

impl Cpuidle {
    /// What keeps `cpu` from all states deeper than C1; `None` if it may use one, or has none.
    pub fn barriers(&self, table: &StateTable, cpu: u32) -> Option<Vec<Barrier>> {
        let mut disabled = Vec::new();
        let mut barriers = Vec::new();
        for state in table.states.iter().filter(|it| it.is_deep()) {
            let slow = self.too_slow(state, cpu);
            if state.is_disabled(cpu) {
                disabled.push((state.number, state.name.clone()));
            } else if slow.is_empty() {
                return None;
            }
            barriers.extend(slow);
        }
        if !disabled.is_empty() {
            barriers.push(Barrier::Disabled(disabled));
        }
        barriers.sort();
        barriers.dedup();
        (!barriers.is_empty()).then_some(barriers)
    }

    /// The name of the deepest state that `cpu` may use.
    pub fn deepest_usable<'a>(&self, table: &'a StateTable, cpu: u32) -> &'a str {
        let usable = |it: &&IdleState| !it.is_disabled(cpu) && self.too_slow(it, cpu).is_empty();
        table.states.iter().rfind(usable).map_or("POLL", |it| &it.name)
    }

    /// Fails with the first limit that could not be read, because it may be the effective one. A kernel without one
    /// of the files has no such limit.
    pub fn limits_known(&self) -> Result<(), &Missing> {
        fn known<T>(facts: &PerCpu<T>) -> Result<(), &Missing> {
            facts.missing().filter(|missing| !missing.is_absence()).map_or(Ok(()), Err)
        }
        for state in self.tables.as_ref()?.iter().flat_map(|table| &table.states) {
            known(&state.disabled)?;
        }
        known(&self.resume_latency)?;
        self.latency_limit.if_present().map(|_| ())
    }

    /// The boot parameters that may leave no state deeper than C1, as given. The list of states shows whether they
    /// did: `intel_idle.max_cstate=0` alone only switches to acpi_idle. Most guests have no states, whatever boot
    /// line their image has.
    pub fn boot_limits(&self, line: &BootLine, info: &CpuInfo, is_guest: bool) -> Vec<String> {
        let driver = self.driver.as_deref().unwrap_or("none");
        let has_states = !is_guest || driver.ends_with("_idle");
        let is_limit = |name: &str, value: &str| match (name, value) {
            ("idle", "poll") => true,
            _ if !has_states => false,
            ("idle", "halt" | "nomwait") => true,
            ("cpuidle.off", value) => value != "0",
            // The number counts states: 2 may be C1E.
            ("intel_idle.max_cstate", "0" | "1" | "2") => info.is_intel(),
            ("processor.max_cstate", "0" | "1") => driver != "intel_idle",
            _ => false,
        };
        ["intel_idle.max_cstate", "processor.max_cstate", "idle", "cpuidle.off"]
            .into_iter()
            .filter_map(|name| Some((name, line.value(name)?)))
            .filter(|(name, value)| is_limit(name, value))
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    /// The latency limits that are below the exit latency of `state`.
    fn too_slow(&self, state: &IdleState, cpu: u32) -> Vec<Barrier> {
        let Ok(latency) = state.latency else { return Vec::new() };
        let every = self.latency_limit.as_ref().ok().copied();
        let every = every.filter(|&limit| latency > u64::from(limit)).map(Barrier::EveryCpu);
        let one = self.resume_latency.get(cpu).and_then(|it| it.as_ref().ok().copied());
        let one = one.filter(|limit| latency > limit.limit()).map(Barrier::OneCpu);
        every.into_iter().chain(one).collect()
    }
}

impl IdleState {
    fn is_disabled(&self, cpu: u32) -> bool {
        matches!(self.disabled.get(cpu), Some(Ok(true)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CpuSet;

    fn state(number: u32, name: &str, latency: u64, disabled: bool) -> IdleState {
        IdleState {
            number,
            name: name.to_owned(),
            description: Err(Missing::absent("desc")),
            latency: Ok(latency),
            residency: Err(Missing::absent("residency")),
            disabled: [(0, Ok(disabled))].into_iter().collect(),
            is_off_by_default: Ok(false),
        }
    }

    /// CPU 0 with POLL, C1, C3 (33 µs) and C6 (133 µs).
    fn cpuidle(
        c3_off: bool,
        c6_off: bool,
        every: u32,
        one: ResumeLatency,
    ) -> (Cpuidle, StateTable) {
        let cpuidle = Cpuidle {
            driver: Ok("intel_idle".into()),
            governor: Ok("menu".into()),
            parameters: Err(Missing::absent("parameters")),
            tables: Ok(Vec::new()),
            latency_limit: Ok(every),
            latency_holders: Ok(Vec::new()),
            resume_latency: [(0, Ok(one))].into_iter().collect(),
        };
        let states = vec![
            state(0, "POLL", 0, false),
            state(1, "C1", 2, false),
            state(2, "C3", 33, c3_off),
            state(3, "C6", 133, c6_off),
        ];
        (cpuidle, StateTable { cpus: [0].into_iter().collect::<CpuSet>(), states })
    }

    #[test]
    fn one_deep_state_left_is_enough() {
        let (idle, table) = cpuidle(true, false, 2_000_000_000, ResumeLatency::Any);
        assert_eq!((idle.barriers(&table, 0), idle.deepest_usable(&table, 0)), (None, "C6"));
    }

    #[test]
    fn limits_that_leave_one_state_each_leave_none_together() {
        let (idle, table) = cpuidle(true, false, 100, ResumeLatency::Any);
        let expected = vec![Barrier::Disabled(vec![(2, "C3".into())]), Barrier::EveryCpu(100)];
        assert_eq!(idle.barriers(&table, 0), Some(expected));
        assert_eq!(idle.deepest_usable(&table, 0), "C1");
    }

    #[test]
    fn boot_parameters_count_for_the_driver_they_limit() {
        let line = BootLine::new("intel_idle.max_cstate=1 processor.max_cstate=1 idle=poll");
        let limits = |vendor: &str, driver: &str, is_guest| {
            let (mut idle, _) = cpuidle(false, false, 0, ResumeLatency::Any);
            idle.driver = Ok(driver.to_owned());
            let info = CpuInfo { vendor: vendor.into(), ..CpuInfo::default() };
            idle.boot_limits(&line, &info, is_guest).join(" ")
        };
        assert_eq!(
            limits("GenuineIntel", "intel_idle", false),
            "intel_idle.max_cstate=1 idle=poll"
        );
        assert_eq!(limits("AuthenticAMD", "acpi_idle", false), "processor.max_cstate=1 idle=poll");
        assert_eq!(limits("GenuineIntel", "none", true), "idle=poll");
    }

    #[test]
    fn a_cpu_that_may_not_sleep_at_all_polls() {
        let (idle, table) = cpuidle(false, false, 2_000_000_000, ResumeLatency::None);
        assert_eq!(idle.barriers(&table, 0), Some(vec![Barrier::OneCpu(ResumeLatency::None)]));
        assert_eq!(idle.deepest_usable(&table, 0), "POLL");
    }
}
