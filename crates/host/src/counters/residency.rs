//! Residency of C-states as the hardware counts it, by the PMUs cstate_core and cstate_pkg.
//!
//! Source: arch/x86/events/intel/cstate.c, which knows the models that have each register. Intel only. AMD's
//! processors count none. When a reader goes offline, the kernel has another CPU of its core or package go on.

use super::clock;
use super::files::Files;
use super::perf_counts::event_name;
use super::shape::Shape;
use super::slot::{MOST_COUNTERS, Slot};
use crate::Source;
use crate::perf::counters;
use facts::counters::{Counters, Family};
use facts::pmu::Counter;
use facts::{CpuSet, Fact, Missing, Origin};

/// The counters of one kind, one group for each core or package.
#[derive(Debug)]
pub(super) struct Residency {
    counters: Vec<Counter>,
    shape: Shape,
    slots: Vec<Slot>,
}

impl Residency {
    /// Opens the counters of `family`, on the CPUs that the PMU says.
    ///
    /// Errors: the host is a copy, has no such PMU, or does not let us open its events.
    pub(super) fn open(files: &mut Files, family: Family, online: &CpuSet) -> Fact<Residency> {
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
        let slots = readers.iter().map(|cpu| Slot::open(cpu, &counters)).collect();
        let shape = Shape::new(readers.iter(), counters.iter().map(state));
        Ok(Residency { counters, shape, slots })
    }

    /// Reads them all.
    pub(super) fn sample(&mut self, into: &mut Counters, family: Family) {
        let table = into.table_mut(family);
        self.shape.begin(table, clock::now_ns());
        let Ok(table) = table else { return };
        for (row, slot) in self.slots.iter_mut().enumerate() {
            let read_at = clock::now_ns();
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
