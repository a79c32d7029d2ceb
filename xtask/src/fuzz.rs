//! A short run of every fuzz target, to see that none of them falls over at once.
//!
//! Targets are the files of `fuzz/fuzz_targets`, in a workspace of their own. They are built with
//! the coverage flags that cargo-fuzz would give, which the stable compiler takes; its address
//! sanitizer, which needs nightly, finds nothing in code without `unsafe`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use testbench::packages::Package;

use crate::cargo::{self, cargo, program, workspace};

/// libFuzzer is C++, built along with the targets.
pub(crate) const PACKAGES: &[Package] =
    &[Package { name: "g++", purpose: "compiles libFuzzer", witness: "/usr/bin/g++" }];

/// Inputs of a short run, and where libFuzzer's dice start: a run that passes here passes everywhere, and one
/// that does not can be repeated. Longer runs with other dice are for `cargo xtask fuzz --runs N`.
const SHORT_RUN: [&str; 2] = ["-runs=2000", "-seed=1"];

/// What libFuzzer needs to see which branches an input takes (LLVM's SanitizerCoverage).
const COVERAGE_FLAGS: &str = "--cfg fuzzing -C passes=sancov-module \
    -C llvm-args=-sanitizer-coverage-level=4 \
    -C llvm-args=-sanitizer-coverage-inline-8bit-counters \
    -C llvm-args=-sanitizer-coverage-pc-table \
    -C llvm-args=-sanitizer-coverage-trace-compares \
    -C debug-assertions -C codegen-units=1";

/// `cargo xtask fuzz [--runs N]`: every target for so many inputs, or for a short time.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    match arguments {
        [] => build().and_then(|()| smoke())?,
        [option, runs] if option == "--runs" && runs.parse::<u64>().is_ok() => {
            build()?;
            run_all(&[&format!("-runs={runs}")])?;
        }
        _ => bail!("usage: cargo xtask fuzz [--runs N]"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Every target for a short time, of those that [`build`] has built.
pub(crate) fn smoke() -> Result<()> {
    run_all(&SHORT_RUN)
}

/// Builds every target.
pub(crate) fn build() -> Result<()> {
    // Naming the host as the target keeps the flags away from build scripts.
    let host = host_triple()?;
    let mut build = cargo(&["build", "--release", "--manifest-path", "fuzz/Cargo.toml"]);
    build.args(["--target", &host, "--target-dir", "target/fuzz"]).env("RUSTFLAGS", COVERAGE_FLAGS);
    cargo::run(build)
}

/// Runs every target; an error if one crashes. `limits` are libFuzzer's options for when to stop.
fn run_all(limits: &[&str]) -> Result<()> {
    let host = host_triple()?;
    for name in targets(&workspace().join("fuzz/fuzz_targets"))? {
        run_target(&name, &host, limits).with_context(|| format!("fuzz target '{name}'"))?;
    }
    Ok(())
}

/// Names of the targets in `folder`, in order.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".rs")?.to_owned()))
        .collect();
    names.sort_unstable();
    Ok(names)
}

fn host_triple() -> Result<String> {
    let output =
        program("rustc", &["--print", "host-tuple"]).output().context("cannot run rustc")?;
    ensure!(output.status.success(), "rustc does not name its host");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs one target on its seeds and on what it makes of them. What it finds stays below `target`.
fn run_target(name: &str, host: &str, limits: &[&str]) -> Result<()> {
    let found = format!("target/fuzz/corpus/{name}/");
    let folder = workspace().join(&found);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut run = program(workspace().join(format!("target/fuzz/{host}/release/{name}")), &[]);
    run.args(limits).args(["-artifact_prefix=target/fuzz/", &found]);
    let seeds = format!("fuzz/seeds/{name}");
    if workspace().join(&seeds).exists() {
        run.arg(seeds);
    }
    cargo::run(run)
}
