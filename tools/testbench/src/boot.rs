//! What a machine is, the disk it may have, and what is done in it.
#![expect(clippy::disallowed_methods, reason = "the bench keeps files of its own")]

use crate::bochs::Bochs;
use crate::kernel::Flavour;
use crate::packages;
use crate::qemu::Qemu;
use anyhow::{Context as _, Result};
use std::fs::File;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// One machine, described from its hardware to its boot line.
#[derive(Debug, Clone)]
pub struct Boot {
    /// The hardware.
    pub emulator: Emulator,
    /// What boots.
    pub kernel: Flavour,
    /// Options the boot line has besides those every guest needs.
    pub kernel_arguments: Vec<String>,
    /// Kernel modules that must be in before the first step; what they need is added.
    pub modules: Vec<&'static str>,
    /// Whether the configuration of its kernel is in /boot, as on a server: the ledger asks it what run times leave out.
    pub has_config: bool,
    /// Who runs the steps once they are in.
    pub init: Init,
    /// Whether its programs measure the time that passes, so that no other machine may run beside it.
    pub runs_alone: bool,
}

/// The first process of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Init {
    /// A script, which does nothing else.
    Script,
    /// Debian's systemd: the steps are a service of it, behind everything else that a boot starts.
    Systemd,
}

/// Who plays the hardware.
#[derive(Debug, Clone)]
pub enum Emulator {
    /// Boots in seconds; P-states, C-states, a BMC; registers that are all zero.
    Qemu(Qemu),
    /// Boots in a minute or more; registers that hold what they are told to.
    Bochs(Bochs),
}

/// A piece of shell run in the guest, as root and after the ones before it.
#[derive(Debug, Clone)]
pub struct Step {
    /// What the host calls the step's output.
    pub name: String,
    /// The shell text. Besides programs it can call the functions of `guest/faults.sh`.
    pub script: String,
}

impl Step {
    /// A step called `name` that runs `script`.
    #[must_use]
    pub fn new(name: &str, script: &str) -> Self {
        Self { name: name.to_owned(), script: script.to_owned() }
    }
}

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
        packages::output(Path::new("/"), "/sbin/mkfs.ext4", ["-q".as_ref(), path.as_os_str()])?;
        Ok(disk)
    }

    /// Another one that holds the same.
    pub fn copy(&self) -> Result<Self> {
        let disk = Self { folder: tempfile::tempdir().context("cannot make a folder for a disk")? };
        std::fs::copy(self.path(), disk.path())
            .with_context(|| format!("cannot copy {}", self.path().display()))?;
        Ok(disk)
    }

    /// The file that an emulator takes for the disk.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("disk")
    }
}
