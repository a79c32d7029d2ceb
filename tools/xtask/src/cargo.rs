//! Runs cargo and other programs, with their output passed on and no input.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// The folder that the workspace's manifest is in.
pub(crate) fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The program under test and the one that steals from it, optimised, where [`build_binaries`] puts them.
pub(crate) fn binaries() -> [PathBuf; 2] {
    let release = target().join("release");
    [release.join("fullclock"), release.join("thief")]
}

/// Builds [`binaries`].
pub(crate) fn build_binaries() -> Result<()> {
    run(cargo(&[
        "build",
        "--quiet",
        "--release",
        "--package",
        "fullclock",
        "--package",
        "testbench",
        "--bins",
    ]))
}

/// The programs that guests run in tests: those that the tests were built with, which can be killed at any point of a change.
///
/// Without what tells a debugger its lines: guests unpack them in memory.
pub(crate) fn guest_programs() -> Result<[PathBuf; 2]> {
    let folder = target().join("debug/guest");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let stripped = ["fullclock", "thief"].map(|name| folder.join(name));
    for to in &stripped {
        let from = target().join("debug").join(to.file_name().unwrap_or_default());
        let mut strip = program("strip", &["-o"]);
        strip.arg(to).arg(from);
        run(strip)?;
    }
    Ok(stripped)
}

/// A `cargo test` of all packages, of which `arguments` choose targets, built so that changes can be killed. The choice of packages
/// and features is always this one: with another, cargo would compile much of the same again.
pub(crate) fn test(arguments: &[&str]) -> Command {
    let mut command = cargo(&["test", "--workspace", "--features", "fullclock/faults"]);
    command.args(arguments);
    command
}

/// The folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    workspace().join(target)
}

/// A program to be run in the workspace's folder.
pub(crate) fn program(name: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments).current_dir(workspace()).stdin(Stdio::null());
    command
}

/// The cargo that runs this program, to be run again.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), arguments)
}

/// Runs a program to its end; an error if it fails.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}
