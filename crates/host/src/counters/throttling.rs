//! Thermal throttling: how often, and for how long, each core and each package was stopped for its heat.
//!
//! Source: drivers/thermal/intel/therm_throt.c, which counts only what the processor's own thermometer did
//! (bit 0 of IA32_THERM_STATUS), and that only where firmware leaves the interrupt to the kernel. The threads of
//! a core have the same counts; one of them is asked, and so for packages.

use super::files::{File, Files};
use super::grid::{Cell, Grid};
use super::sharing::groups;
use crate::Source;
use facts::counters::{Counters, Family};
use facts::cpu::topology::Topology;
use facts::msr::Scope;
use facts::{CpuSet, Fact, Missing};
use std::sync::Arc;

/// Whose count a file is, and its name. The times came with Linux 5.6.
const FILES: [LevelFile; 4] = [
    (Scope::Core, "core_throttle_count"),
    (Scope::Core, "core_throttle_total_time_ms"),
    (Scope::Package, "package_throttle_count"),
    (Scope::Package, "package_throttle_total_time_ms"),
];

type LevelFile = (Scope, &'static str);

/// The files of every core and package.
#[derive(Debug)]
pub(super) struct Throttling {
    grid: Grid,
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
            FILES.into_iter().partition(|(_, file)| names.iter().any(|name| name == file));
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
        Ok(Throttling { grid: Grid::new(rows, columns, cells), absent: absent.collect() })
    }

    pub(super) fn sample(&mut self, files: &mut Files, into: &mut Counters, read_at: u64) {
        let table = into.table_mut(Family::Throttling);
        self.grid.begin(table, read_at);
        let Ok(table) = table else { return };
        for (column, why) in &self.absent {
            table.blank_column(column, why.clone());
        }
        self.grid.read(files, table);
    }

    /// Closes every file.
    pub(super) fn close(&mut self, files: &mut Files) {
        self.grid.close(files);
    }
}
