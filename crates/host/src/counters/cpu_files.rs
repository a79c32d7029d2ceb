//! Sysfs files of each CPU: its idle states and its thermal throttling counts.

use super::Wanted;
use super::cell_files::{Cell, CellFiles};
use super::files::{File, Files};
use super::register_table::groups;
use crate::Source;
use facts::counters::{Counters, Family};
use facts::cpu::cpuidle::{Cpuidle, StateTable};
use facts::cpu::topology::Topology;
use facts::msr::Scope;
use facts::{CpuSet, Fact, Missing};
use std::sync::Arc;

/// How often each CPU entered each idle state, and how long it stayed there.
///
/// Source: Documentation/admin-guide/pm/cpuidle.rst. The kernel updates both when a CPU leaves a state,
/// so a sleeping CPU does not show its current sleep: call [`Idle::read_row`] on the CPU that is read.
#[derive(Debug)]
pub(super) struct Idle {
    families: Vec<(Family, CellFiles)>,
}

/// What each family is called in a state's folder.
const STATE_FILES: [(Family, &str); 2] = [(Family::IdleUsage, "usage"), (Family::IdleTime, "time")];

impl Idle {
    /// Finds the files of the wanted families for the states that `cpuidle` knows. A CPU that came online since has
    /// those of the first kind of core.
    ///
    /// Errors: the host has no idle states, or does not show them.
    pub(super) fn of(cpuidle: &Cpuidle, online: &CpuSet, wanted: &Wanted) -> Fact<Idle> {
        let tables = cpuidle.tables.as_ref()?;
        let columns = columns(tables);
        if columns.is_empty() {
            return Err(Missing::absent("/sys/devices/system/cpu/cpu0/cpuidle/state0"));
        }
        let rows: Arc<[u32]> = online.iter().collect();
        let cells_of = |(family, file)| {
            let cells = state_cells(tables, &rows, &columns, file);
            (family, CellFiles::new(rows.clone(), columns.clone(), cells))
        };
        let is_wanted = |(family, _): &(Family, &str)| wanted.has(*family);
        Ok(Idle { families: STATE_FILES.into_iter().filter(is_wanted).map(cells_of).collect() })
    }

    /// Begins the table of one of its families.
    pub(super) fn begin(&self, into: &mut Counters, family: Family, read_at: u64) {
        for (_, cells) in self.families.iter().filter(|(of, _)| *of == family) {
            cells.begin(into.table_mut(family), read_at);
        }
    }

    /// Reads the CPU in one row, after [`Idle::begin`].
    pub(super) fn read_row(
        &mut self,
        files: &mut Files,
        into: &mut Counters,
        row: usize,
        now: u64,
    ) {
        for (family, cells) in &mut self.families {
            if let Ok(table) = into.table_mut(*family) {
                cells.read_row(files, table, row, now);
            }
        }
    }

    pub(super) fn close(&mut self, files: &mut Files) {
        self.families.iter_mut().for_each(|(_, cells)| cells.close(files));
    }
}

/// The names of all states, each once. Two states of one kind of core that share a name get their number
/// as well.
fn columns(tables: &[StateTable]) -> Arc<[Box<str>]> {
    let mut columns: Vec<Box<str>> = Vec::new();
    for name in tables.iter().flat_map(names) {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    columns.into()
}

fn names(table: &StateTable) -> Vec<Box<str>> {
    let mut names: Vec<Box<str>> = Vec::with_capacity(table.states.len());
    for state in &table.states {
        let name = state.name.as_str().into();
        let is_taken = names.contains(&name);
        names.push(if is_taken { format!("{name} state{}", state.number).into() } else { name });
    }
    names
}

/// A state that a kind of core does not have has no file there, and stays 0.
fn state_cells(tables: &[StateTable], rows: &[u32], columns: &[Box<str>], file: &str) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(rows.len() * columns.len());
    for (row, cpu) in rows.iter().enumerate() {
        let own = tables.iter().find(|table| table.cpus.contains(*cpu));
        let Some(table) = own.or(tables.first()) else { break };
        for (state, name) in table.states.iter().zip(names(table)) {
            let path =
                format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{}/{file}", state.number);
            let column = columns.iter().position(|it| *it == name);
            let cell = |column| Cell { file: File::new(path), column, rows: [row].into() };
            cells.extend(column.map(cell));
        }
    }
    cells
}

/// Whose count a file is, and its name. The times came with Linux 5.6.
const COUNT_FILES: [LevelFile; 4] = [
    (Scope::Core, "core_throttle_count"),
    (Scope::Core, "core_throttle_total_time_ms"),
    (Scope::Package, "package_throttle_count"),
    (Scope::Package, "package_throttle_total_time_ms"),
];

type LevelFile = (Scope, &'static str);

/// How often, and how long, each core and each package was throttled because of its temperature.
///
/// Source: drivers/thermal/intel/therm_throt.c, which counts only throttling by the processor itself
/// (bit 0 of IA32_THERM_STATUS), and that only where firmware leaves the interrupt to the kernel. The threads of
/// a core have the same counts; one of them is asked, and so for packages.
#[derive(Debug)]
pub(super) struct Throttling {
    cells: CellFiles,
    absent: Vec<(&'static str, Missing)>,
}

impl Throttling {
    /// Finds the files that the first CPU has.
    ///
    /// Errors: it has none.
    pub(super) fn of(
        source: &dyn Source,
        topology: &Topology,
        online: &CpuSet,
    ) -> Fact<Throttling> {
        let folder = |cpu| format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle");
        let first = folder(online.first().unwrap_or(0));
        let names = source.list(&first)?;
        let (here, absent): (Vec<LevelFile>, Vec<LevelFile>) =
            COUNT_FILES.into_iter().partition(|(_, file)| names.iter().any(|name| name == file));
        if here.is_empty() {
            return Err(Missing::absent(format!("{first}/core_throttle_count")));
        }
        let rows: Arc<[u32]> = online.iter().collect();
        let mut cells = Vec::new();
        for (column, (scope, file)) in here.iter().enumerate() {
            for cpus in groups(*scope, topology, online) {
                let places = cpus.iter().filter_map(|cpu| rows.binary_search(&cpu).ok()).collect();
                let path = format!("{}/{file}", folder(cpus.first().unwrap_or(0)));
                cells.push(Cell { file: File::new(path), column, rows: places });
            }
        }
        let columns = here.iter().map(|(_, file)| (*file).into()).collect();
        let absent =
            absent.into_iter().map(|(_, file)| (file, Missing::absent(format!("{first}/{file}"))));
        Ok(Throttling { cells: CellFiles::new(rows, columns, cells), absent: absent.collect() })
    }

    pub(super) fn sample(&mut self, files: &mut Files, into: &mut Counters, read_at: u64) {
        let table = into.table_mut(Family::Throttling);
        self.cells.begin(table, read_at);
        let Ok(table) = table else { return };
        for (column, why) in &self.absent {
            table.blank_column(column, why.clone());
        }
        self.cells.read(files, table);
    }

    pub(super) fn close(&mut self, files: &mut Files) {
        self.cells.close(files);
    }
}
