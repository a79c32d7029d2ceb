//! Idle states: how often each CPU entered each, and for how long it stayed.
//!
//! Source: Documentation/admin-guide/pm/cpuidle.rst. The kernel writes both on leaving a state, so a CPU that is
//! asleep shows nothing of its sleep: [`Idle::read_row`] is for a CPU that the caller runs on.

use super::files::{File, Files};
use super::grid::{Cell, Grid};
use super::wanted::Wanted;
use facts::counters::{Counters, Family};
use facts::cpu::cpuidle::{Cpuidle, StateTable};
use facts::{CpuSet, Fact, Missing};
use std::sync::Arc;

/// The files of every CPU that is online, by family.
#[derive(Debug)]
pub(super) struct Idle {
    grids: Vec<(Family, Grid)>,
}

/// What each family is called in a state's folder.
const FILES: [(Family, &str); 2] = [(Family::IdleUsage, "usage"), (Family::IdleTime, "time")];

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
        let grid = |(family, file)| {
            let cells = cells(tables, &rows, &columns, file);
            (family, Grid::new(rows.clone(), columns.clone(), cells))
        };
        let is_wanted = |(family, _): &(Family, &str)| wanted.has(*family);
        Ok(Idle { grids: FILES.into_iter().filter(is_wanted).map(grid).collect() })
    }

    /// Begins the table of one of its families.
    pub(super) fn begin(&self, into: &mut Counters, family: Family, read_at: u64) {
        for (_, grid) in self.grids.iter().filter(|(of, _)| *of == family) {
            grid.begin(into.table_mut(family), read_at);
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
        for (family, grid) in &mut self.grids {
            if let Ok(table) = into.table_mut(*family) {
                grid.read_row(files, table, row, now);
            }
        }
    }

    /// Closes every file.
    pub(super) fn close(&mut self, files: &mut Files) {
        self.grids.iter_mut().for_each(|(_, grid)| grid.close(files));
    }
}

/// The names of all states, each once. Two states of one kind of core that share a name are told apart by
/// number.
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
fn cells(tables: &[StateTable], rows: &[u32], columns: &[Box<str>], file: &str) -> Vec<Cell> {
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
