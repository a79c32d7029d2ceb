//! Energy that the processors have used, by domain: powercap, else the PMU `power`, else the registers.
//!
//! Sources: Documentation/power/powercap/powercap.rst; arch/x86/events/rapl.c. `energy_uj` is for root since
//! Linux 5.10 and starts again at 0 after `max_energy_range_uj`: some minutes of full power. That is added up
//! here, as long as samples are close enough together that it cannot have happened twice.

mod powercap;
mod registers;
mod total;
mod wrapping;

use super::clock;
use super::files::Files;
use super::shape::Shape;
use super::slot::{MOST_COUNTERS, Slot};
use crate::Source;
use crate::perf::counters;
use facts::counters::{Counters, Family, Table};
use facts::pmu::Counter;
use facts::{CpuSet, Fact, HostView, Missing, Origin};
use powercap::Powercap;
use registers::Registers;

/// No domain takes more power than this, in microwatts: the largest packages take a quarter of it.
const MOST_MICROWATTS: u64 = 2_000_000_000;

/// The counters, by the way that is open.
#[derive(Debug)]
pub(super) enum Energy {
    Powercap(Powercap),
    Perf(Groups),
    Registers(Box<Registers>),
}

/// One group of the PMU's events for each package.
#[derive(Debug)]
pub(super) struct Groups {
    shape: Shape,
    counters: Vec<Counter>,
    slots: Vec<Slot>,
}

impl Energy {
    /// Finds the domains.
    ///
    /// Errors: powercap's reason, where neither the PMU nor the registers are open.
    pub(super) fn open(files: &mut Files, host: &HostView, online: &CpuSet) -> Fact<Energy> {
        Powercap::open(files).map(Energy::Powercap).or_else(|missing| {
            let groups = Groups::open(files).map(Energy::Perf);
            groups
                .or_else(|_| Registers::open(&files.live, host, online).map(Energy::registers))
                .map_err(|_| missing)
        })
    }

    fn registers(registers: Registers) -> Energy {
        Energy::Registers(Box::new(registers))
    }

    /// Reads every domain.
    pub(super) fn sample(&mut self, files: &mut Files, online: &CpuSet, into: &mut Counters) {
        let table = into.table_mut(Family::Energy);
        let read = match self {
            Energy::Powercap(powercap) => powercap.sample(files, table),
            Energy::Perf(groups) => groups.sample(table),
            Energy::Registers(registers) => {
                registers.sample(online, &mut |cpu, address| files.register(cpu, address), table)
            }
        };
        if let Err(missing) = read {
            *table = Err(missing);
        }
    }
}

impl Groups {
    /// The PMU counts in units of its own, which the kernel keeps from wrapping around.
    fn open(files: &mut Files) -> Fact<Groups> {
        let source: &dyn Source = &files.live;
        if source.origin() != Origin::Live {
            return Err(Missing::not_collected(Family::Energy.source()));
        }
        let pmu = counters::energy(source)?;
        let readers = pmu.cpus.ok_or_else(|| Missing::absent("a CPU that reads the PMU power"))?;
        let counters: Vec<Counter> = pmu.events.into_iter().take(MOST_COUNTERS).collect();
        files.take(readers.len().saturating_mul(counters.len()))?;
        let slots: Vec<Slot> = readers.iter().map(|cpu| Slot::open(cpu, &counters)).collect();
        let packages = (0..slots.len()).flat_map(|package| {
            counters.iter().map(move |counter| domain_name(package, &counter.name))
        });
        let names: Vec<String> = packages.collect();
        let shape = Shape::new([0], names.iter().map(String::as_str));
        Ok(Groups { shape, counters, slots })
    }

    fn sample(&mut self, into: &mut Fact<Table>) -> Fact<()> {
        self.shape.begin(into, clock::now_ns());
        let Ok(table) = into else { return Ok(()) };
        table.set_source("PMU power of perf");
        for (package, slot) in self.slots.iter_mut().enumerate() {
            let counts = slot.read(&self.counters)?;
            for (column, (counter, count)) in self.counters.iter().zip(counts).enumerate() {
                let column = package * self.counters.len() + column;
                table.set(0, column, microjoules(counter, count));
            }
        }
        Ok(())
    }
}

fn microjoules(counter: &Counter, count: u64) -> u64 {
    (count as f64 * counter.scale * 1e6) as u64
}

/// As powercap would call it. Readers of the PMU are one for each package, in their order.
fn domain_name(package: usize, event: &str) -> String {
    let event = event.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let part = match event {
        "energy-pkg" => None,
        "energy-cores" => Some("core"),
        "energy-ram" => Some("dram"),
        "energy-gpu" => Some("uncore"),
        other => Some(other),
    };
    name(package, part)
}

/// A domain's name, as powercap would have it.
fn name(package: usize, part: Option<&str>) -> String {
    match part {
        None => format!("package-{package}"),
        Some(part) => format!("package-{package}/{part}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pmus_events_are_domains() {
        assert_eq!(domain_name(1, "power/energy-ram/"), "package-1/dram");
        assert_eq!(domain_name(0, "power/energy-pkg/"), "package-0");
    }
}
