//! The energy registers of packages and cores, where the kernel offers neither powercap nor a PMU.
//!
//! Sources: Intel SDM vol. 3B, "RAPL Interfaces"; AMD PPR, MSRC001_029A; drivers/powercap/intel_rapl_common.c. A
//! domain whose register reads 0 is one that the processor does not have (arch/x86/events/probe.c leaves it out too).

use super::super::register_table::SOURCE;
use super::{MOST_MICROWATTS, Total, Wrapping, name};
use crate::counters::cell_files::TableLayout;
use crate::counters::files::ReadRegister;
use crate::counters::register_table::{groups, leaders, of_one_die};
use crate::{Source, clock};
use facts::counters::{Family, Table};
use facts::cpu::topology::Topology;
use facts::msr::energy::{Domain, domains};
use facts::msr::rapl::Units;
use facts::msr::{Register, Scope};
use facts::{CpuSet, Fact, HostView, Missing};

/// The counters of every package.
#[derive(Debug)]
pub(in super::super) struct Registers {
    topology: Topology,
    online: CpuSet,
    layout: TableLayout,
    counters: Vec<Counter>,
}

/// One domain of one package.
#[derive(Debug)]
struct Counter {
    domain: Domain,
    package: CpuSet,
    /// The power of two that a joule is divided by.
    unit: u32,
    /// The CPUs that are asked, each with what it counted.
    readers: Vec<(u32, Wrapping)>,
    total: Total,
}

impl Registers {
    /// Finds the domains that the model has and that count.
    ///
    /// Errors: it has none, or the registers cannot be read or believed.
    pub(super) fn open(source: &dyn Source, host: &HostView, online: &CpuSet) -> Fact<Registers> {
        host.platform.hides(Family::Energy.source())?;
        let info = host.cpuinfo.as_ref()?;
        let none = || {
            let because = format!("family {:#x} model {:#x} has none", info.family, info.model);
            Missing::not_here(Family::Energy.source(), because)
        };
        let (units, domains) = domains(info).ok_or_else(none)?;
        host.msrs.vouched_for()?;
        let readers = leaders(Scope::Package, &host.topology, online)?;
        of_one_die(source, host, &readers)?;
        let mut counters: Vec<(String, Counter)> = Vec::new();
        for (number, package) in
            groups(Scope::Package, &host.topology, online).into_iter().enumerate()
        {
            for &domain in domains {
                if let Some(counter) = Counter::open(source, units, domain, &package)? {
                    counters.push((name(number, domain.part), counter));
                }
            }
        }
        if counters.is_empty() {
            return Err(none());
        }
        let layout = TableLayout::new([0], counters.iter().map(|(name, _)| name.as_str()));
        let counters = counters.into_iter().map(|(_, counter)| counter).collect();
        let mut registers =
            Registers { topology: host.topology.clone(), online: online.clone(), layout, counters };
        registers.find_readers();
        Ok(registers)
    }

    pub(super) fn sample(
        &mut self,
        online: &CpuSet,
        read: &mut ReadRegister<'_>,
        into: &mut Fact<Table>,
    ) -> Fact<()> {
        if *online != self.online {
            self.online = online.clone();
            self.find_readers();
        }
        let read_at = clock::raw_ns();
        self.layout.begin(into, read_at);
        let Ok(table) = into else { return Ok(()) };
        table.set_source(SOURCE);
        for (column, counter) in self.counters.iter_mut().enumerate() {
            table.set(0, column, counter.advance(read)?);
        }
        Ok(())
    }

    /// Asks others where CPUs came or went; what is counted begins again.
    fn find_readers(&mut self) {
        let Registers { topology, online, counters, .. } = self;
        for counter in counters {
            let here = counter.package.and(online);
            let cpus = groups(counter.domain.scope, topology, &here);
            let new = counter.new_wrapping();
            let readers = cpus.iter().filter_map(|group| Some((group.first()?, new)));
            counter.readers = readers.collect();
            counter.total.add(None);
        }
    }
}

impl Counter {
    /// That of one package; `None` where its register cannot be read, or reads 0.
    ///
    /// Errors: those of reading the units, which every model with a domain has.
    fn open(
        source: &dyn Source,
        units: &Register,
        domain: Domain,
        package: &CpuSet,
    ) -> Fact<Option<Counter>> {
        let Some(cpu) = package.first() else { return Ok(None) };
        let units_of_package = source.msr(cpu, units.address)?;
        let unit = domain.unit(Units(units_of_package)).ok_or_else(|| {
            let found = format!("{units_of_package:#x}");
            Missing::malformed(units.path(cpu), &found, "a unit of energy below a joule")
        })?;
        let counts = source.msr(cpu, domain.address).is_ok_and(|it| it & MOST_STEPS != 0);
        let counter = || Counter {
            domain,
            package: package.clone(),
            unit,
            readers: Vec::new(),
            total: Total::zero(),
        };
        Ok(counts.then(counter))
    }

    fn new_wrapping(&self) -> Wrapping {
        Wrapping::new(MOST_STEPS, (MOST_MICROWATTS / 1_000_000) << self.unit)
    }

    /// What the domain has used, in microjoules, as samples have it.
    fn advance(&mut self, read: &mut ReadRegister<'_>) -> Fact<u64> {
        if self.readers.is_empty() {
            return Err(Missing::absent("an online CPU of the package"));
        }
        let mut delta = Some(0_u64);
        for (cpu, energy) in &mut self.readers {
            let count = read(*cpu, self.domain.address)? & MOST_STEPS;
            let risen = energy.delta(count, clock::raw_ns());
            delta = delta.zip(risen).map(|(sum, risen)| sum.saturating_add(risen));
        }
        self.total.add(delta);
        let unit = self.unit;
        Ok(self.total.count(|steps| microjoules(steps, unit)))
    }
}

/// Bits 31:0 of every energy register count.
const MOST_STEPS: u64 = 0xffff_ffff;

fn microjoules(steps: u64, unit: u32) -> u64 {
    let microjoules = (u128::from(steps) * 1_000_000) >> unit;
    u64::try_from(microjoules).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::super::register_table::tests::{XEONS, shown, xeons};
    use super::*;
    use crate::Captured;
    use std::collections::BTreeMap;

    /// 2^-14 J.
    const UNITS: u64 = 0x000a_0e03;
    const OF_PACKAGES: &[(u32, u32, u64)] = &[
        (0, 0x606, UNITS),
        (0, 0x611, 1),
        (0, 0x619, 1),
        (2, 0x606, UNITS),
        (2, 0x611, 1),
        (2, 0x619, 1),
    ];

    fn open(source: &Captured) -> Fact<Registers> {
        Registers::open(source, &crate::view(source), &CpuSet::parse_list("0-4").unwrap())
    }

    /// How far each domain went between two readings, in microjoules.
    fn risen(
        registers: &mut Registers,
        was: &[(u32, u32, u64)],
        is: &[(u32, u32, u64)],
    ) -> Vec<(String, u64)> {
        let mut read = |counts: &[(u32, u32, u64)]| {
            let counts: BTreeMap<(u32, u32), u64> =
                counts.iter().map(|(cpu, address, count)| ((*cpu, *address), *count)).collect();
            let mut table = Err(Missing::not_collected("test"));
            let online = CpuSet::parse_list("0-4").unwrap();
            let read = &mut |cpu, address| Ok(counts[&(cpu, address)]);
            registers.sample(&online, read, &mut table).unwrap();
            table.unwrap()
        };
        let (first, last) = (read(was), read(is));
        let names = last.columns().iter().enumerate();
        names.map(|(at, name)| (name.to_string(), last.cell(0, at) - first.cell(0, at))).collect()
    }

    #[test]
    fn memory_of_a_server_counts_in_its_own_unit_and_a_wrap_goes_on() {
        let mut registers = open(&xeons(OF_PACKAGES)).unwrap();
        let was = [(0, 0x611, 0xffff_fff0), (0, 0x619, 0), (2, 0x611, 7), (2, 0x619, 9)];
        let is = [(0, 0x611, 0x3ff0), (0, 0x619, 1 << 16), (2, 0x611, 7), (2, 0x619, 9)];
        let expected = [
            ("package-0", 1_000_000),
            ("package-0/dram", 1_000_000),
            ("package-1", 0),
            ("package-1/dram", 0),
        ];
        let expected = expected.map(|(name, risen)| (name.to_owned(), risen));
        assert_eq!(risen(&mut registers, &was, &is), expected);
    }

    #[test]
    fn a_domain_whose_register_reads_0_is_not_there() {
        let registers =
            [(0, 0x606, UNITS), (0, 0x611, 1), (0, 0x619, 0), (2, 0x606, UNITS), (2, 0x611, 1)];
        let registers = open(&xeons(&registers)).unwrap();
        assert_eq!(registers.layout.columns.join(" "), "package-0 package-1");
    }

    #[test]
    fn the_cores_of_amd_are_added_up_by_package() {
        let epyc = XEONS
            .replace("GenuineIntel", "AuthenticAMD")
            .replace("family : 6", "family : 25")
            .replace("flags :", "flags : hw_pstate");
        let of_cpu = |cpu: u32| {
            format!(
                "//- /dev/cpu/{cpu}/msr 0xc0010064\n0x8000000000000000\n\
                 //- /dev/cpu/{cpu}/msr 0xc0010299\n0xa1003\n\
                 //- /dev/cpu/{cpu}/msr 0xc001029a\n0x1\n//- /dev/cpu/{cpu}/msr 0xc001029b\n0x1\n"
            )
        };
        let registers: Vec<String> = (0..5).map(of_cpu).collect();
        let registers = registers.concat();
        let source = Captured::excerpt(&format!("{epyc}{registers}")).unwrap();
        let mut registers = open(&source).unwrap();
        // CPU 4 shares its core with CPU 0, and is not asked: its count is not there.
        let counts = |core: u64| {
            let cores = (0..4).map(|cpu| (cpu, 0xc001_029a, core * u64::from(cpu + 1)));
            cores.chain([(0, 0xc001_029b, core), (2, 0xc001_029b, core)]).collect::<Vec<_>>()
        };
        let expected = [
            ("package-0", 1_000_000),
            ("package-0/core", 3_000_000),
            ("package-1", 1_000_000),
            ("package-1/core", 7_000_000),
        ];
        let expected = expected.map(|(name, risen)| (name.to_owned(), risen));
        assert_eq!(risen(&mut registers, &counts(0), &counts(1 << 16)), expected);
    }

    #[test]
    fn without_a_unit_nothing_is_known() {
        let refused = open(&xeons(&[(0, 0x606, 0x3), (0, 0x611, 1)])).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "/dev/cpu/0/msr 0x606: found \"0x3\", expected a unit of energy below a joule"
        );
    }

    #[test]
    fn a_package_that_does_not_answer_takes_the_family_with_it() {
        let mut registers = open(&xeons(OF_PACKAGES)).unwrap();
        let mut table = Err(Missing::not_collected("test"));
        let online = CpuSet::parse_list("0-4").unwrap();
        let read = &mut |cpu, address| match cpu {
            0 => Ok(1),
            _ => Err(Missing::denied(facts::msr::path(cpu, address))),
        };
        let read = registers.sample(&online, read, &mut table);
        table = read.and(table);
        assert_eq!(shown(&table), "/dev/cpu/2/msr 0x611 may not be read");
    }
}
