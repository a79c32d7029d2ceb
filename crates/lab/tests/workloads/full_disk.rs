//! A disk that is full while results are kept: a file system of 64 KiB in memory, which takes root. Where it cannot be
//! mounted, the tests say so and pass.

use lab::doubt::Doubt;
use lab::failure::Failure;
use lab::record::Record;
use lab::store::{History, Journal, read, sweep};
use lab::trial::Trial;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Unmounted when dropped.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "fullclock-test"]).arg(folder.path());
        let is_mounted = mount.stderr(Stdio::null()).status().is_ok_and(|it| it.success());
        if !is_mounted {
            println!("skipped: no file system can be mounted here");
        }
        is_mounted.then(|| SmallDisk(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let is_unmounted = || Command::new("umount").arg(self.path()).status().unwrap().success();
        assert!(again(|| is_unmounted().then_some(())).is_some());
    }
}

const RECORD: &str = r#"{"format":1,"id":"x","version":"0.1.0","began":"2026-11-20T15:43:05Z",
    "arms":[{"name":"A","workload":"cpu-loop","settings":{"cpus":"1"},"about":[]}],
    "machine":{},"trials":[],"doubts":[],"is_complete":false}"#;

const TRIAL: &str = r#"{"number":1,"arm":0,"block":1,"began_ns":0,"elapsed_ns":2,"cpu_ns":2,"tasks":1,
    "figures":[{"name":"elapsed","unit":"s","value":2.0,"better":"lower"}],"clock":{"missing":"nobody looked"},
    "surroundings":{"cpus":"1","window_ns":1,"ledger":[],"unexplained":0.0,"metrics":[]}}"#;

/// Adds trials until the disk is full; how many were kept.
fn fill(journal: &mut Journal, record: &mut Record) -> usize {
    let trial: Trial = serde_json::from_str(TRIAL).unwrap();
    for n_kept in 0..10_000 {
        record.trials.push(trial.clone());
        if let Err(failure) = journal.add(record) {
            let text = failure.to_string();
            assert!(text.contains("those before are in ") && text.contains("x.trials"), "{text}");
            return n_kept;
        }
    }
    panic!("64 KiB hold no ten thousand trials");
}

/// What is found at last. A program that another test starts holds this process's files and locks until it runs.
fn again<T>(look: impl FnMut() -> Option<T>) -> Option<T> {
    std::iter::repeat_with(look).take(1000).find_map(|it| {
        if it.is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        it
    })
}

/// What becomes of the only journal on a disk.
fn swept(disk: &SmallDisk) -> Result<PathBuf, Failure> {
    again(|| sweep(disk.path()).pop()).unwrap()
}

#[test]
fn a_full_disk_costs_no_trial_that_was_kept_before() {
    let Some(disk) = SmallDisk::mount() else { return };
    let mut record: Record = serde_json::from_str(RECORD).unwrap();
    let mut journal = Journal::begin(disk.path(), &mut record).unwrap();
    let n_kept = fill(&mut journal, &mut record);
    let path = disk.path().join("x.trials");
    assert!(n_kept > 10 && read(&path).unwrap().trials.len() == n_kept);

    // Nor can the whole result be written; the journal stays, and no half of a result.
    assert!(journal.finish(&record).is_err());
    assert!(swept(&disk).is_err());
    let names = std::fs::read_dir(disk.path()).unwrap().map(|it| it.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["x.trials"]);
    assert_eq!(read(&path).unwrap().trials.len(), n_kept);
}

#[test]
fn results_on_a_full_disk_are_found_without_an_index_and_those_of_a_disk_with_room_again_are_finished()
 {
    let Some(disk) = SmallDisk::mount() else { return };
    let filler = disk.path().join("filler");
    std::fs::write(&filler, vec![0; 32 << 10]).unwrap();
    let mut record: Record = serde_json::from_str(RECORD).unwrap();
    let path = Journal::begin(disk.path(), &mut record).unwrap().finish(&record).unwrap();
    record.id = "x".to_owned();
    std::fs::rename(&path, disk.path().join("w.json")).unwrap();
    let mut journal = Journal::begin(disk.path(), &mut record).unwrap();
    let n_kept = fill(&mut journal, &mut record);
    drop(journal);
    let ids = || -> Vec<String> {
        let entries = History::open(disk.path()).unwrap().list(None, 9).unwrap();
        entries.into_iter().map(|it| it.id).collect()
    };
    assert_eq!(ids(), ["w"]);

    std::fs::remove_file(filler).unwrap();
    let finished = read(&swept(&disk).unwrap()).unwrap();
    assert_eq!(finished.trials.len(), n_kept);
    assert!(finished.doubts.contains(&Doubt::CutShort.into()));
    assert_eq!(ids(), ["x", "w"]);
}
