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
use crate::boot::Msr;
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
