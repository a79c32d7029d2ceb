//! The long run: a million inputs for each target, starting from what earlier long runs found.
//!
//! What a run finds is reduced to the inputs that reach code which no other input reaches, and
//! kept as `fuzz/corpus/TARGET.tar.gz`: the next run begins where this one ended.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use fuzz_targets::Target;

use super::{fuzzer, seeds};
use crate::cargo::{self, program, workspace};
use crate::stage::seconds;

/// Inputs for a target.
const RUNS: u64 = 1_000_000;

/// Inputs for a target that audits a whole host with each.
const RUNS_OF_AUDITS: u64 = 200_000;

/// What a corpus may hold that is committed, in bytes after compression.
const LARGEST_CORPUS: u64 = 2 << 20;

/// Runs targets, two at a time, and keeps their corpora. Error: the targets that crashed, after all have run.
pub(super) fn run(targets: &[Target]) -> Result<()> {
    let waiting = Mutex::new(targets.iter());
    let work = || -> Result<Vec<&str>> {
        let mut crashed = Vec::new();
        loop {
            let next = waiting.lock().map_err(|_| anyhow!("another run panicked"))?.next();
            let Some(target) = next else { return Ok(crashed) };
            let started = Instant::now();
            let name = target.name;
            match run_target(target) {
                Ok(summary) => println!("{name}: {summary}, {}", seconds(started.elapsed())),
                Err(error) => {
                    println!("{name}: FAILED: {error:#}");
                    crashed.push(name);
                }
            }
        }
    };
    let crashed = thread::scope(|scope| -> Result<Vec<&str>> {
        let threads = [scope.spawn(work), scope.spawn(work)];
        let mut crashed = Vec::new();
        for thread in threads {
            crashed.extend(thread.join().map_err(|_| anyhow!("a run panicked"))??);
        }
        Ok(crashed)
    })?;
    ensure!(crashed.is_empty(), "these targets failed: {}", crashed.join(", "));
    Ok(())
}

/// Runs one target and keeps what it found. Its output is in `target/fuzz/long/TARGET.log`. Returns what to print.
fn run_target(&Target { name, audits_host, .. }: &Target) -> Result<String> {
    let work = PathBuf::from("target/fuzz/long");
    let found = work.join(name);
    let reduced = work.join(format!("{name}.reduced"));
    for folder in [&found, &reduced] {
        make_empty(&workspace().join(folder))?;
    }
    let corpus = PathBuf::from(format!("fuzz/corpus/{name}.tar.gz"));
    if workspace().join(&corpus).exists() {
        unpack(&corpus, &found)?;
    }
    let log = workspace().join(&work).join(format!("{name}.log"));
    let runs = if audits_host { RUNS_OF_AUDITS } else { RUNS };
    let mut fuzzing = fuzzer(name)?;
    fuzzing.arg(format!("-runs={runs}")).args(["-print_final_stats=1", "-timeout=60"]).arg(&found);
    fuzzing.args(seeds(name));
    run_quietly(fuzzing, &log)?;
    let text =
        fs::read_to_string(&log).with_context(|| format!("cannot read {}", log.display()))?;
    let done = statistic(&text, "stat::number_of_executed_units:");
    let done = done.with_context(|| format!("no number of runs in {}", log.display()))?;
    ensure!(done >= runs, "{done} of {runs} inputs");
    let mut merging = fuzzer(name)?;
    merging.arg("-merge=1").arg(&reduced).arg(&found);
    run_quietly(merging, &log.with_extension("merge.log"))?;
    let n_inputs = fs::read_dir(workspace().join(&reduced))?.count();
    let size = pack(&reduced, &corpus)?;
    ensure!(
        size <= LARGEST_CORPUS,
        "its corpus has {size} bytes, expected at most {LARGEST_CORPUS}"
    );
    Ok(format!("{done} inputs, {n_inputs} kept ({} KiB)", size.div_ceil(1024)))
}

/// The number after `name` at the start of a line.
fn statistic(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

fn make_empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

fn run_quietly(mut command: Command, log: &Path) -> Result<()> {
    let file = fs::File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    command.stdout(Stdio::null()).stderr(file);
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    if !status.success() {
        bail!("{status}: see {}", log.display());
    }
    Ok(())
}

fn unpack(archive: &Path, folder: &Path) -> Result<()> {
    let mut tar = program("tar", &["-xzf"]);
    tar.arg(archive).arg("-C").arg(folder);
    cargo::run(tar)
}

/// Packs the files of a folder so that the same files give the same archive; returns its size in bytes.
fn pack(folder: &Path, archive: &Path) -> Result<u64> {
    let place = workspace().join(archive);
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    let options = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
    let mut tar = program("tar", &options);
    tar.args(["--use-compress-program", "gzip -9n", "-cf"])
        .arg(archive)
        .arg("-C")
        .arg(folder)
        .arg(".");
    cargo::run(tar)?;
    Ok(fs::metadata(&place)?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_inputs_is_read_from_the_last_lines_of_libfuzzer() {
        let text = "#1000 DONE\nstat::number_of_executed_units: 1000\nstat::peak_rss_mb: 51\n";
        assert_eq!(statistic(text, "stat::number_of_executed_units:"), Some(1000));
        assert_eq!(statistic("stat::x: 1\n", "stat::number_of_executed_units:"), None);
    }

    #[test]
    fn the_same_inputs_make_the_same_archive() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = folder.path().join("inputs");
        fs::create_dir(&inputs).unwrap();
        fs::write(inputs.join("b"), "2").unwrap();
        fs::write(inputs.join("a"), "1").unwrap();
        let archives = [1, 2].map(|n| {
            let archive = folder.path().join(format!("{n}.tar.gz"));
            pack(&inputs, &archive).unwrap();
            fs::read(archive).unwrap()
        });
        assert_eq!(archives[0], archives[1]);
        let out = folder.path().join("out");
        fs::create_dir(&out).unwrap();
        unpack(&folder.path().join("1.tar.gz"), &out).unwrap();
        assert_eq!(fs::read_to_string(out.join("b")).unwrap(), "2");
    }
}
