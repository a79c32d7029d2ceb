//! The programs that make packages, in a folder of cargo's: each at one version, so that a release can be made again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::{Release, TARGET, path};
use crate::cargo::{cargo, program, run, target};

/// From crates.io.
const CRATES: &[(&str, &str)] = &[
    ("cargo-zigbuild", "0.24.1"),
    ("cargo-deb", "3.8.0"),
    ("cargo-generate-rpm", "0.21.1"),
    ("cargo-cyclonedx", "0.5.9"),
];
/// From PyPI: a C compiler that links for any version of glibc.
const ZIG: &str = "ziglang==0.17.1";

pub(super) struct Tools {
    folder: PathBuf,
}

impl Tools {
    /// Installs what is missing.
    pub(super) fn installed() -> Result<Tools> {
        let folder = target().join("package-tools");
        fs::create_dir_all(&folder)?;
        for (name, version) in CRATES {
            let mark = folder.join(format!("{name}-{version}"));
            if !mark.exists() {
                let install = ["install", "--quiet", "--locked", "--root", path(&folder)?];
                run(cargo(&[&install[..], &["--version", version, name]].concat()))?;
                fs::write(mark, "")?;
            }
        }
        let tools = Tools { folder };
        if tools.zig().is_err() {
            let environment = tools.folder.join("zig");
            run(program("python3", &["-m", "venv", path(&environment)?]))?;
            let pip = environment.join("bin/pip");
            run(program(pip, &["install", "--quiet", ZIG]))?;
        }
        Ok(tools)
    }

    /// One of the programs.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    /// The compiler of zig.
    pub(super) fn zig(&self) -> Result<PathBuf> {
        let versions = fs::read_dir(self.folder.join("zig/lib"))?;
        let zigs = versions.flatten().map(|it| it.path().join("site-packages/ziglang/zig"));
        zigs.into_iter().find(|it| it.exists()).context("zig is not installed")
    }

    /// The Debian package, of what was built and made.
    pub(super) fn deb(&self, release: &Release, output: &Path) -> Result<()> {
        let arguments = ["deb", "--no-build", "--no-strip", "--package", "fullclock"];
        let place = ["--profile", "packages", "--target", TARGET, "--output", path(output)?];
        run(release.command(self.path("cargo-deb"), &[&arguments[..], &place].concat()))
    }

    /// The RPM package. The rpm of RHEL 7 and SLES 12 unpacks xz and no zstd.
    pub(super) fn rpm(&self, release: &Release, output: &Path) -> Result<()> {
        let epoch = release.epoch.to_string();
        let arguments = ["generate-rpm", "--package", "crates/fullclock", "--profile", "packages"];
        let place = ["--target", TARGET, "--source-date", &epoch, "--output", path(output)?];
        let packed = ["--payload-compress", "xz"];
        let arguments = [&arguments[..], &packed].concat();
        run(release.command(self.path("cargo-generate-rpm"), &[&arguments[..], &place].concat()))
    }
}
