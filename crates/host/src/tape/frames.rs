//! Finds the frames of a tape in a stream of bytes, whatever happened to them.

use facts::tape::frame::{HEAD_LENGTH, Head};
use std::io::{self, Read};

/// How much is read at once where less is wanted.
const CHUNK: usize = 64 << 10;

/// Frames one behind the other; holds one of them at a time.
pub(super) struct Frames<R> {
    input: R,
    buffer: Vec<u8>,
    /// Where in the buffer the bytes begin that are yet to be looked at.
    start: usize,
    /// How long the frame is that was found last, and is still at the start.
    found: usize,
}

/// What comes next on a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    /// A whole frame, with its payload.
    Frame(Head, &'a [u8]),
    /// A frame whose payload is not what was written.
    Damaged(Head),
    /// The end of the tape within a frame.
    Cut,
    /// The end of the tape, after so many bytes that are no frame.
    End(u64),
}

impl<R: Read> Frames<R> {
    pub(super) fn new(input: R) -> Frames<R> {
        Frames { input, buffer: Vec::new(), start: 0, found: 0 }
    }

    /// What stands before the first frame: up to `most` bytes, of which a newline is the last.
    pub(super) fn line(&mut self, most: usize) -> io::Result<Vec<u8>> {
        self.fill(most)?;
        let line = self.rest().split_inclusive(|it| *it == b'\n').next().unwrap_or_default();
        let line = line.get(..most).unwrap_or(line).to_vec();
        self.start += line.len();
        Ok(line)
    }

    /// The next frame, or why there is none.
    pub(super) fn next(&mut self) -> io::Result<Found<'_>> {
        self.start += std::mem::take(&mut self.found);
        let mut stepped_over = 0;
        let head = loop {
            if !self.fill(HEAD_LENGTH)? {
                return Ok(self.end(stepped_over));
            }
            match Head::parse(self.rest()) {
                Some(head) => break head,
                None => {
                    let length = Head::none_before(self.rest());
                    self.start += length;
                    stepped_over += length as u64;
                }
            }
        };
        let length = HEAD_LENGTH + head.length as usize;
        if !self.fill(length)? {
            self.start = self.buffer.len();
            return Ok(Found::Cut);
        }
        self.found = length;
        let payload = self.rest().get(HEAD_LENGTH..length).unwrap_or_default();
        Ok(if head.fits(payload) { Found::Frame(head, payload) } else { Found::Damaged(head) })
    }

    /// Gives the frame that was found last once more.
    pub(super) fn again(&mut self) {
        self.found = 0;
    }

    /// Less than a head is left.
    fn end(&mut self, stepped_over: u64) -> Found<'static> {
        let left = self.rest().len();
        self.start = self.buffer.len();
        match (stepped_over, left) {
            (0, 1..) => Found::Cut,
            _ => Found::End(stepped_over + left as u64),
        }
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// Reads until `wanted` bytes are there; whether they are. The room grows with what comes, not with what is
    /// wanted.
    fn fill(&mut self, wanted: usize) -> io::Result<bool> {
        let Some(missing) = wanted.checked_sub(self.rest().len()).filter(|it| *it > 0) else {
            return Ok(true);
        };
        self.buffer.drain(..self.start);
        self.start = 0;
        let most = missing.max(CHUNK) as u64;
        self.input.by_ref().take(most).read_to_end(&mut self.buffer)?;
        Ok(self.buffer.len() >= wanted)
    }
}
