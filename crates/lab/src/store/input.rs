//! What a result is read from: the beginning of a file, or bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};

/// One type for files and bytes: the program holds what reads every part of a result once for each type of its input.
pub(super) type Input<'a> = BufReader<Box<dyn Read + 'a>>;

/// Bytes that were read already.
pub(super) fn of_bytes(bytes: &[u8]) -> Input<'_> {
    BufReader::new(Box::new(bytes))
}

/// How long the lines of a file are together that have an end.
pub(super) fn end_of_lines(mut file: &File) -> io::Result<u64> {
    file.rewind()?;
    let mut input = BufReader::new(file);
    let (mut n_read, mut end) = (0, 0);
    loop {
        let piece = input.fill_buf()?;
        if piece.is_empty() {
            return Ok(end);
        }
        if let Some(at) = piece.iter().rposition(|it| *it == b'\n') {
            end = n_read + at as u64 + 1;
        }
        let length = piece.len();
        n_read += length as u64;
        input.consume(length);
    }
}
