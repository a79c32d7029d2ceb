//! The Debian packages that the bench runs on, and how it runs their programs.
//!
//! The guest's kernel is not among the packages: it is downloaded and unpacked, never installed, so that the machine running the
//! tests keeps its own.
#![expect(
    clippy::disallowed_methods,
    reason = "the bench is driven by other programs; nothing here reads the audited host"
)]

use anyhow::{Context as _, Result, bail};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a program printed on its standard output, once it has ended well. `folder` is where it runs.
pub(crate) fn output<A: AsRef<OsStr>>(
    folder: &Path,
    program: &str,
    arguments: impl IntoIterator<Item = A>,
) -> Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("LC_ALL", "C").stdin(Stdio::null());
    let output = command.output().with_context(|| format!("cannot run {program}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} ended with {}:\n{stdout}{stderr}", output.status);
    }
    Ok(stdout.into_owned())
}

/// One Debian package and why the bench needs it.
#[derive(Debug, Clone, Copy)]
pub struct Package {
    /// Name as `apt-get install` takes it.
    pub name: &'static str,
    /// What the bench does with it.
    pub purpose: &'static str,
    /// A file the package installs, by which its presence is told.
    pub witness: &'static str,
}

/// Everything the bench needs, in the order a reader meets it.
pub const PACKAGES: &[Package] = &[
    package("busybox-static", "/bin/busybox", "the guest's user space"),
    package("kmod", "/sbin/depmod", "orders the guest's kernel modules"),
    package("zstd", "/usr/bin/zstd", "unpacks kernels from Linux 6.11 on"),
    package("qemu-system-x86", "/usr/bin/qemu-system-x86_64", "plays most machines"),
    package("seabios", "/usr/share/seabios/bios-256k.bin", "firmware of QEMU's machines"),
    package("acpica-tools", "/usr/bin/iasl", "compiles the table of P-states and C-states"),
    package("bochs", "/usr/bin/bochs", "plays machines with chosen registers"),
    package("bochsbios", "/usr/share/bochs/BIOS-bochs-latest", "firmware of Bochs' machine"),
    package("vgabios", "/usr/share/vgabios/vgabios.bin", "video firmware Bochs insists on"),
    package(
        "bochs-term",
        "/usr/lib/x86_64-linux-gnu/bochs/plugins/libbx_term_gui.so",
        "the display of Bochs that opens no socket",
    ),
    package("isolinux", "/usr/lib/ISOLINUX/isolinux.bin", "boots the kernel from Bochs' disc"),
    package(
        "syslinux-common",
        "/usr/lib/syslinux/modules/bios/ldlinux.c32",
        "the second half of isolinux",
    ),
    package("xorriso", "/usr/bin/xorriso", "writes Bochs' disc"),
    package("e2fsprogs", "/sbin/mkfs.ext4", "makes the file system of a disk that outlives a boot"),
    package(
        "systemd",
        "/lib/systemd/systemd",
        "copied into guests, to run services as on a server",
    ),
    package("ipmitool", "/usr/bin/ipmitool", "reads a guest's sensors, beside fullclock"),
    package("perftest", "/usr/bin/ib_send_bw", "tests RDMA between the programs of a guest"),
    package("ibverbs-providers", "/etc/libibverbs.d/rxe.driver", "RDMA that is software, for it"),
    package("iproute2", "/usr/bin/rdma", "makes a guest's networks, and shapes them"),
    package("bpftool", "/usr/sbin/bpftool", "gives a guest another scheduler"),
    package("linux-perf", "/usr/bin/perf", "counts ticks in a guest, beside fullclock"),
    package("prometheus", "/usr/bin/prometheus", "scrapes guests, for a report of their fleet"),
];

impl Package {
    /// Whether this machine has it.
    #[must_use]
    pub fn is_installed(&self) -> bool {
        Path::new(self.witness).exists()
    }
}

const fn package(name: &'static str, witness: &'static str, purpose: &'static str) -> Package {
    Package { name, purpose, witness }
}

/// The packages of [`PACKAGES`] this machine lacks.
#[must_use]
pub fn missing() -> Vec<Package> {
    PACKAGES.iter().filter(|package| !package.is_installed()).copied().collect()
}
