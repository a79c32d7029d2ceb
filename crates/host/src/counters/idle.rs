//! Idle states: how often each CPU entered each, and for how long it stayed.
//!
//! Source: Documentation/admin-guide/pm/cpuidle.rst. The kernel writes both on leaving a state, so a CPU that is
//! asleep shows nothing of its sleep: [`Idle::read_row`] is for a CPU that the caller runs on.

use super::files::{File, Files};
use super::grid::{Cell, Grid};
use facts::counters::{Counters, Family};
use facts::cpu::cpuidle::{Cpuidle, StateTable};
use facts::{CpuSet, Fact, Missing};
use std::sync::Arc;

/// The files of every CPU that is online.
#[derive(Debug)]
pub(super) struct Idle {
    usage: Grid,
    time: Grid,
}

impl Idle {
    /// Finds the files of the states that `cpuidle` knows. A CPU that came online since has those of the first
    /// kind of core.
    ///
    /// Errors: the host has no idle states, or does not show them.
    pub(super) fn of(cpuidle: &Cpuidle, online: &CpuSet) -> Fact<Idle> {
        let tables = cpuidle.tables.as_ref()?;
        let columns = columns(tables);
        if columns.is_empty() {
            return Err(Missing::absent("/sys/devices/system/cpu/cpu0/cpuidle/state0"));
        }
        let rows: Arc<[u32]> = online.iter().collect();
        let grid =
            |file| Grid::new(rows.clone(), columns.clone(), cells(tables, &rows, &columns, file));
        Ok(Idle { usage: grid("usage"), time: grid("time") })
    }

    /// Begins both tables.
    pub(super) fn begin(&self, into: &mut Counters, read_at: u64) {
        self.usage.begin(into.table_mut(Family::IdleUsage), read_at);
        self.time.begin(into.table_mut(Family::IdleTime), read_at);
    }

    /// Reads the CPU in one row, after [`Idle::begin`].
    pub(super) fn read_row(
        &mut self,
        files: &mut Files,
        into: &mut Counters,
        row: usize,
        now: u64,
    ) {
        for (family, grid) in
            [(Family::IdleUsage, &mut self.usage), (Family::IdleTime, &mut self.time)]
        {
            if let Ok(table) = into.table_mut(family) {
                grid.read_row(files, table, row, now);
            }
        }
    }

    /// Closes every file.
    pub(super) fn close(&mut self, files: &mut Files) {
        self.usage.close(files);
        self.time.close(files);
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
