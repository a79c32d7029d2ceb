//! The ACPI tables that give emulated CPUs P-states and C-states, and a machine heat.
#![expect(clippy::disallowed_methods, reason = "the bench keeps files of its own")]

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::packages;

/// A table in ACPI's source language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table {
    name: &'static str,
    source: &'static str,
}

/// P-states and C-states of QEMU's CPUs.
pub(crate) const POWER_STATES: Table =
    Table { name: "power_states", source: include_str!("../acpi/power_states.asl") };

/// A thermal zone that slows the CPUs at 45 degrees.
pub(crate) const THERMAL_ZONE: Table =
    Table { name: "thermal_zone", source: include_str!("../acpi/thermal_zone.asl") };

/// C-states of Bochs' CPU, which has P-states by its registers.
pub(crate) const IDLE_STATES: Table =
    Table { name: "idle_states", source: include_str!("../acpi/idle_states.asl") };

impl Table {
    /// Compiles the table in `folder` and returns the file an emulator or a kernel loads.
    pub(crate) fn compile(self, folder: &Path) -> Result<PathBuf> {
        let source = folder.join(self.name).with_extension("asl");
        fs::write(&source, self.source)
            .with_context(|| format!("cannot write {}", source.display()))?;
        packages::output(folder, "iasl", [&source])?;
        Ok(source.with_extension("aml"))
    }
}
