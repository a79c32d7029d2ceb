//! Fuzzing guided by coverage: short runs, and a long one that keeps what it found.
//!
//! The targets are the functions of the crate `fuzz-targets`; its tests run each over its seeds and
//! corpus without libFuzzer. `fuzz/`, a workspace of its own, links them with libFuzzer. It is built
//! with the coverage flags that cargo-fuzz would give, which the stable compiler takes; its address
//! sanitizer, which needs nightly, finds nothing in code without `unsafe`.

mod long;

use std::fs;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail, ensure};
use fuzz_targets::{TARGETS, Target};
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
    let targets = chosen(named)?;
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

/// The targets that are named, or all where none is.
fn chosen(named: &[String]) -> Result<Vec<Target>> {
    if named.is_empty() {
        return Ok(TARGETS.to_vec());
    }
    let find = |name: &String| {
        let target = TARGETS.iter().find(|it| it.name == name);
        target.copied().with_context(|| {
            let names: Vec<_> = TARGETS.iter().map(|it| it.name).collect();
            format!("there is no target '{name}'; there are {}", names.join(", "))
        })
    };
    named.iter().map(find).collect()
}

/// Builds every target and looks for new inputs with each, for as long as a sweep has time for it.
pub(crate) fn sweep() -> Result<()> {
    build()?;
    run_each(TARGETS, &["-max_total_time=45"])
}

/// Builds libFuzzer and every target into one program.
fn build() -> Result<()> {
    let has_compiler =
        || program("c++", &["--version"]).output().is_ok_and(|it| it.status.success());
    ensure!(
        std::env::var_os("CXX").is_some() || has_compiler(),
        "no C++ compiler, which libFuzzer needs; on Debian: apt-get install g++"
    );
    // Naming the host as the target keeps the flags away from build scripts.
    let host = host_triple()?;
    let mut build = cargo(&["build", "--release", "--manifest-path", "fuzz/Cargo.toml"]);
    build.args(["--target", &host, "--target-dir", "target/fuzz"]).env("RUSTFLAGS", COVERAGE_FLAGS);
    cargo::run(build)
}

/// Runs targets one after the other; an error if one crashes. `limits` are libFuzzer's options for when to stop.
fn run_each(targets: &[Target], limits: &[&str]) -> Result<()> {
    for Target { name, .. } in targets {
        let found = format!("target/fuzz/short/{name}/");
        let folder = workspace().join(&found);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let mut run = fuzzer(name)?;
        run.args(limits).arg(&found).args(seeds(name));
        cargo::run(run).with_context(|| format!("fuzz target '{name}'"))?;
    }
    Ok(())
}

/// libFuzzer with one target; an input that makes it panic is kept below `target/fuzz`.
fn fuzzer(name: &str) -> Result<Command> {
    let host = host_triple()?;
    let path = workspace().join(format!("target/fuzz/{host}/release/fuzz"));
    let mut command = program(path, &[&format!("-artifact_prefix=target/fuzz/{name}-")]);
    command.env("FUZZ_TARGET", name);
    Ok(command)
}

/// The folder of inputs that a target starts from, if it has one.
fn seeds(name: &str) -> Option<String> {
    let seeds = format!("fuzz/seeds/{name}");
    workspace().join(&seeds).exists().then_some(seeds)
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
    fn a_target_that_does_not_exist_is_answered_by_those_that_do() {
        let names = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(ToString::to_string).collect();
            chosen(&named).map(|it| it.iter().map(|it| it.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["tape"]).unwrap(), ["tape"]);
        assert_eq!(names(&[]).unwrap().len(), TARGETS.len());
        let error = names(&["tap"]).unwrap_err().to_string();
        assert!(error.starts_with("there is no target 'tap'; there are advisories, archive, "));
    }
}
