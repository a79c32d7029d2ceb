//! Energy that the processors have used, by domain: powercap, else the PMU `power`, else the registers.
//!
//! Sources: Documentation/power/powercap/powercap.rst; arch/x86/events/rapl.c. `energy_uj` is for root since
//! Linux 5.10 and starts again at 0 after `max_energy_range_uj`: minutes at full power. Samples add up the
//! wraps, if they are close enough together that the counter cannot have wrapped twice.

mod registers;

use super::cell_files::TableLayout;
use super::files::{File, Files};
use super::perf_counts::{MOST_COUNTERS, PerfSlot};
use crate::counters::perf_counts::Epoch;
use crate::perf::counters;
use crate::{Source, clock};
use facts::counters::{Counters, Family, Table};
use facts::pmu::Counter;
use facts::{CpuSet, Fact, HostView, Missing, Origin, parse};
use registers::Registers;

/// No domain takes more power than this, in microwatts: the largest packages take a quarter of it.
const MOST_MICROWATTS: u64 = 2_000_000_000;

/// The counters, in one of three ways to read them.
#[derive(Debug)]
pub(super) enum Energy {
    Powercap(Powercap),
    Perf(Groups),
    Registers(Box<Registers>),
}

/// One group of the PMU's events for each package.
#[derive(Debug)]
pub(super) struct Groups {
    layout: TableLayout,
    counters: Vec<Counter>,
    slots: Vec<PerfSlot>,
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
        let slots: Vec<PerfSlot> =
            readers.iter().map(|cpu| PerfSlot::open(cpu, &counters)).collect();
        let packages = (0..slots.len()).flat_map(|package| {
            counters.iter().map(move |counter| domain_name(package, &counter.name))
        });
        let names: Vec<String> = packages.collect();
        let layout = TableLayout::new([0], names.iter().map(String::as_str));
        Ok(Groups { layout, counters, slots })
    }

    fn sample(&mut self, into: &mut Fact<Table>) -> Fact<()> {
        self.layout.begin(into, clock::raw_ns());
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

const POWERCAP: &str = "/sys/class/powercap";

/// The zones of powercap, sorted by name.
#[derive(Debug)]
pub(super) struct Powercap {
    layout: TableLayout,
    zones: Vec<Zone>,
}

#[derive(Debug)]
struct Zone {
    file: File,
    energy: Wrapping,
    total: Total,
}

impl Powercap {
    /// Finds the zones.
    ///
    /// Errors: there are none, or this process may not read their energy.
    pub(super) fn open(files: &mut Files) -> Fact<Powercap> {
        let source: &dyn Source = &files.live;
        let named = zone_names(source)?;
        let zone = |(_, zone): &(String, String)| -> Fact<Zone> {
            let range = source.parsed(&format!("{zone}/max_energy_range_uj"), parse::number)?;
            Ok(Zone {
                file: File::new(format!("{zone}/energy_uj")),
                energy: Wrapping::new(range, MOST_MICROWATTS),
                total: Total::zero(),
            })
        };
        let mut zones: Vec<Zone> = named.iter().map(zone).collect::<Fact<_>>()?;
        let first =
            zones.first_mut().ok_or_else(|| Missing::absent(format!("{POWERCAP}/intel-rapl:0")))?;
        files.number(&mut first.file)?;
        Ok(Powercap {
            layout: TableLayout::new([0], named.iter().map(|(name, _)| name.as_str())),
            zones,
        })
    }

    pub(super) fn sample(&mut self, files: &mut Files, into: &mut Fact<Table>) -> Fact<()> {
        let read_at = clock::raw_ns();
        self.layout.begin(into, read_at);
        let Ok(table) = into else { return Ok(()) };
        for (column, zone) in self.zones.iter_mut().enumerate() {
            let energy = files.number(&mut zone.file)?;
            zone.total.add(zone.energy.delta(energy, read_at));
            table.set(0, column, zone.total.count(|microjoules| microjoules));
        }
        Ok(())
    }
}

/// The name of every zone, and its folder, sorted: `package-0`, `package-0/dram`.
fn zone_names(source: &dyn Source) -> Fact<Vec<(String, String)>> {
    let mut names: Vec<(String, String)> = Vec::new();
    for package in source.numbered(POWERCAP, "intel-rapl:")? {
        let zone = format!("{POWERCAP}/intel-rapl:{package}");
        let name = source.parsed(&format!("{zone}/name"), parse::line)?;
        // Its parts are folders of its own folder, with its name in front of theirs.
        for part in source.numbered(&zone, &format!("intel-rapl:{package}:")).unwrap_or_default() {
            let zone = format!("{zone}/intel-rapl:{package}:{part}");
            if let Ok(of_part) = source.parsed(&format!("{zone}/name"), parse::line) {
                names.push((format!("{name}/{of_part}"), zone));
            }
        }
        names.push((name, zone));
    }
    names.sort();
    Ok(names)
}

/// A counter that wraps around, and its last reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrapping {
    /// The highest count: the next one is 0.
    range: u64,
    /// An upper bound of its speed, in steps per second.
    most_per_second: u64,
    /// The count and the moment of the last reading.
    last: Option<(u64, u64)>,
}

impl Wrapping {
    pub(super) fn new(range: u64, most_per_second: u64) -> Wrapping {
        Wrapping { range, most_per_second, last: None }
    }

    /// The steps since the last reading, 0 at the first; `None` if it may have wrapped more
    /// than once. `read_at` is in nanoseconds.
    pub(super) fn delta(&mut self, count: u64, read_at: u64) -> Option<u64> {
        let Some((last, at)) = self.last.replace((count, read_at)) else { return Some(0) };
        let seconds = read_at.saturating_sub(at) / 1_000_000_000 + 1;
        if count > self.range || seconds.saturating_mul(self.most_per_second) > self.range {
            return None;
        }
        let around = || count.saturating_add(1).saturating_add(self.range.saturating_sub(last));
        Some(count.checked_sub(last).unwrap_or_else(around))
    }
}

/// The sum of a domain's deltas, in steps of its counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Total {
    steps: u64,
    epoch: Epoch,
}

impl Total {
    pub(super) fn zero() -> Total {
        Total { steps: 0, epoch: Epoch::first() }
    }

    /// Adds a delta; `None` starts again at 0, so that no energy is counted across that moment.
    pub(super) fn add(&mut self, delta: Option<u64>) {
        match delta {
            Some(delta) => self.steps = self.steps.saturating_add(delta),
            None => *self = Total { steps: 0, epoch: self.epoch.next() },
        }
    }

    /// The total for a sample; `microjoules` converts steps.
    pub(super) fn count(&self, microjoules: impl Fn(u64) -> u64) -> u64 {
        self.epoch.count(microjoules(self.steps))
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

    const SECOND: u64 = 1_000_000_000;

    fn energy() -> Wrapping {
        Wrapping::new(262_143_328_850, 2_000_000_000)
    }

    #[test]
    fn a_counter_that_starts_again_goes_on() {
        let mut energy = energy();
        assert_eq!(energy.delta(262_143_328_800, 0), Some(0));
        assert_eq!(energy.delta(49, SECOND), Some(100));
        assert_eq!(energy.delta(60, 2 * SECOND), Some(11));
    }

    #[test]
    fn after_a_time_in_which_it_may_have_started_again_twice_there_is_no_difference() {
        let mut energy = energy();
        energy.delta(5, 0);
        assert_eq!(energy.delta(500, 600 * SECOND), None);
        assert_eq!(energy.delta(u64::MAX, 601 * SECOND), None);
    }

    #[test]
    fn a_total_that_begins_again_is_below_what_it_was() {
        let mut total = Total::zero();
        total.add(Some(700));
        let before = total.count(|steps| steps);
        total.add(Some(300));
        assert_eq!(total.count(|steps| steps) - before, 300);
        total.add(None);
        total.add(Some(5000));
        assert!(total.count(|steps| steps) < before);
    }
}
