//! The stock Debian kernels that guests boot, downloaded and unpacked but never installed.
//!
//! The kernel is inside of a boot image (Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length). The order in
//! which its modules are inserted is in `modules.dep` as depmod writes it (modules.dep(5)): a module's file, a colon, and every
//! file it needs, directly or not, the ones needed by others last.
#![expect(clippy::disallowed_methods, reason = "the bench keeps files of its own")]

use crate::apt::Apt;
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
pub enum Flavour {
    /// The one for servers, with a driver for everything.
    Server,
    /// The one for virtual machines: no IPMI, but it unpacks itself in a tenth of the instructions, which
    /// is two minutes of Bochs' time.
    Cloud,
    /// That of Debian 13 for virtual machines, 6.12, which Debian 12 has as well: servers of the fair class.
    Debian13,
    /// The newest one for virtual machines, by the backports of Debian 13: clamps of utilization, schedulers of sched_ext.
    Backports,
}

impl Flavour {
    /// The package that depends on whichever kernel of the kind the distribution holds current.
    fn meta_package(self) -> &'static str {
        match self {
            Self::Server => "linux-image-amd64",
            Self::Cloud | Self::Backports => "linux-image-cloud-amd64",
            Self::Debian13 => "linux-image-6.12-cloud-amd64",
        }
    }

    /// Where that package is, unless this machine installs from there.
    fn suite(self) -> Option<&'static str> {
        (self == Self::Backports).then_some("trixie-backports")
    }

    /// What the cache calls it.
    fn name(self) -> String {
        [Some(self.meta_package()), self.suite()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("@")
    }
}

/// A kernel and its modules, unpacked.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// What the emulator, or a boot loader in it, starts: of the server's kernel, what its boot image holds.
    pub(crate) image: PathBuf,
    /// Where its image and its configuration are.
    boot: PathBuf,
    /// The folder `modules.dep` is in and its paths start from.
    modules: PathBuf,
    modules_dep: String,
}

impl Kernel {
    /// The cached kernel, fetched first if there is none.
    pub(crate) fn fetch(flavour: Flavour) -> Result<Self> {
        let name = flavour.name();
        let root = cache::filled(&name, |folder| unpack(flavour, folder))
            .with_context(|| format!("cannot get the kernel of {name}"))?;
        let modules = only_entry(&modules_folder(&root), "")?;
        // Packages of 6.17 and later have everything in the modules' folder.
        let boot = Some(root.join("boot")).filter(|it| it.exists());
        let boot = boot.unwrap_or_else(|| modules.clone());
        let packed = only_entry(&boot, "vmlinuz")?;
        let path = modules.join("modules.dep");
        let modules_dep =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let image = match flavour {
            // A boot loader starts it, which takes boot images only.
            Flavour::Cloud => packed,
            _ => unpacked(&packed, &version(&modules))?,
        };
        Ok(Self { image, boot, modules, modules_dep })
    }

    /// Name and content of the file that says how it was built.
    pub(crate) fn config(&self) -> Result<(String, Vec<u8>)> {
        let (_, content) = named_file(&only_entry(&self.boot, "config")?)?;
        Ok((format!("config-{}", version(&self.modules)), content))
    }

    /// Names and contents of the module files to insert, in that order, for each of `wanted` to be in.
    pub(crate) fn modules(&self, wanted: &[&str]) -> Result<Vec<(String, Vec<u8>)>> {
        let read = |file: String| {
            let (name, content) = named_file(&self.modules.join(file))?;
            Ok(match name.strip_suffix(".xz") {
                Some(plain) => (plain.to_owned(), without_xz(&content)?),
                None => (name, content),
            })
        };
        insertion_order(&self.modules_dep, wanted)?.into_iter().map(read).collect()
    }
}

/// Downloads the kernel of a flavour and unpacks it into `folder`.
fn unpack(flavour: Flavour, folder: &Path) -> Result<()> {
    let apt = Apt::new(flavour.suite(), folder)?;
    let depends = apt.depends(flavour.meta_package())?;
    let image = depends.iter().find(|it| it.starts_with(IMAGE));
    let image = image.with_context(|| format!("{} has no kernel", flavour.meta_package()))?;
    let parts = apt.depends(image)?;
    for package in parts.iter().filter(|it| is_part(it, image)).chain([image]) {
        let archive = apt.download(package)?;
        let arguments = [OsStr::new("-x"), archive.as_os_str(), folder.as_os_str()];
        packages::output(folder, "dpkg", arguments)?;
        fs::remove_file(&archive)
            .with_context(|| format!("cannot remove {}", archive.display()))?;
    }
    let modules = only_entry(&modules_folder(folder), "")?;
    // depmod looks for lib/modules below its base.
    let base = modules.ancestors().nth(3).unwrap_or(folder);
    let version = version(&modules);
    packages::output(folder, "depmod", [OsStr::new("-b"), base.as_os_str(), version.as_ref()])?;
    Ok(())
}

/// What the names of packages with a kernel's image begin with; its version follows.
const IMAGE: &str = "linux-image-";

/// Whether a package has a part of the kernel of `image`: since 6.17 image, modules and the rest are packages of their own.
fn is_part(package: &str, image: &str) -> bool {
    let version = image.strip_prefix(IMAGE).unwrap_or(image);
    package.strip_suffix(version).is_some_and(|it| it.starts_with("linux-") && it.ends_with('-'))
}

/// Where packages have modules: since 6.17 below usr.
fn modules_folder(root: &Path) -> PathBuf {
    let old = root.join("lib/modules");
    if old.exists() { old } else { root.join("usr/lib/modules") }
}

/// The kernel's name for itself, which its folder of modules has.
fn version(modules: &Path) -> String {
    modules.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The cached kernel of a boot image, unpacked first if it is not there.
fn unpacked(image: &Path, version: &str) -> Result<PathBuf> {
    let folder = cache::filled(&format!("vmlinux-{version}"), |folder| {
        let image = fs::read(image)?;
        let (packed, kernel) = (folder.join("packed"), folder.join("vmlinux"));
        let Some(frame) = zstd_frame(&image) else {
            return Ok(fs::write(kernel, self::kernel(&image)?)?);
        };
        fs::write(&packed, frame)?;
        let paths = [packed.as_os_str(), OsStr::new("-o"), kernel.as_os_str()];
        packages::output(folder, "zstd", [OsStr::new("-dq")].into_iter().chain(paths))?;
        Ok(fs::remove_file(packed)?)
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

/// What a payload that was packed by xz begins with, and one by zstd.
const XZ: &[u8] = b"\xfd7zXZ\0";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// An ELF file.
const ELF: &[u8] = b"\x7fELF";

const SECTOR: usize = 512;

/// Behind a packed kernel is its length.
const LENGTH: usize = 4;

/// The packed kernel in a boot image.
fn payload(image: &[u8]) -> Option<&[u8]> {
    let field = |at: usize| -> Option<usize> {
        let bytes = image.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    let n_sectors = usize::from(*image.get(0x1f1)?);
    let (offset, length) = (field(0x248)?, field(0x24c)?);
    let start = (n_sectors + 1) * SECTOR + offset;
    image.get(start..start.checked_add(length)?)
}

/// The packed kernel of a boot image of Linux 6.11 and later as Debian builds it.
fn zstd_frame(image: &[u8]) -> Option<&[u8]> {
    let payload = payload(image).filter(|it| it.starts_with(ZSTD))?;
    payload.get(..payload.len() - LENGTH)
}

/// The kernel that a boot image would unpack, an ELF file. An emulated machine takes seconds to unpack it, this one half of
/// one, once.
///
/// Errors: the image is no boot image, or packed by something else than xz.
pub(crate) fn kernel(image: &[u8]) -> Result<Vec<u8>> {
    let payload = payload(image).context("the image is cut short")?;
    ensure!(payload.starts_with(XZ), "its kernel is not packed by xz");
    let kernel = without_xz(payload).context("its kernel does not unpack")?;
    ensure!(kernel.starts_with(ELF), "its kernel is no ELF file");
    Ok(kernel)
}

/// What was packed by xz; more may stand behind it.
fn without_xz(packed: &[u8]) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    XzDecoder::new(packed).read_to_end(&mut plain)?;
    Ok(plain)
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

    #[test]
    fn a_kernel_in_zstd_is_a_frame_without_the_length_behind_it() {
        let frame = [ZSTD, b"content"].concat();
        let image = image(&[&frame[..], &7u32.to_le_bytes()].concat());
        assert_eq!(zstd_frame(&image), Some(&frame[..]));
        assert_eq!(zstd_frame(&self::image(&packed(ELF))), None);
    }

    #[test]
    fn parts_of_a_kernel_have_its_version() {
        let is_part = |package| is_part(package, "linux-image-7.3.4+deb13-cloud-amd64");
        assert!(is_part("linux-modules-7.3.4+deb13-cloud-amd64"));
        assert!(!is_part("linux-base") && !is_part("kmod"));
        assert!(!is_part("linux-modules-7.3.4+deb13-amd64"));
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
