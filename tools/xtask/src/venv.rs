//! Programs of the Python Package Index, each in a folder of its own below the target folder.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use testbench::packages::Package;

use crate::cargo::{program as command, run, target};

/// What makes such a folder.
pub(crate) const PACKAGES: &[Package] = &[Package {
    name: "python3-venv",
    purpose: "folders for schemathesis, ansible-core and sushy, beside which fullclock is tried",
    witness: "/usr/share/doc/python3-venv/changelog.Debian.gz",
}];

/// The path of a program of a package, which is installed where it is not yet: `schemathesis==4.32.5`.
pub(crate) fn program(package: &str, name: &str) -> Result<PathBuf> {
    let folder = target().join(package);
    let installed = folder.join("bin").join(name);
    if !installed.exists() {
        let named = folder.to_string_lossy().into_owned();
        run(command("python3", &["-m", "venv", &named]))?;
        let options = ["install", "--quiet", "--disable-pip-version-check", package];
        if let Err(error) = run(command(folder.join("bin/pip"), &options)) {
            // Half of a folder would be taken for a whole one.
            fs::remove_dir_all(&folder)?;
            return Err(error);
        }
    }
    Ok(installed)
}
