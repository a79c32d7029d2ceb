//! Encodes samples as frames, and decodes frames.

use super::deflate::{Deflater, Inflater};
use super::frame::{Head, Kind, LARGEST_PAYLOAD, frame};
use super::sample::{self, Sample, payload};
use super::version_2::Unpacker;
use super::{SAMPLES_PER_KEY, Version};
use crate::counters::Counters;
use crate::parse::Expected;

/// Encodes the samples of one tape, in order.
#[derive(Debug)]
pub struct Encoder {
    /// The number of the next sample.
    number: u32,
    /// The number of samples before the next key frame.
    until_key: u32,
    before: Counters,
    deflater: Deflater,
}

/// A sample that does not fit in a frame. No real machine has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a sample is larger than 64 MiB and cannot be recorded")]
pub struct TooLarge;

impl Encoder {
    /// An encoder for a new tape.
    pub fn new() -> Encoder {
        Encoder { number: 0, until_key: 0, before: Counters::unread(), deflater: Deflater::new() }
    }

    /// Encodes the next sample as a frame.
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

    /// Makes the next frame a key frame, because the last one was not written to the tape.
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

/// Decodes the samples of one tape, in order.
#[derive(Debug)]
pub struct Decoder {
    version: Version,
    /// The last sample; `None` before the first key frame.
    before: Option<Before>,
    n_unknown: usize,
}

/// What the differences in the next frame refer to.
#[derive(Debug)]
struct Before {
    number: u32,
    counters: Counters,
    unpacking: Unpacking,
}

/// Unpacks payloads; its state depends on all payloads since the last key frame.
#[derive(Debug)]
enum Unpacking {
    Two(Unpacker),
    Three(Inflater),
}

impl Unpacking {
    fn new(version: Version) -> Unpacking {
        match version {
            Version::Two => Unpacking::Two(Unpacker::new()),
            Version::Three => Unpacking::Three(Inflater::new()),
        }
    }

    fn unpack(&mut self, payload: &[u8]) -> Result<Vec<u8>, Expected> {
        match self {
            Unpacking::Two(unpacker) => unpacker.unpack(payload),
            Unpacking::Three(inflater) => inflater.unpack(payload),
        }
    }
}

/// Why a frame cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecoded {
    /// It holds the differences from a sample that was not decoded.
    #[error("the sample before it is lost")]
    Orphan,
    /// Its checksums are right, but it is not a sample.
    #[error(transparent)]
    Malformed(#[from] Expected),
}

impl Decoder {
    /// A decoder for a tape of this version, from its beginning or from any frame on.
    pub fn new(version: Version) -> Decoder {
        Decoder { version, before: None, n_unknown: 0 }
    }

    /// Decodes a frame whose payload fits its head. After an error, frames cannot be decoded until the next key
    /// frame.
    pub fn sample(&mut self, head: &Head, payload: &[u8]) -> Result<Sample, Undecoded> {
        let (before, mut unpacking) = match (head.kind, self.before.take()) {
            (Kind::Key, _) => (Counters::unread(), Unpacking::new(self.version)),
            (Kind::Differences, Some(before)) if before.number.wrapping_add(1) == head.number => {
                (before.counters, before.unpacking)
            }
            (Kind::Differences | Kind::Label, _) => return Err(Undecoded::Orphan),
        };
        let payload = unpacking.unpack(payload)?;
        let (sample, n_unknown) = sample::take(&payload, &before)?;
        self.n_unknown = self.n_unknown.max(n_unknown);
        let counters = sample.counters.clone();
        self.before = Some(Before { number: head.number, counters, unpacking });
        Ok(sample)
    }

    /// The number of parts of a sample that were ignored, because only a later version of fullclock knows them.
    pub fn unknown_parts(&self) -> usize {
        self.n_unknown
    }
}
