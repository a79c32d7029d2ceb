//! Redo: the format of the log, and the check that reads it back as a database does after a crash.
//!
//! A record holds one row: its length, the session, the row's number and place, the row, a checksum. A log write is a header
//! and the records of all sessions whose commit it is, in whole blocks.

use super::log_file::LogFile;
use crate::failure::Failure;
use std::collections::BTreeMap;

/// The block of a log, as Oracle's and InnoDB's.
const BLOCK: usize = 512;

/// Length, session, row, place.
const RECORD: usize = 4 + 4 + 8 + 4;

/// Magic number, run, batch, bytes of redo, checksum of the redo.
const HEADER: usize = 5 * 4;

const MAGIC: u32 = 0x6675_6c63;

/// Appends the record of a row.
pub(super) fn record(redo: &mut Vec<u8>, session: u32, number: u64, place: u32, row: &[u8]) {
    let began = redo.len();
    let length = RECORD + row.len() + 4;
    redo.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    redo.extend(session.to_le_bytes());
    redo.extend(number.to_le_bytes());
    redo.extend(place.to_le_bytes());
    redo.extend(row);
    let checksum = checksum(redo.get(began..).unwrap_or_default());
    redo.extend(checksum.to_le_bytes());
}

/// Makes a log write of records: with its header, in whole blocks.
pub(super) fn write(blocks: &mut Vec<u8>, run: u32, batch: u32, redo: &[u8]) {
    blocks.clear();
    let length = u32::try_from(redo.len()).unwrap_or(u32::MAX);
    for number in [MAGIC, run, batch, length, checksum(redo)] {
        blocks.extend(number.to_le_bytes());
    }
    blocks.extend(redo);
    blocks.resize(blocks.len().next_multiple_of(BLOCK), 0);
}

/// A log write that was read back.
#[derive(Debug, PartialEq, Eq)]
struct Batch {
    /// Its number, and that of its run.
    pub(super) run: u32,
    pub(super) number: u32,
    /// How many bytes it takes in the log.
    pub(super) length: usize,
    /// Session and number of each row.
    pub(super) rows: Vec<(u32, u64)>,
}

/// The log write that begins there; `None` where none does, or not a whole one.
fn read(log: &[u8]) -> Option<Batch> {
    let word = |at: usize| Some(u32::from_le_bytes(log.get(at..at + 4)?.try_into().ok()?));
    if word(0)? != MAGIC {
        return None;
    }
    let (run, number, expected) = (word(4)?, word(8)?, word(16)?);
    let length = usize::try_from(word(12)?).ok()?;
    let mut rest = log.get(HEADER..HEADER.checked_add(length)?)?;
    if checksum(rest) != expected {
        return None;
    }
    let mut rows = Vec::new();
    while !rest.is_empty() {
        let (row, length) = row(rest)?;
        rows.push(row);
        rest = rest.get(length..)?;
    }
    Some(Batch { run, number, length: (HEADER + length).next_multiple_of(BLOCK), rows })
}

/// The first record: session and number of its row, and its length.
fn row(records: &[u8]) -> Option<((u32, u64), usize)> {
    let length = u32::from_le_bytes(records.get(..4)?.try_into().ok()?);
    let length = usize::try_from(length).ok()?;
    let record = records.get(..length)?;
    let (body, sum) = record.split_at_checked(length.checked_sub(4)?)?;
    if checksum(body).to_le_bytes() != *sum {
        return None;
    }
    let session = u32::from_le_bytes(body.get(4..8)?.try_into().ok()?);
    let number = u64::from_le_bytes(body.get(8..16)?.try_into().ok()?);
    Some(((session, number), length))
}

/// FNV-1a (draft-eastlake-fnv): finds what is torn or mixed up, which is all that can be wrong here.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, it| (hash ^ u32::from(*it)).wrapping_mul(0x0100_0193))
}

/// Checks the log writes of a run up to the last one, as far back as the file still holds them, against the commits that each
/// session was told of.
pub(super) fn check(
    file: &LogFile,
    run: u32,
    last_batch: u32,
    committed: &[u64],
) -> Result<(), Failure> {
    let log = file.read()?;
    let batches = up_to(last_batch, batches(&log, run));
    let wrong = |found: String, expected: String| {
        Err(Failure::WrongAnswer { workload: crate::commit::WORKLOAD, found, expected })
    };
    if let Some(found) = gap(&batches, last_batch, log.len()) {
        return wrong(found, format!("log writes up to {last_batch} without a gap"));
    }
    let mut latest: BTreeMap<u32, u64> = BTreeMap::new();
    for (session, row) in batches.values().flat_map(|it| it.rows.iter().copied()) {
        if latest.insert(session, row).is_some_and(|before| before + 1 != row) {
            let found = format!("row {row} of session {session} out of order");
            return wrong(found, "every row once and in order".to_owned());
        }
    }
    for (session, row) in latest {
        let told = committed.get(session as usize).copied().unwrap_or(0);
        if told != row {
            let found = format!("row {row} as the last one of session {session} in the log");
            return wrong(found, format!("row {told}, which it was told is durable"));
        }
    }
    Ok(())
}

/// Every whole log write of a run.
fn batches(log: &[u8], run: u32) -> BTreeMap<u32, Batch> {
    let mut found = BTreeMap::new();
    let mut at = 0;
    while let Some(rest) = log.get(at..).filter(|it| !it.is_empty()) {
        let batch = read(rest);
        at += batch.as_ref().map_or(BLOCK, |it| it.length);
        found.extend(batch.filter(|it| it.run == run).map(|it| (it.number, it)));
    }
    found
}

/// The batches without a gap before the last one. Where the file was written over from its start, older batches may stand at
/// its end, after the last one that fitted.
fn up_to(last: u32, mut batches: BTreeMap<u32, Batch>) -> BTreeMap<u32, Batch> {
    let first = (1..=last).rev().take_while(|it| batches.contains_key(it)).last();
    batches.retain(|it, _| first.is_some_and(|first| (first..=last).contains(it)));
    batches
}

/// What is missing: nothing where they begin with the first one. Once the file was written over from its start, half of it
/// always stands.
fn gap(batches: &BTreeMap<u32, Batch>, last: u32, size: usize) -> Option<String> {
    let Some(first) = batches.keys().next() else {
        return (last > 0).then(|| "no such log write".to_owned());
    };
    let bytes: usize = batches.values().map(|it| it.length).sum();
    (*first > 1 && bytes < size / 2).then(|| format!("those from {first} on, {bytes} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_what_is_torn_is_not() {
        let (mut redo, mut blocks) = (Vec::new(), Vec::new());
        record(&mut redo, 3, 41, 0, b"a row");
        record(&mut redo, 5, 1, 8192, b"another");
        write(&mut blocks, 2, 9, &redo);
        let length = BLOCK;
        let batch = Batch { run: 2, number: 9, length, rows: vec![(3, 41), (5, 1)] };
        assert_eq!((blocks.len(), read(&blocks)), (BLOCK, Some(batch)));
        for at in 0..HEADER + redo.len() {
            let mut torn = blocks.clone();
            torn[at] ^= 1;
            // The numbers of run and batch are no part of what the checksum holds; they are compared.
            assert!((4..12).contains(&at) || read(&torn).is_none(), "{at}");
        }
        assert!(read(&blocks[..HEADER + redo.len() - 1]).is_none() && read(&[]).is_none());
    }

    #[test]
    fn a_checksum_is_that_of_its_draft() {
        assert_eq!([checksum(b""), checksum(b"foobar")], [0x811c_9dc5, 0xbf9c_f968]);
    }

    /// A log whose writes have these numbers, of rows of session 0 that have the same.
    fn log(numbers: &[u32]) -> Vec<u8> {
        let mut log = Vec::new();
        for number in numbers {
            let (mut redo, mut blocks) = (Vec::new(), Vec::new());
            record(&mut redo, 0, u64::from(*number), 0, b"row");
            write(&mut blocks, 1, *number, &redo);
            log.extend(blocks);
        }
        log
    }

    fn gap_of(numbers: &[u32], last: u32) -> Option<String> {
        let log = log(numbers);
        gap(&up_to(last, batches(&log, 1)), last, log.len())
    }

    #[test]
    fn a_log_that_was_written_over_from_its_start_has_no_gap() {
        for numbers in [&[1, 2, 3, 4][..], &[5, 6, 3, 4], &[5, 6, 7, 4, 1]] {
            let last = *numbers.iter().max().unwrap();
            assert_eq!(gap_of(numbers, last), None, "{numbers:?}");
        }
        assert_eq!(gap_of(&[], 0), None);
    }

    #[test]
    fn a_log_write_that_is_missing_is_found() {
        assert_eq!(gap_of(&[1, 2, 4, 9], 4).unwrap(), "those from 4 on, 512 bytes");
        assert_eq!(gap_of(&[1, 2, 5], 5).unwrap(), "those from 5 on, 512 bytes");
        assert_eq!(gap_of(&[1, 2, 3], 4).unwrap(), "no such log write");
    }

    #[test]
    fn redo_of_another_run_is_none_of_this_one() {
        assert!(batches(&log(&[1, 2]), 2).is_empty());
    }
}
