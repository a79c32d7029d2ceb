//! Puts the Debian packages in place that tests need.

use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use testbench::packages::Package;

use crate::cargo::{program, run};

/// A package of those the test bench downloads without installing, by which it shows whether apt
/// has any lists at all.
const KERNEL: &str = "linux-image-amd64";

/// Installs those of `packages` that are missing if this is root on Debian; says how to if not.
pub(crate) fn install(packages: &[Package]) -> Result<()> {
    let missing: Vec<&Package> = packages.iter().filter(|it| !it.is_installed()).collect();
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    if !installs() {
        for package in &missing {
            println!("missing: {} ({})", package.name, package.purpose);
        }
        if !missing.is_empty() {
            println!("to install, as root on Debian:");
            println!("  apt-get install --no-install-recommends {}", names.join(" "));
        }
        return Ok(());
    }
    if !missing.is_empty() || !apt_knows(KERNEL) {
        run(apt_get(&["update"]))?;
    }
    if !missing.is_empty() {
        run(apt_get(&[&["install", "-y", "--no-install-recommends"], &*names].concat()))?;
    }
    match missing.iter().find(|package| !package.is_installed()) {
        Some(package) => {
            bail!("{} is installed, but {} is not there", package.name, package.witness)
        }
        None => Ok(()),
    }
}

/// Whether [`install`] installs: this is root on Debian.
pub(crate) fn installs() -> bool {
    is_root() && has_apt()
}

/// /proc/self belongs to whoever this process runs as.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn has_apt() -> bool {
    quiet_success(program("apt-get", &["--version"]))
}

fn apt_knows(package: &str) -> bool {
    quiet_success(program("apt-cache", &["show", package]))
}

fn quiet_success(mut command: Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn apt_get(arguments: &[&str]) -> Command {
    let mut command = program("apt-get", &["-q"]);
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    command
}
