//! Fuzzing: a short run of every target in each test, and a long one that keeps what it found.
//!
//! Targets are the files of `fuzz/fuzz_targets`, in a workspace of their own. They are built with
//! the coverage flags that cargo-fuzz would give, which the stable compiler takes; its address
//! sanitizer, which needs nightly, finds nothing in code without `unsafe`.

mod long;

use std::fs;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail, ensure};
use testbench::packages::Package;

use crate::cargo::{self, cargo, program, workspace};

/// libFuzzer is C++, built along with the targets.
pub(crate) const PACKAGES: &[Package] =
    &[Package { name: "g++", purpose: "compiles libFuzzer", witness: "/usr/bin/g++" }];

/// Inputs of a short run, and where libFuzzer's dice start: a run that passes here passes everywhere, and one
/// that does not can be repeated. Longer runs with other dice: `cargo xtask fuzz --long`.
const SHORT_RUN: [&str; 2] = ["-runs=2000", "-seed=1"];

/// What libFuzzer needs to see which branches an input takes (LLVM's SanitizerCoverage).
const COVERAGE_FLAGS: &str = "--cfg fuzzing -C passes=sancov-module \
    -C llvm-args=-sanitizer-coverage-level=4 \
    -C llvm-args=-sanitizer-coverage-inline-8bit-counters \
    -C llvm-args=-sanitizer-coverage-pc-table \
    -C llvm-args=-sanitizer-coverage-trace-compares \
    -C debug-assertions -C codegen-units=1";

/// `cargo xtask fuzz [--runs N | --long] [TARGET ...]`: a short run of every target, so many inputs, or the long run.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    const USAGE: &str = "usage: cargo xtask fuzz [--runs N | --long] [TARGET ...]";
    let (runs, named) = match arguments {
        [option, rest @ ..] if option == "--long" => (Runs::Long, rest),
        [option, runs, rest @ ..] if option == "--runs" => {
            (Runs::Some(runs.parse().context(USAGE)?), rest)
        }
        [option, ..] if option.starts_with('-') => bail!(USAGE),
        rest => (Runs::Short, rest),
    };
    let targets = chosen(targets()?, named)?;
    build()?;
    match runs {
        Runs::Short => run_each(&targets, &SHORT_RUN)?,
        Runs::Some(n) => run_each(&targets, &[&format!("-runs={n}")])?,
        Runs::Long => long::run(&targets)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// How long to go on.
enum Runs {
    Short,
    Some(u64),
    Long,
}

/// Those of `targets` that are named, or all where none is.
fn chosen(targets: Vec<String>, named: &[String]) -> Result<Vec<String>> {
    if let Some(unknown) = named.iter().find(|it| !targets.contains(it)) {
        bail!("there is no target '{unknown}'; there are {}", targets.join(", "));
    }
    Ok(if named.is_empty() { targets } else { named.to_vec() })
}

/// Builds every target and looks for new inputs with each, for as long as a sweep has time for it.
pub(crate) fn sweep() -> Result<()> {
    build()?;
    run_each(&targets()?, &["-max_total_time=45"])
}

/// Builds every target.
pub(crate) fn build() -> Result<()> {
    // Naming the host as the target keeps the flags away from build scripts.
    let host = host_triple()?;
    let mut build = cargo(&["build", "--release", "--manifest-path", "fuzz/Cargo.toml"]);
    build.args(["--target", &host, "--target-dir", "target/fuzz"]).env("RUSTFLAGS", COVERAGE_FLAGS);
    cargo::run(build)
}

/// Runs targets one after the other; an error if one crashes. `limits` are libFuzzer's options for when to stop.
fn run_each(targets: &[String], limits: &[&str]) -> Result<()> {
    for name in targets {
        let found = format!("target/fuzz/short/{name}/");
        let folder = workspace().join(&found);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let mut run = fuzzer(name)?;
        run.args(limits).arg(&found).args(seeds(name));
        cargo::run(run).with_context(|| format!("fuzz target '{name}'"))?;
    }
    Ok(())
}

/// A built target; an input that makes it fall over is kept below `target/fuzz`.
fn fuzzer(name: &str) -> Result<Command> {
    let host = host_triple()?;
    let path = workspace().join(format!("target/fuzz/{host}/release/{name}"));
    Ok(program(path, &[&format!("-artifact_prefix=target/fuzz/{name}-")]))
}

/// The folder of inputs that a target starts from, if it has one.
fn seeds(name: &str) -> Option<String> {
    let seeds = format!("fuzz/seeds/{name}");
    workspace().join(&seeds).exists().then_some(seeds)
}

/// Names of all targets, in order.
fn targets() -> Result<Vec<String>> {
    let folder = workspace().join("fuzz/fuzz_targets");
    let entries =
        fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_built_and_every_folder_of_seeds_is_a_targets() {
        let manifest = fs::read_to_string(workspace().join("fuzz/Cargo.toml")).unwrap();
        let targets = targets().unwrap();
        for name in &targets {
            assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
        }
        for folder in fs::read_dir(workspace().join("fuzz/seeds")).unwrap() {
            let name = folder.unwrap().file_name().into_string().unwrap();
            assert!(targets.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_target_that_does_not_exist_is_answered_by_those_that_do() {
        let targets = || vec!["archive".to_owned(), "tape".to_owned()];
        assert_eq!(chosen(targets(), &["tape".to_owned()]).unwrap(), ["tape"]);
        assert_eq!(chosen(targets(), &[]).unwrap().len(), 2);
        let error = chosen(targets(), &["tap".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "there is no target 'tap'; there are archive, tape");
    }
}
