//! What a machine is, which registers and disk it has, and what is done in it.
#![expect(clippy::disallowed_methods, reason = "the bench keeps files of its own")]

use crate::bochs::Bochs;
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
    /// Options the boot line has besides those every guest needs.
    pub kernel_arguments: Vec<String>,
    /// Kernel modules that must be in before the first step; what they need is added.
    pub modules: Vec<&'static str>,
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

/// A register and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Msr {
    /// Its address.
    pub address: u32,
    /// What it holds after a reset.
    pub value: u64,
    /// Bits that may be written; setting any other one faults, as a reserved bit does.
    pub writable: u64,
}

impl Msr {
    /// A register that holds `value` and cannot be written to hold anything else.
    #[must_use]
    pub const fn fixed(address: u32, value: u64) -> Self {
        Self { address, value, writable: value }
    }

    /// The register as a line of Bochs' `msrs.def`: address, type, then high and low halves of the
    /// value, of the bits that fault when set, and of the bits a write leaves alone.
    pub(crate) fn definition(&self) -> String {
        let halves = |bits: u64| format!("{:08x} {:08x}", bits >> 32, bits & 0xffff_ffff);
        format!(
            "{:#x} 0 {} {} {}\n",
            self.address,
            halves(self.value),
            halves(!self.writable),
            halves(0)
        )
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

    /// The file that an emulator takes for the disk.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("disk")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definition_splits_every_mask_in_two_halves() {
        let msr = Msr { address: 0x19a, value: 0x14, writable: 0x1f };
        assert_eq!(
            msr.definition(),
            "0x19a 0 00000000 00000014 ffffffff ffffffe0 00000000 00000000\n"
        );
    }
}
