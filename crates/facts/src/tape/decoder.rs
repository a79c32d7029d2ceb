//! Makes samples of frames.

use super::Version;
use super::deflate::Inflater;
use super::frame::{Head, Kind};
use super::sample::{self, Sample};
use super::version_2::Unpacker;
use crate::counters::Counters;
use crate::parse::Expected;

/// Reads the samples of one tape, in their order.
#[derive(Debug)]
pub struct Decoder {
    version: Version,
    /// What was read last; `None` until a key frame.
    before: Option<Before>,
    n_unknown: usize,
}

/// What the next frame tells the differences from.
#[derive(Debug)]
struct Before {
    /// The sample's number.
    number: u32,
    counters: Counters,
    unpacking: Unpacking,
}

/// What unpacks payloads, and knows those since the last key frame.
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

/// Why a frame makes no sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecoded {
    /// It holds the differences from a sample that was not read.
    #[error("the sample before it is lost")]
    Orphan,
    /// It is what was written, and was never a sample.
    #[error(transparent)]
    Malformed(#[from] Expected),
}

impl Decoder {
    /// For the beginning of a tape of a version, or any place in it.
    pub fn new(version: Version) -> Decoder {
        Decoder { version, before: None, n_unknown: 0 }
    }

    /// The sample of a frame whose payload fits its head. After an error, frames are orphans up to the next key
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

    /// How many parts of a sample were of a kind that only a later fullclock knows: they were left out.
    pub fn unknown_parts(&self) -> usize {
        self.n_unknown
    }
}
