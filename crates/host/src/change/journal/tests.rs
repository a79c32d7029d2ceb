//! The journal: written, cut, damaged and read again.

use super::*;
use crate::change::tree::{Tree, governors, restore, stat_interval};
use crate::change::{Cause, ChangeError, Force, Intent};
use facts::change::{ChangeState, WriteOutcome};
use proptest::prelude::*;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::sync::OnceLock;

/// A journal of three changes, the last of them interrupted.
fn text() -> &'static [u8] {
    static TEXT: OnceLock<Vec<u8>> = OnceLock::new();
    TEXT.get_or_init(|| {
        let tree = Tree::new();
        let mut changer = tree.changer();
        for n_groups in 0..2 {
            let command = vec!["apply".to_owned(), n_groups.to_string()];
            let intent = Intent { command, ..Intent::default() };
            let mut change = changer.begin(intent).unwrap();
            for group in [governors(), stat_interval()].iter().take(n_groups) {
                change.apply(group).unwrap();
            }
            change.undo().unwrap();
        }
        let mut change = changer.begin(Intent::default()).unwrap();
        change.apply(&stat_interval()).unwrap();
        std::mem::forget(change);
        std::mem::take(&mut changer.journal.text)
    })
}

fn parse(text: &[u8]) -> Result<Journal, JournalError> {
    Journal::parse(Path::new("/state"), text.to_vec())
}

/// Asks for everything that is in it.
fn read_whole(journal: &Journal) -> Result<usize, JournalError> {
    let groups = journal.changes().iter().map(|it| journal.groups(&it.id).map(|it| it.len()));
    groups.sum()
}

#[test]
fn a_journal_adds_up_to_its_changes() {
    let journal = parse(text()).unwrap();
    let states: Vec<&ChangeState> = journal.changes().iter().map(|it| &it.state).collect();
    assert_eq!(states, [&ChangeState::Reverted, &ChangeState::Reverted, &ChangeState::Open]);
    assert_eq!(journal.changes()[1].command, ["apply", "1"]);
    let groups = journal.groups("2").unwrap();
    assert_eq!(groups[0].group, governors());
    assert_eq!(groups[0].fates, [const { WriteOutcome::Undone }; 4]);
    assert_eq!(
        journal.groups("4").unwrap_err().to_string().split(';').next(),
        Some("no change 4 is in the journal")
    );
}

#[test]
fn the_lines_of_a_change_are_those_whose_step_names_it() {
    let journal = parse(text()).unwrap();
    let all: Vec<&[u8]> = text().split_inclusive(|it| *it == b'\n').collect();
    for id in ["1", "0002", "3"] {
        let lines = journal.lines(id).unwrap();
        let named = journal.change(id).unwrap().id.clone();
        let is_of = |line: &&&[u8]| {
            let line: serde_json::Value = serde_json::from_slice(line).unwrap();
            line["step"]["change"] == named
        };
        let expected: Vec<&[u8]> = all.iter().filter(is_of).copied().collect();
        assert!(expected.len() > 1);
        assert_eq!((lines.text, lines.n_lines), (expected.concat(), expected.len()));
        assert_eq!(lines.n_before, all.len());
    }
    assert!(journal.lines("4").is_err());
}

#[test]
fn a_last_line_that_was_cut_at_any_byte_is_dropped_and_all_before_it_is_there() {
    let lines: Vec<&[u8]> = text().split_inclusive(|it| *it == b'\n').collect();
    let (last, before) = lines.split_last().unwrap();
    let before = before.concat();
    for cut in 1..last.len() {
        let journal = parse(&[&before, &last[..cut]].concat()).unwrap();
        assert_eq!(journal.text, before, "{cut}");
        assert_eq!(journal.changes()[2].state, ChangeState::Open, "{cut}");
        assert!(journal.notes()[0].contains("a crash cut it"), "{:?}", journal.notes());
        // A file system may have kept the length, and zeros for what it had not written.
        let mut zeros = last.to_vec();
        zeros[cut - 1..last.len() - 1].fill(0);
        assert_eq!(parse(&[&before, zeros.as_slice()].concat()).unwrap().text, before, "{cut}");
    }
}

#[test]
fn a_journal_that_was_cut_at_any_byte_restores_the_host() {
    let tree = Tree::new();
    let before = tree.all();
    let mut changer = tree.changer();
    let mut change = changer.begin(Intent::default()).unwrap();
    change.apply(&governors()).unwrap();
    std::mem::forget(change);
    drop(changer);
    let whole = tree.journal_text();
    let lines: Vec<&[u8]> = whole.split_inclusive(|it| *it == b'\n').collect();
    let after = tree.all();
    // The outcome is the last line; the intent was on disk before anything was written.
    let first_cut = whole.len() - lines.last().unwrap().len();
    for cut in first_cut..=whole.len() {
        restore(&after);
        tree.set_journal_text(&whole[..cut]);
        tree.changer().recover(Force::No).unwrap();
        assert_eq!(tree.all(), before, "{cut}");
        assert_eq!(tree.journal().changes()[0].state, ChangeState::Reverted, "{cut}");
    }
}

#[test]
fn damage_in_the_middle_is_told_with_its_line_and_never_skipped() {
    let mut damaged = text().to_vec();
    let second_line = damaged.iter().position(|it| *it == b'\n').unwrap() + 30;
    damaged[second_line] ^= 1;
    let error = parse(&damaged).unwrap_err().to_string();
    assert!(error.starts_with("/state/journal, line 2: its checksum is "), "{error}");
    assert!(error.contains("write that back by hand"), "{error}");
}

#[test]
fn lines_that_are_missing_are_told() {
    let lines: Vec<&[u8]> = text().split_inclusive(|it| *it == b'\n').collect();
    for gone in 0..lines.len() - 1 {
        let mut fewer = lines.clone();
        fewer.remove(gone);
        assert!(parse(&fewer.concat()).is_err(), "line {gone}");
    }
}

#[test]
fn a_journal_of_a_later_version_is_refused() {
    let line = entry::line(1, &Step::Journal { version: VERSION + 1 }, "null").unwrap();
    let error = parse(line.as_bytes()).unwrap_err();
    assert!(matches!(error, JournalError::Newer { found: 2, known: 1, .. }), "{error}");
}

#[test]
fn what_the_disk_does_not_take_is_not_written_to_the_host() {
    for refusal in [Errno::IO, Errno::NOSPC] {
        let tree = Tree::new();
        let before = tree.all();
        let mut changer = tree.changer();
        changer.journal.log_file.as_mut().unwrap().refusal = Some(refusal);
        let mut change = changer.begin(Intent::default()).unwrap();
        let failure = change.apply(&governors()).unwrap_err();
        assert!(matches!(&failure.cause, Cause::NotJournaled(_)), "{failure}");
        assert!(failure.to_string().starts_with("governor: nothing of this setting was written: "));
        drop(change);
        assert_eq!(tree.all(), before);
        drop(changer);
        // Nobody knows what the disk holds, and the next start sees to it.
        tree.changer().recover(Force::No).unwrap();
        assert_eq!(tree.all(), before);
    }
}

#[test]
fn a_disk_that_fails_after_the_writing_has_everything_undone() {
    let tree = Tree::new();
    let before = tree.all();
    let mut changer = tree.changer();
    let log_file = changer.journal.log_file.as_mut().unwrap();
    (log_file.refusal, log_file.syncs_until_refusal) = (Some(Errno::IO), 3);
    let mut change = changer.begin(Intent::default()).unwrap();
    change.apply(&governors()).unwrap();
    let failure = change.apply(&stat_interval()).unwrap_err();
    assert!(matches!(&failure.cause, Cause::OutcomeNotJournaled(_)), "{failure}");
    assert!(failure.journal.is_some());
    drop(change);
    assert_eq!(tree.all(), before);
    drop(changer);
    tree.changer().recover(Force::No).unwrap();
    assert_eq!(tree.journal().changes()[0].state, ChangeState::Reverted);
}

#[test]
fn a_full_device_takes_no_change() {
    let tree = Tree::new();
    let before = tree.all();
    let mut changer = tree.changer();
    let full = rustix::fs::open("/dev/full", OFlags::RDWR, rustix::fs::Mode::empty()).unwrap();
    changer.journal.log_file = Some(LogFile::new(full, "/dev/full".into(), 0));
    let error = changer.begin(Intent::default()).unwrap_err().to_string();
    assert_eq!(
        error,
        "/dev/full cannot be written: No space left on device (os error 28): make room there, or use another --state-dir"
    );
    assert_eq!(tree.all(), before);
}

#[test]
fn a_file_that_others_can_write_is_no_journal() {
    let tree = Tree::new();
    drop(tree.journal());
    let path = tree.state().join(NAME);
    rustix::fs::chmod(&path, rustix::fs::Mode::from_raw_mode(0o666)).unwrap();
    for access in [Access::Read, Access::Write] {
        let error = Journal::open(&tree.state(), access).unwrap_err().to_string();
        assert!(error.contains("others can write it"), "{error}");
    }
    rustix::fs::chmod(&path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    rustix::fs::rename(&path, tree.state().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", &path).unwrap();
    assert!(Journal::open(&tree.state(), Access::Read).unwrap_err().to_string().contains("a link"));
}

proptest! {
    #[test]
    fn any_bytes_are_a_journal_or_an_error(bytes: Vec<u8>) {
        if let Ok(journal) = parse(&bytes) {
            prop_assert!(journal.text.is_empty());
        }
    }

    #[test]
    fn any_step_with_any_body_is_a_journal_or_an_error(
        steps in prop::collection::vec((0..9u8, 0..3u8, any::<u32>(), ".*"), 0..8),
    ) {
        let mut text = entry::line(1, &Step::Journal { version: VERSION }, "null").unwrap();
        for (sequence, (kind, change, number, body)) in (2..).zip(steps) {
            let change = format!("{change:04}");
            let body = match number % 3 {
                0 => "null".to_owned(),
                1 => format!("{{\"{}\":[[{number},\"intended\"]]}}", number % 2),
                _ => serde_json::to_string(&body).unwrap(),
            };
            text += &entry::line(sequence, &step(kind, change, number), &body).unwrap();
        }
        if let Ok(journal) = parse(text.as_bytes()) {
            // It ends, and takes no more room than its groups have writes.
            let _told = read_whole(&journal);
        }
    }

    #[test]
    fn damage_to_a_journal_is_never_another_journal(
        place in 0..text().len(), value: u8, cut in 0..4usize,
    ) {
        let mut damaged = text().to_vec();
        damaged[place] = value;
        damaged.drain(place..(place + cut).min(text().len()));
        let whole = parse(text()).unwrap();
        if let Ok(journal) = parse(&damaged) {
            // What was dropped is the end, and what is left is as it was.
            prop_assert!(text().starts_with(&journal.text));
            for (found, written) in journal.changes().iter().zip(whole.changes()) {
                prop_assert_eq!(&found.command, &written.command);
            }
            prop_assert!(read_whole(&journal).is_ok());
        }
    }
}

fn step(kind: u8, change: String, number: u32) -> Step {
    match kind {
        0 => Step::Journal { version: number },
        1 | 2 => Step::Begun {
            change,
            milliseconds: 1,
            boot: "b".into(),
            command: Vec::new(),
            brings_faults_back: kind == 2,
        },
        3 => Step::Intended { change, group: number % 3 },
        4 => Step::Held { change, pid: number, started: 1 },
        5 => Step::Done { change },
        6 => Step::Kept { change },
        7 => Step::Reverting { change },
        _ => Step::Reverted { change, left: number },
    }
}

#[test]
fn a_change_that_cannot_be_kept_tells_what_it_undid() {
    let tree = Tree::new();
    let before = tree.all();
    let mut changer = tree.changer();
    let log_file = changer.journal.log_file.as_mut().unwrap();
    (log_file.refusal, log_file.syncs_until_refusal) = (Some(Errno::IO), 2);
    let mut change = changer.begin(Intent::default()).unwrap();
    change.apply(&stat_interval()).unwrap();
    match change.keep().unwrap_err() {
        ChangeError::NotKept { undone, journal, .. } => {
            assert_eq!((undone.len(), journal.is_some()), (1, true));
        }
        error => panic!("{error}"),
    }
    assert_eq!(tree.all(), before);
}

#[test]
fn nothing_is_appended_without_the_lock() {
    let tree = Tree::new();
    let mut journal = tree.journal();
    journal.lock = None;
    let step = Step::Kept { change: "0001".to_owned() };
    let error = journal.append(step, &(), true).unwrap_err().to_string();
    assert!(error.contains("does not hold its lock"), "{error}");
    assert!(tree.journal_text().is_empty());
}
