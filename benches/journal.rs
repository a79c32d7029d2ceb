//! What a change of 1,024 policies takes, and opening the journal of a year.
//!
//! `cargo bench -p xtask --bench journal [FOLDER]`. The hosts are folders of plain files: in FOLDER, where the disk is to be
//! measured (that of the temporary files otherwise), and for the year in memory, where making it takes seconds.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "lays out hosts and prints results"
)]

use anyhow::{Context, Result};
use facts::change::{Group, Target, Write};
use host::change::{Access, Changer, Force, Intent, Journal, Machine};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const DAYS: u32 = 365;
const FILES: [&str; 5] = [
    "scaling_governor",
    "scaling_min_freq",
    "scaling_max_freq",
    "energy_performance_preference",
    "boost",
];

fn main() -> Result<()> {
    let folder = std::env::args().skip(1).find(|it| !it.starts_with('-'));
    let folder = folder.unwrap_or_else(|| std::env::temp_dir().to_string_lossy().into_owned());
    governor(Path::new(&folder))?;
    year()
}

fn governor(folder: &Path) -> Result<()> {
    let folder = tempfile::tempdir_in(folder)?;
    let (root, state) = lay_out(folder.path(), 1024, &FILES[..1])?;
    let (mut applied, mut reverted, mut n_syncs) = (Vec::new(), Vec::new(), 0);
    for _ in 0..20 {
        let mut changer =
            Changer::open(Machine::below(&root, "/bin/false"), &state, Access::Write)?;
        let start = Instant::now();
        let mut change = changer.begin(Intent::default())?;
        change.apply(&group(FILES[0], 1024, "a", "b"))?;
        n_syncs = change.n_syncs();
        let id = change.id().to_owned();
        change.keep()?;
        applied.push(start.elapsed());
        let start = Instant::now();
        changer.revert(&id, Force::No)?;
        reverted.push(start.elapsed());
    }
    println!(
        "governor of 1,024 policies on {}: {n_syncs} fsyncs of its group",
        folder.path().display()
    );
    report("  applied and kept", applied);
    report("  reverted", reverted);
    Ok(())
}

fn year() -> Result<()> {
    let folder = tempfile::tempdir_in("/dev/shm")?;
    let (root, state) = lay_out(folder.path(), 128, &FILES)?;
    for day in 0..DAYS {
        let mut changer =
            Changer::open(Machine::below(&root, "/bin/false"), &state, Access::Write)?;
        let command = vec!["fullclock".to_owned(), "apply".to_owned(), "--profile".to_owned()];
        let mut change = changer.begin(Intent { command, ..Intent::default() })?;
        let (from, to) = if day % 2 == 0 { ("a", "b") } else { ("b", "a") };
        for file in FILES {
            change.apply(&group(file, 128, from, to))?;
        }
        change.keep()?;
    }
    let length = std::fs::metadata(state.join("journal"))?.len();
    println!("{DAYS} changes of {} groups of 128 writes: {length} bytes", FILES.len());
    let (mut opened, mut read) = (Vec::new(), Vec::new());
    for _ in 0..50 {
        let start = Instant::now();
        let journal = Journal::open(&state, Access::Read)?;
        opened.push(start.elapsed());
        let last = journal.changes().last().context("a year has days")?;
        let start = Instant::now();
        let groups = journal.groups(&last.id)?;
        read.push(start.elapsed());
        anyhow::ensure!(groups.len() == FILES.len() && journal.changes().len() == DAYS as usize);
    }
    report("  opened", opened);
    report("  the groups of one change", read);
    Ok(())
}

/// A host with these files of each policy, and where its journal is to be.
fn lay_out(folder: &Path, n_policies: u32, files: &[&str]) -> Result<(PathBuf, PathBuf)> {
    let root = folder.join("root");
    let boot = root.join("proc/sys/kernel/random");
    std::fs::create_dir_all(&boot)?;
    std::fs::write(boot.join("boot_id"), "bench\n")?;
    for policy in 0..n_policies {
        let folder = root.join(format!("sys/devices/system/cpu/cpufreq/policy{policy}"));
        std::fs::create_dir_all(&folder)?;
        for file in files {
            std::fs::write(folder.join(file), format!("{}\n", value(file, "a")))?;
        }
    }
    Ok((root, folder.join("state")))
}

fn group(file: &str, n_policies: u32, from: &str, to: &str) -> Group {
    let path = |policy| format!("/sys/devices/system/cpu/cpufreq/policy{policy}/{file}");
    let write = |it| Write::of(Target::control(path(it)), value(file, from), value(file, to));
    let writes = (0..n_policies).map(write).collect();
    Group { setting: file.to_owned(), value: to.to_owned(), canary: false, writes }
}

/// Values as long as those of a host.
fn value(file: &str, which: &str) -> &'static str {
    match (file, which) {
        ("scaling_governor", "a") => "powersave",
        ("scaling_governor", _) => "performance",
        ("energy_performance_preference", "a") => "balance_performance",
        ("energy_performance_preference", _) => "balance_power",
        ("boost", "a") => "1",
        ("boost", _) => "0",
        (_, "a") => "800000",
        _ => "3400000",
    }
}

fn report(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: usize| {
        times.get((times.len() - 1) * part / 100).map_or(0.0, |it| it.as_secs_f64() * 1e3)
    };
    let (n, median, least, most) = (times.len(), at(50), at(0), at(100));
    println!("{name}: median {median:.1} ms, {least:.1} to {most:.1} ms, n {n}");
}
