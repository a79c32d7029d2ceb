//! The stock Debian kernels that guests boot, downloaded and unpacked but never installed.
//!
//! The kernel is inside of a boot image (Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length). The order in
//! which its modules are inserted is in `modules.dep` as depmod writes it (modules.dep(5)): a module's file, a colon, and every
//! file it needs, directly or not, the ones needed by others last.
#![expect(clippy::disallowed_methods, reason = "the bench keeps files of its own")]

use crate::{cache, packages};
use anyhow::{Context as _, Result, ensure};
use liblzma::read::XzDecoder;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Which of Debian's kernels a machine boots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// The one for servers, with a driver for everything.
    Server,
    /// The one for virtual machines: no IPMI, but it unpacks itself in a tenth of the instructions, which
    /// is two minutes of Bochs' time.
    Cloud,
}

impl Flavour {
    /// The package that depends on whichever kernel of the kind the distribution holds current.
    fn meta_package(self) -> &'static str {
        match self {
            Self::Server => "linux-image-amd64",
            Self::Cloud => "linux-image-cloud-amd64",
        }
    }
}

/// A kernel and its modules, unpacked.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// What the emulator, or a boot loader in it, starts: of the server's kernel, what its boot image holds.
    pub(crate) image: PathBuf,
    /// The package's folder of that name.
    boot: PathBuf,
    /// The folder `modules.dep` is in and its paths start from.
    modules: PathBuf,
    modules_dep: String,
}

impl Kernel {
    /// The cached kernel, fetched first if there is none.
    pub(crate) fn fetch(flavour: Flavour) -> Result<Self> {
        let package = flavour.meta_package();
        let root = cache::filled(package, |folder| unpack(package, folder))
            .with_context(|| format!("cannot get the kernel of {package}"))?;
        let boot = root.join("boot");
        let packed = only_entry(&boot, "vmlinuz-")?;
        let modules = only_entry(&root.join("lib/modules"), "")?;
        let path = modules.join("modules.dep");
        let modules_dep =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let image = match flavour {
            Flavour::Server => unpacked(&packed)?,
            // A boot loader starts it, which takes boot images only.
            Flavour::Cloud => packed,
        };
        Ok(Self { image, boot, modules, modules_dep })
    }

    /// Name and content of the file that says how it was built.
    pub(crate) fn config(&self) -> Result<(String, Vec<u8>)> {
        named_file(&only_entry(&self.boot, "config-")?)
    }

    /// Names and contents of the module files to insert, in that order, for each of `wanted` to be in.
    pub(crate) fn modules(&self, wanted: &[&str]) -> Result<Vec<(String, Vec<u8>)>> {
        let read = |file: String| named_file(&self.modules.join(file));
        insertion_order(&self.modules_dep, wanted)?.into_iter().map(read).collect()
    }
}

/// Downloads the kernel that `meta_package` depends on and unpacks it into `folder`.
fn unpack(meta_package: &str, folder: &Path) -> Result<()> {
    let depends = packages::output(folder, "apt-cache", ["depends", meta_package])?;
    let package = depends
        .lines()
        .find_map(|line| line.trim().strip_prefix("Depends: "))
        .with_context(|| format!("apt knows no {meta_package}: run 'apt-get update' first"))?;
    packages::output(folder, "apt-get", ["download", package])
        .with_context(|| format!("cannot download {package}: run 'apt-get update' first"))?;
    let archive = only_entry(folder, package)?;
    packages::output(folder, "dpkg", [OsStr::new("-x"), archive.as_os_str(), folder.as_os_str()])?;
    fs::remove_file(&archive).with_context(|| format!("cannot remove {}", archive.display()))?;
    let modules = only_entry(&folder.join("lib/modules"), "")?;
    let version = modules.file_name().unwrap_or_default();
    packages::output(folder, "depmod", [OsStr::new("-b"), folder.as_os_str(), version])?;
    Ok(())
}

/// The cached kernel of a boot image, unpacked first if it is not there.
fn unpacked(image: &Path) -> Result<PathBuf> {
    let name =
        image.file_name().unwrap_or_default().to_string_lossy().replace("vmlinuz", "vmlinux");
    let folder = cache::filled(&name, |folder| {
        let image = fs::read(image)?;
        Ok(fs::write(folder.join("vmlinux"), kernel(&image)?)?)
    });
    let folder = folder.with_context(|| format!("cannot unpack {}", image.display()))?;
    Ok(folder.join("vmlinux"))
}

/// The name of a file, without its folder, and its content.
fn named_file(path: &Path) -> Result<(String, Vec<u8>)> {
    let content = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), content))
}

/// The first entry of `folder` whose name starts with `prefix`.
fn only_entry(folder: &Path, prefix: &str) -> Result<PathBuf> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    entries
        .filter_map(Result::ok)
        .find(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .with_context(|| format!("nothing named {prefix}* in {}", folder.display()))
}

/// What a payload that was packed by xz begins with.
const XZ: &[u8] = b"\xfd7zXZ\0";

/// An ELF file.
const ELF: &[u8] = b"\x7fELF";

const SECTOR: usize = 512;

/// The kernel that a boot image would unpack, an ELF file. An emulated machine takes seconds to unpack it, this one half of
/// one, once.
///
/// Errors: the image is no boot image, or packed by something else than xz.
pub(crate) fn kernel(image: &[u8]) -> Result<Vec<u8>> {
    let field = |at: usize| -> Option<usize> {
        let bytes = image.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    let payload = || {
        let n_sectors = usize::from(*image.get(0x1f1)?);
        let (offset, length) = (field(0x248)?, field(0x24c)?);
        let start = (n_sectors + 1) * SECTOR + offset;
        image.get(start..start.checked_add(length)?)
    };
    let payload = payload().context("the image is cut short")?;
    ensure!(payload.starts_with(XZ), "its kernel is not packed by xz");
    let mut kernel = Vec::new();
    // Behind the packed kernel is its length.
    XzDecoder::new(payload).read_to_end(&mut kernel).context("its kernel does not unpack")?;
    ensure!(kernel.starts_with(ELF), "its kernel is no ELF file");
    Ok(kernel)
}

/// Files to insert so that each of `wanted` is in, relative to the modules' folder, each once
/// and after whatever it needs.
pub(crate) fn insertion_order(modules_dep: &str, wanted: &[&str]) -> Result<Vec<String>> {
    let by_name: BTreeMap<String, (&str, &str)> = modules_dep
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(file, needs)| (module_name(file), (file, needs)))
        .collect();
    let mut order: Vec<String> = Vec::new();
    for name in wanted {
        let (file, needs) = by_name
            .get(&module_name(name))
            .with_context(|| format!("modules.dep names no module '{name}'"))?;
        for needed in needs.split_whitespace().rev().chain([*file]) {
            if !order.iter().any(|known| known == needed) {
                order.push(needed.to_owned());
            }
        }
    }
    Ok(order)
}

/// The kernel's name for a module: its file's stem, in which it takes `-` for `_`.
fn module_name(file: &str) -> String {
    let base = file.rsplit('/').next().unwrap_or(file);
    base.split('.').next().unwrap_or(base).replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use liblzma::write::XzEncoder;
    use std::io::Write as _;

    /// Two sectors of setup, and a payload 100 bytes behind them.
    fn image(payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 3 * SECTOR + 100];
        image[0x1f1] = 2;
        image[0x248..0x24c].copy_from_slice(&100u32.to_le_bytes());
        let length = u32::try_from(payload.len()).unwrap();
        image[0x24c..0x250].copy_from_slice(&length.to_le_bytes());
        image.extend(payload);
        image
    }

    fn packed(kernel: &[u8]) -> Vec<u8> {
        let mut encoder = XzEncoder::new(Vec::new(), 1);
        encoder.write_all(kernel).unwrap();
        [encoder.finish().unwrap(), 4u32.to_le_bytes().to_vec()].concat()
    }

    #[test]
    fn the_kernel_is_what_was_packed() {
        let elf = [ELF, &[7; 1000]].concat();
        assert_eq!(kernel(&image(&packed(&elf))).unwrap(), elf);
    }

    #[test]
    fn what_is_no_such_image_is_refused_in_words() {
        let refusal = |image: &[u8]| format!("{:#}", kernel(image).unwrap_err());
        assert_eq!(refusal(&[0; 100]), "the image is cut short");
        assert_eq!(refusal(&image(b"\x1f\x8b")), "its kernel is not packed by xz");
        assert_eq!(refusal(&image(&packed(b"text"))), "its kernel is no ELF file");
        let whole = image(&packed(ELF));
        assert_eq!(refusal(&whole[..whole.len() - 1]), "the image is cut short");
        let mut damaged = image(&packed(&[ELF, &[7; 1000]].concat()));
        let at = damaged.len() - 30;
        damaged[at] ^= 0xff;
        assert!(refusal(&damaged).starts_with("its kernel does not unpack"));
    }

    const DEP: &str = "\
kernel/drivers/char/ipmi/ipmi_msghandler.ko:
kernel/drivers/char/ipmi/ipmi_si.ko: kernel/drivers/char/ipmi/ipmi_msghandler.ko
kernel/drivers/char/ipmi/ipmi_watchdog.ko: kernel/drivers/char/ipmi/ipmi_msghandler.ko
kernel/a.ko: kernel/b.ko kernel/c.ko
kernel/b.ko: kernel/c.ko
kernel/c.ko:
kernel/drivers/cpufreq/acpi-cpufreq.ko:
";

    #[test]
    fn what_others_need_comes_first() {
        let order = insertion_order(DEP, &["a"]).unwrap();
        assert_eq!(order, ["kernel/c.ko", "kernel/b.ko", "kernel/a.ko"]);
    }

    #[test]
    fn a_shared_need_is_inserted_once() {
        let order = insertion_order(DEP, &["ipmi_si", "ipmi_watchdog"]).unwrap();
        let msghandler = order.iter().filter(|file| file.contains("msghandler")).count();
        assert_eq!((order.len(), msghandler), (3, 1));
    }

    #[test]
    fn dash_and_underscore_name_the_same_module() {
        let order = insertion_order(DEP, &["acpi_cpufreq"]).unwrap();
        assert_eq!(order, ["kernel/drivers/cpufreq/acpi-cpufreq.ko"]);
    }

    #[test]
    fn a_module_the_kernel_lacks_is_named_in_the_error() {
        let error = insertion_order(DEP, &["nonesuch"]).unwrap_err().to_string();
        assert_eq!(error, "modules.dep names no module 'nonesuch'");
    }
}
