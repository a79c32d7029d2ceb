//! Energy that the processors have used, by domain: powercap, else the PMU `power`.
//!
//! Sources: Documentation/power/powercap/powercap.rst; arch/x86/events/rapl.c. `energy_uj` is for root since
//! Linux 5.10 and starts again at 0 after `max_energy_range_uj`: some minutes of full power. That is added up
//! here, as long as samples are close enough together that it cannot have happened twice.

use super::clock;
use super::epoch::Epoch;
use super::files::{File, Files};
use super::shape::Shape;
use super::slot::{MOST_COUNTERS, Slot};
use crate::Source;
use crate::perf::counters;
use facts::counters::{Counters, Family};
use facts::pmu::Counter;
use facts::{Fact, Missing, Origin, parse};

const POWERCAP: &str = "/sys/class/powercap";

/// No domain takes more power than this, in microwatts: the largest packages take a quarter of it.
const MOST_POWER: u64 = 2_000_000_000;

/// The counters, by the way that is open.
#[derive(Debug)]
pub(super) enum Energy {
    Powercap { shape: Shape, domains: Vec<Domain> },
    Perf { shape: Shape, counters: Vec<Counter>, slots: Vec<Slot> },
}

/// A zone of powercap, without wrapping around.
#[derive(Debug)]
pub(super) struct Domain {
    file: File,
    range_uj: u64,
    last: Option<(u64, u64)>,
    total_uj: u64,
    epoch: Epoch,
}

impl Energy {
    /// Finds the domains.
    ///
    /// Errors: powercap's reason, where the PMU is not open either.
    pub(super) fn open(files: &mut Files) -> Fact<Energy> {
        let powercap = Energy::powercap(files);
        powercap.or_else(|missing| Energy::perf(files).map_err(|_| missing))
    }

    fn powercap(files: &mut Files) -> Fact<Energy> {
        let source: &dyn Source = &files.live;
        let mut names: Vec<(String, String)> = Vec::new();
        for package in source.numbered(POWERCAP, "intel-rapl:")? {
            let zone = format!("{POWERCAP}/intel-rapl:{package}");
            let name = source.parsed(&format!("{zone}/name"), parse::line)?;
            // Its parts are folders of its own folder, with its name in front of theirs.
            for part in
                source.numbered(&zone, &format!("intel-rapl:{package}:")).unwrap_or_default()
            {
                let zone = format!("{zone}/intel-rapl:{package}:{part}");
                if let Ok(of_part) = source.parsed(&format!("{zone}/name"), parse::line) {
                    names.push((format!("{name}/{of_part}"), zone));
                }
            }
            names.push((name, zone));
        }
        names.sort();
        let domain = |(_, zone): &(String, String)| -> Fact<Domain> {
            let range = format!("{zone}/max_energy_range_uj");
            Ok(Domain {
                file: File::new(format!("{zone}/energy_uj")),
                range_uj: source.parsed(&range, parse::number)?,
                last: None,
                total_uj: 0,
                epoch: Epoch::first(),
            })
        };
        let mut domains: Vec<Domain> = names.iter().map(domain).collect::<Fact<_>>()?;
        let first = domains
            .first_mut()
            .ok_or_else(|| Missing::absent(format!("{POWERCAP}/intel-rapl:0")))?;
        files.number(&mut first.file)?;
        let shape = Shape::new([0], names.iter().map(|(name, _)| name.as_str()));
        Ok(Energy::Powercap { shape, domains })
    }

    /// The PMU counts in units of its own, which the kernel keeps from wrapping around.
    fn perf(files: &mut Files) -> Fact<Energy> {
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
        Ok(Energy::Perf {
            shape: Shape::new([0], names.iter().map(String::as_str)),
            counters,
            slots,
        })
    }

    /// Reads every domain.
    pub(super) fn sample(&mut self, files: &mut Files, into: &mut Counters) {
        let table = into.table_mut(Family::Energy);
        let read_at = clock::now_ns();
        let read = match self {
            Energy::Powercap { shape, domains } => {
                shape.begin(table, read_at);
                let mut cells = domains.iter_mut().enumerate();
                cells.try_for_each(|(column, domain)| {
                    let total = domain.read(files, read_at)?;
                    table.iter_mut().for_each(|it| it.set(0, column, total));
                    Ok(())
                })
            }
            Energy::Perf { shape, counters, slots } => {
                shape.begin(table, read_at);
                if let Ok(table) = table {
                    table.set_source("PMU power of perf");
                }
                slots.iter_mut().enumerate().try_for_each(|(package, slot)| {
                    let counts = slot.read(counters)?;
                    for (column, (counter, count)) in counters.iter().zip(counts).enumerate() {
                        let column = package * counters.len() + column;
                        table
                            .iter_mut()
                            .for_each(|it| it.set(0, column, microjoules(counter, count)));
                    }
                    Ok(())
                })
            }
        };
        if let Err(missing) = read {
            *table = Err(missing);
        }
    }
}

impl Domain {
    fn read(&mut self, files: &mut Files, read_at: u64) -> Fact<u64> {
        let energy = files.number(&mut self.file)?;
        Ok(self.advance(energy, read_at))
    }

    /// The energy since the first reading, of this counter of `energy` microjoules.
    fn advance(&mut self, energy: u64, read_at: u64) -> u64 {
        if let Some((last, at)) = self.last.replace((energy, read_at)) {
            let seconds = read_at.saturating_sub(at) / 1_000_000_000 + 1;
            if energy > self.range_uj || seconds.saturating_mul(MOST_POWER) > self.range_uj {
                // It may have started again more than once.
                self.total_uj = 0;
                self.epoch = self.epoch.next();
            } else {
                let range = self.range_uj.saturating_add(1);
                let risen = energy.checked_sub(last);
                let risen =
                    risen.unwrap_or_else(|| energy.saturating_add(range.saturating_sub(last)));
                self.total_uj = self.total_uj.saturating_add(risen);
            }
        }
        self.epoch.count(self.total_uj)
    }
}

fn microjoules(counter: &Counter, count: u64) -> u64 {
    (count as f64 * counter.scale * 1e6) as u64
}

/// As powercap would call it. Readers of the PMU are one for each package, in their order.
fn domain_name(package: usize, event: &str) -> String {
    let event = event.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    match event {
        "energy-pkg" => format!("package-{package}"),
        "energy-cores" => format!("package-{package}/core"),
        "energy-ram" => format!("package-{package}/dram"),
        "energy-gpu" => format!("package-{package}/uncore"),
        other => format!("package-{package}/{other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn domain() -> Domain {
        Domain {
            file: File::new("/energy_uj"),
            range_uj: 262_143_328_850,
            last: None,
            total_uj: 0,
            epoch: Epoch::first(),
        }
    }

    #[test]
    fn a_counter_that_starts_again_goes_on() {
        let mut domain = domain();
        let first = domain.advance(262_143_328_800, 0);
        assert_eq!(domain.advance(49, SECOND) - first, 100);
    }

    #[test]
    fn after_a_time_in_which_it_may_have_started_again_twice_there_is_no_difference() {
        let mut domain = domain();
        let first = domain.advance(5, 0);
        assert!(domain.advance(500, 600 * SECOND) < first);
        let wrong = domain.advance(u64::MAX, 601 * SECOND);
        assert!(domain.advance(1000, 602 * SECOND) > wrong);
    }

    #[test]
    fn the_pmus_events_are_domains() {
        assert_eq!(domain_name(1, "power/energy-ram/"), "package-1/dram");
    }
}
