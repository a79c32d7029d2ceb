//! A disk that outlives the machine it is in.
#![expect(clippy::disallowed_methods, reason = "the bench keeps files of its own")]

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use crate::tool;

/// Room for a journal and for files of configuration.
const BYTES: u64 = 16 << 20;

/// A disk with an empty ext4 file system, gone when dropped.
#[derive(Debug)]
pub struct Disk {
    folder: TempDir,
}

impl Disk {
    /// Makes one.
    pub fn new() -> Result<Self> {
        let disk = Self { folder: tempfile::tempdir().context("cannot make a folder for a disk")? };
        let path = disk.path();
        let file =
            File::create(&path).with_context(|| format!("cannot make {}", path.display()))?;
        file.set_len(BYTES).with_context(|| format!("cannot make {}", path.display()))?;
        tool::output(Path::new("/"), "/sbin/mkfs.ext4", ["-q".as_ref(), path.as_os_str()])?;
        Ok(disk)
    }

    /// The file that an emulator takes for the disk.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("disk")
    }
}
