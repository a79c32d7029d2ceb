//! Whether the log holds what sessions were told is durable: it is read back as a database reads it after a crash.

use super::log_file::LogFile;
use super::redo::{self, BLOCK, Batch};
use crate::failure::Failure;
use std::collections::BTreeMap;

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
        let batch = redo::read(rest);
        at += batch.as_ref().map_or(BLOCK, |it| it.length);
        found.extend(batch.filter(|it| it.run == run).map(|it| (it.number, it)));
    }
    found
}

/// Those without a gap before the last one. Where the file was written over from its start, there may be older ones at its
/// end, behind the last one that fitted.
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

    /// A log whose writes have these numbers, of rows of session 0 that have the same.
    fn log(numbers: &[u32]) -> Vec<u8> {
        let mut log = Vec::new();
        for number in numbers {
            let (mut redo, mut blocks) = (Vec::new(), Vec::new());
            redo::record(&mut redo, 0, u64::from(*number), 0, b"row");
            redo::write(&mut blocks, 1, *number, &redo);
            log.extend(blocks);
        }
        log
    }

    fn missing(numbers: &[u32], last: u32) -> Option<String> {
        let log = log(numbers);
        gap(&up_to(last, batches(&log, 1)), last, log.len())
    }

    #[test]
    fn a_log_that_was_written_over_from_its_start_has_no_gap() {
        for numbers in [&[1, 2, 3, 4][..], &[5, 6, 3, 4], &[5, 6, 7, 4, 1]] {
            let last = *numbers.iter().max().unwrap();
            assert_eq!(missing(numbers, last), None, "{numbers:?}");
        }
        assert_eq!(missing(&[], 0), None);
    }

    #[test]
    fn a_log_write_that_is_missing_is_found() {
        assert_eq!(missing(&[1, 2, 4, 9], 4).unwrap(), "those from 4 on, 512 bytes");
        assert_eq!(missing(&[1, 2, 5], 5).unwrap(), "those from 5 on, 512 bytes");
        assert_eq!(missing(&[1, 2, 3], 4).unwrap(), "no such log write");
    }

    #[test]
    fn redo_of_another_run_is_none_of_this_one() {
        assert!(batches(&log(&[1, 2]), 2).is_empty());
    }
}
