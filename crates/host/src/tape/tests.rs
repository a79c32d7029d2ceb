//! Tapes that are written, cut, damaged and read again.
#![expect(clippy::disallowed_methods, reason = "tests make files")]

use super::*;
use crate::Source;
use facts::Missing;
use facts::client::{ClientMetric, ClientSample, Heard, MarkText};
use facts::counters::{Counters, Family, Moment, Name, Table, Task, Tasks};
use facts::tape::{FIRST_LINE, Sample, Version};
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const CAPTURE: &str = "fullclock capture 1\n//- /sys/devices/system/cpu/online\n0-1\n";

/// Sample `second` of a small host; in the fourth second CPU 1 goes offline, in the sixth the tasks cannot be read. A client
/// prints a number a second, and a mark every third.
fn sample(second: u64) -> Sample {
    let ns = 1_000_000_000 * second;
    let rows: &[u32] = if second == 4 { &[0] } else { &[0, 1] };
    let mut counters = Counters::unread();
    counters.at = Moment { raw_ns: ns, boot_ns: ns, real_ns: ns };
    counters.online = rows.iter().copied().collect();
    let mut table = Table::new(rows.into(), ["LOC".into(), "RES".into()].into());
    for row in 0..rows.len() {
        table.row_mut(row, ns + 900).copy_from_slice(&[second * 250, 7 + second / 3]);
    }
    table.blank_column("NMI", Missing::denied("NMI"));
    *counters.table_mut(Family::Interrupts) = Ok(table);
    let mut clocks = Table::new(rows.into(), ["aperf".into(), "mperf".into()].into());
    for row in 0..rows.len() {
        // Multiples of 2^64 over the golden ratio: no two differences have the same bits.
        let cycles = (second + 1 + row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        clocks.row_mut(row, ns + cycles % 5000).copy_from_slice(&[cycles, cycles >> 30]);
    }
    *counters.table_mut(Family::Clocks) = Ok(clocks);
    let task = Task {
        tid: 7,
        pid: 7,
        name: Name::new(b"postgres"),
        is_kernel_thread: false,
        started: 3,
        cpu: 1,
        run_ns: 900_000_000 * second,
        wait_ns: 5 * second,
        slices: second,
    };
    let tasks = Tasks { complete: true, read_at: ns, list: vec![task] };
    counters.tasks = if second == 6 { Err(Missing::denied("/proc")) } else { Ok(tasks) };
    Sample { client: Some(client(second, ns)), ..Sample::from(counters) }
}

fn client(second: u64, ns: u64) -> ClientSample {
    let metric = ClientMetric { client: "pgbench".to_owned(), unit: "tps".to_owned() };
    let heard = vec![Heard { at: ns.saturating_sub(40_000), value: 2616.5 + second as f64 }];
    let mark = MarkText { at: ns, text: format!("phase {second}") };
    let marks = if second.is_multiple_of(3) { vec![mark] } else { Vec::new() };
    ClientSample { metric: Some(metric), heard, marks }
}

/// A tape of so many samples, and the offsets at which its parts end.
fn tape(n_samples: u64) -> (Vec<u8>, Vec<usize>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = Writer::start(file.reopen().unwrap(), "t".into(), CAPTURE).unwrap();
    let mut ends = vec![writer.length() as usize];
    for second in 0..n_samples {
        writer.append(&sample(second)).unwrap();
        ends.push(writer.length() as usize);
    }
    writer.finish().unwrap();
    (fs::read(file.path()).unwrap(), ends)
}

/// The seconds of the samples that are read, each as it was written, with what is said in between.
fn read(bytes: &[u8]) -> Result<Vec<String>, String> {
    let reader = Reader::new("t", bytes).map_err(|error| error.to_string())?;
    let is_version_2 = bytes.starts_with(Version::Two.first_line().as_bytes());
    let told = |item: Result<Sample, Damage>| match item {
        Ok(it) => {
            let second = it.counters.at.raw_ns / 1_000_000_000;
            // Version 2 knew no client.
            let client = sample(second).client.filter(|_| !is_version_2);
            let expected = Sample { client, ..sample(second) };
            assert_eq!(it, expected, "an invented number");
            second.to_string()
        }
        Err(damage) => damage.to_string(),
    };
    Ok(reader.map(told).collect())
}

fn seconds(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|it| it.to_string()).collect()
}

#[test]
fn samples_and_the_host_come_back() {
    let (bytes, _) = tape(130);
    assert_eq!(read(&bytes), Ok(seconds(0..130)));
    let reader = Reader::new("t", &*bytes).unwrap();
    assert!(reader.has_host());
    assert_eq!(reader.observer(), Some(std::process::id()));
    assert_eq!(reader.version(), Some(env!("CARGO_PKG_VERSION")));
    assert_eq!(reader.host().read("/sys/devices/system/cpu/online"), Ok(b"0-1\n".to_vec()));
}

/// A tape of 65 samples that was written before version 3. The code that wrote it is gone.
const VERSION_2: &[u8] = include_bytes!("version_2.tape");

#[test]
fn a_tape_of_version_2_is_read_and_its_damage_is_told_of() {
    assert!(VERSION_2.starts_with(Version::Two.first_line().as_bytes()));
    assert_eq!(read(VERSION_2), Ok(seconds(0..65)));
    assert_eq!(read(b"fullclock tape 2"), read(b"fullclock tape"));
    for at in (FIRST_LINE.len()..VERSION_2.len()).step_by(7) {
        let mut damaged = VERSION_2.to_vec();
        damaged[at] ^= 0x55;
        let told = read(&damaged).unwrap();
        assert!(told.len() >= 6, "byte {at}: {told:?}");
    }
}

#[test]
fn a_tape_cut_at_any_byte_is_read_up_to_its_last_whole_sample() {
    let (bytes, ends) = tape(8);
    let cut = Damage::Cut.to_string();
    for length in 0..bytes.len() {
        let told = read(&bytes[..length]);
        if length < FIRST_LINE.len() {
            assert_eq!(told.unwrap_err(), OpenTapeError::Empty { path: "t".into() }.to_string());
            continue;
        }
        let is_whole = ends.contains(&length) || length == FIRST_LINE.len();
        let mut expected =
            seconds(0..ends.iter().filter(|it| **it <= length).count().saturating_sub(1));
        expected.extend((!is_whole && length > ends[0]).then(|| cut.clone()));
        let mut told = told.unwrap();
        if length < ends[0] {
            told.retain(|it| *it != cut);
        }
        assert_eq!(told, expected, "cut to {length} of {} bytes", bytes.len());
    }
}

/// What is told of a tape of `n_samples` with one byte flipped, and what should be.
fn flipped(bytes: &[u8], ends: &[usize], at: usize) -> (Vec<String>, Vec<String>) {
    let mut damaged = bytes.to_vec();
    damaged[at] ^= 0x55;
    let (hit, end) = (ends.iter().filter(|it| **it <= at).count() - 1, ends.len() - 1);
    let next_key = if hit < 60 { end.min(60) } else { end };
    let mut expected = seconds(0..hit);
    expected.push(match (hit + 1, next_key) {
        (first, last) if first == last => {
            format!("sample {first} is missing: damaged, or never written")
        }
        (first, last) => {
            format!("samples {first} to {last} are missing: damaged, or never written")
        }
    });
    expected.extend(seconds(next_key..end));
    (read(&damaged).unwrap(), expected)
}

#[test]
fn a_flipped_byte_is_told_of_and_never_makes_a_number() {
    let (bytes, ends) = tape(8);
    for at in 0..ends[0] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        let Ok(told) = read(&damaged) else {
            assert!(at < FIRST_LINE.len(), "byte {at}");
            continue;
        };
        assert_eq!(told, seconds(0..8));
        assert!(!Reader::new("t", &*damaged).unwrap().has_host());
    }
    for at in ends[0]..bytes.len() {
        let (told, expected) = flipped(&bytes, &ends, at);
        // Nothing behind a damaged head at the very end says that it was a sample.
        let is_rubbish = told.last().is_some_and(|it| it.ends_with("are no samples"));
        assert!(told == expected || (is_rubbish && at >= ends[7]), "byte {at}: {told:?}");
    }
}

#[test]
fn damage_costs_no_more_than_the_samples_before_the_next_key_frame() {
    let (bytes, ends) = tape(65);
    for at in (ends[0]..ends[62]).step_by(53) {
        let (told, expected) = flipped(&bytes, &ends, at);
        assert_eq!(told, expected, "byte {at}");
    }
}

#[test]
fn bytes_taken_out_or_put_in_cost_no_more_than_the_minute() {
    let (bytes, ends) = tape(65);
    for at in (ends[3]..ends[5]).step_by(7) {
        let mut shorter = bytes.clone();
        shorter.drain(at..at + 5);
        let mut longer = bytes.clone();
        longer.splice(at..at, *b"\xffFCd\xffF");
        for damaged in [shorter, longer] {
            let told = read(&damaged).unwrap();
            assert_eq!(told[..3], seconds(0..3)[..]);
            assert_eq!(told[told.len() - 5..], seconds(60..65)[..]);
        }
    }
}

#[test]
fn what_is_no_tape_is_refused_in_words() {
    let refused = |bytes: &[u8]| read(bytes).unwrap_err();
    assert_eq!(refused(b""), "t is empty or cut short in its first line: there is no sample in it");
    assert_eq!(
        refused(b"fullclock tape 1\n..."),
        "t was recorded by another version of fullclock: it begins with \"fullclock tape 1\"; this version reads \
         \"fullclock tape 2\" and \"fullclock tape 3\""
    );
    assert!(refused(b"fullclock tape 4\n...").starts_with("t was recorded by another version"));
    assert_eq!(
        refused(b"#!/bin/sh\nexit\n"),
        "t is no recording made by `fullclock watch --record`: it begins with \"#!/bin/sh\""
    );
    assert!(refused(b"\xff\xfe\0").starts_with("t is no recording"));
}

#[test]
fn two_tapes_in_one_file_are_told_of() {
    let (bytes, _) = tape(2);
    let told = read(&[bytes.clone(), bytes].concat()).unwrap();
    let expected = [
        "0",
        "1",
        "sample 1 comes where sample 3 should: two recordings in one file?",
        "sample 2 comes where sample 3 should: two recordings in one file?",
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_full_disk_costs_samples_and_says_so() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = Writer::start(file.reopen().unwrap(), "t".into(), CAPTURE).unwrap();
    writer.append(&sample(0)).unwrap();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let disk = std::mem::replace(writer.file_mut(), full);
    let error = writer.append(&sample(1)).unwrap_err().to_string();
    assert_eq!(error, "cannot write to t: No space left on device (os error 28)");
    *writer.file_mut() = disk;
    writer.append(&sample(2)).unwrap();
    writer.append(&sample(3)).unwrap();
    let lost = "sample 2 is missing: damaged, or never written";
    assert_eq!(read(&fs::read(file.path()).unwrap()).unwrap(), ["0", lost, "2", "3"]);
}

fn create(path: &Path, existing: Existing) -> Result<Writer, RecordError> {
    let host = crate::Captured::parse(CAPTURE).unwrap();
    let recording = crate::Recording::new(&host);
    crate::view(&recording);
    Writer::create(path, existing, &recording)
}

#[test]
fn an_existing_file_is_left_alone_unless_it_may_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db7.tape");
    fs::write(&path, "precious").unwrap();
    let refused = create(&path, Existing::Refuse).unwrap_err();
    assert!(matches!(refused, RecordError::Exists { .. }), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    create(&path, Existing::Replace).unwrap().append(&sample(0)).unwrap();
    assert_eq!(Reader::<File>::open(&path).unwrap().count(), 1);
    let refused = create(folder.path(), Existing::Replace).unwrap_err();
    assert!(matches!(refused, RecordError::NotAFile { .. }), "{refused}");
}

#[test]
fn only_its_owner_can_read_a_tape() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db7.tape");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    create(&path, Existing::Refuse).unwrap();
    assert_eq!(mode(), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let mut open_before = File::open(&path).unwrap();
    create(&path, Existing::Replace).unwrap().append(&sample(0)).unwrap();
    assert_eq!(mode(), 0o600);
    let mut read_before = Vec::new();
    open_before.read_to_end(&mut read_before).unwrap();
    assert_eq!(Reader::new("t", &*read_before).unwrap().count(), 0);
}

#[test]
fn a_link_to_a_tape_stays_one_when_the_tape_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("db7.tape"), folder.path().join("last"));
    create(&path, Existing::Refuse).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    create(&link, Existing::Replace).unwrap().append(&sample(0)).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(Reader::<File>::open(&path).unwrap().count(), 1);
}
