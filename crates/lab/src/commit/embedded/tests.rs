//! The engine whole: what it counts, what is in its log, and what it leaves.
#![expect(clippy::disallowed_methods, reason = "looks at what is left in a folder")]

use super::*;
use crate::commit::Split;
use facts::HostView;
use std::sync::atomic::AtomicBool;

fn scene(folder: &std::path::Path) -> Scene<'_> {
    static CALM: AtomicBool = AtomicBool::new(false);
    static HOST: std::sync::OnceLock<HostView> = std::sync::OnceLock::new();
    let host = HOST.get_or_init(|| host::view(&host::Live::this_machine()));
    let allowed = host::probe::allowed().unwrap();
    Scene { host, allowed, temporary: folder.to_owned(), stop: &CALM }
}

fn engine(folder: &std::path::Path, sessions: u64) -> Embedded {
    let folder_name = folder.to_str().unwrap().to_owned();
    let settings =
        Settings { sessions: Some(sessions), folder: Some(folder_name), ..Settings::default() };
    Embedded::open(&settings, &scene(folder)).unwrap()
}

/// Samples until that many commits are over.
fn sample_after(engine: &mut Embedded, commits: u64) -> Sample {
    loop {
        let sample = engine.sample().unwrap();
        if sample.commits >= commits {
            return sample;
        }
    }
}

#[test]
fn every_commit_is_in_the_log_and_every_start_counts_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = engine(folder.path(), 4);
    for _ in 0..2 {
        engine.start().unwrap();
        let before = sample_after(&mut engine, 1);
        let after = sample_after(&mut engine, before.commits + 50);
        engine.stop().unwrap();
        let split = Split::between(&before, &after).unwrap();
        assert!(split.commits >= 50 && after.sessions == 4);
        let writes = *split.writes.value().unwrap();
        assert!((1..=split.commits + 4).contains(&writes), "{writes} writes");
        assert!(split.write.value().is_some() && split.commit.unexplained.value().is_some());
        assert!(matches!(engine.sample(), Err(Failure::Stopped)));
    }
    drop(engine);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn dropping_it_in_the_middle_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = engine(folder.path(), 2);
    engine.start().unwrap();
    sample_after(&mut engine, 1);
    drop(engine);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_commit_that_is_not_in_the_log_is_a_wrong_answer() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = engine(folder.path(), 1);
    engine.start().unwrap();
    sample_after(&mut engine, 3);
    let ended = engine.running.take().unwrap().end();
    let told = [ended.committed[0] + 1];
    let wrong = redo::check(&engine.file, 1, ended.last_batch, &told).unwrap_err().to_string();
    assert!(wrong.starts_with("WRONG ANSWER: commit computed row "), "{wrong}");
    engine.file.write(0, &[0; 512]).unwrap();
    let lost = redo::check(&engine.file, 1, ended.last_batch, &ended.committed).unwrap_err();
    assert!(lost.to_string().contains("log writes up to"), "{lost}");
}
