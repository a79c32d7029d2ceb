//! The stock Debian kernels that guests boot, downloaded and unpacked but never installed.
#![expect(clippy::disallowed_methods, reason = "the bench keeps files of its own")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::{boot_image, cache, module_order, tool};

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
        let packed = only_entry(&root.join("boot"), "vmlinuz-")?;
        let modules = only_entry(&root.join("lib/modules"), "")?;
        let path = modules.join("modules.dep");
        let modules_dep =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let image = match flavour {
            Flavour::Server => unpacked(&packed)?,
            // A boot loader starts it, which takes boot images only.
            Flavour::Cloud => packed,
        };
        Ok(Self { image, modules, modules_dep })
    }

    /// Names and contents of the module files to insert, in that order, for each of `wanted` to be in.
    pub(crate) fn modules(&self, wanted: &[&str]) -> Result<Vec<(String, Vec<u8>)>> {
        let read = |file: String| {
            let path = self.modules.join(&file);
            let content =
                fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let name = file.rsplit('/').next().unwrap_or(&file).to_owned();
            Ok((name, content))
        };
        module_order::insertion_order(&self.modules_dep, wanted)?.into_iter().map(read).collect()
    }
}

/// Downloads the kernel that `meta_package` depends on and unpacks it into `folder`.
fn unpack(meta_package: &str, folder: &Path) -> Result<()> {
    let depends = tool::output(folder, "apt-cache", ["depends", meta_package])?;
    let package = depends
        .lines()
        .find_map(|line| line.trim().strip_prefix("Depends: "))
        .with_context(|| format!("apt knows no {meta_package}: run 'apt-get update' first"))?;
    tool::output(folder, "apt-get", ["download", package])
        .with_context(|| format!("cannot download {package}: run 'apt-get update' first"))?;
    let archive = only_entry(folder, package)?;
    tool::output(folder, "dpkg", [OsStr::new("-x"), archive.as_os_str(), folder.as_os_str()])?;
    fs::remove_file(&archive).with_context(|| format!("cannot remove {}", archive.display()))?;
    let modules = only_entry(&folder.join("lib/modules"), "")?;
    let version = modules.file_name().unwrap_or_default();
    tool::output(folder, "depmod", [OsStr::new("-b"), folder.as_os_str(), version])?;
    Ok(())
}

/// The cached kernel of a boot image, unpacked first if it is not there.
fn unpacked(image: &Path) -> Result<PathBuf> {
    let name =
        image.file_name().unwrap_or_default().to_string_lossy().replace("vmlinuz", "vmlinux");
    let folder = cache::filled(&name, |folder| {
        let image = fs::read(image)?;
        Ok(fs::write(folder.join("vmlinux"), boot_image::kernel(&image)?)?)
    });
    let folder = folder.with_context(|| format!("cannot unpack {}", image.display()))?;
    Ok(folder.join("vmlinux"))
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
