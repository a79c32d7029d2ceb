//! Machines from files: captures, audits and results in JSON, sosreports and other copies of hosts, folders and archives of them.
//!
//! A machine is called by its file, since a capture has no name of its host. What holds no machine is skipped and reported. Files are
//! read on two threads, and each copy is forgotten once it has become a machine.

mod file;
mod list;

#[cfg(test)]
mod tests;

use super::told::Told;
use super::{Gathered, Skipped};
use anyhow::{Result, anyhow, bail};
use facts::quantity::counted;
pub(super) use file::of_source;
use fleet::{Machine, Measured, Words};
use list::{Item, items};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Threads that read files: more would leave a machine that serves no CPU of its own.
const MOST_THREADS: usize = 2;

/// Machines that wait to be taken in, of each thread.
const WAITING: usize = 16;

/// The machines in these files, folders and archives. `progress` is told how many files of how many have been read.
///
/// Errors: a path is not there, or none of all holds a machine.
pub fn gather(paths: &[PathBuf], progress: &mut dyn FnMut(usize, usize)) -> Result<Gathered> {
    let list = items(paths)?;
    let mut gathered = Gathered { notes: list.notes, ..Gathered::default() };
    let mut told = Vec::new();
    read_all(&list.items, &mut |at, found| {
        progress(at, list.items.len());
        match found {
            Ok(found) => told.push(found),
            Err(skipped) => gathered.skipped.push(skipped),
        }
    });
    if told.is_empty() {
        bail!(nothing(paths, &gathered));
    }
    keep_one_workload(&mut told, &mut gathered.skipped);
    shorten_names(&mut told, &mut gathered.skipped);
    let mut words = Words::default();
    gathered.machines = told.into_iter().map(|it| it.machine(&mut words)).collect();
    gathered.machines.sort_by(|a: &Machine, b| a.name.cmp(&b.name));
    gathered.skipped.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(gathered)
}

/// A machine of one file, or why there is none.
type Found = Result<Told, Skipped>;

/// Reads all on several threads. `each` gets what was found, with the number of items that were begun.
fn read_all(items: &[Item], each: &mut dyn FnMut(usize, Found)) {
    let n_threads = std::thread::available_parallelism().map_or(1, |it| it.get().min(MOST_THREADS));
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::sync_channel(n_threads * WAITING);
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    file::read(item, &mut |found| {
                        // Who receives waits until the last one has been sent.
                        sender.send(found).ok();
                    });
                }
            });
        }
        drop(sender);
        for found in receiver {
            each(next.load(Ordering::Relaxed).min(items.len()), found);
        }
    });
}

/// Why nothing was found.
fn nothing(paths: &[PathBuf], gathered: &Gathered) -> anyhow::Error {
    let passed: String = gathered.notes.iter().map(|it| format!("; {it}")).collect();
    let expected = "expected captures (`fullclock capture -o FILE`), audits (`fullclock audit --json`), results of `fullclock bench`, \
                    sosreports, or folders and archives of them";
    match &gathered.skipped[..] {
        [] => {
            let named: Vec<String> = paths.iter().map(|it| it.display().to_string()).collect();
            anyhow!("{} holds no machine: {expected}{passed}", named.join(", "))
        }
        [only] => anyhow!("{}: {}", only.name, only.why),
        [first, ..] => {
            let n = counted(gathered.skipped.len() as u64, "file");
            anyhow!(
                "none of {n} holds a machine: {expected}; {}: {}{passed}",
                first.name,
                first.why
            )
        }
    }
}

/// Figures of two workloads cannot be compared: those of the most frequent one stay.
fn keep_one_workload(told: &mut Vec<Told>, skipped: &mut Vec<Skipped>) {
    let words = |it: &Measured| format!("{}: {} ({})", it.workload, it.name, it.unit);
    let mut counts: HashMap<String, usize> = HashMap::new();
    for result in told.iter().filter_map(|it| it.result.as_ref()) {
        *counts.entry(words(result)).or_default() += 1;
    }
    // Of equally many the first by name, so that the order of files decides nothing.
    let kept = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
    let Some((kept, _)) = kept else { return };
    told.retain(|it| match &it.result {
        Some(result) if words(result) != kept => {
            let result = words(result);
            let why = format!("it is a result of {result}, and most are of {kept}");
            skipped.push(Skipped { name: it.name.clone(), why });
            false
        }
        _ => true,
    });
}

/// Leaves out the folders that all have in common.
fn shorten_names(told: &mut [Told], skipped: &mut [Skipped]) {
    let names = || told.iter().map(|it| &it.name).chain(skipped.iter().map(|it| &it.name));
    let Some(first) = names().next() else { return };
    let folder = Path::new(first).parent().unwrap_or(Path::new("")).to_owned();
    let common = folder.ancestors().find(|it| names().all(|name| Path::new(name).starts_with(it)));
    let Some(common) = common.map(Path::to_owned) else { return };
    let shorten = |name: &mut String| {
        if let Ok(rest) = Path::new(name.as_str()).strip_prefix(&common)
            && !rest.as_os_str().is_empty()
        {
            *name = rest.display().to_string();
        }
    };
    told.iter_mut().for_each(|it| shorten(&mut it.name));
    skipped.iter_mut().for_each(|it| shorten(&mut it.name));
}
