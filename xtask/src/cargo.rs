//! Runs cargo and other programs, with their output passed on and no input.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::tally::Tally;

/// The folder that the workspace's manifest is in.
pub(crate) fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The program under test and the one that steals from it, where [`build_binaries`] puts them.
pub(crate) fn binaries() -> [PathBuf; 2] {
    let release = target().join("release");
    [release.join("fullclock"), release.join("thief")]
}

/// Builds [`binaries`].
pub(crate) fn build_binaries() -> Result<()> {
    run(cargo(&["build", "--quiet", "--release", "--package", "fullclock", "--package", "thief"]))
}

/// The build of the program under test that can be killed at any point of a change, where [`strip_mortal`] puts it.
pub(crate) fn mortal() -> PathBuf {
    target().join("debug/mortal")
}

/// Makes [`mortal`] of what [`test`] has built: guests unpack it in memory, where they have no use for what tells a debugger its
/// lines.
pub(crate) fn strip_mortal() -> Result<()> {
    let mut strip = program("strip", &["-o"]);
    strip.arg(mortal()).arg(target().join("debug/fullclock"));
    run(strip)
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

/// Runs a `cargo test` to its end, passing its output on, and counts the tests in it; an error if one fails.
pub(crate) fn run_tests(mut command: Command) -> Result<Tally> {
    command.stdout(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
    let mut tally = Tally::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line.context("cannot read what cargo prints")?;
            println!("{line}");
            tally += Tally::of_line(&line);
        }
    }
    let status = child.wait().with_context(|| format!("cannot wait for {command:?}"))?;
    if !status.success() {
        bail!("{} passed, {} failed: {command:?} ended with {status}", tally.passed, tally.failed);
    }
    Ok(tally)
}
