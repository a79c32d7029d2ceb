//! Redo: what is written to the log, and read back from it.
//!
//! A record is one row's: its length, the session, the row's number and place, the row, a checksum. A log write is a header
//! and the records of all whose commit it is, in whole blocks.

/// The block of a log, as Oracle's and InnoDB's.
pub(super) const BLOCK: usize = 512;

/// Length, session, row, place.
const RECORD: usize = 4 + 4 + 8 + 4;

/// Magic number, run, batch, bytes of redo, checksum of the redo.
pub(super) const HEADER: usize = 5 * 4;

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
pub(super) struct Batch {
    /// Its number, and that of its run.
    pub(super) run: u32,
    pub(super) number: u32,
    /// How many bytes it takes in the log.
    pub(super) length: usize,
    /// Session and number of each row.
    pub(super) rows: Vec<(u32, u64)>,
}

/// The log write that begins there; `None` where none does, or not a whole one.
pub(super) fn read(log: &[u8]) -> Option<Batch> {
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
}
