//! Bochs: a machine whose model-specific registers hold what they are told to.
#![expect(clippy::disallowed_methods, reason = "starts an emulator and writes its configuration")]

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::acpi;
use crate::cpio::Archive;
use crate::emulator::{self, Ended, Guest, Patience};
use crate::packages;

/// Five times what a boot takes on an idle machine.
const TIMEOUT: Duration = Duration::from_secs(300);

const CONFIGURATION: &str = include_str!("../bochs/bochsrc");

/// What saves emulated time: no self-tests of ciphers, no randomised addresses, a clock and a delay loop
/// that need no calibration, and none of the slow guards against CPU faults.
const KERNEL_ARGUMENTS: &str = "cryptomgr.notests nokaslr tsc=reliable lpj=100000 mitigations=off";

/// Where a kernel looks for tables of ACPI in front of its file system (Documentation/admin-guide/acpi/
/// initrd_table_override.rst): Bochs hands none to its firmware.
const TABLES: &str = "kernel/firmware/acpi";

/// A machine with one CPU, an Intel i7-2600K, that has the idle states C1 and C2.
#[derive(Debug, Clone)]
pub struct Bochs {
    /// Registers the machine has besides those Bochs gives every CPU of that model. Any other
    /// register reads as zero.
    pub msrs: Vec<Msr>,
}

impl Bochs {
    /// Boots `guest` and waits until it is off.
    pub(crate) fn run(&self, guest: &Guest) -> Result<Ended> {
        let definitions: String = self.msrs.iter().map(Msr::definition).collect();
        write(&guest.folder.join("msrs.def"), definitions.as_bytes())?;
        write(&guest.folder.join("bochsrc"), CONFIGURATION.as_bytes())?;
        // Debian builds Bochs with its debugger, which waits for the word to go on.
        write(&guest.folder.join("debugger"), b"c\n")?;
        make_disc(guest)?;

        let mut command = Command::new("bochs");
        command.args(["-q", "-f", "bochsrc", "-rc", "debugger"]);
        // The display draws with terminal codes even if nobody looks; it must know which.
        command.env("TERM", "vt100");
        emulator::run(command, guest, Patience { to_boot: None, a_step: TIMEOUT })
    }
}

/// A disc that boots the guest's kernel.
fn make_disc(guest: &Guest) -> Result<()> {
    let disc = guest.folder.join("disc");
    fs::create_dir_all(&disc).with_context(|| format!("cannot make {}", disc.display()))?;
    let copies = [
        (Path::new("/usr/lib/ISOLINUX/isolinux.bin"), "isolinux.bin"),
        (Path::new("/usr/lib/syslinux/modules/bios/ldlinux.c32"), "ldlinux.c32"),
        (&guest.kernel, "kernel"),
    ];
    for (from, name) in copies {
        fs::copy(from, disc.join(name))
            .with_context(|| format!("cannot copy {} to the disc", from.display()))?;
    }
    write(&disc.join("initrd"), &with_tables(guest)?)?;
    let menu = format!(
        "default bench\nlabel bench\nkernel kernel\nappend initrd=initrd {} {KERNEL_ARGUMENTS}\n",
        guest.command_line
    );
    write(&disc.join("isolinux.cfg"), menu.as_bytes())?;
    let arguments = "-as mkisofs -quiet -o disc.iso -b isolinux.bin -c boot.cat -no-emul-boot \
                     -boot-load-size 4 -boot-info-table disc";
    packages::output(&guest.folder, "xorriso", arguments.split_whitespace().map(OsStr::new))?;
    Ok(())
}

/// The guest's file system behind the tables, which are not compressed.
fn with_tables(guest: &Guest) -> Result<Vec<u8>> {
    let table = read(&acpi::IDLE_STATES.compile(&guest.folder)?)?;
    let mut archive = Archive::default();
    archive.file(&format!("{TABLES}/idle_states.aml"), &table);
    let image = archive.finish();
    // Packed lightly: the machine pays for every byte it has to fetch and for every step of unpacking.
    let mut encoder = GzEncoder::new(image, Compression::fast());
    encoder
        .write_all(&read(&guest.initramfs)?)
        .context("cannot compress the guest's file system")?;
    encoder.finish().context("cannot compress the guest's file system")
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
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
