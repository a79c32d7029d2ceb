//! What is heard of small programs.
#![expect(clippy::disallowed_methods, reason = "runs small programs and writes to a FIFO")]

use super::super::command::{Output, Workload};
use super::*;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// An ear for `n=NUMBER`, and marks that begin with `mark`.
fn ear() -> Ear {
    let metric = ClientMetric { client: String::new(), unit: String::new() };
    let expression = Expression::parse("n=([0-9.]+)").unwrap();
    let mark = Some(Mark::parse("^mark").unwrap());
    Ear::new(Wanted { metric: Some((metric, expression)), mark })
}

fn values(ear: &Ear) -> Vec<f64> {
    ear.take(u64::MAX).0.heard.iter().map(|it| it.value).collect()
}

/// Runs a script to its end; what was heard, and what came through.
fn heard(script: &str) -> (ClientSample, Vec<u8>) {
    let mut file = tempfile::tempfile().unwrap();
    let ear = ear();
    let mut workload = start(script, &file, &ear);
    assert!(workload.outcome().unwrap().success(), "{script}");
    file.rewind().unwrap();
    let mut through = Vec::new();
    file.read_to_end(&mut through).unwrap();
    (ear.take(u64::MAX).0, through)
}

fn start(script: &str, file: &File, ear: &Ear) -> Workload {
    let command = ["sh", "-c", script].map(OsString::from);
    Workload::start(&command, Output::Unseen(file), Some(ear)).unwrap()
}

#[test]
fn numbers_and_marks_of_both_outputs_are_heard_and_everything_comes_through() {
    let (sample, through) = heard("printf 'n=1\\nmark a\\377\\n'; printf 'x n=2 n=3\\r\\n' >&2");
    let mut values: Vec<f64> = sample.heard.iter().map(|it| it.value).collect();
    values.sort_by(f64::total_cmp);
    assert_eq!(values, [1.0, 3.0]);
    assert_eq!(
        sample.marks.iter().map(|it| it.text.as_str()).collect::<Vec<_>>(),
        ["mark a\u{fffd}"]
    );
    for part in [&b"n=1\nmark a\xff\n"[..], b"x n=2 n=3\r\n"] {
        assert!(through.windows(part.len()).any(|it| it == part), "{through:?}");
    }
    assert_eq!(through.len(), 23);
}

#[test]
fn a_progress_display_and_a_line_without_an_end_are_heard() {
    let (sample, through) = heard("printf 'n=1\\rn=2\\rn='; sleep 0.05; printf '3'");
    assert_eq!(sample.heard.iter().map(|it| it.value).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
    assert!(sample.heard.is_sorted_by_key(|it| it.at));
    assert_eq!(through, b"n=1\rn=2\rn=3");
}

#[test]
fn a_line_of_a_megabyte_comes_through_and_the_next_is_heard() {
    let (sample, through) = heard("head -c 1048576 /dev/zero | tr '\\0' x; printf '\\nn=7\\n'");
    assert_eq!(sample.heard.iter().map(|it| it.value).collect::<Vec<_>>(), [7.0]);
    assert_eq!(through.len(), (1 << 20) + 5);
    assert!(through.starts_with(b"xxx") && through.ends_with(b"x\nn=7\n"));
}

#[test]
fn a_command_outlives_the_reader_of_its_output() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let closed = File::from(std::os::fd::OwnedFd::from(writer));
    let ear = ear();
    // More than a pipe holds.
    let script = "for i in 1 2 3 4; do head -c 65536 /dev/zero; done; printf '\\nn=9\\n'";
    let mut workload = start(script, &closed, &ear);
    assert!(workload.outcome().unwrap().success());
    assert_eq!(values(&ear), [9.0]);
}

#[test]
fn a_process_that_keeps_the_pipe_open_is_not_waited_for() {
    let (mut pid, ear) = (tempfile::tempfile().unwrap(), ear());
    let mut workload = start("sleep 600 & echo $!; printf 'n=4'", &pid, &ear);
    workload.outcome().unwrap();
    assert_eq!(values(&ear), [4.0]);
    let mut text = String::new();
    pid.rewind().unwrap();
    pid.read_to_string(&mut text).unwrap();
    let pid = text.lines().next().unwrap().to_owned();
    // It was running all the time.
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
}

#[test]
fn what_was_read_after_the_sample_is_of_the_next() {
    let ear = ear();
    ear.line("n=1", 10);
    ear.line("n=2", 20);
    ear.line("mark", 20);
    let (first, note) = ear.take(15);
    assert_eq!(
        (first.heard, first.marks.len(), note),
        (vec![Heard { at: 10, value: 1.0 }], 0, None)
    );
    let (second, _) = ear.take(20);
    assert_eq!((second.heard, second.marks.len()), (vec![Heard { at: 20, value: 2.0 }], 1));
    assert_eq!(ear.take(u64::MAX).0.heard, []);
}

#[test]
fn what_a_sample_has_no_room_for_is_counted() {
    let ear = ear();
    (0..MOST_NUMBERS + 2).for_each(|_| ear.line("n=1", 1));
    let (sample, note) = ear.take(1);
    assert_eq!(sample.heard.len(), MOST_NUMBERS);
    assert!(note.unwrap().starts_with("2 numbers and marks of the client"));
    assert_eq!(ear.take(1).1, None);
}

/// Waits until something was heard.
fn next(ear: &Ear) -> Vec<f64> {
    loop {
        let found = values(ear);
        if !found.is_empty() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_file_is_followed_from_its_end_and_again_from_its_beginning_when_it_is_cut() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "n=1").unwrap();
    let ear = ear();
    let mut hearing = Hearing::of_file(file.path(), &ear).unwrap();
    writeln!(file, "n=2").unwrap();
    assert_eq!(next(&ear), [2.0]);
    file.as_file().set_len(0).unwrap();
    file.rewind().unwrap();
    writeln!(file, "n=3").unwrap();
    assert_eq!(next(&ear), [3.0]);
    write!(file, "n=4").unwrap();
    hearing.finish();
    assert_eq!(values(&ear), [4.0]);
}

#[test]
fn a_fifo_without_a_writer_delays_neither_beginning_nor_end_and_writers_may_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    Hearing::of_file(&path, &ear()).unwrap().finish();
    let ear = ear();
    let mut hearing = Hearing::of_file(&path, &ear).unwrap();
    for value in [5.0, 6.0] {
        std::fs::write(&path, format!("n={value}\n")).unwrap();
        assert_eq!(next(&ear), [value]);
    }
    hearing.finish();
}

#[test]
fn what_cannot_be_listened_to_is_refused_by_name() {
    let refused =
        |path: &str| format!("{:#}", Hearing::of_file(Path::new(path), &ear()).err().unwrap());
    assert!(refused("/nowhere/file").starts_with("cannot read /nowhere/file: No such file"));
    assert_eq!(refused("/dev/null"), "/dev/null is neither a file nor a FIFO");
    assert_eq!(refused("/tmp"), "/tmp is neither a file nor a FIFO");
}

#[test]
fn of_a_client_that_counts_since_it_began_the_growth_a_second_is_heard() {
    let k6 = lab::client::find("k6").unwrap();
    let metric = ClientMetric { client: k6.id.to_owned(), unit: k6.unit.to_owned() };
    let expression = Expression::of(k6).unwrap();
    let ear = Ear::new(Wanted { metric: Some((metric, expression)), mark: None });
    let said = |n: u32, second: u64| {
        let line =
            format!("running (0m0{second}.0s), 2/2 VUs, {n} complete and 0 interrupted iterations");
        ear.line(&line, second * 1_000_000_000);
    };
    for (n, second) in [(100, 1), (350, 2), (350, 3), (20, 4), (80, 6)] {
        said(n, second);
    }
    // The fourth is of a run that began anew.
    assert_eq!(values(&ear), [250.0, 0.0, 30.0]);
}
