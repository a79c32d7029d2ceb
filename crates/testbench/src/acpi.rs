//! The ACPI table that gives QEMU's CPUs P-states and C-states.
#![expect(clippy::disallowed_methods, reason = "the bench keeps files of its own")]

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::tool;

const SOURCE: &str = include_str!("../acpi/power_states.asl");

/// Compiles the table in `folder` and returns the file an emulator loads.
pub(crate) fn compile(folder: &Path) -> Result<PathBuf> {
    let source = folder.join("power_states.asl");
    fs::write(&source, SOURCE).with_context(|| format!("cannot write {}", source.display()))?;
    tool::output(folder, "iasl", [&source])?;
    Ok(folder.join("power_states.aml"))
}
