//! Pressure stall information: for how long tasks were held up.
//!
//! Source: Documentation/accounting/psi.rst. A kernel that was built with it and booted with `psi=0` has the
//! files, and refuses them with EOPNOTSUPP.

use super::files::{File, Files};
use facts::counters::pressure::stalled;
use facts::counters::{Counters, Family, Table};
use facts::{Fact, Missing};

const RESOURCES: [&str; 3] = ["cpu", "io", "memory"];

#[derive(Debug)]
pub(super) struct Pressure {
    files: [File; 3],
}

impl Pressure {
    pub(super) fn new() -> Pressure {
        Pressure { files: RESOURCES.map(|it| File::new(format!("/proc/pressure/{it}"))) }
    }

    pub(super) fn sample(&mut self, files: &mut Files, into: &mut Counters, read_at: u64) {
        let table = into.table_mut(Family::Pressure);
        if let Err(missing) = self.fill(files, table, read_at) {
            *table = Err(missing);
        }
    }

    /// All files or none: a kernel has the three of them together.
    fn fill(&mut self, files: &mut Files, into: &mut Fact<Table>, read_at: u64) -> Fact<()> {
        let mut totals = [(None, None); 3];
        for (total, file) in totals.iter_mut().zip(&mut self.files) {
            let stalled = stalled(files.read(file)?);
            let stalled = stalled.map_err(|expected| files.malformed(&file.path, expected))?;
            *total = (Some(stalled.some), stalled.full);
        }
        let values = || totals.iter().flat_map(|(some, full)| [*some, *full]);
        let n_columns = values().flatten().count();
        if !into.as_ref().is_ok_and(|table| table.columns().len() == n_columns) {
            let named = NAMES.iter().zip(values()).filter(|(_, value)| value.is_some());
            *into = Ok(Table::new([0].into(), named.map(|(&name, _)| name.into()).collect()));
        }
        let Ok(table) = into else { return Ok(()) };
        table.begin(read_at);
        for (column, value) in values().flatten().enumerate() {
            table.set(0, column, value);
        }
        for (name, _) in NAMES.iter().zip(values()).filter(|(_, value)| value.is_none()) {
            table.blank_column(name, Missing::absent(format!("{name} in /proc/pressure")));
        }
        Ok(())
    }
}

const NAMES: [&str; 6] =
    ["cpu.some", "cpu.full", "io.some", "io.full", "memory.some", "memory.full"];
