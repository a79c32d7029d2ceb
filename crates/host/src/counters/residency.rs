//! Residency of C-states as the hardware counts it: by the PMUs cstate_core and cstate_pkg, else by the registers
//! that these read.
//!
//! Source: arch/x86/events/intel/cstate.c, which knows the models that have each register. Intel only. AMD's
//! processors count none. When a reader goes offline, the kernel has another CPU of its core or package go on.

use super::cell_files::TableLayout;
use super::files::Files;
use super::perf_counts::{MOST_COUNTERS, PerfSlot, event_name};
use super::register_table::RegisterTable;
use crate::perf::counters;
use crate::{Source, clock};
use facts::counters::{Counters, Family};
use facts::msr::Scope;
use facts::msr::residency::{State, States};
use facts::pmu::Counter;
use facts::{CpuSet, Fact, HostView, Missing, Origin};

/// The counters of one kind, by the way that is open.
#[derive(Debug)]
pub(super) enum Residency {
    Perf(Groups),
    Registers(Box<RegisterTable>),
}

/// One group of the PMU's events for each core or package.
#[derive(Debug)]
pub(super) struct Groups {
    counters: Vec<Counter>,
    layout: TableLayout,
    slots: Vec<PerfSlot>,
}

impl Residency {
    /// Finds the counters of `family`.
    ///
    /// Errors: the PMU's reason, where the host has one; else that of the registers.
    pub(super) fn open(
        files: &mut Files,
        host: &HostView,
        family: Family,
        online: &CpuSet,
    ) -> Fact<Residency> {
        let groups = Groups::open(files, family, online).map(Residency::Perf);
        groups.or_else(|of_pmu| {
            let registers = registers(&files.live, host, family, online);
            let reason = |missing| if of_pmu.is_absence() { missing } else { of_pmu };
            registers.map(|it| Residency::Registers(Box::new(it))).map_err(reason)
        })
    }

    pub(super) fn sample(
        &mut self,
        files: &mut Files,
        online: &CpuSet,
        into: &mut Counters,
        family: Family,
    ) {
        match self {
            Residency::Perf(groups) => groups.sample(into, family),
            Residency::Registers(registers) => registers.sample(
                online,
                &mut |cpu, address| files.register(cpu, address),
                into.table_mut(family),
                &|_, cycles| Ok(cycles),
            ),
        }
    }
}

/// The registers of `family` that the model has.
fn registers(
    source: &dyn Source,
    host: &HostView,
    family: Family,
    online: &CpuSet,
) -> Fact<RegisterTable> {
    host.platform.hides(family.source())?;
    let info = host.cpuinfo.as_ref()?;
    let (scope, states): (Scope, &[State]) = match (States::of(info), family) {
        (Some(states), Family::CoreResidency) => (Scope::Core, states.core),
        (Some(states), _) => (Scope::Package, states.package),
        (None, _) => (Scope::Core, &[]),
    };
    if states.is_empty() {
        let because = format!("family {:#x} model {:#x} has none", info.family, info.model);
        return Err(Missing::not_here(family.source(), because));
    }
    let columns: Vec<(&str, u32)> = states.iter().map(|it| (it.name, it.address)).collect();
    RegisterTable::open(source, host, scope, &columns, online)
}

impl Groups {
    /// Opens the events of `family`, on the CPUs that the PMU says.
    ///
    /// Errors: the host is a copy, has no such PMU, or does not let us open its events.
    fn open(files: &mut Files, family: Family, online: &CpuSet) -> Fact<Groups> {
        let source: &dyn Source = &files.live;
        if source.origin() != Origin::Live {
            return Err(Missing::not_collected(family.source()));
        }
        let name = if family == Family::CoreResidency { "cstate_core" } else { "cstate_pkg" };
        let pmu = counters::residency(source, name)?;
        let counters: Vec<Counter> = pmu.events.into_iter().take(MOST_COUNTERS).collect();
        let readers = pmu.cpus.unwrap_or_else(|| online.clone()).and(online);
        let first =
            readers.first().ok_or_else(|| Missing::absent(format!("a CPU that reads {name}")))?;
        crate::perf::Group::open(first, &counters)?;
        files.take(readers.len().saturating_mul(counters.len()))?;
        let slots = readers.iter().map(|cpu| PerfSlot::open(cpu, &counters)).collect();
        let layout = TableLayout::new(readers.iter(), counters.iter().map(state));
        Ok(Groups { counters, layout, slots })
    }

    fn sample(&mut self, into: &mut Counters, family: Family) {
        let table = into.table_mut(family);
        self.layout.begin(table, clock::raw_ns());
        let Ok(table) = table else { return };
        for (row, slot) in self.slots.iter_mut().enumerate() {
            let read_at = clock::raw_ns();
            match slot.read(&self.counters) {
                Ok(counts) => {
                    let cells = table.row_mut(row, read_at).iter_mut();
                    cells.zip(counts).for_each(|(cell, count)| *cell = count);
                }
                Err(missing) => table.blank_row(slot.cpu(), missing),
            }
        }
    }
}

/// `c6` of `cstate_core/c6-residency/`.
fn state(counter: &Counter) -> &str {
    let event = event_name(counter);
    event.strip_suffix("-residency").unwrap_or(event)
}

#[cfg(test)]
mod tests {
    use super::super::register_table::tests::{XEONS, sampled, xeons};
    use super::*;
    use crate::Captured;

    fn read(source: &Captured, family: Family) -> String {
        let all = CpuSet::parse_list("0-4").unwrap();
        sampled(registers(source, &crate::view(source), family, &all), source, "0-4")
    }

    #[test]
    fn without_a_pmu_a_model_is_asked_for_the_registers_that_it_has() {
        // Skylake-SP has no core C3 (0x3fc), though something may answer there.
        let registers: Vec<(u32, u32, u64)> =
            (0..4).flat_map(|cpu| [(cpu, 0x3fd, 60 + u64::from(cpu)), (cpu, 0x3fc, 0)]).collect();
        let expected = "c6; 0: 60; 1: 61; 2: 62; 3: 63";
        assert_eq!(read(&xeons(&registers), Family::CoreResidency), expected);
        let registers = [(0, 0x60d, 20), (0, 0x3f9, 60), (2, 0x60d, 22), (2, 0x3f9, 62)];
        let expected = "c2 c6; 0: 20 60; 2: 22 62";
        assert_eq!(read(&xeons(&registers), Family::PackageResidency), expected);
    }

    #[test]
    fn a_model_that_nobody_knows_is_not_asked() {
        let source = Captured::excerpt(&XEONS.replace("model : 85", "model : 23")).unwrap();
        assert_eq!(
            read(&source, Family::CoreResidency),
            "no residency counters of core C-states here: family 0x6 model 0x17 has none"
        );
    }

    #[test]
    fn a_guest_has_its_hypervisors() {
        let guest = XEONS.replace("flags :", "flags : hypervisor");
        assert_eq!(
            read(&Captured::excerpt(&guest).unwrap(), Family::PackageResidency),
            "residency counters of package C-states: not available in a guest of an unnamed hypervisor"
        );
    }
}
