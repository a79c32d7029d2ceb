//! Earlier results of what is compared, from the folders of results.
//!
//! Which of them count is decided by [`EarlierRuns::add`] alone; here they are found and read.

use crate::results_folder::{folder_of, results_folder};
use lab::compare::{EarlierRuns, Side};
use lab::store::{read, results_like};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folders in which earlier results are looked for: those of the files that are compared, and the one where results are kept,
/// chosen or the default.
pub fn folders_of(files: &[PathBuf], results: Option<&Path>) -> BTreeSet<PathBuf> {
    let kept = results_folder(results).ok();
    let all = files.iter().map(|it| folder_of(it).to_owned()).chain(kept);
    // One folder by two names is one.
    all.map(|it| it.canonicalize().unwrap_or(it)).collect()
}

/// The earlier runs of these sides in the folders, the latest of them; none where all sides are of one result.
///
/// It reads what is called as results of these workloads are, and 32 MiB at most, which takes half a second. What cannot be read is no
/// earlier run.
pub fn earlier_runs<'a>(sides: &[Side<'a>], folders: &BTreeSet<PathBuf>) -> EarlierRuns<'a> {
    let mut runs = EarlierRuns::of(sides);
    if sides.windows(2).all(|it| std::ptr::eq(it[0].record, it[1].record)) {
        return runs;
    }
    let mut left = MOST_BYTES;
    for file in candidates(sides, folders) {
        if runs.is_full() {
            break;
        }
        let size = std::fs::metadata(&file).map_or(u64::MAX, |it| it.len());
        let Some(rest) = left.checked_sub(size) else { continue };
        left = rest;
        if let Ok(record) = read(&file) {
            runs.add(&record);
        }
    }
    runs
}

const MOST_BYTES: u64 = 32 << 20;

/// The files that may be earlier runs, the latest first.
fn candidates(sides: &[Side<'_>], folders: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let of_side = |side: &Side<'_>| {
        let id = side.record.id.clone();
        folders.iter().flat_map(move |it| results_like(it, &id))
    };
    let compared: BTreeSet<&str> = sides.iter().map(|it| it.record.id.as_str()).collect();
    let is_compared = |it: &Path| {
        it.file_stem().is_some_and(|it| it.to_str().is_some_and(|it| compared.contains(it)))
    };
    let files: BTreeSet<PathBuf> =
        sides.iter().flat_map(of_side).filter(|it| !is_compared(it)).collect();
    let mut files: Vec<PathBuf> = files.into_iter().collect();
    // A name begins with the moment.
    files.sort_by_key(|it| Reverse(it.file_name().map(ToOwned::to_owned)));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::record::{Arm, Record};
    use lab::store::Journal;
    use lab::trial::Trial;

    fn kept(folder: &Path, day: u32, seconds: f64) -> Record {
        let trials = (0..8).map(|at| Trial {
            number: at + 1,
            ..Trial::of_one_task(0, at, seconds * (1.0 + f64::from(at % 3) / 1e4))
        });
        let mut record = Record {
            id: format!("202611{day:02}T100000Z-cpu-loop"),
            began: format!("2026-11-{day:02}T10:00:00Z"),
            trials: trials.collect(),
            is_complete: true,
            ..Record::of(vec![Arm::of("A", "cpu-loop")])
        };
        record.machine.0.insert("smt control".to_owned(), "on".to_owned());
        Journal::begin(folder, &mut record).unwrap().finish(&record).unwrap();
        record
    }

    fn known_of(a: &Record, b: &Record, folders: &BTreeSet<PathBuf>) -> Option<usize> {
        let sides = [a, b].map(|record| Side { name: "a run", record, arm: 0 });
        earlier_runs(&sides, folders).between(0, 1, 0.99)?.known_of
    }

    #[test]
    fn earlier_results_are_found_in_the_folders_of_both_files_and_where_results_are_kept() {
        let [before, after, results] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        kept(before.path(), 1, 1.0);
        kept(after.path(), 2, 1.001);
        kept(results.path(), 3, 1.002);
        let (a, b) = (kept(before.path(), 20, 1.0), kept(after.path(), 21, 1.01));
        kept(results.path(), 22, 1.0);
        let files = [before.path().join("a.json"), after.path().join("b.json")];
        let folders = folders_of(&files, Some(results.path()));
        assert_eq!(folders.len(), 3);
        assert_eq!(known_of(&a, &b, &folders), Some(3));
        assert_eq!(known_of(&b, &a, &folders), Some(3));
        let without = folders_of(&files[..1], Some(before.path()));
        assert_eq!((without.len(), known_of(&a, &b, &without)), (1, None));
        assert_eq!(known_of(&a, &a, &folders), None, "arms of one result");
    }
}
