//! Makes frames of samples.

use super::SAMPLES_PER_KEY;
use super::deflate::Deflater;
use super::frame::{Kind, LARGEST_PAYLOAD, frame};
use super::sample::{Sample, payload};
use crate::counters::Counters;

/// Writes the samples of one tape, in their order.
#[derive(Debug)]
pub struct Encoder {
    /// The number of the next sample.
    number: u32,
    /// How many samples may follow before the next key frame.
    until_key: u32,
    before: Counters,
    deflater: Deflater,
}

/// A sample that no frame can hold: it is of no machine that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a sample is larger than 64 MiB and cannot be recorded")]
pub struct TooLarge;

impl Encoder {
    /// For an empty tape.
    pub fn new() -> Encoder {
        Encoder { number: 0, until_key: 0, before: Counters::unread(), deflater: Deflater::new() }
    }

    /// The frame of the next sample.
    pub fn frame(&mut self, sample: &Sample) -> Result<Vec<u8>, TooLarge> {
        let number = self.number;
        self.number = number.wrapping_add(1);
        let kind = if self.until_key == 0 { Kind::Key } else { Kind::Differences };
        if kind == Kind::Key {
            self.restart();
        }
        let frame = self.packed(kind, number, &payload(&self.before, sample));
        self.until_key = match kind {
            _ if frame.is_err() => 0,
            Kind::Key => SAMPLES_PER_KEY - 1,
            _ => self.until_key - 1,
        };
        self.before.clone_from(&sample.counters);
        frame
    }

    fn packed(&mut self, kind: Kind, number: u32, payload: &[u8]) -> Result<Vec<u8>, TooLarge> {
        if payload.len() > LARGEST_PAYLOAD {
            return Err(TooLarge);
        }
        let packed = self.deflater.pack(payload);
        packed.and_then(|it| frame(kind, number, &it)).ok_or(TooLarge)
    }

    /// The last frame did not get onto the tape: the next one is a key frame.
    pub fn restart(&mut self) {
        self.until_key = 0;
        self.before = Counters::unread();
        self.deflater = Deflater::new();
    }
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder::new()
    }
}
