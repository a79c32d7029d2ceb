//! Tables of which every cell is a model-specific register.
//!
//! A register that CPUs share is read on the lowest of them that is online: every read interrupts the CPU it is
//! about (arch/x86/kernel/msr.c). The registers of one row are read one after the other, and what they count goes on
//! meanwhile, for some microseconds.

use super::cell_files::TableLayout;
use super::files::ReadRegister;
use crate::{Source, clock};
use facts::counters::Table;
use facts::cpu::topology::Topology;
use facts::msr::Scope;
use facts::{CpuSet, Fact, HostView, Missing};

/// Where the counts come from, as messages call it.
pub(super) const SOURCE: &str = "/dev/cpu/N/msr";

/// The registers of one family.
#[derive(Debug)]
pub(super) struct RegisterTable {
    scope: Scope,
    topology: Topology,
    online: CpuSet,
    layout: TableLayout,
    /// In the order of the columns.
    addresses: Vec<u32>,
    /// Columns whose register the first CPU does not have.
    refused: Vec<(Box<str>, Missing)>,
}

impl RegisterTable {
    /// A table of those of `columns`, by name and address, that the first CPU answers for.
    ///
    /// Errors: the registers are not a real processor's, it is not known which CPUs share one, or the first CPU has
    /// none of them.
    pub(super) fn open(
        source: &dyn Source,
        host: &HostView,
        scope: Scope,
        columns: &[(&str, u32)],
        online: &CpuSet,
    ) -> Fact<RegisterTable> {
        host.msrs.vouched_for()?;
        let rows = leaders(scope, &host.topology, online)?;
        if scope == Scope::Package {
            of_one_die(source, host, &rows)?;
        }
        let first = rows.first().copied().unwrap_or_default();
        let (mut names, mut addresses, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for &(name, address) in columns {
            match source.msr(first, address) {
                Ok(_) => {
                    names.push(name);
                    addresses.push(address);
                }
                Err(missing) => refused.push((name.into(), missing)),
            }
        }
        if let (true, Some((_, missing))) = (names.is_empty(), refused.first()) {
            return Err(missing.clone());
        }
        let layout = TableLayout::new(rows, names);
        let (topology, online) = (host.topology.clone(), online.clone());
        Ok(RegisterTable { scope, topology, online, layout, addresses, refused })
    }

    /// Reads every register. `decode` makes a count of what one CPU's holds.
    pub(super) fn sample(
        &mut self,
        online: &CpuSet,
        read: &mut ReadRegister<'_>,
        into: &mut Fact<Table>,
        decode: &dyn Fn(u32, u64) -> Fact<u64>,
    ) {
        self.follow(online);
        self.layout.begin(into, clock::raw_ns());
        let Ok(table) = into else { return };
        table.set_source(SOURCE);
        for (column, why) in &self.refused {
            table.blank_column(column, why.clone());
        }
        for (row, &cpu) in self.layout.rows.iter().enumerate() {
            let cells = table.row_mut(row, clock::raw_ns());
            let mut registers = cells.iter_mut().zip(&self.addresses);
            let filled = registers.try_for_each(|(cell, &address)| {
                *cell = decode(cpu, read(cpu, address)?)?;
                Ok(())
            });
            if let Err(missing) = filled {
                table.blank_row(cpu, missing);
            }
        }
    }

    /// Asks others where a CPU went that was asked for its core or package.
    fn follow(&mut self, online: &CpuSet) {
        if *online == self.online {
            return;
        }
        self.online = online.clone();
        self.layout.rows =
            leaders(self.scope, &self.topology, online).unwrap_or_default().into_iter().collect();
    }
}

/// The online CPUs by core or by package, sorted by the lowest CPU of each group; one CPU per group if that is unknown.
pub(super) fn groups(scope: Scope, topology: &Topology, online: &CpuSet) -> Vec<CpuSet> {
    let mut left = online.clone();
    let mut groups = Vec::new();
    while let Some(cpu) = left.first() {
        let group = match scope {
            Scope::Thread => [cpu].into_iter().collect(),
            Scope::Core => topology.core_of(cpu),
            Scope::Package => topology.package_of(cpu),
        };
        groups.push(group.and(&left));
        left = left.minus(&group);
    }
    groups
}

/// The lowest CPU of each group, for a register that the CPUs of the group share.
///
/// Errors: the groups are unknown, so that a shared register would be counted several times.
pub(super) fn leaders(scope: Scope, topology: &Topology, online: &CpuSet) -> Fact<Vec<u32>> {
    match scope {
        Scope::Thread => Ok(()),
        Scope::Core => topology.cores.as_ref().map(|_| ()),
        Scope::Package => topology.packages.as_ref().map(|_| ()),
    }?;
    let leaders: Vec<u32> =
        groups(scope, topology, online).iter().filter_map(CpuSet::first).collect();
    if leaders.is_empty() { Err(Missing::absent("an online CPU")) } else { Ok(leaders) }
}

/// Checks that one CPU of a package can be read for the whole package: packages with several dies (Cascade Lake-AP) have
/// a copy of every register in each die (arch/x86/events/rapl.c).
///
/// Errors: a package of an Intel processor has several dies.
pub(super) fn of_one_die(source: &dyn Source, host: &HostView, leaders: &[u32]) -> Fact<()> {
    if !host.cpuinfo.as_ref()?.is_intel() {
        return Ok(());
    }
    for &cpu in leaders {
        let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/die_cpus_list");
        // Linux before 5.3 has no dies: the registers of a processor with several are not read then.
        let Ok(die) = source.parsed(&file, CpuSet::parse_list) else { continue };
        if die != host.topology.package_of(cpu) {
            let because = format!("{file} says that a package has several dies");
            return Err(Missing::not_here("one register for each package", because));
        }
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Captured;
    use std::fmt::Write as _;

    /// Two packages of two cores of a Xeon Scalable; the threads of core 0 are CPUs 0 and 4. The base ratio says that
    /// these are registers.
    pub(in super::super) const XEONS: &str = "\
//- /proc/cpuinfo
processor : 0
vendor_id : GenuineIntel
cpu family : 6
model : 85
flags : acpi dtherm pts pln hwp
//- /sys/devices/system/cpu/online
0-4
//- /sys/devices/system/cpu/cpu0/topology/core_cpus_list
0,4
//- /sys/devices/system/cpu/cpu1/topology/core_cpus_list
1
//- /sys/devices/system/cpu/cpu2/topology/core_cpus_list
2
//- /sys/devices/system/cpu/cpu3/topology/core_cpus_list
3
//- /sys/devices/system/cpu/cpu0/topology/package_cpus_list
0-1,4
//- /sys/devices/system/cpu/cpu2/topology/package_cpus_list
2-3
//- /dev/cpu/0/msr 0xce
0xa0080001800
//- /dev/cpu/2/msr 0xce
0xa0080001800
";

    /// A host of [`XEONS`] with these registers, each `cpu address value`.
    pub(in super::super) fn xeons(registers: &[(u32, u32, u64)]) -> Captured {
        let mut excerpt = XEONS.to_owned();
        for (cpu, address, value) in registers {
            writeln!(excerpt, "//- /dev/cpu/{cpu}/msr {address:#x}\n{value:#x}").unwrap();
        }
        Captured::excerpt(&excerpt).unwrap()
    }

    /// The table as text: columns, then a line for each row, then what is blank.
    pub(in super::super) fn shown(table: &Fact<Table>) -> String {
        let table = match table {
            Ok(table) => table,
            Err(missing) => return missing.to_string(),
        };
        let mut text = table.columns().join(" ");
        for (row, cpu) in table.rows().iter().enumerate() {
            if table.row(*cpu).is_ok() {
                let cells: Vec<String> = table.row_cells(row).iter().map(u64::to_string).collect();
                write!(text, "; {cpu}: {}", cells.join(" ")).unwrap();
            }
        }
        for (cpu, why) in table.blank_rows() {
            write!(text, "; {cpu}: {why}").unwrap();
        }
        for (column, why) in table.blank_columns() {
            write!(text, "; {column}: {why}").unwrap();
        }
        text
    }

    /// What a sample with the CPUs `online` holds of the registers of `source`, or why there is no table.
    pub(in super::super) fn sampled(
        table: Fact<RegisterTable>,
        source: &Captured,
        online: &str,
    ) -> String {
        let online = CpuSet::parse_list(online).unwrap();
        let mut read = |cpu, address| source.msr(cpu, address);
        let sample = table.and_then(|mut table| {
            let mut into = Err(Missing::not_collected("test"));
            table.sample(&online, &mut read, &mut into, &|_, value| Ok(value));
            into
        });
        shown(&sample)
    }

    fn read(registers: &[(u32, u32, u64)], scope: Scope, online: &str) -> String {
        let (source, all) = (xeons(registers), CpuSet::parse_list("0-4").unwrap());
        let columns = [("c2", 0x60d), ("c6", 0x3f9)];
        let table = RegisterTable::open(&source, &crate::view(&source), scope, &columns, &all);
        sampled(table, &source, online)
    }

    #[test]
    fn the_lowest_online_cpu_of_a_package_speaks_for_it() {
        let registers = [(0, 0x60d, 7), (0, 0x3f9, 8), (2, 0x60d, 9), (2, 0x3f9, 10)];
        assert_eq!(read(&registers, Scope::Package, "0-4"), "c2 c6; 0: 7 8; 2: 9 10");
    }

    #[test]
    fn where_a_cpu_went_offline_another_of_its_package_is_asked() {
        let registers = [(0, 0x60d, 7), (0, 0x3f9, 8), (3, 0x60d, 9), (3, 0x3f9, 10)];
        assert_eq!(read(&registers, Scope::Package, "0-1,3"), "c2 c6; 0: 7 8; 3: 9 10");
    }

    #[test]
    fn a_cpu_that_does_not_answer_costs_its_own_row() {
        let registers = [(0, 0x60d, 7), (0, 0x3f9, 8), (2, 0x60d, 9)];
        assert_eq!(
            read(&registers, Scope::Package, "0-4"),
            "c2 c6; 0: 7 8; 2: /dev/cpu/2/msr 0x3f9 cannot be read: Input/output error (os error 5)"
        );
    }

    #[test]
    fn a_register_that_the_processor_refuses_costs_its_own_column() {
        let registers = [(0, 0x3f9, 8), (2, 0x3f9, 10)];
        assert_eq!(
            read(&registers, Scope::Package, "0-4"),
            "c6; 0: 8; 2: 10; c2: /dev/cpu/0/msr 0x60d cannot be read: Input/output error (os error 5)"
        );
        assert_eq!(
            read(&[], Scope::Package, "0-4"),
            "/dev/cpu/0/msr 0x60d cannot be read: Input/output error (os error 5)"
        );
    }

    #[test]
    fn packages_of_several_dies_are_not_read_as_one() {
        let dies = "//- /sys/devices/system/cpu/cpu0/topology/die_cpus_list\n0,4\n";
        let source = Captured::excerpt(&format!("{XEONS}{dies}")).unwrap();
        let all = CpuSet::parse_list("0-4").unwrap();
        let host = crate::view(&source);
        let refused = RegisterTable::open(&source, &host, Scope::Package, &[], &all).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "no one register for each package here: /sys/devices/system/cpu/cpu0/topology/die_cpus_list says that a package has several dies"
        );
    }

    #[test]
    fn registers_of_an_emulator_are_not_believed() {
        let zeros = XEONS.replace("0xa0080001800", "0x0");
        let source = Captured::excerpt(&zeros).unwrap();
        let all = CpuSet::parse_list("0-4").unwrap();
        let host = crate::view(&source);
        let refused = RegisterTable::open(&source, &host, Scope::Core, &[], &all).unwrap_err();
        assert_eq!(refused.reason(), "malformed");
    }
}
